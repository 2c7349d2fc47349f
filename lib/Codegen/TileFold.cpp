//===- TileFold.cpp - What each thread has of a tile ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements folds of tiles as a reshape and reductions: the tile's
// walked dimensions are cut where their coordinates' bits change between
// registers and threads, and what is in registers is reduced.
//
//===----------------------------------------------------------------------===//

#include "TileFold.h"

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/BitDealer.h"

using namespace mlir;
using namespace mlir::fusion;

/// The layout that tiles over `all`, of which `walked` are reduced, are
/// expected to get.
static tile::LinearLayout expectLayout(const TileAxes &axes,
                                       ArrayRef<unsigned> all,
                                       ArrayRef<unsigned> walked) {
  const ScheduledKernel &kernel = axes.getKernel();
  SmallVector<int64_t> shape;
  llvm::SmallBitVector reduced(all.size());
  unsigned fastest = all.size() - 1;
  int64_t vector = 1, elements = 1;
  for (auto [i, axis] : llvm::enumerate(all)) {
    shape.push_back(axes[axis].tile);
    elements *= shape.back();
    reduced[i] = llvm::is_contained(walked, axis);
    std::optional<unsigned> dim = axes[axis].dim;
    int64_t own = dim ? kernel.getDecision(*dim).getVector() : 1;
    if (own > vector) {
      vector = own;
      fastest = i;
    }
  }
  int64_t warps = kernel.getSchedule().getWarps();
  vector = std::min(vector, shape[fastest]);
  // Of several rows, most begin where their length says.
  auto length = dyn_cast<AffineConstantExpr>(axes[all[fastest]].extent);
  if (elements > shape[fastest])
    while (vector > 1 && (!length || length.getValue() % vector != 0))
      vector /= 2;
  while (vector > 1 && elements < vector * warps * kWarpThreads)
    vector /= 2;
  // The kernel has what it reduces in the order in which memory has it.
  SmallVector<unsigned> order;
  for (unsigned i : reduced.set_bits())
    order.push_back(i);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(axes[all[a]].dim, a) > std::pair(axes[all[b]].dim, b);
  });
  for (unsigned i = all.size(); i-- > 0;)
    if (!reduced.test(i))
      order.push_back(i);
  llvm::erase(order, fastest);
  order.insert(order.begin(), fastest);
  return tile::getBlockedLayout(shape, order, vector, warps, reduced);
}

TileFold::TileFold(TileBuilder &builder, ArrayRef<unsigned> all,
                   ArrayRef<unsigned> walked)
    : builder(builder), all(all) {
  TileAxes &tileAxes = builder.getAxes();
  tile::LinearLayout layout = expectLayout(tileAxes, all, walked);
  for (auto [i, axis] : llvm::enumerate(all)) {
    int64_t size = tileAxes[axis].tile;
    if (!llvm::is_contained(walked, axis)) {
      segments.push_back({size, false});
      axes.push_back(axis);
      continue;
    }
    int64_t inRegisters = 0;
    for (unsigned bit = 0; bit < layout.numBits(tile::HwDim::Register); ++bit)
      inRegisters |= layout.basis(tile::HwDim::Register, bit)[i];
    int64_t left = 1;
    for (int64_t bit = size / 2; bit > 0; bit /= 2) {
      bool inThread = (inRegisters & bit) != 0;
      if (bit == size / 2 || segments.back().inThread != inThread)
        segments.push_back({1, inThread});
      segments.back().size *= 2;
      (inThread ? factor : left) *= 2;
    }
    Axis part;
    part.tile = left;
    part.extent = builder.getAffineConstantExpr(left);
    part.depth = tileAxes[axis].depth;
    part.exact = true;
    unsigned number = tileAxes.add(part);
    folded.push_back(number);
    if (left > 1)
      axes.push_back(number);
  }
}

SmallVector<int64_t> TileFold::getSizes(ArrayRef<unsigned> axes) const {
  return llvm::map_to_vector(
      axes, [&](unsigned axis) { return builder.getAxes()[axis].tile; });
}

Value TileFold::reshape(Value tile, ArrayRef<int64_t> shape) const {
  if (tile::getTileShape(tile.getType()) == shape)
    return tile;
  Type element = tile::getTileElementType(tile.getType());
  return tile::ReshapeOp::create(builder, builder.getLoc(),
                                 tile::getTileType(shape, element), tile);
}

Value TileFold::fold(
    Value tile, function_ref<Value(OpBuilder &, Value, Value)> combine) const {
  Location loc = builder.getLoc();
  Type element = tile::getTileElementType(tile.getType());
  auto shape = llvm::map_to_vector(
      segments, [](const Segment &segment) { return segment.size; });
  Value value = reshape(tile, shape);
  for (unsigned dim = segments.size(); dim-- > 0;) {
    if (!segments[dim].inThread)
      continue;
    shape.erase(shape.begin() + dim);
    Type type = tile::getTileType(shape, element);
    auto reduce = tile::ReduceOp::create(builder, loc, type, value, dim,
                                         /*within_warp=*/false);
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&reduce.getCombiner(), {},
                                       {element, element}, {loc, loc});
    tile::YieldOp::create(
        builder, loc,
        combine(builder, block->getArgument(0), block->getArgument(1)));
    value = reduce.getResult(0);
  }
  // What is left of an axis may lie in several parts.
  return reshape(value, getSizes(axes));
}

Value TileFold::unfold(Value tile) const {
  Type element = tile::getTileElementType(tile.getType());
  SmallVector<int64_t> shape, kept, dims;
  for (auto [dim, segment] : llvm::enumerate(segments)) {
    shape.push_back(segment.size);
    if (segment.inThread)
      continue;
    kept.push_back(segment.size);
    dims.push_back(dim);
  }
  Value value = reshape(tile, kept);
  if (kept.size() != shape.size())
    value = tile::BroadcastOp::create(builder, builder.getLoc(),
                                      tile::getTileType(shape, element), value,
                                      dims);
  return reshape(value, getSizes(all));
}
