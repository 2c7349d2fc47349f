//===- BodyValues.cpp - What bodies compute, across operations ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search through what operations compute point by
// point.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/BodyValues.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

/// The one of dimensions `dims` of `type` that has several elements or is the
/// only one, if there is no other.
static std::optional<int64_t> getOnlyDim(RankedTensorType type,
                                         ArrayRef<int64_t> dims) {
  SmallVector<int64_t> large;
  for (int64_t dim : dims)
    if (type.getDimSize(dim) != 1)
      large.push_back(dim);
  if (large.empty())
    return dims.front();
  return large.size() == 1 ? std::optional(large.front()) : std::nullopt;
}

/// The coordinate of dimensions `dims` of `type`, as one, at `coords`.
static AffineExpr joinCoords(RankedTensorType type, ArrayRef<int64_t> dims,
                             ArrayRef<AffineExpr> coords) {
  if (std::optional<int64_t> only = getOnlyDim(type, dims))
    return coords[*only];
  AffineExpr joined = coords[dims.front()];
  for (int64_t dim : dims.drop_front())
    joined = joined * type.getDimSize(dim) + coords[dim];
  return joined;
}

/// Sets `coords` of dimensions `dims` of `type` to what `coord` is, which has
/// them as one.
static void splitCoord(RankedTensorType type, ArrayRef<int64_t> dims,
                       AffineExpr coord, MutableArrayRef<AffineExpr> coords) {
  std::optional<int64_t> only = getOnlyDim(type, dims);
  for (int64_t dim : llvm::reverse(dims)) {
    if (only || dim == dims.front()) {
      coords[dim] = !only || dim == *only
                        ? coord
                        : getAffineConstantExpr(0, type.getContext());
      continue;
    }
    coords[dim] = coord % type.getDimSize(dim);
    coord = coord.floorDiv(type.getDimSize(dim));
  }
}

/// Lets `element`, of what reshapes a tensor, be that of the tensor, where
/// sizes are known; with `unitOnly` where only dimensions of size one come and
/// go.
static bool lookThroughReshape(TensorElement &element, bool unitOnly) {
  Operation *view = element.tensor.getDefiningOp();
  if (!isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(view))
    return false;
  Value source = view->getOperand(0);
  bool expands = isa<tensor::ExpandShapeOp>(view);
  auto wide =
      cast<RankedTensorType>((expands ? view->getResult(0) : source).getType());
  if (!wide.hasStaticShape())
    return false;
  SmallVector<AffineExpr> coords(
      cast<RankedTensorType>(source.getType()).getRank());
  auto groups =
      expands ? cast<tensor::ExpandShapeOp>(view).getReassociationIndices()
              : cast<tensor::CollapseShapeOp>(view).getReassociationIndices();
  for (auto [narrow, group] : llvm::enumerate(groups)) {
    if (unitOnly && !getOnlyDim(wide, group))
      return false;
    if (expands)
      coords[narrow] = joinCoords(wide, group, element.coords);
    else
      splitCoord(wide, group, element.coords[narrow], coords);
  }
  element = {source, coords};
  return true;
}

std::optional<TensorElement> mlir::fusion::getElement(const BodyValue &value) {
  linalg::LinalgOp op = value.op;
  auto argument = dyn_cast<BlockArgument>(value.value);
  if (!argument || argument.getOwner() != op.getBlock())
    return std::nullopt;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  if (!op.isDpsInput(operand))
    return std::nullopt;
  TensorElement element{operand->get(), {}};
  for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
    element.coords.push_back(expr.replaceDims(value.point));
  while (lookThroughReshape(element, /*unitOnly=*/true))
    ;
  return element;
}

std::optional<BodyValue>
mlir::fusion::getProducer(const TensorElement &reshaped) {
  TensorElement element = reshaped;
  while (lookThroughReshape(element, /*unitOnly=*/false))
    ;
  auto producer = element.tensor.getDefiningOp<linalg::LinalgOp>();
  if (!producer || !producer.hasPureTensorSemantics() ||
      producer.getNumParallelLoops() != producer.getNumLoops())
    return std::nullopt;
  unsigned number = cast<OpResult>(element.tensor).getResultNumber();
  OpOperand *init = producer.getDpsInitOperand(number);
  if (!producer.getMatchingIndexingMap(init).isIdentity())
    return std::nullopt;
  return BodyValue{producer.getBlock()->getTerminator()->getOperand(number),
                   producer, element.coords};
}

std::optional<TensorElement> mlir::fusion::findReduced(BodyValue value) {
  for (unsigned depth = 0; depth < kMaxBodyDepth; ++depth) {
    std::optional<TensorElement> element = getElement(value);
    auto op = element ? element->tensor.getDefiningOp<linalg::LinalgOp>()
                      : linalg::LinalgOp();
    if (!op)
      break;
    if (op.getNumReductionLoops() > 0)
      return element;
    std::optional<BodyValue> producer = getProducer(*element);
    if (!producer)
      break;
    value = *producer;
  }
  return std::nullopt;
}

std::optional<Combiner> mlir::fusion::getOnlyCombiner(linalg::LinalgOp op) {
  if (!op || op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
      isContraction(op) || hasContract(op) || matchGranules(op))
    return std::nullopt;
  Combiner combiner = matchCombiner(op, 0);
  Value init = op.getDpsInitOperand(0)->get();
  if (!combiner.op || combiner.type != getElementTypeOrSelf(init) ||
      combiner.element.getType() != combiner.type ||
      !isIdentityFill(init, combiner))
    return std::nullopt;
  return combiner;
}

llvm::SmallBitVector mlir::fusion::getReducedLoops(linalg::LinalgOp op) {
  llvm::SmallBitVector reduced(op.getNumLoops());
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    reduced[loop] = kind == utils::IteratorType::reduction;
  return reduced;
}

LoopMatcher::LoopMatcher(linalg::LinalgOp later, linalg::LinalgOp earlier)
    : LoopMatcher(later, earlier, getReducedLoops(later)) {}

bool LoopMatcher::isSameLoop(AffineExpr coord, AffineExpr own) {
  auto loop = dyn_cast<AffineDimExpr>(coord);
  auto ownLoop = dyn_cast<AffineDimExpr>(own);
  if (!loop || !ownLoop)
    return isa<AffineConstantExpr>(coord) && coord == own;
  AffineExpr &known = loops[ownLoop.getPosition()];
  if (known)
    return known == coord;
  if (taken.test(loop.getPosition()) ||
      reduced.test(loop.getPosition()) !=
          (earlier.getIteratorTypesArray()[ownLoop.getPosition()] ==
           utils::IteratorType::reduction))
    return false;
  taken.set(loop.getPosition());
  known = coord;
  return true;
}

bool LoopMatcher::areSameLoops(ArrayRef<AffineExpr> coords,
                               ArrayRef<AffineExpr> own) {
  return coords.size() == own.size() &&
         llvm::all_of(llvm::zip(coords, own), [&](auto pair) {
           return isSameLoop(std::get<0>(pair), std::get<1>(pair));
         });
}

bool LoopMatcher::haveSameResults(ArrayRef<AffineExpr> coords) {
  AffineMap map = later.getMatchingIndexingMap(later.getDpsInitOperand(0));
  // Either may keep a dimension of size one that the other has not.
  auto isLoop = [](AffineExpr coord) { return isa<AffineDimExpr>(coord); };
  return llvm::to_vector(llvm::make_filter_range(map.getResults(), isLoop)) ==
             llvm::to_vector(llvm::make_filter_range(coords, isLoop)) &&
         haveResultsAt(coords);
}

bool LoopMatcher::haveResultsAt(ArrayRef<AffineExpr> coords) {
  AffineMap own = earlier.getMatchingIndexingMap(earlier.getDpsInitOperand(0));
  return areSameLoops(coords, own.getResults());
}

bool LoopMatcher::areSame(const BodyValue &value, const BodyValue &other,
                          unsigned depth) {
  if (depth == kMaxBodyDepth)
    return false;
  std::optional<TensorElement> element = getElement(value);
  std::optional<TensorElement> otherElement = getElement(other);
  if (element && otherElement && element->tensor == otherElement->tensor)
    return areSameLoops(element->coords, otherElement->coords);
  // Either may be computed by an operation before.
  if (element)
    if (std::optional<BodyValue> producer = getProducer(*element))
      return areSame(*producer, other, depth + 1);
  if (otherElement)
    if (std::optional<BodyValue> producer = getProducer(*otherElement))
      return areSame(value, *producer, depth + 1);
  if (element || otherElement)
    return false;
  // Bodies capture what is the same at each point.
  if (value.value == other.value && !value.isOfBody())
    return true;
  Operation *a = value.value.getDefiningOp(), *b = other.value.getDefiningOp();
  if (!a || !b)
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(a))
    if (auto otherIndex = dyn_cast<linalg::IndexOp>(b))
      return isSameLoop(value.point[index.getDim()],
                        other.point[otherIndex.getDim()]);
  if (a->getName() != b->getName() || a->getNumRegions() != 0 ||
      a->getNumOperands() != b->getNumOperands() || a->getNumResults() != 1 ||
      !isMemoryEffectFree(a) || a->getResultTypes() != b->getResultTypes() ||
      a->getAttrDictionary() != b->getAttrDictionary())
    return false;
  return llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()),
                      [&](auto pair) {
                        return areSame(value.at(std::get<0>(pair)),
                                       other.at(std::get<1>(pair)), depth + 1);
                      });
}

SmallVector<AffineExpr> mlir::fusion::getLoops(linalg::LinalgOp op) {
  SmallVector<AffineExpr> point;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    point.push_back(getAffineDimExpr(loop, op.getContext()));
  return point;
}
