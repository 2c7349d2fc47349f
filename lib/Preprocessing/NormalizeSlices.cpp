//===- NormalizeSlices.cpp - Slices and padding in one form ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that makes slices of full rank, and padding of
// widths that are not negative, of those that upstream would fold to others.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Slices.h"
#include "fusion/Preprocessing/Passes.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_NORMALIZESLICESPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct NormalizeSlicesPass
    : public fusion::impl::NormalizeSlicesPassBase<NormalizeSlicesPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk(cutNegativePadding);
    // Only what has operands is folded.
    getOperation().walk([](OffsetSizeAndStrideOpInterface op) {
      bool hasOperands = !op.getOffsets().empty() || !op.getSizes().empty() ||
                         !op.getStrides().empty();
      if (!hasOperands)
        return;
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(*op))
        expandRankReduction(slice);
      else if (auto insert = dyn_cast<tensor::InsertSliceOp>(*op))
        expandRankReduction(insert);
    });
  }
};
} // namespace
