#[=======================================================================[.rst:
FindTeenyc
----------

Finds ``teenyc``, the compiler of triton kernels.

Looked for in this order: ``TEENYC_EXECUTABLE`` (cache variable; searched again when the file has
vanished), the environment variable ``TEENYC_PATH``, the only ``rustup`` toolchain whose name
contains ``teenyc``. Never a ``teenyc`` on ``PATH``: it is tied to the prelude, so it is chosen and
not met by chance. ``TEENYC_EXECUTABLE=NONE`` says that kernels come from the cache alone.

Result variables: ``Teenyc_FOUND``; ``TEENYC_EXECUTABLE``, the real binary or ``NONE``;
``Teenyc_REASON``, why there is none and how to choose one.
#]=======================================================================]

if(TEENYC_EXECUTABLE AND NOT TEENYC_EXECUTABLE STREQUAL "NONE" AND NOT EXISTS "${TEENYC_EXECUTABLE}")
  message(STATUS "Teeny: ${TEENYC_EXECUTABLE} has vanished; looking for teenyc again")
  unset(TEENYC_EXECUTABLE CACHE)
  unset(TEENYC_EXECUTABLE)
endif()

set(Teenyc_REASON "")
if(NOT TEENYC_EXECUTABLE)
  set(_teenyc_found "")
  set(_teenyc_path "$ENV{TEENYC_PATH}")
  if(NOT _teenyc_path STREQUAL "")
    if(EXISTS "${_teenyc_path}" AND NOT IS_DIRECTORY "${_teenyc_path}")
      set(_teenyc_found "${_teenyc_path}")
    else()
      set(Teenyc_REASON "TEENYC_PATH is '${_teenyc_path}', and there is no such program")
    endif()
  else()
    find_program(_teenyc_rustup rustup PATHS ENV CARGO_HOME "$ENV{HOME}/.cargo" PATH_SUFFIXES bin NO_CACHE)
    set(_teenyc_list "")
    if(_teenyc_rustup)
      execute_process(COMMAND "${_teenyc_rustup}" toolchain list
        OUTPUT_VARIABLE _teenyc_list ERROR_QUIET TIMEOUT 30)
    endif()
    string(REGEX MATCHALL "[^ \t\r\n]*teenyc[^ \t\r\n]*" _teenyc_toolchains "${_teenyc_list}")
    list(REMOVE_DUPLICATES _teenyc_toolchains)
    list(LENGTH _teenyc_toolchains _teenyc_count)
    if(_teenyc_count EQUAL 1)
      execute_process(
        COMMAND "${_teenyc_rustup}" which --toolchain "${_teenyc_toolchains}" teenyc
        OUTPUT_VARIABLE _teenyc_found OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_VARIABLE _teenyc_error TIMEOUT 30)
      if(NOT EXISTS "${_teenyc_found}")
        set(_teenyc_found "")
        set(Teenyc_REASON
          "the rustup toolchain ${_teenyc_toolchains} has no teenyc: ${_teenyc_error}")
      endif()
    elseif(_teenyc_count GREATER 1)
      list(JOIN _teenyc_toolchains ", " _teenyc_names)
      set(Teenyc_REASON "more than one rustup toolchain has teenyc in its name: ${_teenyc_names}")
    else()
      set(Teenyc_REASON
        "TEENYC_PATH is not set and no rustup toolchain has teenyc in its name")
    endif()
  endif()
  if(_teenyc_found)
    file(REAL_PATH "${_teenyc_found}" _teenyc_found)
    set(TEENYC_EXECUTABLE "${_teenyc_found}" CACHE FILEPATH
      "The teenyc compiler, or NONE to take triton kernels from the cache alone")
  endif()
endif()

# find_package_handle_standard_args() would take what stands behind a semicolon for a keyword.
string(REPLACE ";" "," Teenyc_REASON "${Teenyc_REASON}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Teenyc REQUIRED_VARS TEENYC_EXECUTABLE
  REASON_FAILURE_MESSAGE "${Teenyc_REASON}")
