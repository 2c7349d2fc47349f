# What is installed, and how other CMake projects find it (find_package(Fusion)).
#
# Files come in three install components, which are the Debian packages too:
#   runtime    libfusion-rt.so and the tools that know no MLIR
#   compiler   libfusion-c.so and the compiler's tools
#   dev        headers, static libraries, CMake and pkg-config files
# Targets come in three export sets, the components of find_package: Runtime
# (no LLVM), Compiler (its C interface, no LLVM headers) and MLIR (the C++
# libraries of the compiler).

set(FUSION_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/Fusion")
# Where files for it are written: find_package looks into the build folder when
# build/bin is on PATH, and into this one never.
set(FUSION_INSTALL_FILES "${CMAKE_CURRENT_BINARY_DIR}/install-files")

# fusion_install_targets(EXPORT COMPONENT target...): installs libraries, as
# Fusion::<target> of the component EXPORT of find_package.
function(fusion_install_targets export component)
  if(NOT FUSION_INSTALL)
    return()
  endif()
  install(TARGETS ${ARGN} EXPORT Fusion${export}Targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
            NAMELINK_COMPONENT dev
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
  set_property(GLOBAL PROPERTY FUSION_EXPORTS_${export} ON)
endfunction()

# fusion_install_tool(TARGET COMPONENT)
function(fusion_install_tool name component)
  if(FUSION_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
            COMPONENT ${component})
  endif()
endfunction()

# Headers, TableGen files and the tables that headers include.
function(fusion_install_headers)
  # The runtime's, and those of the package format that it reads.
  set(folders fusion-rt fusion/Executable)
  if(FUSION_BUILD_COMPILER)
    set(folders fusion-rt fusion-c fusion)
    install(DIRECTORY "${FUSION_BINARY_DIR}/include/fusion"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
      FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
  endif()
  foreach(folder ${folders})
    get_filename_component(parent "${CMAKE_INSTALL_INCLUDEDIR}/${folder}" DIRECTORY)
    install(DIRECTORY "${FUSION_SOURCE_DIR}/include/${folder}"
      DESTINATION "${parent}" COMPONENT dev
      FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.td")
  endforeach()
  install(FILES "${FUSION_BINARY_DIR}/include/fusion/Version.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/fusion" COMPONENT dev)
endfunction()

# fusion_install_pkgconfig(LIBRARY DESCRIPTION): LIBRARY.pc, which finds its
# prefix from where it lies.
function(fusion_install_pkgconfig library description)
  set(dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH pc_prefix "/${dir}" "/")
  string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
  set(pc_library "${library}")
  set(pc_description "${description}")
  configure_file("${FUSION_SOURCE_DIR}/lib/cmake/library.pc.in"
                 "${FUSION_INSTALL_FILES}/${library}.pc" @ONLY)
  install(FILES "${FUSION_INSTALL_FILES}/${library}.pc" DESTINATION "${dir}"
          COMPONENT dev)
endfunction()

# FusionConfig.cmake with its version and the targets of this build.
function(fusion_install_cmake_files)
  include(CMakePackageConfigHelpers)
  set(config "${FUSION_INSTALL_FILES}/FusionConfig.cmake")
  configure_package_config_file(
    "${FUSION_SOURCE_DIR}/lib/cmake/FusionConfig.cmake.in" "${config}"
    INSTALL_DESTINATION "${FUSION_INSTALL_CMAKEDIR}"
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  # Before 1.0 each minor version may change the interface of C++.
  write_basic_package_version_file("${FUSION_INSTALL_FILES}/FusionConfigVersion.cmake"
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES "${config}" "${FUSION_INSTALL_FILES}/FusionConfigVersion.cmake"
          DESTINATION "${FUSION_INSTALL_CMAKEDIR}" COMPONENT dev)
  foreach(export Runtime Compiler MLIR)
    get_property(exists GLOBAL PROPERTY FUSION_EXPORTS_${export})
    if(exists)
      install(EXPORT Fusion${export}Targets NAMESPACE Fusion::
              DESTINATION "${FUSION_INSTALL_CMAKEDIR}" COMPONENT dev)
    endif()
  endforeach()
endfunction()

# What is installed beside the targets.
function(fusion_install_project)
  fusion_install_headers()
  fusion_install_pkgconfig(fusion-rt "Runs packages of fused GPU kernels")
  if(FUSION_BUILD_COMPILER)
    fusion_install_pkgconfig(fusion-c "Compiles tensor programs to packages")
  endif()
  fusion_install_cmake_files()
  set(components runtime dev)
  if(FUSION_BUILD_COMPILER)
    list(APPEND components compiler)
  endif()
  foreach(component ${components})
    install(FILES "${FUSION_SOURCE_DIR}/LICENSE" RENAME copyright
      DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fusion-${component}"
      COMPONENT ${component})
  endforeach()
endfunction()
