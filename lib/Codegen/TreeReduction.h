//===- TreeReduction.h - Reductions in any order ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emission of reductions whose elements may be combined
// in any order.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TREEREDUCTION_H
#define FUSION_LIB_CODEGEN_TREEREDUCTION_H

#include "Reduction.h"
#include "ReductionContext.h"

namespace mlir::fusion {

/// Emits `first` and all that can share its loops: elements are
/// accumulated one by one over the loops, and the tile is reduced once at the
/// end. Returns result `result` of `first`.
FailureOr<Tile> emitTreeReduction(const ReductionContext &context,
                                  Reduction first, unsigned result);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TREEREDUCTION_H
