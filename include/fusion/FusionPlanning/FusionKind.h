//===- FusionKind.h - What kind of fusion a kernel is -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the words for what a kernel fuses: XLA's where it has one,
// and others for what it lacks. They are for reports: nothing is decided by
// them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_FUSIONKIND_H
#define FUSION_FUSIONPLANNING_FUSIONKIND_H

#include "fusion/Analysis/ComputeGraph.h"

namespace mlir::fusion {

enum class FusionKind {
#define FUSION_KIND(enumerator, code, xla, text) enumerator,
#include "fusion/FusionPlanning/FusionKinds.def"
};

/// The code as users see it, e.g. `contraction-epilogue`.
StringRef stringifyKind(FusionKind kind);
/// The same in XLA's words, e.g. `output`; empty where it has none.
StringRef getXlaWord(FusionKind kind);
/// A few words on what the kind means.
StringRef describeKind(FusionKind kind);
/// All kinds, in the order of the table.
ArrayRef<FusionKind> getAllKinds();

/// The kind of the kernel of `nodes`, which are ascending.
FusionKind classifyFusion(const ComputeGraph &graph, ArrayRef<unsigned> nodes);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_FUSIONKIND_H
