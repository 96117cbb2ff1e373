#[=======================================================================[.rst:
FindNvptxRustc
--------------

Finds a ``rustc`` that compiles plain-Rust kernels: version 1.90 or newer, with the target
``nvptx64-nvidia-cuda`` (no ``rust-std`` for it is needed).

Looked for in this order: ``TEENY_RUSTC_EXECUTABLE`` (cache variable; searched again when the file
has vanished), teenyc if there is one, ``rustc`` on ``PATH``. A rustup proxy is resolved to the
binary it stands for.

Result variables: ``NvptxRustc_FOUND``; ``NvptxRustc_EXECUTABLE``, the real binary;
``NvptxRustc_VERSION``; ``NvptxRustc_REASON``, why there is none.
#]=======================================================================]

if(TEENY_RUSTC_EXECUTABLE AND NOT EXISTS "${TEENY_RUSTC_EXECUTABLE}")
  message(STATUS "Teeny: ${TEENY_RUSTC_EXECUTABLE} has vanished; looking for rustc again")
  unset(TEENY_RUSTC_EXECUTABLE CACHE)
  unset(TEENY_RUSTC_EXECUTABLE)
endif()

set(NvptxRustc_REASON "")
set(_nvptx_rustc_automatic FALSE)
if(NOT TEENY_RUSTC_EXECUTABLE)
  find_package(Teenyc QUIET)
  if(Teenyc_FOUND AND NOT TEENYC_EXECUTABLE STREQUAL "NONE")
    set(_nvptx_rustc_found "${TEENYC_EXECUTABLE}")
  else()
    find_program(_nvptx_rustc_found rustc PATHS ENV CARGO_HOME "$ENV{HOME}/.cargo" PATH_SUFFIXES bin NO_CACHE)
  endif()
  if(_nvptx_rustc_found)
    set(_nvptx_rustc_automatic TRUE)
    set(TEENY_RUSTC_EXECUTABLE "${_nvptx_rustc_found}" CACHE FILEPATH
      "The rustc that compiles plain-Rust kernels")
  else()
    set(NvptxRustc_REASON
      "there is no rustc on PATH; install one (Debian: rustc-web), or set TEENY_RUSTC_EXECUTABLE")
  endif()
endif()

set(NvptxRustc_EXECUTABLE "")
set(NvptxRustc_VERSION "")
if(TEENY_RUSTC_EXECUTABLE)
  file(REAL_PATH "${TEENY_RUSTC_EXECUTABLE}" _nvptx_rustc_real)
  get_filename_component(_nvptx_rustc_name "${TEENY_RUSTC_EXECUTABLE}" NAME)
  get_filename_component(_nvptx_rustc_directory "${TEENY_RUSTC_EXECUTABLE}" DIRECTORY)
  # A proxy is rustup under another name, by symbolic or hard link: of the same size at least.
  set(_nvptx_rustup "")
  if(EXISTS "${_nvptx_rustc_directory}/rustup")
    file(SIZE "${_nvptx_rustc_directory}/rustup" _nvptx_rustup_size)
    file(SIZE "${_nvptx_rustc_real}" _nvptx_rustc_size)
    if(_nvptx_rustup_size EQUAL _nvptx_rustc_size)
      set(_nvptx_rustup "${_nvptx_rustc_directory}/rustup")
    endif()
  endif()
  if(_nvptx_rustup)
    execute_process(COMMAND "${_nvptx_rustup}" which "${_nvptx_rustc_name}"
      OUTPUT_VARIABLE _nvptx_rustc_real OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET TIMEOUT 30)
  endif()
  if(NOT EXISTS "${_nvptx_rustc_real}")
    set(NvptxRustc_REASON
      "${TEENY_RUSTC_EXECUTABLE} is a rustup proxy, and `rustup which` names no program")
  else()
    # Asked once per binary: starting a rustc is not free.
    file(TIMESTAMP "${_nvptx_rustc_real}" _nvptx_rustc_time "%s")
    set(_nvptx_rustc_key "${_nvptx_rustc_real}|${_nvptx_rustc_time}")
    if(NOT _TEENY_RUSTC_CHECKED STREQUAL _nvptx_rustc_key)
      execute_process(COMMAND "${_nvptx_rustc_real}" -vV
        OUTPUT_VARIABLE _nvptx_rustc_text ERROR_VARIABLE _nvptx_rustc_error TIMEOUT 60)
      execute_process(COMMAND "${_nvptx_rustc_real}" --print target-list
        OUTPUT_VARIABLE _nvptx_rustc_targets ERROR_QUIET TIMEOUT 60)
      set(_nvptx_rustc_seen "")
      if(_nvptx_rustc_text MATCHES "release: ([0-9]+[.][0-9]+[.][0-9]+)")
        set(_nvptx_rustc_seen "${CMAKE_MATCH_1}")
      elseif(_nvptx_rustc_text MATCHES "^[a-z]+ ([0-9]+[.][0-9]+[.][0-9]+)")
        set(_nvptx_rustc_seen "${CMAKE_MATCH_1}")
      endif()
      if(_nvptx_rustc_seen STREQUAL "")
        set(NvptxRustc_REASON
          "${_nvptx_rustc_real} does not tell its version: ${_nvptx_rustc_text}${_nvptx_rustc_error}")
      elseif(_nvptx_rustc_seen VERSION_LESS 1.90)
        set(NvptxRustc_REASON
          "${_nvptx_rustc_real} is of version ${_nvptx_rustc_seen}, and 1.90 or newer is needed (Debian: rustc-web)")
      elseif(NOT "${_nvptx_rustc_targets}" MATCHES "nvptx64-nvidia-cuda")
        set(NvptxRustc_REASON "${_nvptx_rustc_real} has no target nvptx64-nvidia-cuda")
      else()
        set(_TEENY_RUSTC_CHECKED "${_nvptx_rustc_key}" CACHE INTERNAL "rustc that was checked")
        set(_TEENY_RUSTC_VERSION "${_nvptx_rustc_seen}" CACHE INTERNAL "its version")
      endif()
    endif()
    if(NvptxRustc_REASON STREQUAL "")
      set(NvptxRustc_EXECUTABLE "${_nvptx_rustc_real}")
      set(NvptxRustc_VERSION "${_TEENY_RUSTC_VERSION}")
    endif()
  endif()
endif()

if(_nvptx_rustc_automatic AND NOT NvptxRustc_EXECUTABLE)
  # Not kept: a better one may come first on PATH next time.
  unset(TEENY_RUSTC_EXECUTABLE CACHE)
  unset(TEENY_RUSTC_EXECUTABLE)
  string(APPEND NvptxRustc_REASON ", or name another with TEENY_RUSTC_EXECUTABLE")
endif()
# find_package_handle_standard_args() would take what stands behind a semicolon for a keyword.
string(REPLACE ";" "," NvptxRustc_REASON "${NvptxRustc_REASON}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NvptxRustc REQUIRED_VARS NvptxRustc_EXECUTABLE
  VERSION_VAR NvptxRustc_VERSION REASON_FAILURE_MESSAGE "${NvptxRustc_REASON}")
