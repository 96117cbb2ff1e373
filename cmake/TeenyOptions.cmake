# What this project can be told to do. As a part of another project it builds the helper alone.
option(TEENY_BUILD_TESTS "Build the tests of Teeny for CMake" ${PROJECT_IS_TOP_LEVEL})
option(TEENY_BUILD_EXAMPLE "Build the example project with Teeny for CMake" OFF)
option(TEENY_INSTALL "Install Teeny for CMake with the project" ${PROJECT_IS_TOP_LEVEL})
set(TEENY_SANITIZE "" CACHE STRING
  "Sanitizers for the helper and the unit tests: empty, or address,undefined, or thread")
option(TEENY_BUILD_HELPER "In a cross build, build teeny-kernel for the target (to package it)" OFF)
