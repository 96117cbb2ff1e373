# Entry point of Teeny for CMake: defines teeny_add_kernel() and changes nothing else.
include_guard(DIRECTORY)
cmake_policy(VERSION 3.25...3.31)

include(${CMAKE_CURRENT_LIST_DIR}/TeenyCheckArguments.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TeenyArchitectures.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TeenyCompilers.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TeenyPrelude.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TeenyKernelArguments.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TeenyKernelRules.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TeenyAddKernel.cmake)
