//===- SlicesToElements.h - Slices wherever they are ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the patterns that read and insert slices whose positions
// only the run knows.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_SLICESTOELEMENTS_H
#define FUSION_LIB_REFERENCE_SLICESTOELEMENTS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fusion {

/// Adds patterns for slices at positions that are no constants: element by
/// element, those outside of the tensor are zero or ignored.
void populateSlicesToElements(RewritePatternSet &patterns);

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_SLICESTOELEMENTS_H
