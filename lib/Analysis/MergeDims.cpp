//===- MergeDims.cpp - One dimension for those side by side ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what CollapseDims.cpp does to kernels on their analysis,
// so that planning prices the loops that kernels will have. Dimensions keep
// their numbers, and expressions stay as they are.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/DataMoves.h"
#include "fusion/Analysis/FlatIndices.h"
#include "fusion/Analysis/KernelBody.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::fusion;

namespace mlir::fusion {
class DimMerger {
public:
  explicit DimMerger(KernelBody &body)
      : body(body), stays(body.extents.size()), inParts(stays.size()),
        follower(stays.size()) {}

  void run();

private:
  /// A dimension of a tensor that is not of size 1: its number there, and the
  /// iteration dimension that walks it element by element, if one does.
  struct Place {
    unsigned number;
    std::optional<unsigned> dim;
  };
  using Places = SmallVector<Place>;
  template <typename Access>
  Places getPlaces(const Access &access) const;

  /// Lets those that `exprs` depend on stay.
  void keep(ArrayRef<AffineExpr> exprs);
  /// Notes that elements from some on are walked, not all: rows may be part of
  /// what is before them, what is behind them no part of rows.
  void keepInParts(AffineExpr expr);
  template <typename Access>
  void addTensor(const Access &access);
  void addInstance(const BodyInstance &instance);
  /// Keeps loops apart whose indices say more than the number of an element.
  void keepIndices(const BodyInstance &instance);
  /// `next` directly follows `dim` wherever one of the two is.
  bool follows(unsigned next, unsigned dim) const;
  template <typename Access>
  void mergeIn(Access &access) const;
  /// Parts of a dimension are parts of what it becomes one with.
  void mergeIn(SmallVector<BodyPart, 0> &parts) const;
  void mergeExtents();

  KernelBody &body;
  SmallVector<Places> tensors;
  /// Dimensions that stay as they are, and those that no other one becomes one
  /// with that is before them.
  llvm::SmallBitVector stays, inParts;
  /// Those that do not become one with the second.
  DenseSet<std::pair<unsigned, unsigned>> apart;
  /// The dimension that each becomes one with.
  SmallVector<std::optional<unsigned>> follower;
};
} // namespace mlir::fusion

void DimMerger::keep(ArrayRef<AffineExpr> exprs) {
  for (AffineExpr expr : exprs)
    for (unsigned dim = 0; dim < stays.size(); ++dim)
      if (expr.isFunctionOfDim(dim))
        stays.set(dim);
}

/// The dimension that `expr` is, but for a constant.
static std::optional<unsigned> getWalked(AffineExpr expr) {
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
      sum && sum.getKind() == AffineExprKind::Add &&
      isa<AffineConstantExpr>(sum.getRHS()))
    expr = sum.getLHS();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition();
  return std::nullopt;
}

void DimMerger::keepInParts(AffineExpr expr) {
  if (std::optional<unsigned> dim = getWalked(expr))
    inParts.set(*dim);
  else
    keep(expr);
}

template <typename Access>
DimMerger::Places DimMerger::getPlaces(const Access &access) const {
  Places places;
  for (auto [number, size] : llvm::enumerate(access.shape)) {
    if (size == 1)
      continue;
    places.push_back(
        {static_cast<unsigned>(number), getWalked(access.coords[number])});
  }
  return places;
}

template <typename Access>
void DimMerger::addTensor(const Access &access) {
  Places &places = tensors.emplace_back(getPlaces(access));
  for (auto [coord, size] : llvm::zip(access.coords, access.shape)) {
    auto dim = dyn_cast<AffineDimExpr>(coord);
    if (!dim || body.extents[dim.getPosition()] != static_cast<double>(size))
      keepInParts(coord);
  }
  for (unsigned i = 0; i + 1 < places.size(); ++i)
    if (places[i].dim && places[i + 1].dim)
      follower[*places[i].dim] = places[i + 1].dim;
}

void DimMerger::keepIndices(const BodyInstance &instance) {
  FlatIndices indices(cast<linalg::LinalgOp>(body.getNode(instance).op));
  for (unsigned i = 0; i < instance.loops.size(); ++i) {
    auto dim = dyn_cast<AffineDimExpr>(instance.loops[i]);
    if (!dim) {
      keep(instance.loops[i]);
      continue;
    }
    for (unsigned j = 0; j < instance.loops.size(); ++j)
      if (auto next = dyn_cast<AffineDimExpr>(instance.loops[j]);
          next && i != j && !indices.areOneLoop(i, j))
        apart.insert({dim.getPosition(), next.getPosition()});
  }
}

/// Dimensions of what is not a plain walk through tensors stay, and so do those
/// that scans walk, those that tensors are moved along, and those whose indices
/// bodies ask for, unless it is to count elements.
void DimMerger::addInstance(const BodyInstance &instance) {
  const GraphNode &node = body.getNode(instance);
  bool isScan = isa<ScanOp>(node.op);
  bool looksUp = false;
  node.op->walk([&](linalg::IndexOp) { looksUp = true; });
  if ((!isScan && !isDataMove(node.op) && !isa<linalg::LinalgOp>(node.op)) ||
      node.inPlace || node.granuleLoop >= 0)
    return keep(instance.loops);
  if (looksUp)
    keepIndices(instance);
  if (isScan)
    keep(instance.loops[node.scanned]);
  for (const TensorRead &read : node.reads) {
    SmallVector<AffineExpr> coords = composeCoords(read.coords, instance.loops);
    for (unsigned part : read.parts)
      keepInParts(coords[part]);
    // Windows count along dimensions as they are.
    for (auto [own, coord] : llvm::zip_equal(read.coords, coords))
      if (!isDataMove(node.op) && !isa<AffineDimExpr>(own))
        keep(coord);
  }
  // What is needed at other elements than its own.
  DimMask seen = 0;
  for (AffineExpr loop : instance.loops) {
    std::optional<unsigned> dim = getWalked(loop);
    DimMask bit = dim ? DimMask(1) << *dim : 0;
    if (seen & bit)
      keep(loop);
    else if (!isa<AffineDimExpr>(loop))
      keepInParts(loop);
    seen |= bit;
  }
}

bool DimMerger::follows(unsigned next, unsigned dim) const {
  DimMask both = DimMask(1) << dim | DimMask(1) << next;
  auto isOfOne = [&](DimMask mask) {
    return (mask & both) != 0 && (mask & both) != both;
  };
  // Loops of one kind, and of the same operations.
  if (llvm::any_of(body.instances, [&](const BodyInstance &instance) {
        return isOfOne(instance.mask) || isOfOne(instance.outerMask);
      }))
    return false;
  return llvm::all_of(tensors, [&](const Places &places) {
    auto is = [](unsigned wanted) {
      return [wanted](const Place &place) { return place.dim == wanted; };
    };
    const Place *first = llvm::find_if(places, is(dim));
    const Place *second = llvm::find_if(places, is(next));
    if (first == places.end() || second == places.end())
      return first == second;
    return first + 1 == second && llvm::count_if(places, is(dim)) == 1 &&
           llvm::count_if(places, is(next)) == 1;
  });
}

template <typename Access>
void DimMerger::mergeIn(Access &access) const {
  Places places = getPlaces(access);
  for (unsigned i = 0; i + 1 < places.size(); ++i) {
    if (!places[i].dim || !follower[*places[i].dim])
      continue;
    access.shape[places[i + 1].number] *= access.shape[places[i].number];
    access.shape[places[i].number] = 1;
    access.mask &= ~(DimMask(1) << *places[i].dim);
  }
}

void DimMerger::mergeIn(SmallVector<BodyPart, 0> &parts) const {
  for (BodyPart &part : parts)
    while (part.dim && follower[*part.dim]) {
      part.dim = follower[*part.dim];
      auto inner = static_cast<int64_t>(body.extents[*part.dim]);
      part.begin *= inner;
      part.end *= inner;
    }
}

void DimMerger::mergeExtents() {
  DimMask gone = 0;
  SmallVector<double> merged = body.extents;
  for (unsigned dim = 0; dim < stays.size(); ++dim) {
    if (!follower[dim])
      continue;
    unsigned last = dim;
    while (follower[last])
      last = *follower[last];
    merged[last] *= body.extents[dim];
    merged[dim] = 1;
    gone |= DimMask(1) << dim;
  }
  body.extents = merged;
  for (BodyInstance &instance : body.instances) {
    instance.mask &= ~gone;
    instance.outerMask &= ~gone;
  }
  body.reducedMask &= ~gone;
  body.units |= gone;
}

void DimMerger::run() {
  for (const BodyAccess &access : body.inputs)
    addTensor(access);
  for (const BodyOutput &output : body.outputs)
    addTensor(output);
  for (const BodyInstance &instance : body.instances)
    addInstance(instance);
  for (unsigned dim = 0; dim < stays.size(); ++dim) {
    std::optional<unsigned> &next = follower[dim];
    if (next && (stays.test(dim) || stays.test(*next) || inParts.test(*next) ||
                 body.dynamic[dim] || body.dynamic[*next] ||
                 apart.contains({dim, *next}) || !follows(*next, dim)))
      next = std::nullopt;
  }
  for (BodyAccess &access : body.inputs) {
    mergeIn(access);
    mergeIn(access.parts);
  }
  for (BodyInstance &instance : body.instances) {
    mergeIn(instance.parts);
    mergeIn(instance.joined);
  }
  for (BodyOutput &output : body.outputs)
    mergeIn(output);
  mergeExtents();
}

KernelBody KernelBody::mergeDims() const {
  KernelBody merged = *this;
  if (merged.problem == BodyProblem::None && !merged.has(NodeKind::Contraction))
    DimMerger(merged).run();
  return merged;
}
