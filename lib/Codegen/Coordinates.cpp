//===- Coordinates.cpp - Coordinates over axes ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the bounds of coordinates and the coordinates of tensors
// in the present scope.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

bool mlir::fusion::isUsed(ArrayRef<AffineExpr> coords, unsigned axis) {
  return llvm::any_of(
      coords, [&](AffineExpr coord) { return coord.isFunctionOfDim(axis); });
}

bool mlir::fusion::mentions(ArrayRef<AffineExpr> coords, unsigned dim,
                            const TileAxes &axes) {
  for (AffineExpr coord : coords) {
    bool found = false;
    coord.walk([&](AffineExpr part) {
      if (auto axis = dyn_cast<AffineDimExpr>(part))
        found |= axes[axis.getPosition()].dim == dim;
    });
    if (found)
      return true;
  }
  return false;
}

using Bounds = std::optional<std::pair<int64_t, int64_t>>;

/// Least and greatest value of `expr` by what it is made of.
static Bounds boundsOfParts(AffineExpr expr, const TileAxes &axes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::make_pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    const Axis &axis = axes[dim.getPosition()];
    auto extent = dyn_cast<AffineConstantExpr>(axis.extent);
    if (!extent)
      return std::nullopt;
    int64_t size = extent.getValue();
    bool isGrouped = axes.getGroupedDim() && axis.dim == axes.getGroupedDim();
    // A part may lie beyond the extent as a whole, where its tile does not.
    if (isGrouped)
      size += axis.tile - 1;
    else if (axis.ofRun)
      size = llvm::alignTo(size, axes.getRun()->round) -
             (axes[axes.getRun()->parts].tile - 1) * axes.getRun()->length;
    else if (axis.lead > 0)
      size += axis.step() - 1;
    else if (!axis.exact)
      size = llvm::alignTo(size,
                           axis.whole ? axes[*axis.whole].tile : axis.step());
    return Bounds({-axis.lead, std::max<int64_t>(size - 1, 0)});
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  Bounds lhs = getBounds(binary.getLHS(), axes);
  Bounds rhs = getBounds(binary.getRHS(), axes);
  if (!rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mod) {
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    if (lhs && lhs->first >= 0 && lhs->second < rhs->first)
      return lhs;
    return Bounds({0, rhs->first - 1});
  }
  if (!lhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    int64_t low, high;
    if (llvm::AddOverflow(lhs->first, rhs->first, low) ||
        llvm::AddOverflow(lhs->second, rhs->second, high))
      return std::nullopt;
    return std::make_pair(low, high);
  }
  case AffineExprKind::Mul: {
    if (rhs->first != rhs->second)
      return std::nullopt;
    int64_t a, b;
    if (llvm::MulOverflow(lhs->first, rhs->first, a) ||
        llvm::MulOverflow(lhs->second, rhs->first, b))
      return std::nullopt;
    return std::make_pair(std::min(a, b), std::max(a, b));
  }
  case AffineExprKind::FloorDiv:
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    return std::make_pair(llvm::divideFloorSigned(lhs->first, rhs->first),
                          llvm::divideFloorSigned(lhs->second, rhs->first));
  default:
    return std::nullopt;
  }
}

Bounds mlir::fusion::getBounds(AffineExpr coord, const TileAxes &axes) {
  Bounds bounds = boundsOfParts(coord, axes);
  for (const TileAxes::AssumedBounds &assumed : axes.getAssumedBounds())
    if (bounds && assumed.coord == coord)
      bounds = {std::max(bounds->first, assumed.least),
                std::min(bounds->second, assumed.most)};
  return bounds;
}

bool mlir::fusion::isInBounds(AffineExpr coord, AffineExpr size,
                              std::optional<unsigned> dim,
                              const TileAxes &axes) {
  if (auto axis = dyn_cast<AffineDimExpr>(coord)) {
    const Axis &info = axes[axis.getPosition()];
    if (info.exact && (info.extent == size || (dim && info.dim == dim)))
      return true;
  }
  auto bounds = getBounds(coord, axes);
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return bounds && constant && bounds->first >= 0 &&
         bounds->second < constant.getValue();
}

SmallVector<AffineExpr> mlir::fusion::delinearize(AffineExpr linear,
                                                  ArrayRef<AffineExpr> sizes) {
  auto isOne = [](AffineExpr size) {
    auto known = dyn_cast<AffineConstantExpr>(size);
    return known && known.getValue() == 1;
  };
  SmallVector<AffineExpr> result(sizes.size(),
                                 getAffineConstantExpr(0, linear.getContext()));
  // The outermost coordinate of several elements needs no remainder.
  unsigned outermost = llvm::find_if_not(sizes, isOne) - sizes.begin();
  for (unsigned i = sizes.size(); i-- > outermost;) {
    if (isOne(sizes[i]))
      continue;
    result[i] = i == outermost ? linear : linear % sizes[i];
    linear = linear.floorDiv(sizes[i]);
  }
  return result;
}

/// The coordinates of `tensor` when its elements stand for granules.
static std::optional<Coords> getGranuleCoords(Value tensor,
                                              const TileAxes &axes) {
  const ScheduledKernel &kernel = axes.getKernel();
  const IterationSpace &space = kernel.getSpace();
  MLIRContext *context = tensor.getContext();
  auto type = cast<RankedTensorType>(tensor.getType());
  const GranuleAxes *granules = nullptr;
  for (int64_t i = 0; i < type.getRank() && !granules; ++i)
    if (space.getGranule(tensor, i) > 1)
      if (auto known = axes.getGranules().find(space.getDimOfTensor(tensor, i));
          known != axes.getGranules().end())
        granules = &known->second;
  if (!granules)
    return std::nullopt;
  Coords coords;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    std::optional<unsigned> known = space.findDimOfTensor(tensor, i);
    if (!known && type.getDimSize(i) != 1)
      return std::nullopt;
    if (!known || kernel.getDim(*known).getStaticExtent() == 1) {
      coords.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    unsigned dim = *known;
    AffineExpr coord = granules->coords.lookup(dim);
    if (!coord)
      coord = axes.getMerged(dim);
    if (!coord) {
      if (!axes.isBound(dim))
        return std::nullopt;
      coord = getAffineDimExpr(axes.getBound(dim), context);
    }
    coords.push_back(coord);
  }
  return coords;
}

FailureOr<Coords> mlir::fusion::getPlainCoords(Value tensor,
                                               const TileAxes &axes) {
  const ScheduledKernel &kernel = axes.getKernel();
  MLIRContext *context = tensor.getContext();
  if (std::optional<Coords> byGranules = getGranuleCoords(tensor, axes))
    return *byGranules;
  Coords coords;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    std::optional<unsigned> known =
        kernel.getSpace().findDimOfTensor(tensor, i);
    // No loop walks a dimension of one element that a map names 0.
    if (!known && type.getDimSize(i) != 1)
      return failure();
    if (!known) {
      coords.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    unsigned dim = *known;
    // A single row is a tile of rows where the schedule wants one: vectors are
    // multiplied like matrices.
    bool isTiled = kernel.getStrategy() == Strategy::Contraction &&
                   kernel.getDecision(dim).getTile() > 1 && axes.isBound(dim);
    if (kernel.getDim(dim).getStaticExtent() == 1 && !isTiled) {
      coords.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    if (AffineExpr coord = axes.getMerged(dim)) {
      coords.push_back(coord);
      continue;
    }
    if (!axes.isBound(dim))
      return failure();
    AffineExpr coord = getAffineDimExpr(axes.getBound(dim), context);
    for (const Strip &strip : axes.getStrips())
      if (strip.dim == dim) {
        if (strip.step)
          coord = coord * strip.steps + strip.step;
        coord = coord * strip.size + strip.position;
      }
    if (axes[axes.getBound(dim)].ofRun)
      coord = getAffineDimExpr(axes.getRun()->parts, context) *
                  axes.getRun()->length +
              coord;
    coords.push_back(coord);
  }
  return coords;
}
