//===- MergeFlatSums.cpp - Numbers of elements of fewer loops -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rewrite of sums that number the elements of several
// loops for loops that became one.
//
//===----------------------------------------------------------------------===//

#include "MergeFlatSums.h"

#include "fusion/Analysis/FlatIndices.h"

using namespace mlir;
using namespace mlir::fusion;

void mlir::fusion::mergeFlatSums(linalg::LinalgOp op,
                                 const llvm::SmallBitVector &follows) {
  SmallVector<arith::AddIOp> sums;
  op->walk([&](arith::AddIOp sum) { sums.push_back(sum); });
  // In the order of the text: the outer part of a sum is rewritten before it.
  for (arith::AddIOp sum : sums) {
    std::optional<FlatSum> step = FlatSum::match(sum);
    if (!step || !follows.test(step->loop))
      continue;
    Value merged = step->outer;
    if (!step->beginsWithIndex()) {
      FlatSum outer = *FlatSum::match(merged.getDefiningOp());
      OpBuilder b(sum);
      Location loc = sum.getLoc();
      Value extent = arith::ConstantOp::create(
          b, loc, b.getIntegerAttr(sum.getType(), outer.extent * step->extent));
      Value product = arith::MulIOp::create(b, loc, outer.outer, extent);
      merged = arith::AddIOp::create(b, loc, product, outer.inner);
    }
    sum.replaceAllUsesWith(merged);
  }
  // The parts of what was rewritten, an index of a loop that is no more among
  // them.
  SmallVector<Operation *> parts;
  op->walk([&](Operation *part) {
    if (isa<arith::AddIOp, arith::MulIOp, arith::IndexCastOp, linalg::IndexOp>(
            part))
      parts.push_back(part);
  });
  for (Operation *part : llvm::reverse(parts))
    if (part->use_empty())
      part->erase();
}
