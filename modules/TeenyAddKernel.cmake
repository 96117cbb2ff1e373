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
  _teeny_check_keywords("${call}" "${flags};${single};${multiple}" ${ARGN})
  _teeny_check_target(target "${call}" "${target}")

  if(NOT arg_SOURCE)
    _teeny_fail("${call}" "SOURCE is missing: the kernel's Rust file")
  endif()
  _teeny_find_sources(sources "${call}" ${arg_SOURCE})
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
  get_target_property(target_options ${target} TEENY_OPTIONS)
  if(NOT target_options)
    set(target_options)
  endif()
  foreach(option IN LISTS TEENY_OPTIONS target_options arg_OPTIONS)
    if(option STREQUAL "")
      continue()
    elseif(option MATCHES "[$]<")
      list(APPEND arguments
        "$<$<BOOL:${option}>:--option=$<JOIN:${option},$<SEMICOLON>--option=>>")
    else()
      # Twice: for this list, and for the one that the rule expands.
      string(REPLACE ";" "\\\\;" option "${option}")
      list(APPEND arguments "--option=${option}")
    endif()
  endforeach()
  _teeny_add_depends(depends arguments "${call}" "${arguments}" ${arg_DEPENDS})
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
  else()
    set(log_level "${TEENY_LOG_LEVEL}")
  endif()
  if(NOT log_level STREQUAL "")
    _teeny_check_one_of("${call}" LOG_LEVEL "${log_level}" error warn info debug trace)
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
  _teeny_append_to_manifest(${target} "${arg_NAME}" "${arg_FRONTEND}" "${sources}"
    ${per_configuration} "${images}")
  _teeny_show_in_ide(${target} ${sources})
endfunction()

# Resolves an ALIAS, and fails for what can't carry kernels.
function(_teeny_check_target result call target)
  if(NOT TARGET "${target}")
    _teeny_fail("${call}" "there is no target '${target}' (yet): call teeny_add_kernel() after"
      " add_executable() or add_library()")
  endif()
  get_target_property(aliased "${target}" ALIASED_TARGET)
  if(aliased)
    set(target "${aliased}")
  endif()
  get_target_property(imported "${target}" IMPORTED)
  if(imported)
    _teeny_fail("${call}" "'${target}' is imported: it was built elsewhere, and nothing can be"
      " embedded in it")
  endif()
  get_target_property(type "${target}" TYPE)
  if(NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
    _teeny_fail("${call}" "'${target}' is of type ${type}, which has no objects to embed kernels"
      " in; accepted are executables and static, shared, module and object libraries")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    _teeny_fail("${call}" "the project does not enable the language CXX, which the embedding file"
      " and the generated header need")
  endif()
  set(${result} "${target}" PARENT_SCOPE)
endfunction()

# Makes the SOURCE files absolute. Each has to be there, or be the output of a rule.
function(_teeny_find_sources result call)
  set(found)
  foreach(file IN LISTS ARGN)
    if("${file}" MATCHES "[$]<|[\"\\\n]|^$")
      _teeny_fail("${call}" "SOURCE '${file}' is not a file name that rules can use")
    endif()
    get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT EXISTS "${path}")
      get_source_file_property(generated "${path}" GENERATED)
      if(NOT generated)
        get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
        get_source_file_property(generated "${path}" GENERATED)
      endif()
      if(NOT generated)
        _teeny_fail("${call}" "SOURCE '${file}': there is no such file in"
          " ${CMAKE_CURRENT_SOURCE_DIR}, and no rule before this call makes it")
      endif()
    elseif(IS_DIRECTORY "${path}")
      _teeny_fail("${call}" "SOURCE '${file}' is a directory")
    endif()
    list(APPEND found "${path}")
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# NAME has to be a C++ identifier, and new on the target.
function(_teeny_check_name call target name)
  set(keywords alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t
    char16_t char32_t class compl concept const const_cast consteval constexpr constinit continue
    co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit
    export extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq)
  set(taken all find detail)
  if(NOT "${name}" MATCHES "^[A-Za-z_][A-Za-z0-9_]*$" OR "${name}" MATCHES "^_[A-Z]|__")
    string(REGEX REPLACE "[^A-Za-z0-9]+" "_" proposal "${name}")
    string(REGEX REPLACE "^(_+|$)" "" proposal "${proposal}")
    if(NOT proposal MATCHES "^[A-Za-z]")
      set(proposal "kernel_${proposal}")
    endif()
    _teeny_fail("${call}" "NAME '${name}' is not a C++ identifier; give NAME ${proposal}")
  endif()
  if(name IN_LIST keywords OR name IN_LIST taken)
    _teeny_fail("${call}" "NAME '${name}' has a meaning of its own in C++ or in the generated"
      " header; give NAME ${name}_kernel")
  endif()
  get_property(known TARGET ${target} PROPERTY _TEENY_KERNEL_${name} SET)
  if(known)
    set(number 2)
    get_property(known TARGET ${target} PROPERTY _TEENY_KERNEL_${name}_${number} SET)
    while(known)
      math(EXPR number "${number} + 1")
      get_property(known TARGET ${target} PROPERTY _TEENY_KERNEL_${name}_${number} SET)
    endwhile()
    _teeny_fail("${call}" "target ${target} has a kernel NAME '${name}' already; give this one"
      " another NAME, such as ${name}_${number}")
  endif()
  set_property(TARGET ${target} PROPERTY _TEENY_KERNEL_${name} TRUE)
endfunction()

# TYPES and CONSTANTS as far as they can be checked without reading the source.
function(_teeny_check_instantiation call frontend types constants)
  if(frontend STREQUAL "rust" AND NOT "${types}${constants}" STREQUAL "")
    _teeny_fail("${call}" "TYPES and CONSTANTS are for FRONTEND triton: plain-Rust kernels are not"
      " generic")
  endif()
  foreach(type IN LISTS types)
    _teeny_check_one_of("${call}" TYPES "${type}"
      bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64)
  endforeach()
  foreach(constant IN LISTS constants)
    if(NOT constant MATCHES "^[A-Za-z_][A-Za-z0-9_]*=.+$")
      _teeny_fail("${call}" "CONSTANTS '${constant}' is not of the form <NAME>=<value>")
    endif()
  endforeach()
endfunction()

# Sets `result` to major * 10 + minor, or `default`.
function(_teeny_choose_ptx_version result call argument)
  set(version "${argument}")
  set(source PTX_VERSION)
  if(version STREQUAL "" AND TEENY_PTX_VERSION)
    set(version "${TEENY_PTX_VERSION}")
    set(source TEENY_PTX_VERSION)
  elseif(version STREQUAL "" AND NOT "$ENV{TEENYC_PTX_VERSION}" STREQUAL "")
    # As the Rust runtime reads it: a plain number, anything else is warned about and ignored.
    if("$ENV{TEENYC_PTX_VERSION}" MATCHES "^[+]?[0-9]+$")
      set(version "$ENV{TEENYC_PTX_VERSION}")
      string(REPLACE "+" "" version "${version}")
    else()
      message(WARNING "the environment variable TEENYC_PTX_VERSION, '$ENV{TEENYC_PTX_VERSION}',"
        " is not a plain number such as 82; ignored")
    endif()
  endif()
  if(version STREQUAL "" OR version STREQUAL "default")
    set(version default)
  elseif(version MATCHES "^([0-9]+)[.]([0-9])$")
    set(version "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
  elseif(NOT version MATCHES "^[0-9]+$")
    _teeny_fail("${call}" "${source} '${version}' is not a PTX ISA version such as 8.2 or 82")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Sorts DEPENDS into files (whose content is told to `compile`) and targets.
function(_teeny_add_depends depends arguments_out call arguments)
  set(list)
  foreach(item IN LISTS ARGN)
    if(TARGET "${item}")
      list(APPEND list "${item}")
    elseif("${item}" MATCHES "[$]<")
      list(APPEND list "${item}")
      list(APPEND arguments "$<$<BOOL:${item}>:--depend=$<JOIN:${item},$<SEMICOLON>--depend=>>")
    else()
      get_filename_component(path "${item}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      get_source_file_property(generated "${path}" GENERATED)
      if(NOT EXISTS "${path}" AND NOT generated)
        _teeny_fail("${call}" "DEPENDS '${item}' is neither a target nor a file that is there or"
          " made by a rule")
      endif()
      list(APPEND list "${path}")
      list(APPEND arguments "--depend=${path}")
    endif()
  endforeach()
  set(${depends} "${list}" PARENT_SCOPE)
  set(${arguments_out} "${arguments}" PARENT_SCOPE)
endfunction()

# The namespace of the target's kernels: one for all its calls.
function(_teeny_check_namespace result call target argument)
  get_target_property(existing ${target} _TEENY_NAMESPACE)
  set(namespace "${argument}")
  if(namespace STREQUAL "")
    if(existing)
      set(namespace "${existing}")
    else()
      string(REGEX REPLACE "[^A-Za-z0-9_]" "_" namespace "${target}_kernels")
      if(namespace MATCHES "^[0-9]")
        set(namespace "_${namespace}")
      endif()
    endif()
  endif()
  if(NOT namespace MATCHES "^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$")
    _teeny_fail("${call}" "NAMESPACE '${namespace}' is not a C++ namespace")
  endif()
  if(existing AND NOT namespace STREQUAL existing)
    _teeny_fail("${call}" "NAMESPACE '${namespace}': an earlier call for ${target} has chosen"
      " '${existing}', and a target has one")
  endif()
  set(${result} "${namespace}" PARENT_SCOPE)
endfunction()

# One more kernel in the target's manifest. `images` are JSON strings.
function(_teeny_append_to_manifest target name frontend sources per_configuration images)
  list(JOIN images ", " images)
  set(texts)
  foreach(source IN LISTS sources)
    get_filename_component(shown "${source}" NAME)
    _teeny_json_string(text "${shown}")
    list(APPEND texts "${text}")
  endforeach()
  list(JOIN texts ", " texts)
  set(separator "")
  get_target_property(so_far ${target} _TEENY_HAS_KERNELS)
  if(so_far)
    set(separator ",\n")
  endif()
  set_target_properties(${target} PROPERTIES _TEENY_HAS_KERNELS TRUE)
  set_property(TARGET ${target} APPEND_STRING PROPERTY _TEENY_KERNELS
    "${separator}  {\"name\": \"${name}\", \"frontend\": \"${frontend}\", \"sources\": [${texts}], \"per_configuration\": ${per_configuration}, \"images\": [${images}]}")
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
