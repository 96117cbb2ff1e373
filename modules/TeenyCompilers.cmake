# Which compiler a frontend uses. Asked once per configure run and directory scope of the answer's
# inputs, so that a thousand kernels cost one search.

# Sets `result` to the real compiler binary, or NONE.
function(_teeny_find_compiler result call frontend)
  set(inputs "${frontend}|${TEENYC_EXECUTABLE}|${TEENY_RUSTC_EXECUTABLE}")
  string(SHA1 key "${inputs}")
  get_property(known GLOBAL PROPERTY _teeny_compiler_${key})
  if(known)
    set(${result} "${known}" PARENT_SCOPE)
    return()
  endif()
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  if(frontend STREQUAL "triton")
    find_package(Teenyc QUIET)
    if(NOT Teenyc_FOUND)
      _teeny_fail("${call}" "teenyc was not found: ${Teenyc_REASON}\n"
        "Ways to choose: -DTEENYC_EXECUTABLE=<path>, the environment variable TEENYC_PATH, a rustup"
        " toolchain with teenyc in its name, or -DTEENYC_EXECUTABLE=NONE if the kernels are in the"
        " cache. Kernels in plain Rust (FRONTEND rust) need no teenyc.")
    endif()
    set(compiler "${TEENYC_EXECUTABLE}")
    if(NOT compiler STREQUAL "NONE")
      file(REAL_PATH "${compiler}" compiler)
    endif()
  else()
    find_package(NvptxRustc QUIET)
    if(NOT NvptxRustc_FOUND)
      _teeny_fail("${call}" "no rustc for plain-Rust kernels: ${NvptxRustc_REASON}")
    endif()
    set(compiler "${NvptxRustc_EXECUTABLE}")
  endif()
  set_property(GLOBAL PROPERTY _teeny_compiler_${key} "${compiler}")
  set(${result} "${compiler}" PARENT_SCOPE)
endfunction()
