# The text in front of a kernel: which file, and the rule that makes it where one has to be made.

# Sets `file` to the prelude (or NONE) and `depends` to what rules have to depend on for it.
function(_teeny_find_prelude file depends call frontend argument)
  if(argument STREQUAL "NONE")
    set(${file} NONE PARENT_SCOPE)
    set(${depends} "" PARENT_SCOPE)
    return()
  endif()
  set(path "${argument}")
  if(path STREQUAL "" AND frontend STREQUAL "rust")
    set(path "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/device/prelude.rs")
  elseif(path STREQUAL "" AND TEENY_PRELUDE)
    set(path "${TEENY_PRELUDE}")
  elseif(path STREQUAL "" AND TEENY_TRITON_DIR)
    _teeny_assembled_prelude(path stamp "${call}")
    set(${file} "${path}" PARENT_SCOPE)
    set(${depends} "${stamp}" PARENT_SCOPE)
    return()
  elseif(path STREQUAL "")
    _teeny_fail("${call}" "a triton kernel needs a prelude: give PRELUDE <file>, or set"
      " TEENY_PRELUDE to a file or TEENY_TRITON_DIR to a teeny-triton checkout. Kernels in plain"
      " Rust (FRONTEND rust) come with theirs.")
  endif()
  get_filename_component(path "${path}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  get_source_file_property(generated "${path}" GENERATED)
  if(NOT EXISTS "${path}" AND NOT generated)
    _teeny_fail("${call}" "PRELUDE '${path}': there is no such file, and no rule makes it")
  endif()
  set(${file} "${path}" PARENT_SCOPE)
  set(${depends} "${path}" PARENT_SCOPE)
endfunction()

# One rule per TEENY_TRITON_DIR and build tree, in a custom target of its own.
function(_teeny_assembled_prelude file stamp call)
  get_filename_component(from "${TEENY_TRITON_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT IS_DIRECTORY "${from}")
    _teeny_fail("${call}" "TEENY_TRITON_DIR '${TEENY_TRITON_DIR}' is not a directory")
  endif()
  string(SHA1 key "${from}")
  string(SUBSTRING ${key} 0 12 key)
  set(path "${CMAKE_BINARY_DIR}/teeny/triton_prelude_${key}.rs")
  if(NOT TARGET teeny_triton_prelude_${key})
    _teeny_tool(tool tool_depends)
    file(GLOB_RECURSE inputs "${from}/src/triton/*.rs" "${from}/kernels/teeny-triton/src/triton/*.rs"
      "${from}/core/teeny-core/src/dtype/mod.rs" "${from}/../../core/teeny-core/src/dtype/mod.rs"
      "${from}/../teeny-core/src/dtype/mod.rs")
    add_custom_command(
      OUTPUT "${path}.stamp"
      BYPRODUCTS "${path}"
      COMMAND ${tool} prelude --from "${from}" -o "${path}"
      COMMAND ${CMAKE_COMMAND} -E touch "${path}.stamp"
      DEPENDS ${inputs} ${tool_depends}
      COMMENT "Assembling the triton prelude"
      VERBATIM)
    add_custom_target(teeny_triton_prelude_${key} DEPENDS "${path}.stamp")
  endif()
  set(${file} "${path}" PARENT_SCOPE)
  set(${stamp} "${path}.stamp" PARENT_SCOPE)
  # For the ordering of Make, which sees no rules of other targets.
  set(_teeny_prelude_target teeny_triton_prelude_${key} PARENT_SCOPE)
endfunction()
