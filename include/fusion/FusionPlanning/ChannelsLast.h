//===- ChannelsLast.h - Products in the layout of images --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the permutation of images: windows of images whose
// channels do not lie side by side in memory reach tensor cores element by
// element, while tensor copies bring those of images with channels last.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_CHANNELSLAST_H
#define FUSION_FUSIONPLANNING_CHANNELSLAST_H

#include "fusion/FusionPlanning/PricedRewrites.h"

namespace mlir::fusion {

/// The permutation of the images and results of products so that channels, or
/// what takes their place, come last, and of the filters with them.
/// Permutations move to the ends of what works as well on permuted tensors, and
/// those that undo each other vanish.
PricedRewrite getChannelsLastRewrite();

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_CHANNELSLAST_H
