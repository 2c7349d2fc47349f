//===- LoopFacts.cpp - What schedules of loops depend on ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the collection of facts from a kernel's body.
//
//===----------------------------------------------------------------------===//

#include "LoopFacts.h"

#include "fusion/Analysis/OpCosts.h"
#include "fusion/Support/Counts.h"
#include "fusion/Support/Hardware.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

double KernelTensor::elements() const {
  double product = 1;
  for (int64_t size : shape)
    product *= static_cast<double>(size);
  return product;
}

unsigned LoopFacts::getDimOfLoop(const BodyInstance &instance,
                                 unsigned loop) const {
  return cast<AffineDimExpr>(instance.loops[loop]).getPosition();
}

bool LoopFacts::reduces(const BodyInstance &instance, unsigned dim) const {
  const GraphNode &node = body.getNode(instance);
  for (auto [loop, isReduced] : llvm::enumerate(node.reduced))
    if (isReduced && getDimOfLoop(instance, loop) == dim)
      return true;
  return false;
}

std::optional<unsigned>
LoopFacts::getGranuleDim(const BodyInstance &instance) const {
  int loop = body.getNode(instance).granuleLoop;
  return loop < 0 ? std::nullopt : std::optional(getDimOfLoop(instance, loop));
}

bool LoopFacts::contains(Operation *op) const {
  return llvm::any_of(body.getInstances(), [&](const BodyInstance &instance) {
    return body.getNode(instance).op == op;
  });
}

unsigned LoopFacts::getFastest() const {
  unsigned fastest = 0;
  for (unsigned dim = 0; dim < getNumDims(); ++dim)
    if (contiguousBytes[dim] > contiguousBytes[fastest])
      fastest = dim;
  return fastest;
}

std::optional<unsigned>
KernelTensor::findBeyond(ArrayRef<unsigned> inner) const {
  for (unsigned number = shape.size(); number-- > 0;) {
    if (shape[number] == 1)
      continue;
    if (inner.empty())
      return number;
    if (dims[number] != inner.front())
      return std::nullopt;
    inner = inner.drop_front();
  }
  return std::nullopt;
}

SmallVector<double> LoopFacts::getBytesBeyond(ArrayRef<unsigned> inner) const {
  SmallVector<double> beyond(getNumDims(), 0);
  for (const auto *tensors : {&inputs, &outputs})
    for (const KernelTensor &tensor : *tensors)
      if (std::optional<unsigned> number = tensor.findBeyond(inner))
        if (std::optional<unsigned> dim = tensor.dims[*number])
          beyond[*dim] +=
              tensor.elements() * std::ceil(std::max(1.0, tensor.elementBytes));
  return beyond;
}

/// The constant that `kind` combines with the rest of `coord`, which becomes
/// that rest; none where there is none.
static std::optional<int64_t> takeConstant(AffineExpr &coord,
                                           AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(coord);
  auto constant = binary && binary.getKind() == kind
                      ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                      : AffineConstantExpr();
  if (!constant)
    return std::nullopt;
  coord = binary.getLHS();
  return constant.getValue();
}

/// The dimension that `coord` is, but for where it begins and for steps of up
/// to `mostStep`: slices and pads run along memory as what they are cut from
/// does.
static std::optional<unsigned> getDim(AffineExpr coord, int64_t mostStep = 1) {
  takeConstant(coord, AffineExprKind::Add);
  int64_t step = takeConstant(coord, AffineExprKind::Mul).value_or(1);
  if (step < 1 || step > mostStep)
    return std::nullopt;
  if (auto dim = dyn_cast<AffineDimExpr>(coord))
    return dim.getPosition();
  return std::nullopt;
}

/// The dimension that a result's `coord` follows: a dimension itself, or
/// granules of one.
static std::optional<unsigned> getDimOfResult(AffineExpr coord) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(coord);
  if (binary && binary.getKind() == AffineExprKind::FloorDiv)
    return getDim(binary.getLHS());
  return getDim(coord);
}

void LoopFacts::findKinds() {
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    if (auto op = dyn_cast<linalg::LinalgOp>(node.op))
      operations += countOperations(*op.getBlock()->getParent()) *
                    getShare(instance.parts, instance.mask);
    if (node.kind == NodeKind::Pointwise)
      continue;
    // Walked along the node's own dimensions.
    for (unsigned loop = 0; loop < node.extents.size(); ++loop) {
      unsigned dim = getDimOfLoop(instance, loop);
      if (node.reduced[loop])
        reduced.set(dim);
      if (static_cast<int>(loop) == node.scanned)
        scanned.set(dim);
    }
    if (std::optional<unsigned> divided = getGranuleDim(instance))
      granules[*divided] = std::max(granules[*divided], node.granule);
  }
}

void LoopFacts::findJoins() {
  joins.assign(getNumDims(), {});
  for (const BodyInstance &instance : body.getInstances())
    for (const BodyPart &part : instance.joined) {
      if (!part.dim || extents[*part.dim] < 2)
        continue;
      Join &join = joins[*part.dim];
      ++join.parts;
      if (part.begin > 0)
        join.step = std::gcd(join.step, part.begin);
    }
}

void LoopFacts::findTensors() {
  const ComputeGraph &graph = body.getGraph();
  for (const BodyAccess &access : body.getInputs()) {
    auto *known = llvm::find_if(inputs, [&](const KernelTensor &tensor) {
      return tensor.value == access.value;
    });
    if (known == inputs.end()) {
      const GraphValue &value = graph.getValue(access.value);
      inputs.push_back({access.value,
                        access.shape,
                        {},
                        value.elementBytes,
                        llvm::SmallBitVector(extents.size())});
      known = &inputs.back();
      known->dims.resize(access.shape.size());
      known->parts = access.parts;
    }
    // What several read, each in its part, is loaded in all of them.
    if (known->parts != access.parts)
      known->parts.clear();
    for (AffineExpr coord : access.coords)
      for (unsigned dim = 0; dim < extents.size(); ++dim)
        if (coord.isFunctionOfDim(dim))
          known->follows.set(dim);
    // Of several reads, one may be a gather. Steps within a sector read all
    // sectors.
    auto inSector = static_cast<int64_t>(kSectorBytes / known->elementBytes);
    for (auto [dim, coord] : llvm::zip_equal(known->dims, access.coords))
      if (!dim)
        dim = getDim(coord, inSector);
  }
  for (const BodyOutput &output : body.getOutputs()) {
    const BodyInstance &instance = body.getInstances()[output.instance];
    KernelTensor tensor{output.value,
                        output.shape,
                        {},
                        graph.getValue(output.value).elementBytes,
                        {}};
    // Of what is written in place the kernel has the loops alone.
    bool inPlace = body.getNode(instance).inPlace;
    for (AffineExpr coord : inPlace ? ArrayRef<AffineExpr>(instance.loops)
                                    : ArrayRef<AffineExpr>(output.coords))
      tensor.dims.push_back(getDimOfResult(coord));
    for (std::optional<unsigned> dim : tensor.dims)
      if (dim)
        root.set(*dim);
    outputs.push_back(std::move(tensor));
  }
  llvm::sort(outputs, [](const KernelTensor &a, const KernelTensor &b) {
    return a.value < b.value;
  });
}

void LoopFacts::findPrimary() {
  // The result of the largest rank, then of the largest size.
  auto size = [](const KernelTensor &tensor) {
    return std::pair(tensor.shape.size(), tensor.elements());
  };
  const KernelTensor *first = nullptr;
  for (const KernelTensor &output : outputs)
    if (!first || size(output) > size(*first))
      first = &output;
  if (first)
    primary = first->dims;
}

/// True when `op` compares integers that are no indices: what data may be.
static bool comparesData(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && llvm::any_of(*linalgOp.getBlock(), [](Operation &inner) {
           auto compare = dyn_cast<arith::CmpIOp>(inner);
           return compare && !compare.getLhs().getType().isIndex();
         });
}

/// The dimension that all reductions of a kernel walk, with more than one
/// element; none where there are several.
static std::optional<unsigned> findOnlyReduced(const LoopFacts &facts) {
  std::optional<unsigned> only;
  for (unsigned dim : facts.reduced.set_bits()) {
    if (facts.extents[dim] == 1)
      continue;
    if (only)
      return std::nullopt;
    only = dim;
  }
  return only;
}

void LoopFacts::findDataLimits() {
  std::optional<unsigned> walked = findOnlyReduced(*this);
  if (!walked || granules[*walked] > 1 ||
      llvm::none_of(body.getInstances(), [&](const BodyInstance &instance) {
        return comparesData(body.getNode(instance).op);
      }))
    return;
  auto isInput = [&](Value tensor) {
    return llvm::any_of(body.getInputs(), [&](const BodyAccess &input) {
      return body.getGraph().getValue(input.value).ssa == tensor;
    });
  };
  DataLimits found{*walked, {}, {}, {}};
  auto getSymbol = [&](const LimitSymbol &symbol) {
    unsigned number = llvm::find(found.symbols, symbol) - found.symbols.begin();
    if (number == found.symbols.size())
      found.symbols.push_back(symbol);
    return getAffineSymbolExpr(number, symbol.value.getContext());
  };
  std::optional<SmallVector<AffineExpr, 2>> limits;
  for (const BodyInstance &instance : body.getInstances()) {
    if (!reduces(instance, *walked))
      continue;
    auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
    // Coordinates that are computed have symbols of their own.
    if (!op || llvm::any_of(instance.loops, isKnownAtRunTime))
      return;
    SmallVector<AffineExpr, 2> own =
        findLimitsAt(op, instance.loops, isInput, getSymbol);
    for (AffineExpr &limit : own)
      limit = simplifyAffineExpr(limit, getNumDims(), found.symbols.size());
    if (limits)
      intersectLimits(*limits, own);
    else
      limits = std::move(own);
  }
  for (AffineExpr limit : limits.value_or(SmallVector<AffineExpr, 2>())) {
    std::optional<LinearExpr> linear =
        getLinear(limit, getNumDims(), found.symbols.size());
    std::optional<unsigned> symbol;
    if (linear)
      symbol = findDataSymbol(*linear, *walked, found.symbols, /*first=*/0);
    if (!symbol)
      continue;
    found.limits.push_back(std::move(*linear));
    found.data.push_back(*symbol);
  }
  if (!found.limits.empty())
    dataLimits = std::move(found);
}

LoopFacts::LoopFacts(const KernelBody &body, const TargetInfo &target)
    : body(body), target(target) {
  unsigned numDims = body.getExtents().size();
  extents.assign(numDims, 1);
  granules.assign(numDims, 1);
  for (llvm::SmallBitVector *set : {&root, &reduced, &scanned, &repeats})
    set->resize(numDims);
  findKinds();
  findTensors();
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (root.test(dim) || reduced.test(dim) || scanned.test(dim))
      extents[dim] = toCount(body.getExtents()[dim]);
  // Sizes of 0 are priced as 1, but have no tiles to share.
  for (const BodyInstance &instance : body.getInstances())
    for (auto [loop, size] : llvm::enumerate(body.getNode(instance).extents))
      if (auto dim = dyn_cast<AffineDimExpr>(instance.loops[loop]);
          dim && size == 0)
        extents[dim.getPosition()] = 0;
  findPrimary();
  findJoins();
  findDataLimits();

  auto note = [&](const KernelTensor &tensor) {
    if (tensor.shape.empty())
      return;
    auto elementBytes =
        static_cast<int64_t>(std::ceil(std::max(1.0, tensor.elementBytes)));
    widestElement = std::max(widestElement, elementBytes);
    narrowestElement = std::min(narrowestElement, elementBytes);
    bytes += tensor.elements() * static_cast<double>(elementBytes);
  };
  for (const KernelTensor &tensor : inputs) {
    note(tensor);
    if (tensor.shape.empty())
      continue;
    for (unsigned dim = 0; dim < numDims; ++dim)
      if (root.test(dim) && extents[dim] > 1 && !tensor.follows.test(dim))
        repeats.set(dim);
  }
  for (const KernelTensor &tensor : outputs)
    note(tensor);
  contiguousBytes = getBytesBeyond({});
  // What is no result's and is not walked is in no tile.
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (extents[dim] == 1 && body.getExtents()[dim] > 1)
      contiguousBytes[dim] = 0;
}
