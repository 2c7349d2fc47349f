//===- TileAxes.cpp - Axes of tiles ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the axes of tiles and what dimensions are bound to them.
//
//===----------------------------------------------------------------------===//

#include "TileAxes.h"

#include "Coordinates.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when every coordinate of every tile of size `tile` is below `extent`.
bool mlir::fusion::tilesExactly(AffineExpr extent, int64_t tile) {
  if (tile == 1)
    return true;
  return extent.getLargestKnownDivisor() % tile == 0;
}

unsigned TileAxes::add(Axis axis) {
  axes.push_back(std::move(axis));
  return axes.size() - 1;
}

unsigned TileAxes::addPart(unsigned whole, int64_t tile,
                           std::optional<int64_t> start) {
  Axis part = axes[whole];
  part.tile = tile;
  part.whole = whole;
  part.start = start;
  // Blocks differ in the parts of a cluster's tile, of others in the whole.
  (start ? part : axes[whole]).grid = false;
  return add(part);
}

void TileAxes::addRun(int64_t count, int64_t length, int64_t blocks,
                      unsigned depth) {
  MLIRContext *context = kernel.getSchedule().getContext();
  unsigned parts = add({std::nullopt, getAffineConstantExpr(count, context),
                        count, Value(), depth, /*exact=*/true});
  run = {parts, length, count * length * blocks};
}

/// Row-major coordinates along `dims`, of sizes `sizes`, at `position`.
static void splitPosition(AffineExpr position, ArrayRef<unsigned> dims,
                          ArrayRef<AffineExpr> sizes,
                          DenseMap<unsigned, AffineExpr> &coords) {
  for (auto [dim, coord] : llvm::zip(dims, delinearize(position, sizes)))
    coords[dim] = coord;
}

const GranuleAxes &TileAxes::addGranules(unsigned number,
                                         ArrayRef<unsigned> dims) {
  int64_t granule = kernel.getDim(dims.back()).granule;
  MLIRContext *context = kernel.getSchedule().getContext();
  const Axis whole = axes[number];
  Axis parts = whole;
  parts.dim = std::nullopt;
  parts.extent = whole.extent.ceilDiv(granule);
  parts.tile = whole.tile / granule;
  parts.exact = tilesExactly(parts.extent, parts.tile);
  parts.grid = false;
  parts.granulesOf = number;
  parts.granule = granule;
  GranuleAxes &own = granules[dims.back()];
  own.parts = add(parts);
  own.inside = add({std::nullopt, getAffineConstantExpr(granule, context),
                    granule, Value(), whole.depth, /*exact=*/true});
  SmallVector<AffineExpr> sizes;
  for (unsigned dim : dims)
    sizes.push_back(kernel.getDim(dim).extent);
  sizes.back() = sizes.back().ceilDiv(granule);
  splitPosition(getAffineDimExpr(own.parts, context), dims, sizes, own.coords);
  return own;
}

unsigned TileAxes::addWalkedGranules(unsigned dim) {
  MLIRContext *context = kernel.getSchedule().getContext();
  const IterationDim &divided = kernel.getDim(dim);
  Axis parts{std::nullopt, divided.extent.ceilDiv(divided.granule)};
  parts.exact = parts.grid = true;
  parts.granule = divided.granule;
  GranuleAxes &own = granules[dim];
  own.parts = own.inside = add(parts);
  own.coords[dim] = getAffineDimExpr(own.parts, context);
  return own.parts;
}

void TileAxes::placeGranule(unsigned dim, Value begin, Value end) {
  GranuleAxes &own = granules.find(dim)->second;
  own.begin = begin;
  own.end = end;
}

void TileAxes::merge(ArrayRef<unsigned> dims, unsigned axis) {
  SmallVector<AffineExpr> sizes;
  for (unsigned dim : dims)
    sizes.push_back(kernel.getDim(dim).extent);
  splitPosition(getAffineDimExpr(axis, kernel.getSchedule().getContext()), dims,
                sizes, merged);
}

void TileAxes::rebind(unsigned from, unsigned to) {
  bind(*axes[to].dim, to);
  MLIRContext *context = kernel.getSchedule().getContext();
  AffineExpr old = getAffineDimExpr(from, context),
             own = getAffineDimExpr(to, context);
  for (auto &[dim, coord] : merged)
    coord = coord.replace(old, own);
}

void TileAxes::unbindFrom(unsigned depth) {
  for (auto it = bound.begin(); it != bound.end();) {
    auto next = std::next(it);
    if (axes[it->second].depth >= depth)
      bound.erase(it);
    it = next;
  }
}

const Tile *TileAxes::findIndexTile(AffineExpr expr) const {
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  if (!symbol || symbol.getPosition() < kernel.getNumSymbols())
    return nullptr;
  return &indexTiles[symbol.getPosition() - kernel.getNumSymbols()].first;
}

SmallVector<unsigned> TileAxes::getAxesOf(ArrayRef<AffineExpr> coords) const {
  SmallVector<unsigned> result;
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part)) {
        if (axes[dim.getPosition()].tile > 1)
          result.push_back(dim.getPosition());
      } else if (const Tile *tile = findIndexTile(part)) {
        llvm::append_range(result, tile->axes);
      }
    });
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

unsigned TileAxes::getDepth(ArrayRef<AffineExpr> coords) const {
  unsigned depth = 0;
  unsigned numShapes = kernel.getNumSymbols();
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        depth = std::max(depth, axes[dim.getPosition()].depth);
      else if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        if (symbol.getPosition() >= numShapes)
          depth = std::max(depth,
                           indexTiles[symbol.getPosition() - numShapes].second);
    });
  return depth;
}

AffineExpr TileAxes::asCoordinate(Tile indices, unsigned depth) {
  indexTiles.push_back({std::move(indices), depth});
  return getAffineSymbolExpr(kernel.getNumSymbols() + indexTiles.size() - 1,
                             kernel.getSchedule().getContext());
}
