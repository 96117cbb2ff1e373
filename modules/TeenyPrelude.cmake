# The text in front of a kernel: which file, and the rule that makes it where one has to be made.

# Sets `file` to the prelude (or NONE) and `depends` to what rules have to depend on for it.
function(_teeny_find_prelude file depends call frontend argument)
  if(argument STREQUAL "NONE")
    set(${file} NONE PARENT_SCOPE)
    set(${depends} "" PARENT_SCOPE)
    return()
  endif()
  set(path "${argument}")
  set(origin PRELUDE)
  if(path STREQUAL "" AND frontend STREQUAL "rust")
    set(path "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/device/prelude.rs")
  elseif(path STREQUAL "" AND TEENY_PRELUDE)
    set(path "${TEENY_PRELUDE}")
    set(origin TEENY_PRELUDE)
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
  _teeny_find_file(found "${path}")
  if(NOT found)
    _teeny_fail("${call}" "${origin} '${path}': there is no such file, and no rule makes it")
  elseif(IS_DIRECTORY "${found}")
    _teeny_fail("${call}" "${origin} '${path}' is a directory")
  endif()
  set(${file} "${found}" PARENT_SCOPE)
  set(${depends} "${found}" PARENT_SCOPE)
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
    if(NOT inputs)
      _teeny_fail("${call}" "TEENY_TRITON_DIR '${TEENY_TRITON_DIR}' holds no src/triton: it is to be"
        " a teeny-triton crate or a checkout of teenygrad")
    endif()
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
endfunction()
