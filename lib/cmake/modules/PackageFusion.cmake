# Packages of what is installed: 'cpack -G TXZ' in the build folder writes one
# archive that works wherever it is unpacked, 'cpack -G DEB' one Debian package
# for each component.

set(CPACK_PACKAGE_NAME fusion)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tensor programs to fused GPU kernels")
set(CPACK_PACKAGE_VENDOR "The Fusion project")
set(CPACK_PACKAGE_CONTACT "The Fusion project")
set(CPACK_RESOURCE_FILE_LICENSE "${FUSION_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_DIRECTORY "${FUSION_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
if(FUSION_BUILD_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL compiler)
endif()
set(CPACK_ARCHIVE_THREADS 0)

# What Debian packages a file needs, dpkg-shlibdeps says.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(same_release "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME fusion-runtime)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
    "Runs packages of fused GPU kernels, on a GPU or on an emulator
 libfusion-rt.so and the tools that need no LLVM.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME fusion-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "fusion-runtime ${same_release}")
set(CPACK_DEBIAN_DEV_DESCRIPTION
    "Headers and libraries to build programs with Fusion
 For C, CMake and pkg-config; for C++, the compiler as libraries of MLIR.")
if(FUSION_BUILD_COMPILER)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", fusion-compiler ${same_release}")
  # For programs in C++: the C interfaces need no headers of LLVM. Debian's MLIR
  # does not ask for the LLVM that its CMake files look for.
  set(llvm ${LLVM_VERSION_MAJOR})
  set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS
      "libmlir-${llvm}-dev, llvm-${llvm}-dev, mlir-${llvm}-tools")
  set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME fusion-compiler)
  set(CPACK_DEBIAN_COMPILER_DESCRIPTION
      "Compiles tensor programs to fused GPU kernels
 fusion-compile, fusion-run, fusion-opt and libfusion-c.so.")
endif()
# libfusion-rt.so.1 and libfusion-c.so.1 are for the linker to find.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(CPACK_PROJECT_CONFIG_FILE "${FUSION_SOURCE_DIR}/lib/cmake/CPackOptions.cmake")
include(CPack)
