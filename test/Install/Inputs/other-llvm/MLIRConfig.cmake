# The package of an LLVM that Fusion was not built with.
set(LLVM_PACKAGE_VERSION 21.1.4)
set(MLIR_INCLUDE_DIRS "${CMAKE_CURRENT_LIST_DIR}")
