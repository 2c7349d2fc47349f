//===- Permutations.cpp - Permuted dimensions, and moving them ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the moving of permutations. A structured operation reads
// a permuted tensor through its map; permuted itself, it leaves the permutation
// to its users:
//
//   relu(permute(x))      ==>  permute(relu(x))
//   pad(permute(x))       ==>  permute(pad'(x))
//   permute'(permute(x))  ==>  x
//
//===----------------------------------------------------------------------===//

#include "Permutations.h"

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// Users of a tensor that are looked at for a permutation that is there.
static constexpr unsigned kMaxUsers = 64;

DimOrder mlir::fusion::invertOrder(ArrayRef<unsigned> order) {
  DimOrder inverse(order.size());
  for (auto [place, dim] : llvm::enumerate(order))
    inverse[dim] = place;
  return inverse;
}

/// The dimensions that `inner` gives, in the order `outer`.
static DimOrder composeOrders(ArrayRef<unsigned> inner,
                              ArrayRef<unsigned> outer) {
  return llvm::map_to_vector(outer, [&](unsigned dim) { return inner[dim]; });
}

static SmallVector<int64_t> permuteShape(Value tensor,
                                         ArrayRef<unsigned> order) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return llvm::map_to_vector(
      order, [&](unsigned dim) { return type.getDimSize(dim); });
}

/// True when no contract and no reader holds `op` to its form.
static bool isMovable(Operation *op) {
  return !hasContract(op) && !op->hasAttr(FusionDialect::kRepackAttrName);
}

std::optional<Permutation> mlir::fusion::matchPermutation(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 || !llvm::hasSingleElement(*op.getBody()))
    return std::nullopt;
  AffineMap in = op.getIndexingMapsArray()[0];
  AffineMap out = op.getIndexingMapsArray()[1];
  Value source = op.getDpsInputs().front();
  if (op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0) ||
      !in.isPermutation() || !out.isPermutation())
    return std::nullopt;
  Permutation permutation{op, source, {}};
  for (AffineExpr loop : out.getResults())
    permutation.order.push_back(*in.getResultPosition(loop));
  return permutation;
}

//===----------------------------------------------------------------------===//
// Up
//===----------------------------------------------------------------------===//

linalg::GenericOp mlir::fusion::createPermutation(OpBuilder &builder,
                                                  Location loc, Value tensor,
                                                  ArrayRef<unsigned> order) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, permuteShape(tensor, order), type.getElementType());
  AffineMap out = builder.getMultiDimIdentityMap(order.size());
  AffineMap in = inversePermutation(
      AffineMap::getPermutationMap(order, builder.getContext()));
  SmallVector<utils::IteratorType> kinds(order.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      builder, loc, empty.getType(), tensor, empty,
      ArrayRef<AffineMap>{in, out}, kinds,
      [](OpBuilder &b, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(b, loc, arguments.front());
      });
}

/// The same right after `tensor`.
static linalg::GenericOp permuteAfter(Value tensor, ArrayRef<unsigned> order) {
  OpBuilder builder(tensor.getContext());
  builder.setInsertionPointAfterValue(tensor);
  return createPermutation(builder, tensor.getLoc(), tensor, order);
}

/// The same, or one that is there before `user`.
static Value findOrCreatePermutation(Value tensor, ArrayRef<unsigned> order,
                                     Operation *user) {
  unsigned seen = 0;
  for (Operation *other : tensor.getUsers()) {
    if (++seen > kMaxUsers)
      break;
    if (other->getBlock() != user->getBlock() || other->getNumResults() != 1 ||
        !isMovable(other) || !other->isBeforeInBlock(user))
      continue;
    auto known = matchPermutation(other->getResult(0));
    if (known && known->source == tensor && ArrayRef(known->order) == order)
      return other->getResult(0);
  }
  return permuteAfter(tensor, order).getResult(0);
}

/// `pad` of `source`, whose dimensions are those of the padded tensor in
/// `order`.
static Value buildPad(tensor::PadOp pad, Value source,
                      ArrayRef<unsigned> order) {
  OpBuilder builder(pad);
  SmallVector<OpFoldResult> low, high;
  for (unsigned dim : order) {
    low.push_back(pad.getMixedLowPad()[dim]);
    high.push_back(pad.getMixedHighPad()[dim]);
  }
  return tensor::PadOp::create(
      builder, pad.getLoc(),
      RankedTensorType::get(permuteShape(pad.getResult(), order),
                            pad.getType().getElementType()),
      source, low, high, pad.getConstantPaddingValue());
}

/// `slice` of `source`, what it is of with its dimensions in `order`.
static Value buildSlice(tensor::ExtractSliceOp slice, Value source,
                        ArrayRef<unsigned> order) {
  OpBuilder builder(slice);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  for (unsigned dim : order) {
    offsets.push_back(slice.getMixedOffsets()[dim]);
    sizes.push_back(slice.getMixedSizes()[dim]);
    strides.push_back(slice.getMixedStrides()[dim]);
  }
  return tensor::ExtractSliceOp::create(builder, slice.getLoc(), source,
                                        offsets, sizes, strides);
}

/// How groups of dimensions, of sizes `shape`, stand when the dimensions stand
/// in `order`, if that keeps each group together and its order. Dimensions of
/// one element have none.
static std::optional<DimOrder>
orderGroups(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> shape,
            ArrayRef<unsigned> order) {
  DimOrder places = invertOrder(order);
  SmallVector<std::pair<unsigned, unsigned>> starts;
  for (auto [number, group] : llvm::enumerate(groups)) {
    SmallVector<unsigned> all, wide;
    for (int64_t dim : group) {
      all.push_back(places[dim]);
      if (shape[dim] != 1)
        wide.push_back(places[dim]);
    }
    llvm::sort(all);
    if (all.empty() || !llvm::is_sorted(wide) ||
        all.back() - all.front() + 1 != all.size())
      return std::nullopt;
    starts.push_back({all.front(), number});
  }
  llvm::sort(starts);
  return llvm::map_to_vector(starts, [](auto start) { return start.second; });
}

/// `groups` in `order`, and the dimensions that they join numbered anew.
static SmallVector<ReassociationIndices>
permuteGroups(ArrayRef<ReassociationIndices> groups, ArrayRef<unsigned> order,
              DimOrder &joined) {
  SmallVector<ReassociationIndices> result;
  for (unsigned number : order) {
    result.emplace_back();
    for (int64_t dim : groups[number]) {
      result.back().push_back(joined.size());
      joined.push_back(dim);
    }
  }
  return result;
}

static Value buildExpand(tensor::ExpandShapeOp expand, Value source,
                         ArrayRef<unsigned> order, DimOrder &joined) {
  OpBuilder builder(expand);
  auto groups = permuteGroups(expand.getReassociationIndices(), order, joined);
  auto type = RankedTensorType::get(permuteShape(expand.getResult(), joined),
                                    expand.getType().getElementType());
  return tensor::ExpandShapeOp::create(builder, expand.getLoc(), type, source,
                                       groups);
}

static Value buildCollapse(tensor::CollapseShapeOp collapse, Value source,
                           ArrayRef<ReassociationIndices> groups) {
  OpBuilder builder(collapse);
  return tensor::CollapseShapeOp::create(builder, collapse.getLoc(), source,
                                         groups);
}

/// True when `op` reshapes, pads or cuts a tensor by sizes that are all known.
static bool isStaticShaping(Operation *op) {
  auto isStatic = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).hasStaticShape();
  };
  if (!isa_and_nonnull<tensor::PadOp, tensor::ExtractSliceOp,
                       tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
      !isMovable(op) || !isStatic(op->getOperand(0)) ||
      !isStatic(op->getResult(0)))
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getDroppedDims().none();
  auto pad = dyn_cast<tensor::PadOp>(op);
  return !pad || (pad.getLow().empty() && pad.getHigh().empty() &&
                  pad.getConstantPaddingValue());
}

Value mlir::fusion::buildPermuted(Value tensor, ArrayRef<unsigned> order,
                                  Operation *user) {
  if (llvm::is_sorted(order))
    return tensor;
  if (auto permutation = matchPermutation(tensor))
    return buildPermuted(permutation->source,
                         composeOrders(permutation->order, order),
                         permutation->op);
  Operation *op = tensor.getDefiningOp();
  if (!isStaticShaping(op))
    return findOrCreatePermutation(tensor, order, user);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return buildPad(pad, buildPermuted(pad.getSource(), order, pad), order);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return buildSlice(slice, buildPermuted(slice.getSource(), order, slice),
                      order);
  DimOrder joined;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto groups =
        permuteGroups(collapse.getReassociationIndices(), order, joined);
    return buildCollapse(
        collapse, buildPermuted(collapse.getSrc(), joined, collapse), groups);
  }
  auto expand = cast<tensor::ExpandShapeOp>(op);
  // Of dimensions of one element the order counts here.
  SmallVector<int64_t> wide(order.size(), 2);
  auto outer = orderGroups(expand.getReassociationIndices(), wide, order);
  if (!outer)
    return findOrCreatePermutation(tensor, order, user);
  return buildExpand(expand, buildPermuted(expand.getSrc(), *outer, expand),
                     *outer, joined);
}

/// `init`, the destination of `op`, with its dimensions in `order`.
static Value buildPermutedInit(linalg::GenericOp op, Value init,
                               ArrayRef<unsigned> order) {
  Operation *source = init.getDefiningOp();
  auto fill = dyn_cast_if_present<linalg::FillOp>(source);
  if (!fill && !isa_and_nonnull<tensor::EmptyOp>(source))
    return buildPermuted(init, order, op);
  OpBuilder builder(source);
  Value empty = tensor::EmptyOp::create(
      builder, source->getLoc(), permuteShape(init, order),
      cast<RankedTensorType>(init.getType()).getElementType());
  if (!fill)
    return empty;
  return linalg::FillOp::create(builder, source->getLoc(),
                                fill.getInputs().front(), empty)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Down
//===----------------------------------------------------------------------===//

/// Erases `init`, a destination that nothing writes into any more.
static void eraseInit(Value init) {
  Operation *op = init.getDefiningOp();
  if (!isa_and_nonnull<linalg::FillOp, tensor::EmptyOp>(op) || !op->use_empty())
    return;
  Value inner = op->getNumOperands() ? op->getOperands().back() : Value();
  op->erase();
  if (inner)
    eraseInit(inner);
}

/// Erases `op`, a permutation, reshape or pad that nothing reads any more.
static void eraseUnread(Operation *op) {
  auto permutation = dyn_cast<linalg::GenericOp>(op);
  Value init = permutation ? permutation.getDpsInits().front() : Value();
  op->erase();
  if (init)
    eraseInit(init);
}

/// Gives `op` its loops in `order`.
static void permuteLoops(linalg::GenericOp op, ArrayRef<unsigned> order) {
  Builder builder(op);
  SmallVector<AffineExpr> loops(order.size());
  SmallVector<Attribute> kinds;
  for (auto [place, loop] : llvm::enumerate(order)) {
    loops[loop] = builder.getAffineDimExpr(place);
    kinds.push_back(op.getIteratorTypes()[loop]);
  }
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray())
    maps.push_back(map.replaceDimsAndSymbols(loops, {}, order.size(), 0));
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(builder.getArrayAttr(kinds));
  DimOrder places = invertOrder(order);
  op.getBody()->walk(
      [&](linalg::IndexOp index) { index.setDim(places[index.getDim()]); });
}

Permutation mlir::fusion::permuteResult(linalg::GenericOp op,
                                        ArrayRef<unsigned> order,
                                        ArrayRef<unsigned> reduced) {
  Builder builder(op);
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  DimOrder loops = llvm::map_to_vector(
      order, [&](unsigned dim) { return out.getDimPosition(dim); });
  llvm::append_range(loops, reduced);
  Value old = init->get(), result = op.getResult(0);
  init->set(buildPermutedInit(op, old, order));
  eraseInit(old);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[init->getOperandNumber()];
  SmallVector<AffineExpr> coords;
  for (unsigned dim : order)
    coords.push_back(map.getResult(dim));
  map = AffineMap::get(op.getNumLoops(), 0, coords, op.getContext());
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  result.setType(cast<RankedTensorType>(init->get().getType()));
  permuteLoops(op, loops);
  SmallVector<OpOperand *> uses = llvm::map_to_vector(
      result.getUses(), [](OpOperand &use) { return &use; });
  DimOrder inverse = invertOrder(order);
  linalg::GenericOp permuted = permuteAfter(result, inverse);
  for (OpOperand *use : uses)
    use->set(permuted.getResult(0));
  return {permuted, result, inverse};
}

void mlir::fusion::readSource(OpOperand &operand,
                              const Permutation &permutation) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  Builder builder(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[operand.getOperandNumber()];
  SmallVector<AffineExpr> coords(map.getNumResults());
  for (auto [place, dim] : llvm::enumerate(permutation.order))
    coords[dim] = map.getResult(place);
  map = AffineMap::get(op.getNumLoops(), 0, coords, op.getContext());
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  operand.set(permutation.source);
}

/// The order of the dimensions of the result of `op` in which they follow those
/// of `operand`; nothing when one of them moves along none of these.
static std::optional<DimOrder> followOperand(linalg::GenericOp op,
                                             OpOperand &operand) {
  if (op.getNumDpsInits() != 1 || op->getNumResults() != 1)
    return std::nullopt;
  AffineMap in = op.getMatchingIndexingMap(&operand);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  if (!out.isProjectedPermutation() || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<std::pair<unsigned, unsigned>> places;
  for (unsigned dim = 0; dim < out.getNumResults(); ++dim) {
    auto along = llvm::find_if(in.getResults(), [&](AffineExpr expr) {
      return expr.isFunctionOfDim(out.getDimPosition(dim));
    });
    if (along == in.getResults().end())
      return std::nullopt;
    places.push_back({along - in.getResults().begin(), dim});
  }
  llvm::sort(places);
  return llvm::map_to_vector(places, [](auto place) { return place.second; });
}

/// Lets the operation of `use`, which reads the tensor of `permutation`, read
/// its source. Returns the permutation of its result, if it has one then.
static std::optional<Permutation> sinkPast(OpOperand &use,
                                           const Permutation &permutation) {
  auto op = cast<linalg::GenericOp>(use.getOwner());
  readSource(use, permutation);
  if (op->getNumResults() != 1)
    return std::nullopt;
  if (auto other = matchPermutation(op->getResult(0))) {
    // What undoes it is the source itself.
    if (llvm::is_sorted(other->order))
      op.getResult(0).replaceAllUsesWith(other->source);
    return other;
  }
  std::optional<DimOrder> order = followOperand(op, use);
  if (!order || llvm::is_sorted(*order))
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto other = matchPermutation(input->get()))
      readSource(*input, *other);
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  return permuteResult(op, *order, reduced);
}

/// The same for `user`, which reshapes, pads or cuts.
static std::optional<Permutation> sinkPast(Operation *user,
                                           const Permutation &permutation) {
  DimOrder inverse = invertOrder(permutation.order);
  Value made;
  DimOrder order;
  if (auto pad = dyn_cast<tensor::PadOp>(user)) {
    made = buildPad(pad, permutation.source, inverse);
    order = permutation.order;
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
    made = buildSlice(slice, permutation.source, inverse);
    order = permutation.order;
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
    DimOrder joined;
    made = buildExpand(expand, permutation.source, inverse, joined);
    order = invertOrder(joined);
  } else {
    auto collapse = cast<tensor::CollapseShapeOp>(user);
    auto groups = collapse.getReassociationIndices();
    std::optional<DimOrder> outer =
        orderGroups(groups, collapse.getSrcType().getShape(), inverse);
    if (!outer)
      return std::nullopt;
    DimOrder joined;
    made = buildCollapse(collapse, permutation.source,
                         permuteGroups(groups, *outer, joined));
    order = invertOrder(*outer);
  }
  if (llvm::is_sorted(order)) {
    user->getResult(0).replaceAllUsesWith(made);
    return std::nullopt;
  }
  linalg::GenericOp permuted = permuteAfter(made, order);
  user->getResult(0).replaceAllUsesWith(permuted.getResult(0));
  return Permutation{permuted, made, order};
}

/// True when a permutation of what `use` reads can move behind its operation.
static bool canSinkPast(OpOperand &use) {
  Operation *user = use.getOwner();
  auto generic = dyn_cast<linalg::GenericOp>(user);
  if (!generic)
    return isStaticShaping(user);
  return isMovable(user) && generic.isDpsInput(&use) &&
         !matchContraction(
             generic, [](unsigned loop) { return loop; },
             [](Value) { return true; });
}

void mlir::fusion::sinkPermutation(const Permutation &permutation) {
  SmallVector<Permutation> worklist{permutation};
  // Nothing is erased before the end: each may be in the list.
  llvm::SetVector<Operation *> passed;
  while (!worklist.empty()) {
    Permutation next = worklist.pop_back_val();
    Value tensor = next.op.getResult(0);
    passed.insert(next.op);
    SmallVector<OpOperand *> uses = llvm::map_to_vector(
        tensor.getUses(), [](OpOperand &use) { return &use; });
    for (OpOperand *use : uses) {
      if (use->get() != tensor || !canSinkPast(*use))
        continue;
      bool isShaping = !isa<linalg::GenericOp>(use->getOwner());
      if (isShaping)
        passed.insert(use->getOwner());
      std::optional<Permutation> behind =
          isShaping ? sinkPast(use->getOwner(), next) : sinkPast(*use, next);
      if (behind)
        worklist.push_back(*behind);
    }
  }
  // What is read later was passed later, but for some that meet.
  for (bool changed = true; std::exchange(changed, false);) {
    SmallVector<Operation *> left;
    for (Operation *op : llvm::reverse(passed))
      if (op->use_empty()) {
        eraseUnread(op);
        changed = true;
      } else {
        left.push_back(op);
      }
    passed.clear();
    passed.insert(left.rbegin(), left.rend());
  }
}

void mlir::fusion::eraseUnused(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!op->use_empty() || !(matchPermutation(tensor) || isStaticShaping(op)))
      return;
    tensor = op->getOperand(0);
    eraseUnread(op);
  }
}
