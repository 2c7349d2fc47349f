//===- KernelCollapser.h - Dimensions of a kernel that fall together ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what lets the dimensions of one kernel fall together.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_KERNELCOLLAPSER_H
#define FUSION_LIB_FUSIONPLANNING_KERNELCOLLAPSER_H

#include "DimCollapser.h"

namespace mlir::fusion {

/// Lets the dimensions of one kernel fall together, in it and in the views that
/// it has of its operands and others of its results.
class KernelCollapser : public DimCollapser {
public:
  explicit KernelCollapser(KernelOp kernel)
      : DimCollapser(kernel.getBlock()), kernel(kernel) {}

  /// False where none do.
  bool run();

protected:
  /// Fills `fallen`.
  virtual void chooseClasses();
  bool joinsParts() override { return kernel.getNumResults() == 1; }

  KernelOp kernel;

private:
  void rewriteOutside(ArrayRef<SmallVector<ReassociationIndices>> operands,
                      ArrayRef<SmallVector<ReassociationIndices>> results);
};

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_KERNELCOLLAPSER_H
