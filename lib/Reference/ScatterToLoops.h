//===- ScatterToLoops.h - Scatters, one element after another ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the reference's pattern for scatters.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_SCATTERTOLOOPS_H
#define FUSION_LIB_REFERENCE_SCATTERTOLOOPS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fusion {

/// Adds the pattern that replaces tensor.scatter by loops.
void populateScatterToLoops(RewritePatternSet &patterns);

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_SCATTERTOLOOPS_H
