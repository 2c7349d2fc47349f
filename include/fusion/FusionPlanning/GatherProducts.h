//===- GatherProducts.h - Elements of products' results ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rewrite of elements that data choose of a product's
// results. A loss reads one logit of each row, where its target is: if it reads
// that from memory, all logits have to be there. What the product contracts is
// added up for these elements alone instead.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_GATHERPRODUCTS_H
#define FUSION_FUSIONPLANNING_GATHERPRODUCTS_H

#include "fusion/FusionPlanning/PricedRewrites.h"

namespace mlir::fusion {

/// The rewrite of all such elements whose product then takes less time without
/// its results in memory than they take.
PricedRewrite getGatherRewrite();

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_GATHERPRODUCTS_H
