//===- ExchangedReads.cpp - Reads at exchanged places ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the emission of reads whose coordinates are those of the
// tile with some bits flipped. What comes from a product is not computed again
// there: its tile has both elements, which change places.
//
//===----------------------------------------------------------------------===//

#include "ExchangedReads.h"

#include "fusion/Analysis/Exchanges.h"
#include "fusion/Analysis/Reductions.h"

using namespace mlir;
using namespace mlir::fusion;

ExchangedReads::ExchangedReads(TileEvaluator &evaluator)
    : evaluator(evaluator), builder(evaluator.getBuilder()),
      kernel(builder.getKernel()), axes(builder.getAxes()) {
  if (kernel.getStrategy() != Strategy::Contraction)
    return;
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>())
    if (op.getNumReductionLoops() > 0 && !matchGranules(op))
      fromProducts.insert(op);
  for (Operation &op : kernel.getBlock()) {
    bool derived = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        derived |= fromProducts.contains(operand.getDefiningOp());
    });
    if (derived)
      fromProducts.insert(&op);
  }
}

bool ExchangedReads::holdsSpan(unsigned axis, int64_t span) const {
  const Axis &own = axes[axis];
  if (!llvm::isPowerOf2_64(own.tile) || own.tile % span != 0)
    return false;
  return !own.whole || (axes[*own.whole].tile % span == 0 &&
                        own.start.value_or(0) % span == 0);
}

FailureOr<std::optional<Tile>>
ExchangedReads::evaluate(Value tensor, ArrayRef<AffineExpr> coords) const {
  Coords plain(coords);
  SmallVector<Exchange> exchanges;
  bool isMoved = false;
  for (auto [number, coord] : llvm::enumerate(plain)) {
    if (!isa<AffineBinaryOpExpr>(coord))
      continue;
    // Where an axis runs through several dimensions, what is flipped is the
    // coordinate along one of them.
    std::optional<unsigned> dim =
        kernel.getSpace().findDimOfTensor(tensor, number);
    AffineExpr own = dim ? axes.getMerged(*dim) : AffineExpr();
    if (own && coord == own)
      continue;
    unsigned fresh = axes.size();
    AffineExpr seen =
        own ? coord.replace(own, builder.getAffineDimExpr(fresh)) : coord;
    std::optional<Exchange> exchange =
        matchExchange(seen, [&](unsigned axis) -> std::optional<int64_t> {
          AffineExpr extent =
              axis == fresh ? kernel.getDim(*dim).extent : axes[axis].extent;
          if (auto known = dyn_cast<AffineConstantExpr>(extent))
            return known.getValue();
          return std::nullopt;
        });
    if (!exchange || (own && exchange->dim != fresh))
      continue;
    unsigned axis = own ? axes.getBound(*dim) : exchange->dim;
    if (exchange->mask) {
      if (!fromProducts.contains(tensor.getDefiningOp()))
        continue;
      if (!holdsSpan(axis, exchange->getSpan()))
        return kernel.emitError("FUS-3124: a tile of ")
               << axes[axis].tile << " elements holds no whole spans of "
               << exchange->getSpan()
               << ", which the kernel exchanges elements in";
      exchanges.push_back({axis, exchange->mask});
    }
    coord = own ? own : builder.getAffineDimExpr(exchange->dim);
    isMoved = true;
  }
  if (!isMoved)
    return std::optional<Tile>();
  FailureOr<Tile> tile = evaluator.evaluate(tensor, plain);
  if (failed(tile))
    return failure();
  Tile result = *tile;
  for (const Exchange &exchange : exchanges) {
    // What is the same along the axis stays as it is.
    auto position = llvm::find(result.axes, exchange.dim);
    if (position != result.axes.end())
      result.value = tile::ExchangeOp::create(
          builder, builder.getLoc(), result.value.getType(), result.value,
          position - result.axes.begin(), exchange.mask);
  }
  return std::optional<Tile>(result);
}
