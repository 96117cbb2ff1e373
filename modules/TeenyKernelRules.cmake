# The custom commands, each in one place.
#
# Each rule has a stamp as OUTPUT and its real files as BYPRODUCTS: a file that is left alone when
# it would not change makes its own rule run for ever under Make. For a target T there are
#   T_teeny_header   `declare`: the header that T's own C++ includes, and waits for;
#   T_teeny_images   `embed`: the source file with the images; under Ninja only the compile of that
#                    file waits for it, Make orders by targets and lets T wait;
#   and for calls from other directories than the first one's a target for the rules made there,
#   since Make sees a rule only from its own directory.
# What accumulates with each call is kept in properties of T and read by generator expressions.

# How to run the helper, and what rules depend on for it. Always a path: a target's name would be
# looked up on PATH, or run by the emulator, in a cross build.
function(_teeny_tool command depends)
  if(TEENY_KERNEL_EXECUTABLE)
    set(tool "${TEENY_KERNEL_EXECUTABLE}")
  elseif(TARGET Teeny::teeny-kernel)
    set(tool "$<TARGET_FILE:Teeny::teeny-kernel>")
  else()
    _teeny_fail("teeny_add_kernel" "there is no teeny-kernel that runs on this machine: pass"
      " -DTEENY_KERNEL_EXECUTABLE=<path>, or -DTeeny_ROOT=<prefix> of a Teeny installed for it")
  endif()
  set(${command} "${tool}" PARENT_SCOPE)
  set(${depends} "${tool}" PARENT_SCOPE)
endfunction()

# The folder of teeny/kernel.hpp, as a path.
function(_teeny_runtime_include result)
  get_target_property(path Teeny::runtime INTERFACE_INCLUDE_DIRECTORIES)
  string(REGEX REPLACE "[$]<BUILD_INTERFACE:([^>]*)>.*" "\\1" path "${path}")
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# Escapes for a JSON string.
function(_teeny_json_string result text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${result} "\"${text}\"" PARENT_SCOPE)
endfunction()

# The further arguments as the elements of a JSON array.
function(_teeny_json_strings result)
  set(strings)
  foreach(text IN LISTS ARGN)
    _teeny_json_string(string "${text}")
    list(APPEND strings "${string}")
  endforeach()
  list(JOIN strings ", " strings)
  set(${result} "${strings}" PARENT_SCOPE)
endfunction()

# The first call for a target: its two rules, its include directories, its generated source.
function(_teeny_begin_target target namespace)
  get_target_property(binary_dir ${target} BINARY_DIR)
  set(directory "${binary_dir}/teeny/${target}")
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    # Options may differ between configurations, and with them the images.
    set(config_directory "${directory}/$<CONFIG>")
    set(embedded)
    foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES)
      list(APPEND embedded "${directory}/${config}/${target}_kernels.cpp")
    endforeach()
  else()
    set(config_directory "${directory}")
    set(embedded "${directory}/${target}_kernels.cpp")
  endif()
  set_target_properties(${target} PROPERTIES
    _TEENY_DIRECTORY "${directory}"
    _TEENY_CONFIG_DIRECTORY "${config_directory}"
    _TEENY_NAMESPACE "${namespace}"
    _TEENY_VISIBILITY hidden
    _TEENY_CALL_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    _TEENY_KERNELS ""
    _TEENY_SOURCES ""
    _TEENY_STAMPS "")

  set(header "${directory}/include/${target}_kernels.hpp")
  set(source "${config_directory}/${target}_kernels.cpp")
  _teeny_generate_manifest("${directory}/declare.json" ${target} "")
  _teeny_generate_manifest("${config_directory}/embed.json" ${target} "${config_directory}")
  _teeny_tool(tool tool_depends)
  add_custom_command(
    OUTPUT "${directory}/declare.stamp"
    BYPRODUCTS "${header}"
    COMMAND ${tool} declare --manifest "${directory}/declare.json" --output "${header}"
            --stamp "${directory}/declare.stamp"
    DEPENDS "${directory}/declare.json" ${tool_depends}
            "$<TARGET_PROPERTY:${target},_TEENY_SOURCES>"
    COMMENT "Declaring the kernels of ${target}"
    VERBATIM)
  add_custom_target(${target}_teeny_header DEPENDS "${directory}/declare.stamp")
  _teeny_add_to_rust_project("${directory}/declare.json")

  add_custom_command(
    OUTPUT "${config_directory}/embed.stamp"
    BYPRODUCTS "${source}"
    COMMAND ${tool} embed --manifest "${config_directory}/embed.json" --output "${source}"
            --stamp "${config_directory}/embed.stamp"
    DEPENDS "${config_directory}/embed.json" ${tool_depends}
            "$<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},_TEENY_STAMPS>>"
    COMMENT "Embedding the kernels of ${target}"
    VERBATIM)
  add_custom_target(${target}_teeny_images DEPENDS "${config_directory}/embed.stamp")
  add_dependencies(${target}_teeny_images ${target}_teeny_header)
  set_target_properties(${target}_teeny_header ${target}_teeny_images PROPERTIES FOLDER Teeny)

  add_dependencies(${target} ${target}_teeny_header)
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    add_dependencies(${target} ${target}_teeny_images)
  endif()

  target_sources(${target} PRIVATE "${source}")
  # It carries bytes by .incbin: an LTO object would look for them at the link, a unity file or a
  # precompiled header would bring in what it does not need.
  set_source_files_properties(${embedded} TARGET_DIRECTORY ${target} PROPERTIES
    GENERATED ON
    SKIP_UNITY_BUILD_INCLUSION ON
    SKIP_PRECOMPILE_HEADERS ON
    SKIP_AUTOGEN ON
    COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-fno-lto;-w>")
  _teeny_runtime_include(runtime)
  target_include_directories(${target} SYSTEM PRIVATE "${directory}/include" "${runtime}")
endfunction()

# The target teeny-rust-project, made on request: rust-project.json at the top of the build tree.
function(_teeny_add_to_rust_project manifest)
  if(NOT TARGET teeny-rust-project)
    _teeny_tool(tool tool_depends)
    add_custom_target(teeny-rust-project
      COMMAND ${tool} rust-project --output "${CMAKE_BINARY_DIR}/rust-project.json"
              "$<TARGET_PROPERTY:teeny-rust-project,_TEENY_MANIFESTS>"
      DEPENDS ${tool_depends}
      COMMENT "Writing rust-project.json for rust-analyzer"
      VERBATIM COMMAND_EXPAND_LISTS)
    set_target_properties(teeny-rust-project PROPERTIES FOLDER Teeny)
  endif()
  set_property(TARGET teeny-rust-project APPEND PROPERTY _TEENY_MANIFESTS "--manifest=${manifest}")
endfunction()

# PUBLIC: the header, and those of Teeny that it includes, become a file set of the target.
function(_teeny_publish_header target)
  get_target_property(visibility ${target} _TEENY_VISIBILITY)
  if(visibility STREQUAL "exported")
    return()
  endif()
  set_target_properties(${target} PROPERTIES _TEENY_VISIBILITY exported)
  get_target_property(directory ${target} _TEENY_DIRECTORY)
  set(header "${directory}/include/${target}_kernels.hpp")
  _teeny_runtime_include(runtime)
  set_source_files_properties("${header}" TARGET_DIRECTORY ${target} PROPERTIES GENERATED ON)
  target_sources(${target} PUBLIC
    FILE_SET teeny_kernels TYPE HEADERS
    BASE_DIRS "${directory}/include" "${runtime}"
    FILES "${header}" "${runtime}/teeny/kernel.hpp" "${runtime}/teeny/detail/image_data.hpp")
endfunction()

# Writes, at the end of the configure step, what src/target_manifest.h describes.
function(_teeny_generate_manifest file target config_directory)
  get_target_property(directory ${target} _TEENY_DIRECTORY)
  get_target_property(namespace ${target} _TEENY_NAMESPACE)
  _teeny_choose_embedding(embed ${target})
  _teeny_json_string(directory "${directory}")
  set(second "")
  if(NOT config_directory STREQUAL "")
    _teeny_json_string(config_directory "${config_directory}")
    set(second "\n \"configuration_directory\": ${config_directory},")
  endif()
  file(GENERATE OUTPUT "${file}" CONTENT
"{\"target\": \"${target}\", \"namespace\": \"${namespace}\", \"visibility\": \"$<TARGET_PROPERTY:${target},_TEENY_VISIBILITY>\", \"embed\": \"${embed}\",
 \"directory\": ${directory},${second}
 \"kernels\": [
$<TARGET_PROPERTY:${target},_TEENY_KERNELS>
]}
" TARGET ${target})
endfunction()

# TEENY_EMBED (target property or variable): incbin, literal, or auto. The assembler reads the image
# files where it runs: programs that send the source to another machine need literals.
function(_teeny_choose_embedding result target)
  get_target_property(embed ${target} TEENY_EMBED)
  if(NOT embed)
    set(embed "${TEENY_EMBED}")
  endif()
  if(NOT embed)
    set(embed auto)
  endif()
  _teeny_check_one_of("teeny_add_kernel(${target})" TEENY_EMBED "${embed}" auto incbin literal)
  if(embed STREQUAL "auto")
    get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
    if(MSVC OR "${launcher}" MATCHES "distcc|icecc|sccache-dist|buildcache|reclient|rewrapper|goma")
      set(embed literal)
    else()
      set(embed incbin)
    endif()
  endif()
  set(${result} ${embed} PARENT_SCOPE)
endfunction()

# The custom target in whose directory the rules of this call stand, in `result`.
function(_teeny_rules_target result target)
  get_target_property(first_directory ${target} _TEENY_CALL_DIRECTORY)
  if(first_directory STREQUAL CMAKE_CURRENT_BINARY_DIR)
    set(${result} ${target}_teeny_images PARENT_SCOPE)
    return()
  endif()
  string(SHA1 key "${CMAKE_CURRENT_BINARY_DIR}")
  string(SUBSTRING ${key} 0 12 key)
  set(rules ${target}_teeny_images_${key})
  if(NOT TARGET ${rules})
    add_custom_target(${rules}
      DEPENDS "$<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},_TEENY_STAMPS_${key}>>")
    set_target_properties(${rules} PROPERTIES FOLDER Teeny)
    add_dependencies(${target}_teeny_images ${rules})
  endif()
  set(${result} ${rules} PARENT_SCOPE)
endfunction()

# SOURCE files that rules of this directory make are made before the header is, which another
# directory's rules may write: Make sees no rules of other directories.
function(_teeny_order_sources target rules)
  if(rules STREQUAL "${target}_teeny_images")
    return()
  endif()
  foreach(source IN LISTS ARGN)
    get_source_file_property(generated "${source}" GENERATED)
    if(generated)
      string(SHA1 key "${source}")
      string(SUBSTRING ${key} 0 12 key)
      if(NOT TARGET ${target}_teeny_source_${key})
        add_custom_target(${target}_teeny_source_${key} DEPENDS "${source}")
        set_target_properties(${target}_teeny_source_${key} PROPERTIES FOLDER Teeny)
        add_dependencies(${target}_teeny_header ${target}_teeny_source_${key})
        add_dependencies(${rules} ${target}_teeny_source_${key})
      endif()
    endif()
  endforeach()
endfunction()

# The rule of one image, <directory>/<name>.<arch>.ptx. Sets `stamp` to its OUTPUT.
#   _teeny_add_image_rule(stamp <target> <name> <arch> <directory>
#                         ARGUMENTS <arg of `compile`>... DEPENDS <file>...)
function(_teeny_add_image_rule stamp target name arch directory)
  cmake_parse_arguments(PARSE_ARGV 5 arg "" "" "ARGUMENTS;DEPENDS")
  _teeny_tool(tool tool_depends)
  set(base "${directory}/${name}.${arch}")
  set(extra)
  get_target_property(pool ${target} TEENY_JOB_POOL)
  if(NOT pool)
    set(pool "${TEENY_JOB_POOL}")
  endif()
  if(pool)
    list(APPEND extra JOB_POOL "${pool}")
  endif()
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.27)
    list(APPEND extra DEPENDS_EXPLICIT_ONLY)
  endif()
  add_custom_command(
    OUTPUT "${base}.stamp"
    BYPRODUCTS "${base}.ptx"
    COMMAND ${tool} compile --output "${base}.ptx" --stamp "${base}.stamp" ${arg_ARGUMENTS}
    DEPENDS ${tool_depends} ${arg_DEPENDS}
    COMMENT "Compiling kernel ${name} of ${target} for ${arch}"
    VERBATIM COMMAND_EXPAND_LISTS ${extra})
  set(${stamp} "${base}.stamp" PARENT_SCOPE)
endfunction()
