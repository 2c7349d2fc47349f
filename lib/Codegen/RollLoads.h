//===- RollLoads.h - Loads from iteration to iteration ---------*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what loops that slide over an image do with their loads.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_ROLLLOADS_H
#define FUSION_LIB_CODEGEN_ROLLLOADS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fusion {

/// Lets `loop` carry the tiles it loads: what an iteration reads of those that
/// the one before read is kept, and the rest is loaded one iteration ahead, as
/// soon as the tile it takes the place of has been used. The first iteration's
/// tiles are loaded before the loop.
void rollLoads(scf::ForOp loop);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_ROLLLOADS_H
