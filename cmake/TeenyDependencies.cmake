# The libraries of the helper, found or missed with an error that says what to install.

function(_teeny_require package debian homebrew)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR
      "Teeny for CMake builds its helper with ${package}, which was not found.\n"
      "Install it: `apt-get install ${debian}` on Debian and Ubuntu, "
      "`brew install ${homebrew}` with Homebrew; or name its prefix in CMAKE_PREFIX_PATH.")
  endif()
  set(_teeny_required_ok TRUE PARENT_SCOPE)
endfunction()

_teeny_require(OpenSSL libssl-dev openssl@3 COMPONENTS Crypto)
_teeny_require(spdlog libspdlog-dev spdlog)
_teeny_require(nlohmann_json nlohmann-json3-dev nlohmann-json)
_teeny_require(CLI11 libcli11-dev cli11)
_teeny_require(Threads libc6-dev gcc)
