//===- EmitCascades.cpp - Sums of many terms ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the bound on how many terms of a sum in f32 a thread
// adds up one after the other: each addition rounds by as much as all terms
// before it weigh. A loop with more steps becomes two, of which the inner one
// begins a sum of its own and the outer one adds these up:
//
//   for i in 0 .. n step 512 t:         (was: for k in 0 .. n step t:
//     part = 0                                   sum += x[k])
//     for k in i .. min(i + 512 t, n) step t:
//       part += x[k]
//     sum += part
//
// docs/Numerics.md states the bound.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Terms that one sum takes before another one begins: where there are no more
/// than these nothing is divided, nor are more registers wanted.
static constexpr int64_t kTerms = 512;

bool TileEmitter::Reduction::isCascaded(unsigned number) const {
  const Combiner &combiner = combiners[number];
  return combiner.type.isF32() &&
         (rescaled || isa_and_present<arith::AddFOp>(combiner.op));
}

SmallVector<int64_t>
TileEmitter::divideSums(ArrayRef<std::optional<int64_t>> trips, int64_t terms) {
  SmallVector<int64_t> steps(trips.size(), 0);
  for (unsigned i = trips.size(); i-- > 0;) {
    if (trips[i] && *trips[i] <= kTerms / terms) {
      terms *= std::max<int64_t>(*trips[i], 1);
      continue;
    }
    // As many terms in a part as there are parts, where both are known.
    int64_t most = kTerms, all;
    if (trips[i] && !llvm::MulOverflow(terms, *trips[i], all))
      most = std::max(
          most, int64_t(1) << llvm::divideCeil(llvm::Log2_64_Ceil(all), 2));
    steps[i] = std::max<int64_t>(most / terms, 1);
    terms = trips[i] ? llvm::divideCeil(*trips[i], steps[i]) : 1;
  }
  return steps;
}

SmallVector<unsigned> TileEmitter::getWalkedDims(unsigned dim) const {
  SmallVector<unsigned> dims{dim};
  if (schedule.getStrategy() == Strategy::Reduction)
    while (dims.back() > 0 &&
           schedule.getAxes()[dims.back() - 1].getKind() == AxisKind::Merged)
      dims.push_back(dims.back() - 1);
  std::reverse(dims.begin(), dims.end());
  return dims;
}

AffineExpr TileEmitter::getWalkedExtent(unsigned dim) const {
  AffineExpr extent = getAffineConstantExpr(1, context);
  for (unsigned walked : getWalkedDims(dim))
    extent = extent * space.getDims()[walked].extent;
  return extent;
}

scf::ForOp TileEmitter::openParts(unsigned axis, int64_t steps,
                                  ValueRange sums) {
  auto [begin, end, step] = getWalk(axes[axis]);
  Value length =
      arith::ConstantIndexOp::create(builder, loc, axes[axis].tile * steps);
  auto parts = scf::ForOp::create(builder, loc, begin, end, length, sums);
  Scope scope{parts.getBody()};
  scope.previous = scopes.back().nested;
  scopes.back().nested = parts;
  scopes.push_back(std::move(scope));
  builder.setInsertionPointToEnd(parts.getBody());
  return parts;
}

void TileEmitter::restrictToPart(scf::ForOp loop, scf::ForOp parts) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  Value begin = parts.getInductionVar();
  Value end = arith::AddIOp::create(builder, loc, begin, parts.getStep());
  loop.setLowerBound(begin);
  loop.setUpperBound(
      arith::MinUIOp::create(builder, loc, end, loop.getUpperBound()));
}
