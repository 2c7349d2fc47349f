# CMake helpers of the Fusion project.

# Compile options shared by every target of the project.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-exceptions
                    -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Keeps the precompiled header identical from build to build, for ccache.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
find_program(FUSION_LLD NAMES ld.lld-22 ld.lld)
if(FUSION_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()

# Sets FUSION_LLVM_LIBS to the libraries of MLIR and LLVM: the two shared ones,
# or, with FUSION_STATIC_LLVM, every archive, of which lld takes what is used.
# The two ways must not be mixed in one program: types would exist twice.
# FUSION_LLVM_ARCHIVES is the second way, empty where an archive is missing.
function(fusion_find_llvm_libraries)
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
  find_library(FUSION_ZLIB_ARCHIVE NAMES libz.a)
  find_library(FUSION_ZSTD_ARCHIVE NAMES libzstd.a)
  if(FUSION_LLD AND archives AND FUSION_ZLIB_ARCHIVE AND FUSION_ZSTD_ARCHIVE)
    list(APPEND archives -Wl,--gc-sections "${FUSION_ZLIB_ARCHIVE}"
         "${FUSION_ZSTD_ARCHIVE}" ${CMAKE_DL_LIBS} pthread)
  else()
    set(archives)
  endif()
  set(libs MLIR LLVM)
  if(FUSION_STATIC_LLVM)
    if(NOT archives)
      message(FATAL_ERROR "FUSION_STATIC_LLVM needs lld and the archives of "
                          "MLIR, LLVM, zlib and zstd")
    endif()
    set(libs ${archives})
  endif()
  set(FUSION_LLVM_LIBS ${libs} PARENT_SCOPE)
  set(FUSION_LLVM_ARCHIVES ${archives} PARENT_SCOPE)
  # MLIR's C API is in archives alone. By their files: as targets they would bring
  # the archives of MLIR along. Among those of FUSION_STATIC_LLVM they are already.
  file(GLOB capi "${LLVM_LIBRARY_DIR}/libMLIRCAPI*.a")
  if(FUSION_STATIC_LLVM)
    set(capi)
  endif()
  set(FUSION_MLIR_CAPI ${capi} PARENT_SCOPE)
endfunction()

# The one precompiled header of the compiler: a file that includes MLIR's
# heavy headers costs 8 s to compile without it and about 1 s with it.
function(fusion_add_precompiled_header)
  add_library(FusionPCH OBJECT "${FUSION_SOURCE_DIR}/lib/Support/PrecompiledHeader.cpp")
  target_include_directories(FusionPCH SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_precompile_headers(FusionPCH PRIVATE
    "${FUSION_SOURCE_DIR}/lib/Support/PrecompiledHeader.h")
endfunction()

# Every TableGen output of the project hangs off this target, so that a library
# never races with the headers it includes.
add_custom_target(fusion-headers)

# fusion_add_library(NAME source... [LINK_LIBS lib...] [DEPENDS target...]
#                    [NO_INSTALL])
#
# Adds one static library of the compiler: links libMLIR and libLLVM, uses the
# precompiled header, waits for the generated headers. It is installed, as
# Fusion::NAME, unless NO_INSTALL says that it is for the build alone.
function(fusion_add_library name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  fusion_add_public_headers(${name})
  foreach(dir ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_include_directories(${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${dir}>)
  endforeach()
  target_precompile_headers(${name} REUSE_FROM FusionPCH)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  foreach(lib ${FUSION_LLVM_LIBS})
    target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:${lib}>)
  endforeach()
  # Whoever links it says which MLIR: FusionConfig.cmake makes this target.
  target_link_libraries(${name} PUBLIC $<INSTALL_INTERFACE:Fusion::LLVM>)
  add_dependencies(${name} fusion-headers ${ARG_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY FUSION_LIBS ${name})
  if(NOT ARG_NO_INSTALL)
    fusion_install_targets(MLIR dev ${name})
  endif()
endfunction()

# fusion_add_runtime_library(NAME source... [LINK_LIBS lib...] [NO_INSTALL])
#
# Adds one static library that must not see LLVM, MLIR or libcudart.
function(fusion_add_runtime_library name)
  cmake_parse_arguments(ARG "NO_INSTALL" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  fusion_add_public_headers(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  if(NOT ARG_NO_INSTALL)
    fusion_install_targets(Runtime dev ${name})
  endif()
endfunction()

# fusion_add_public_headers(TARGET): the headers of include/, for those who link
# it here and those who link what is installed.
function(fusion_add_public_headers target)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${FUSION_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${FUSION_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_17)
endfunction()

# fusion_name_c_library(TARGET HEADER PREFIX EXPORTS)
#
# Gives a shared library with a C interface the version in its header: its name
# ends in the number of its ABI (PREFIX_ABI_VERSION), and it exports what the
# version script EXPORTS lists and nothing else.
function(fusion_name_c_library target header prefix exports)
  file(STRINGS "${FUSION_SOURCE_DIR}/include/${header}" line
       REGEX "^#define ${prefix}_ABI_VERSION [0-9]+$")
  string(REGEX REPLACE ".* " "" abi "${line}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               "${FUSION_SOURCE_DIR}/include/${header}")
  set_target_properties(${target} PROPERTIES
    SOVERSION ${abi} VERSION ${abi}.${PROJECT_VERSION} LINK_DEPENDS "${exports}")
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${FUSION_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}"
                      LINKER:--no-undefined-version)
endfunction()

# fusion_add_tool(NAME source... [LINK_LIBS lib...]): a compiler-side binary.
function(fusion_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_precompile_headers(${name} REUSE_FROM FusionPCH)
  # The precompiled header is position-independent code, not a PIE.
  target_compile_options(${name} PRIVATE -fPIC)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} FusionToolInfo ${FUSION_LLVM_LIBS})
  add_dependencies(${name} fusion-headers)
  set_property(GLOBAL APPEND PROPERTY FUSION_TOOLS ${name})
  fusion_install_tool(${name} compiler)
  fusion_add_tool_pages(${name} compiler)
endfunction()

# fusion_add_runtime_tool(NAME source... [LINK_LIBS lib...])
function(fusion_add_runtime_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} FusionToolInfo)
  if(FUSION_STATIC_RUNTIME)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  # It does not know LLVM.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "")
  set_property(GLOBAL APPEND PROPERTY FUSION_TOOLS ${name})
  fusion_install_tool(${name} runtime)
  fusion_add_tool_pages(${name} runtime)
endfunction()

# fusion_add_tool_pages(NAME COMPONENT): the manual page of a tool and what makes
# bash and zsh complete its options, as the tool itself prints them, in the
# folder share/ of the build.
function(fusion_add_tool_pages name component)
  set(man man/man1/${name}.1)
  set(bash bash-completion/completions/${name})
  set(zsh zsh/vendor-completions/_${name})
  set(share "${FUSION_BINARY_DIR}/share")
  # What ends by printing does not free all of its memory.
  set(run "${CMAKE_COMMAND}" -E env ASAN_OPTIONS=detect_leaks=0 "$<TARGET_FILE:${name}>")
  add_custom_command(OUTPUT "${share}/${man}" "${share}/${bash}" "${share}/${zsh}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${share}/man/man1"
            "${share}/bash-completion/completions" "${share}/zsh/vendor-completions"
    COMMAND ${run} --man-page > "${share}/${man}"
    COMMAND ${run} --completion=bash > "${share}/${bash}"
    COMMAND ${run} --completion=zsh > "${share}/${zsh}"
    DEPENDS ${name}
    COMMENT "Writing the manual page of ${name}")
  add_custom_target(${name}-pages ALL DEPENDS "${share}/${man}" "${share}/${bash}" "${share}/${zsh}")
  set_property(GLOBAL APPEND PROPERTY FUSION_TOOLS ${name}-pages)
  if(FUSION_INSTALL)
    foreach(file ${man} ${bash} ${zsh})
      get_filename_component(folder "${file}" DIRECTORY)
      install(FILES "${share}/${file}" COMPONENT ${component}
              DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}")
    endforeach()
  endif()
endfunction()

# fusion_tablegen(TDFILE OUTPUT GENERATOR [args...]): one generated header in
# the build tree's include folder, mirroring the source folder.
function(fusion_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN} EXTRA_INCLUDES "${FUSION_SOURCE_DIR}/include"
                ${MLIR_INCLUDE_DIRS})
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()

# fusion_tablegen_passes(NAME): the passes of Passes.td, as a group NAME, for C++
# and for C.
macro(fusion_tablegen_passes name)
  fusion_tablegen(Passes.td Passes.h.inc -gen-pass-decls -name ${name})
  fusion_tablegen(Passes.td Passes.capi.h.inc -gen-pass-capi-header --prefix ${name})
  fusion_tablegen(Passes.td Passes.capi.cpp.inc -gen-pass-capi-impl --prefix ${name})
endmacro()

# fusion_add_tablegen_target(NAME): closes a group of fusion_tablegen calls.
macro(fusion_add_tablegen_target name)
  add_public_tablegen_target(${name})
  add_dependencies(fusion-headers ${name})
endmacro()

# fusion_add_unittest(NAME source... [LINK_LIBS lib...]): a GoogleTest binary,
# run by lit.
function(fusion_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${FUSION_BINARY_DIR}/test/unittests")
  set_property(GLOBAL APPEND PROPERTY FUSION_UNITTESTS ${name})
endfunction()
