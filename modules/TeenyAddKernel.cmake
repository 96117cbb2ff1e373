#[=======================================================================[.rst:
teeny_add_kernel
----------------

Compiles a GPU kernel written in Rust when the project is built, once per GPU architecture, and
embeds the images in a target::

  teeny_add_kernel(<target>
    SOURCE <file.rs>...
    [NAME <name>] [FRONTEND triton|rust] [FUNCTION <rust function>]
    [TYPES <type>...] [CONSTANTS <NAME>=<value>...] [ID <text>|AUTO]
    [ARCHITECTURES <arch>...] [PTX_VERSION <version>]
    [PRELUDE <file>|NONE] [OPTIONS <flag>...] [DEPENDS <file or target>...]
    [LOG_LEVEL error|warn|info|debug|trace]
    [NAMESPACE <ns>] [PUBLIC] [FORCE])

``<target>``
  An executable, or a static, shared, module or object library, of this or another directory. Its
  C++ includes ``<target>_kernels.hpp``, which is generated.
``SOURCE``
  The kernel's Rust files, joined in this order. Relative to the current source directory; they may
  be the output of a rule that was added before this call.
``NAME``
  The kernel's name in C++, unique on the target. Default: ``FUNCTION``, else the name of the first
  SOURCE without its ending.
``FRONTEND``
  ``triton``: the tile language, compiled by teenyc. ``rust``: plain Rust, compiled by teenyc or
  by a stock rustc of 1.90 or newer. Default: ``TEENY_FRONTEND``, else ``triton``.
``FUNCTION``
  The Rust function. Default: the one called NAME, else the only kernel function of the SOURCE.
``TYPES``, ``CONSTANTS``
  Arguments for the function's generic dtype parameters, in order, and for its const parameters.
``ID``
  Also publish under this id in the cache, where the Rust runtime looks. ``AUTO`` is the id that the
  Rust ``#[kernel]`` macro gives.
``ARCHITECTURES``
  Compute capabilities (``90``, ``sm_90``, ``90a``), ``native``, ``all``, ``all-major``. Default:
  the target property TEENY_ARCHITECTURES, the variable TEENY_ARCHITECTURES,
  CMAKE_CUDA_ARCHITECTURES, the environment variable TEENYC_CAPABILITY, this machine's GPU.
``PTX_VERSION``
  PTX ISA version to write, as ``8.2`` or ``82``. Default: TEENY_PTX_VERSION, the environment
  variable TEENYC_PTX_VERSION, the compiler's own choice.
``PRELUDE``
  Text in front of the kernel. Default for ``triton``: TEENY_PRELUDE, else put together from
  TEENY_TRITON_DIR; for ``rust``: the device prelude that comes with this package. ``NONE``: the
  SOURCE is the whole crate.
``OPTIONS``
  Flags added to the compiler's command line, behind those of the variable TEENY_OPTIONS and of the
  target property TEENY_OPTIONS. Generator expressions are possible.
``DEPENDS``
  Files that OPTIONS name (their content counts), and targets to be built before.
``LOG_LEVEL``
  The compiler's own logging. Default: TEENY_LOG_LEVEL, else the environment variable
  TEENYC_LOG_LEVEL when the rule runs.
``NAMESPACE``
  C++ namespace of the target's kernels, the same in each call. Default: ``<target>_kernels``.
``PUBLIC``
  The generated header is part of the target's interface: whoever links the target can include it,
  and a library exports its kernels. It is in the file set ``teeny_kernels`` of the target, together
  with the headers that it needs: ``install(TARGETS … FILE_SET teeny_kernels)``.
``FORCE``
  Compile even what is in the cache, whenever the rule runs.

Example::

  teeny_add_kernel(app SOURCE kernels/saxpy.rs FRONTEND rust ARCHITECTURES 80 90)
#]=======================================================================]

function(teeny_add_kernel target)
  set(call "teeny_add_kernel(${target})")
  set(flags PUBLIC FORCE)
  set(single NAME FRONTEND FUNCTION ID PTX_VERSION PRELUDE LOG_LEVEL NAMESPACE)
  set(multiple SOURCE TYPES CONSTANTS ARCHITECTURES OPTIONS DEPENDS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${flags}" "${single}" "${multiple}")
  cmake_parse_arguments(PARSE_ARGV 1 all "" "" "")
  _teeny_check_keywords("${call}" "${flags}" "${single}" "${multiple}")
  math(EXPR last "${ARGC} - 1")
  foreach(index RANGE 1 ${last})
    _teeny_check_word("${call}" "${ARGV${index}}")
  endforeach()
  _teeny_check_target(target "${call}" "${target}")

  if(NOT arg_SOURCE)
    _teeny_fail("${call}" "SOURCE is missing: the kernel's Rust file")
  endif()
  _teeny_find_sources(sources "${call}")
  if(NOT DEFINED arg_NAME)
    if(DEFINED arg_FUNCTION)
      set(arg_NAME "${arg_FUNCTION}")
    else()
      list(GET sources 0 first)
      get_filename_component(arg_NAME "${first}" NAME_WLE)
    endif()
  endif()
  _teeny_check_name("${call}" "${target}" "${arg_NAME}")
  set(call "teeny_add_kernel(${target} NAME ${arg_NAME})")

  if(NOT DEFINED arg_FRONTEND)
    set(arg_FRONTEND triton)
    if(TEENY_FRONTEND)
      _teeny_check_one_of("${call}" TEENY_FRONTEND "${TEENY_FRONTEND}" triton rust)
      set(arg_FRONTEND "${TEENY_FRONTEND}")
    endif()
  endif()
  _teeny_check_one_of("${call}" FRONTEND "${arg_FRONTEND}" triton rust)
  _teeny_check_instantiation("${call}" "${arg_FRONTEND}" "${arg_TYPES}" "${arg_CONSTANTS}")
  if(NOT DEFINED arg_ARCHITECTURES)
    _teeny_default_architectures(arg_ARCHITECTURES "${call}" "${target}")
  endif()
  _teeny_normalize_architectures(architectures "${call}" "${arg_FRONTEND}" ${arg_ARCHITECTURES})
  if(arg_FRONTEND STREQUAL "triton")
    _teeny_note_exact_architectures("${call}" ${architectures})
  endif()
  _teeny_choose_ptx_version(ptx_version "${call}" "${arg_PTX_VERSION}")
  _teeny_find_compiler(compiler "${call}" "${arg_FRONTEND}")
  _teeny_find_prelude(prelude prelude_depends "${call}" "${arg_FRONTEND}" "${arg_PRELUDE}")

  # What `compile` is told. Everything that can change the bytes is said, so that the environment
  # of whoever runs the build does not count.
  set(arguments --name "${arg_NAME}" --frontend "${arg_FRONTEND}" --compiler "${compiler}"
    --ptx-version "${ptx_version}" --prelude "${prelude}")
  if(DEFINED arg_FUNCTION)
    list(APPEND arguments --function "${arg_FUNCTION}")
  endif()
  foreach(source IN LISTS sources)
    list(APPEND arguments --source "${source}")
  endforeach()
  foreach(type IN LISTS arg_TYPES)
    list(APPEND arguments --type "${type}")
  endforeach()
  foreach(constant IN LISTS arg_CONSTANTS)
    list(APPEND arguments --constant "${constant}")
  endforeach()
  if(DEFINED arg_ID)
    list(APPEND arguments --id "${arg_ID}")
  endif()
  _teeny_add_options(arguments "${arguments}" ${target} "${arg_NAME}")
  _teeny_add_depends(depends arguments "${arguments}" "${call}" ${target} "${arg_NAME}")
  if(TEENY_CACHE_DIR)
    get_filename_component(cache_dir "${TEENY_CACHE_DIR}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
    list(APPEND arguments --cache-dir "${cache_dir}")
  endif()
  if(TEENY_CACHE_SHARED)
    list(APPEND arguments --cache-shared)
  endif()
  foreach(word IN LISTS TEENY_COMPILER_LAUNCHER)
    list(APPEND arguments "--launcher=${word}")
  endforeach()
  if(DEFINED arg_LOG_LEVEL)
    set(log_level "${arg_LOG_LEVEL}")
    set(origin LOG_LEVEL)
  else()
    set(log_level "${TEENY_LOG_LEVEL}")
    set(origin TEENY_LOG_LEVEL)
  endif()
  if(NOT log_level STREQUAL "")
    _teeny_check_one_of("${call}" ${origin} "${log_level}" error warn info debug trace)
    list(APPEND arguments --log-level "${log_level}")
  endif()
  if(arg_FORCE)
    list(APPEND arguments --force)
  endif()
  if(NOT compiler STREQUAL "NONE")
    list(APPEND depends "${compiler}")
  endif()
  list(APPEND depends ${sources} ${prelude_depends})

  _teeny_check_namespace(namespace "${call}" "${target}" "${arg_NAMESPACE}")
  get_target_property(begun ${target} _TEENY_DIRECTORY)
  if(NOT begun)
    _teeny_begin_target(${target} ${namespace})
  endif()
  if(arg_PUBLIC)
    _teeny_publish_header(${target})
  endif()
  _teeny_rules_target(rules ${target})
  if(prelude_depends MATCHES "/teeny/triton_prelude_([0-9a-f]+)[.]rs[.]stamp$")
    add_dependencies(${rules} teeny_triton_prelude_${CMAKE_MATCH_1})
  endif()

  if("${arguments};${depends}" MATCHES "[$]<")
    set(per_configuration true)
    get_target_property(directory ${target} _TEENY_CONFIG_DIRECTORY)
  else()
    set(per_configuration false)
    get_target_property(directory ${target} _TEENY_DIRECTORY)
  endif()
  set(images)
  foreach(arch IN LISTS architectures)
    _teeny_add_image_rule(stamp ${target} ${arg_NAME} ${arch} "${directory}"
      ARGUMENTS ${arguments} --arch ${arch} DEPENDS ${depends})
    set_property(TARGET ${target} APPEND PROPERTY _TEENY_STAMPS "${stamp}")
    if(NOT rules STREQUAL "${target}_teeny_images")
      string(REPLACE "${target}_teeny_images_" "" key "${rules}")
      set_property(TARGET ${target} APPEND PROPERTY _TEENY_STAMPS_${key} "${stamp}")
    endif()
    list(APPEND images "\"${arg_NAME}.${arch}.ptx\"")
  endforeach()
  _teeny_append_to_manifest(${target} ${per_configuration} "${sources}" "${images}")
  set_property(TARGET ${target} APPEND PROPERTY _TEENY_SOURCES "${sources}")
  _teeny_order_sources(${target} ${rules} ${sources})
  _teeny_show_in_ide(${target} ${sources})
endfunction()

# One more kernel in the target's manifest, of the arguments of the caller. `images` are JSON strings.
function(_teeny_append_to_manifest target per_configuration sources images)
  _teeny_json_strings(sources ${sources})
  _teeny_json_strings(types ${arg_TYPES})
  _teeny_json_strings(constants ${arg_CONSTANTS})
  _teeny_json_string(prelude_json "${prelude}")
  list(JOIN images ", " images)
  set(separator "")
  get_target_property(so_far ${target} _TEENY_HAS_KERNELS)
  if(so_far)
    set(separator ",\n")
  endif()
  set_target_properties(${target} PROPERTIES _TEENY_HAS_KERNELS TRUE)
  set_property(TARGET ${target} APPEND_STRING PROPERTY _TEENY_KERNELS
    "${separator}  {\"name\": \"${arg_NAME}\", \"frontend\": \"${arg_FRONTEND}\", \"function\": \"${arg_FUNCTION}\",\
 \"types\": [${types}], \"constants\": [${constants}], \"prelude\": ${prelude_json}, \"sources\": [${sources}],\
 \"per_configuration\": ${per_configuration}, \"images\": [${images}]}")
endfunction()

# Lists the Rust files with the target, where IDEs look.
function(_teeny_show_in_ide target)
  foreach(source IN LISTS ARGN)
    if(EXISTS "${source}")
      target_sources(${target} PRIVATE "${source}")
      set_source_files_properties("${source}" TARGET_DIRECTORY ${target}
        PROPERTIES HEADER_FILE_ONLY ON)
    endif()
  endforeach()
endfunction()
