# The helper runs on the machine that builds. In a cross build it is, in this order,
# TEENY_KERNEL_EXECUTABLE, the teeny-kernel of a Teeny installed below Teeny_ROOT, or built by a
# nested host build that sees nothing of the target's compilers, flags or toolchain file.

# Defines Teeny::teeny-kernel as an imported program.
function(_teeny_import_host_tool path)
  add_executable(Teeny::teeny-kernel IMPORTED GLOBAL)
  set_target_properties(Teeny::teeny-kernel PROPERTIES IMPORTED_LOCATION "${path}")
endfunction()

function(_teeny_provide_host_tool)
  if(TEENY_KERNEL_EXECUTABLE)
    _teeny_import_host_tool("${TEENY_KERNEL_EXECUTABLE}")
    return()
  endif()
  # Never on PATH, where another program may have the name.
  find_program(installed teeny-kernel HINTS "${Teeny_ROOT}" ENV Teeny_ROOT PATH_SUFFIXES bin
    NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH NO_CACHE)
  if(installed)
    message(STATUS "Teeny: cross build with ${installed}")
    _teeny_import_host_tool("${installed}")
    return()
  endif()

  set(binary_dir "${PROJECT_BINARY_DIR}/host")
  set(tool "${binary_dir}/src/teeny-kernel")
  # What could make the nested build one for the target.
  set(scrubbed ${CMAKE_COMMAND} -E env)
  foreach(variable CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS AR LD CMAKE_TOOLCHAIN_FILE
      CMAKE_GENERATOR CMAKE_BUILD_TYPE CMAKE_PREFIX_PATH CMAKE_C_COMPILER_LAUNCHER
      CMAKE_CXX_COMPILER_LAUNCHER CROSS_COMPILE SYSROOT PKG_CONFIG_PATH PKG_CONFIG_LIBDIR
      PKG_CONFIG_SYSROOT_DIR CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH)
    list(APPEND scrubbed --unset=${variable})
  endforeach()
  set(generator "${CMAKE_GENERATOR}")
  if(generator STREQUAL "Ninja Multi-Config")
    set(generator Ninja)
  endif()
  set(make_program)
  if(CMAKE_MAKE_PROGRAM)
    set(make_program "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}")
  endif()
  execute_process(
    COMMAND ${scrubbed} ${CMAKE_COMMAND} -S "${PROJECT_SOURCE_DIR}" -B "${binary_dir}"
      -G "${generator}" ${make_program} -DCMAKE_BUILD_TYPE=Release
      -DTEENY_BUILD_TESTS=OFF -DTEENY_BUILD_EXAMPLE=OFF -DTEENY_INSTALL=OFF
      "-DCMAKE_PREFIX_PATH=${TEENY_HOST_PREFIX_PATH}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "Teeny: this is a cross build, and the helper teeny-kernel can't be built for"
      " the machine that builds. Pass -DTEENY_KERNEL_EXECUTABLE=<path> to one that runs here, or"
      " -DTeeny_ROOT=<prefix> of a Teeny installed for it; -DTEENY_HOST_PREFIX_PATH=<prefix> says"
      " where the host's libraries are. The nested configure step says:\n${output}")
  endif()
  message(STATUS "Teeny: cross build; the helper is built for the host in ${binary_dir}")
  file(GLOB inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*" )
  list(FILTER inputs EXCLUDE REGEX "/include$")
  add_custom_command(
    OUTPUT "${tool}"
    COMMAND ${scrubbed} ${CMAKE_COMMAND} --build "${binary_dir}" --target teeny-kernel
    COMMAND ${CMAKE_COMMAND} -E touch "${tool}"
    DEPENDS ${inputs} "${PROJECT_SOURCE_DIR}/modules/device/prelude.rs"
    COMMENT "Building teeny-kernel for the host"
    VERBATIM)
  add_custom_target(teeny_host_tool DEPENDS "${tool}")
  _teeny_import_host_tool("${tool}")
  add_dependencies(Teeny::teeny-kernel teeny_host_tool)
endfunction()
