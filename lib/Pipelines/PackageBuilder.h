//===- PackageBuilder.h - From the last IR to a package ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the content of a package is read off a module that
// has been through the PTX phase.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_PIPELINES_PACKAGEBUILDER_H
#define FUSION_LIB_PIPELINES_PACKAGEBUILDER_H

#include "fusion/Executable/PackageModel.h"
#include "fusion/Support/ElementType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::fusion {

/// What launches need to know of a kernel of the package.
struct PackagedKernel {
  /// Index in PackageModel::kernels.
  uint32_t index = 0;
  /// ()[symbols of the function] -> (blocks).
  AffineMap grid;
  /// The symbols that the last parameters of the kernel are the values of.
  SmallVector<int64_t> sizeArguments;
  /// One DictionaryAttr for each piece of memory that the launch provides, in
  /// the order of the parameters that follow those sizes; null without any. Its
  /// entries are those of `fusion_tile.scratches`.
  ArrayAttr scratches;
  unsigned numParameters = 0;
  /// One DictionaryAttr for each tensor map, the last parameters of all; null
  /// without any. Its entries are those of `fusion_tile.tensor_maps`.
  ArrayAttr tensorMaps;
};

/// By name of the kernel.
using PackagedKernels = llvm::StringMap<PackagedKernel>;

/// The elements of `value` as packages store them. Fails with an error at
/// `loc` when they are not there or of a type without a stored form.
FailureOr<std::vector<char>> getStoredBytes(ElementsAttr value, Location loc);

/// One stored element of a constant: `width` bytes that are repeated.
struct FillPattern {
  uint32_t width = 1;
  uint64_t bits = 0;
};

/// The pattern of a tensor whose elements all are `element`.
FillPattern getFillPattern(Attribute element);

/// The entry for `func`, whose kernels are in `kernels`. Constants go to
/// `model`. Emits an error for what a launch plan cannot express.
FailureOr<fusionpkg::Entry> buildEntry(func::FuncOp func,
                                       const PackagedKernels &kernels,
                                       fusionpkg::PackageModel &model);

/// The kernels, constants and entries of `module`. Figures that only ptxas
/// knows are left out.
FailureOr<fusionpkg::PackageModel> buildPackageModel(ModuleOp module,
                                                     StringRef target);

/// Assembles every module of `model` and adds the binaries and the resources of
/// the kernels. Nothing changes where there is no ptxas.
LogicalResult assemblePackage(fusionpkg::PackageModel &model, bool lineInfo,
                              ModuleOp module);

} // namespace mlir::fusion

#endif // FUSION_LIB_PIPELINES_PACKAGEBUILDER_H
