//===- FlattenDims.cpp - One dimension for those of results ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what FlattenResults.cpp does to kernels on their
// analysis, so that planning prices the loops that kernels may have. Dimensions
// keep their numbers: the last one has all elements, and the others, of one
// element, are parts of it in coordinates.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/DataMoves.h"
#include "fusion/Analysis/KernelBody.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::fusion;

namespace mlir::fusion {
class DimFlattener {
public:
  explicit DimFlattener(KernelBody &body) : body(body) {}

  /// False, and nothing is changed, where the dimensions of results stay.
  bool run();

private:
  bool findChain();
  /// The loops of `instance` are dimensions, those of the results among them.
  bool isWhole(const BodyInstance &instance) const;
  bool mayFlatten(const BodyInstance &instance) const;
  bool isMove(const BodyInstance &instance) const;
  /// The coordinate along dimensions `first` to `last` of the chain.
  AffineExpr getPart(unsigned first, unsigned last) const;
  void joinRuns(BodyAccess &access, SmallVectorImpl<AffineExpr> &coords) const;
  bool slides(const BodyInstance &instance) const;
  /// Parts of a dimension of the chain lie apart in the one of all.
  void flatten(SmallVector<BodyPart, 0> &parts) const;
  DimMask flatten(DimMask mask) const {
    return mask & all ? (mask & ~all) | DimMask(1) << chain.back() : mask;
  }

  KernelBody &body;
  /// The dimensions of the results, the outermost first.
  SmallVector<unsigned> chain;
  DimMask all = 0;
};
} // namespace mlir::fusion

/// Elements of windows that neighbours may as well load again: of larger ones
/// strips of places share most. Bounds what is priced; whether one dimension
/// pays is a matter of price.
static constexpr double kMostOfWindow = 4;

/// The dimensions of the one result, each from the first element to the last.
/// Of several results the dimensions could be one by what they read alone,
/// which then says no more.
bool DimFlattener::findChain() {
  if (body.outputs.size() != 1)
    return false;
  const BodyOutput &output = body.outputs.front();
  for (auto [coord, size] : llvm::zip(output.coords, output.shape)) {
    if (size == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(coord);
    if (!dim || body.dynamic[dim.getPosition()] ||
        body.extents[dim.getPosition()] != static_cast<double>(size))
      return false;
    chain.push_back(dim.getPosition());
    all |= DimMask(1) << dim.getPosition();
  }
  return chain.size() > 1;
}

/// A short window of one tensor, without factors, slides along dimensions of
/// `instance`, which reduces.
bool DimFlattener::slides(const BodyInstance &instance) const {
  DimMask reduced = body.getReducedMask(instance);
  if (body.getPoints(reduced) > kMostOfWindow)
    return false;
  unsigned windows = 0, others = 0;
  for (const TensorRead &read : body.getNode(instance).reads) {
    DimMask mask = 0;
    bool isWindow = false;
    for (AffineExpr coord : composeCoords(read.coords, instance.loops)) {
      DimMask own = body.getMask(coord);
      mask |= own;
      isWindow |= (own & reduced) && (own & all);
    }
    windows += isWindow;
    others += !isWindow && (mask & reduced) && (mask & ~reduced);
  }
  return windows == 1 && others == 0;
}

/// `instance` is computed for each element of the results, as it is, or at any
/// place that one asks for.
bool DimFlattener::mayFlatten(const BodyInstance &instance) const {
  const GraphNode &node = body.getNode(instance);
  if ((!isMove(instance) && !isa<linalg::GenericOp, linalg::FillOp>(node.op)) ||
      node.inPlace || node.granuleLoop >= 0)
    return false;
  DimMask reduced = body.getReducedMask(instance);
  return !reduced ||
         (!(reduced & all) && isWhole(instance) && slides(instance));
}

bool DimFlattener::isMove(const BodyInstance &instance) const {
  return isDataMove(body.getNode(instance).op);
}

bool DimFlattener::isWhole(const BodyInstance &instance) const {
  return (instance.outerMask & all) == all &&
         llvm::all_of(instance.loops,
                      [](AffineExpr loop) { return isa<AffineDimExpr>(loop); });
}

AffineExpr DimFlattener::getPart(unsigned first, unsigned last) const {
  int64_t inner = 1, size = 1;
  for (unsigned dim : ArrayRef(chain).drop_front(last + 1))
    inner *= static_cast<int64_t>(body.extents[dim]);
  for (unsigned dim : ArrayRef(chain).slice(first, last + 1 - first))
    size *= static_cast<int64_t>(body.extents[dim]);
  AffineExpr part =
      getAffineDimExpr(chain.back(), body.graph->getContext()).floorDiv(inner);
  return first == 0 ? part : part % size;
}

/// Dimensions of a tensor that lie side by side as they do in the results
/// become one, of which `coords` then has the coordinate.
void DimFlattener::joinRuns(BodyAccess &access,
                            SmallVectorImpl<AffineExpr> &coords) const {
  auto findPlace = [&](unsigned number) -> std::optional<unsigned> {
    auto dim = dyn_cast<AffineDimExpr>(access.coords[number]);
    if (!dim || body.extents[dim.getPosition()] !=
                    static_cast<double>(access.shape[number]))
      return std::nullopt;
    const auto *place = llvm::find(chain, dim.getPosition());
    if (place == chain.end())
      return std::nullopt;
    return place - chain.begin();
  };
  for (unsigned begin = 0, end; begin < access.shape.size(); begin = end) {
    end = begin + 1;
    std::optional<unsigned> first = findPlace(begin);
    if (!first)
      continue;
    unsigned last = *first;
    for (; end < access.shape.size() && findPlace(end) == last + 1; ++end)
      ++last;
    if (last == *first)
      continue;
    for (unsigned number = begin; number + 1 < end; ++number) {
      access.shape[end - 1] *= access.shape[number];
      access.shape[number] = 1;
      coords[number] = getAffineConstantExpr(0, body.graph->getContext());
    }
    coords[end - 1] = getPart(*first, last);
  }
}

void DimFlattener::flatten(SmallVector<BodyPart, 0> &parts) const {
  for (BodyPart &part : parts)
    if (part.dim && llvm::is_contained(chain, *part.dim))
      part.dim = std::nullopt;
}

bool DimFlattener::run() {
  if (!findChain() ||
      !llvm::all_of(body.instances, [&](const BodyInstance &instance) {
        return mayFlatten(instance);
      }))
    return false;
  unsigned last = chain.back();
  SmallVector<AffineExpr> parts;
  for (unsigned dim = 0; dim < body.extents.size(); ++dim)
    parts.push_back(getAffineDimExpr(dim, body.graph->getContext()));
  AffineExpr whole = parts[last];
  int64_t elements = 1;
  for (unsigned number = chain.size(); number-- > 0;) {
    parts[chain[number]] = getPart(number, number);
    elements *= static_cast<int64_t>(body.extents[chain[number]]);
  }
  for (BodyAccess &access : body.inputs) {
    SmallVector<AffineExpr> coords;
    for (AffineExpr coord : access.coords)
      coords.push_back(coord.replaceDims(parts));
    joinRuns(access, coords);
    access.coords = std::move(coords);
    access.mask = flatten(access.mask);
    flatten(access.parts);
  }
  for (BodyInstance &instance : body.instances) {
    // Loops over results stay dimensions, the last one of them all, but for
    // what moves elements: it asks for each by its coordinates.
    if (isMove(instance) || !isWhole(instance))
      for (AffineExpr &loop : instance.loops)
        loop = loop.replaceDims(parts);
    instance.mask = flatten(instance.mask);
    instance.outerMask = flatten(instance.outerMask);
    flatten(instance.parts);
    flatten(instance.joined);
  }
  // Behind the dimension are some of one element, which become one with it.
  BodyOutput &output = body.outputs.front();
  auto *own = llvm::find(output.coords, whole);
  std::rotate(own, std::next(own), output.coords.end());
  output.shape.assign(output.shape.size(), 1);
  output.shape.back() = elements;
  output.mask = flatten(output.mask);
  for (unsigned dim : chain)
    body.extents[dim] = dim == last ? static_cast<double>(elements) : 1;
  body.units |= all & ~(DimMask(1) << last);
  body.flat = true;
  return true;
}

std::optional<KernelBody> KernelBody::flattenDims() const {
  KernelBody flat = *this;
  if (problem != BodyProblem::None || has(NodeKind::Contraction) ||
      has(NodeKind::Scan) || !DimFlattener(flat).run())
    return std::nullopt;
  return flat;
}
