# The arguments of teeny_add_kernel(): checked, completed, turned into those of `compile`.

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

# The absolute path of a file that is there, or that a rule makes in the source or binary directory;
# else empty.
function(_teeny_find_file result file)
  foreach(directory IN ITEMS "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
    get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${directory}")
    get_source_file_property(generated "${path}" GENERATED)
    if(generated OR (EXISTS "${path}" AND directory STREQUAL CMAKE_CURRENT_SOURCE_DIR))
      set(${result} "${path}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

# Makes the SOURCE files (`arg_SOURCE` of the caller) absolute. Each has to be there, or be the output of a rule.
function(_teeny_find_sources result call)
  set(found)
  foreach(file IN LISTS arg_SOURCE)
    if("${file}" MATCHES "[$]<|[\"\\\n;]|^$")
      _teeny_fail("${call}" "SOURCE '${file}' is not a file name that rules can use")
    endif()
    _teeny_find_file(path "${file}")
    if(NOT path)
      _teeny_fail("${call}" "SOURCE '${file}': there is no such file in"
        " ${CMAKE_CURRENT_SOURCE_DIR}, and no rule before this call makes it")
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
    string(REGEX REPLACE "^_+" "" proposal "${proposal}")
    string(REGEX REPLACE "(.)_$" "\\1" proposal "${proposal}")
    if(NOT proposal MATCHES "^[A-Za-z]" OR proposal IN_LIST keywords OR proposal IN_LIST taken)
      set(proposal "kernel_${proposal}")
    endif()
    _teeny_free_name(proposal ${target} "${proposal}")
    _teeny_fail("${call}" "NAME '${name}' is not a C++ identifier; give NAME ${proposal}")
  endif()
  if(name IN_LIST keywords OR name IN_LIST taken)
    _teeny_fail("${call}" "NAME '${name}' has a meaning of its own in C++ or in the generated"
      " header; give NAME ${name}_kernel")
  endif()
  _teeny_free_name(free ${target} "${name}")
  if(NOT free STREQUAL name)
    _teeny_fail("${call}" "target ${target} has a kernel NAME '${name}' already; give this one"
      " another NAME, such as ${free}")
  endif()
  set_property(TARGET ${target} PROPERTY _TEENY_KERNEL_${name} TRUE)
endfunction()

# `name`, or with a number behind it the first that the target has no kernel of.
function(_teeny_free_name result target name)
  set(free "${name}")
  set(number 1)
  get_property(known TARGET ${target} PROPERTY _TEENY_KERNEL_${free} SET)
  while(known)
    math(EXPR number "${number} + 1")
    set(free "${name}_${number}")
    get_property(known TARGET ${target} PROPERTY _TEENY_KERNEL_${free} SET)
  endwhile()
  set(${result} "${free}" PARENT_SCOPE)
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
    # As the Rust runtime reads it: a u32, anything else is warned about and ignored.
    if("$ENV{TEENYC_PTX_VERSION}" MATCHES "^[+]?([0-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?)$")
      set(version "${CMAKE_MATCH_1}")
      set(source "the environment variable TEENYC_PTX_VERSION")
    else()
      _teeny_once("bad TEENYC_PTX_VERSION" first)
      if(first)
        message(WARNING "the environment variable TEENYC_PTX_VERSION, '$ENV{TEENYC_PTX_VERSION}',"
          " is not a plain number such as 82; ignored")
      endif()
    endif()
  endif()
  if(version STREQUAL "" OR version STREQUAL "default")
    set(version default)
  elseif(version MATCHES "^([0-9]+)[.]([0-9])$")
    set(version "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
  elseif(NOT version MATCHES "^[0-9][0-9]+$")
    _teeny_fail("${call}" "${source} '${version}' is not a PTX ISA version such as 8.2 or 82")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# A generator expression that may hold anything, commas and semicolons included: kept in a property
# of the target, since its text can't stand inside of another expression. `result` evaluates it.
function(_teeny_evaluated result target property text)
  string(REPLACE ";" "$<SEMICOLON>" text "${text}")
  set_property(TARGET ${target} PROPERTY ${property} "${text}")
  set(${result} "$<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},${property}>>" PARENT_SCOPE)
endfunction()

# Adds the options: of the variable TEENY_OPTIONS, of the target, and `arg_OPTIONS` of the caller.
function(_teeny_add_options result arguments target name)
  get_target_property(target_options ${target} TEENY_OPTIONS)
  if(NOT target_options)
    set(target_options)
  endif()
  set(number 0)
  foreach(option IN LISTS TEENY_OPTIONS target_options arg_OPTIONS)
    if(option STREQUAL "")
      continue()
    elseif(option MATCHES "[$]<")
      math(EXPR number "${number} + 1")
      _teeny_evaluated(value ${target} _TEENY_OPTION_${name}_${number} "${option}")
      list(APPEND arguments
        "$<$<NOT:$<STREQUAL:${value},>>:--option=$<JOIN:${value},$<SEMICOLON>--option=>>")
    else()
      # The backslash is for the list that the rule expands.
      string(REPLACE ";" "\\\\;" option "${option}")
      list(APPEND arguments "--option=${option}")
    endif()
  endforeach()
  set(${result} "${arguments}" PARENT_SCOPE)
endfunction()

# Sorts `arg_DEPENDS` of the caller into files (whose content is told to `compile`) and targets.
function(_teeny_add_depends depends result arguments call target name)
  set(list)
  set(number 0)
  foreach(item IN LISTS arg_DEPENDS)
    if(TARGET "${item}")
      list(APPEND list "${item}")
    elseif("${item}" MATCHES "[$]<")
      math(EXPR number "${number} + 1")
      _teeny_evaluated(value ${target} _TEENY_DEPEND_${name}_${number} "${item}")
      list(APPEND list "${value}")
      list(APPEND arguments
        "$<$<NOT:$<STREQUAL:${value},>>:--depend=$<JOIN:${value},$<SEMICOLON>--depend=>>")
    else()
      _teeny_find_file(path "${item}")
      if(NOT path)
        _teeny_fail("${call}" "DEPENDS '${item}' is neither a target nor a file that is there or"
          " made by a rule before this call")
      endif()
      list(APPEND list "${path}")
      list(APPEND arguments "--depend=${path}")
    endif()
  endforeach()
  set(${depends} "${list}" PARENT_SCOPE)
  set(${result} "${arguments}" PARENT_SCOPE)
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

