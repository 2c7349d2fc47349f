//===- LoadAhead.h - Loads of the next iteration ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the software pipelining of what a loop loads.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_LOADAHEAD_H
#define FUSION_LIB_CODEGEN_LOADAHEAD_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fusion {

/// Lets `loop`, of a known number of iterations, load the tiles of the next
/// iteration before it does anything else: those whose places depend on nothing
/// but the iteration. Returns the loop that takes its place, which has its
/// results first; the same loop where nothing is to be gained.
scf::ForOp loadAhead(scf::ForOp loop);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_LOADAHEAD_H
