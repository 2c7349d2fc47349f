//===- ReductionSplit.cpp - Reductions over several blocks ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of how many blocks share a reduction.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ReductionSplit.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Executable/PackageModel.h"
#include "fusion/Support/PanelFormat.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;

bool mlir::fusion::isCombinable(linalg::LinalgOp op) {
  if (matchGranules(op) || matchGroupedSum(op))
    return false;
  std::optional<SmallVector<Type>> types = getPartialTypes(op);
  return types && llvm::all_of(*types, [](Type type) {
           return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 32;
         });
}

bool mlir::fusion::fitsExchange(double groups, int64_t blocks, int64_t words) {
  // A head of 16 bytes, and words of 64 bits, rounded up to 16 bytes for each
  // of at most `words` exchanges.
  int64_t bytes =
      kPanelHeadBytes + kPanelWordBytes * blocks * words + 8 * words;
  return groups * static_cast<double>(bytes) <=
         static_cast<double>(fusionpkg::kSignalBytes);
}

int64_t mlir::fusion::getWalkSplit(double groups, double elements,
                                   const TargetInfo &target) {
  const ReductionConstants &fitted = target.fitted.reductions;
  double room = fitted.walkBlocksPerSM * static_cast<double>(target.numSMs) /
                std::max(groups, 1.0);
  double worth = elements / static_cast<double>(fitted.minShareElements);
  double split = std::min({room, worth, static_cast<double>(fitted.maxSplit)});
  return std::max<int64_t>(1, static_cast<int64_t>(split));
}
