//===- CollapseReshapes.cpp - Work between reshapes without them ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the removal of reshapes between a product or reduction
// and other reductions. Importers write a product over all rows or heads, and
// what is done to each row by batch and row, or by batch and head:
//
//   expand(matmul) -> softmax -> collapse -> matmul   ==>
//   matmul -> softmax' -> matmul
//
// A reduction is evaluated along its own dimensions only, so the reshapes would
// keep these apart. What is between them works as well on the dimensions before
// the reshapes wherever nothing needs those that a reshape splits; tensors from
// and for elsewhere are reshaped instead.
//
//===----------------------------------------------------------------------===//

#include "DimCollapser.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/DataMoves.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations looked at on the way from a value to a reduction.
static constexpr unsigned kMaxVisited = 64;

/// A reduction, contraction or scan, which is evaluated along its own
/// dimensions only.
static bool reduces(Operation *op) {
  if (isa<ScanOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0;
}

static bool isPointwise(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && !isa<linalg::FillOp>(op) &&
         linalgOp.getNumReductionLoops() == 0;
}

/// True when `value` is computed by an operation that reduces, and pointwise
/// operations after it.
static bool comesFromReduction(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty() && seen.size() < kMaxVisited) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isPointwise(op))
      llvm::append_range(worklist, cast<linalg::LinalgOp>(op).getDpsInputs());
    else if (isDataMove(op))
      llvm::append_range(worklist, op->getOperands());
    else if (reduces(op))
      return true;
  }
  return false;
}

/// True when a reduction or contraction reads `value` or what pointwise
/// operations compute from it.
static bool isReduced(Value value) {
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty() && seen.size() < kMaxVisited)
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (reduces(user))
        return true;
      if (isPointwise(user) && seen.insert(user).second)
        llvm::append_range(worklist, user->getResults());
    }
  return false;
}

/// True when `view` joins the innermost dimensions of what is moved. Behind it
/// each element would be looked for at quotients and remainders; moved as rows,
/// elements lie as they do in memory.
static bool joinsMoved(Operation *view) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(view);
  Operation *source = collapse ? collapse.getSrc().getDefiningOp() : nullptr;
  if (!isDataMove(source) || comesFromReduction(collapse.getSrc()))
    return false;
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  for (const ReassociationIndices &group : llvm::reverse(groups))
    if (int64_t joined = llvm::count_if(group, [&](int64_t dim) {
          return collapse.getSrcType().getDimSize(dim) != 1;
        }))
      return joined > 1;
  return false;
}

/// Tensors that are copied to wherever they are needed.
static bool isFreeTensor(Operation *op) {
  return isa<tensor::EmptyOp, linalg::FillOp>(op) ||
         (isa<arith::ConstantOp>(op) &&
          isa<RankedTensorType>(op->getResult(0).getType()));
}

namespace {
/// Lets dimensions that reshapes split or join fall together. A class of
/// boundaries goes where its tensors are read and computed by operations that
/// tell the dimensions apart only at its edges.
class ReshapeCollapser : public DimCollapser {
public:
  explicit ReshapeCollapser(FunctionOpInterface func)
      : DimCollapser(func.getFunctionBody().front()) {}

  void run();

private:
  void refuse(Operation *op, Value value, unsigned dim) override;
  void noteJoined(Operation *op, Value value, unsigned dim) override;
  void addSplit(Operation *view, Value value, unsigned dim) override;
  bool mayReadParts(OpOperand &operand) override;
  bool splitsIndices() const override { return true; }
  bool takesDynamic() const override { return true; }

  /// Boundary `dim` of `value`, where `op` reads or computes it.
  struct Place {
    Operation *op;
    Value value;
    unsigned dim;

    bool isResult() const { return value.getDefiningOp() == op; }
  };
  unsigned getClass(const Place &place) const {
    return classes[getBoundary(place.value, place.dim)];
  }

  void splitFreeTensors();
  void joinFreeTensors();
  bool mayCut(const Place &place) const;
  void chooseClasses();
  SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Value value);
  void addCastBehind(Value value, ArrayRef<unsigned> own);
  void addCastBefore(Operation *op, Value value, ArrayRef<unsigned> own);
  void addCastTensor(tensor::CastOp made);
  void addCasts();
  void rewriteCasts();

  /// The places at which operations tell the dimensions apart, and at which
  /// they take them as one.
  SmallVector<Place> cuts, joined;
  /// Boundaries inside what reshapes split or join.
  SmallVector<Place> splits;
  /// The classes whose boundaries reductions take as one.
  llvm::SmallDenseSet<unsigned> reduced;
  /// Tensors whose dimensions are told apart by what computes them.
  llvm::DenseSet<std::pair<Value, unsigned>> outside;
  /// Between a tensor whose dimensions fall together and an operation that
  /// tells them apart; with the sizes that the latter needs, and which
  /// dimensions of before are one of the source and of the result.
  struct Cast {
    tensor::CastOp op;
    SmallVector<OpFoldResult> sizes;
    SmallVector<ReassociationIndices> source, result;
  };
  SmallVector<Cast> casts;
  /// Of copies of tensors that several operations use.
  DenseMap<Operation *, Operation *> original;
};
} // namespace

void ReshapeCollapser::refuse(Operation *op, Value value, unsigned dim) {
  cuts.push_back({op, value, dim});
}

void ReshapeCollapser::noteJoined(Operation *op, Value value, unsigned dim) {
  joined.push_back({op, value, dim});
}

void ReshapeCollapser::addSplit(Operation *view, Value value, unsigned dim) {
  splits.push_back({view, value, dim});
}

/// What a reduction gives cannot be had at parts of a dimension.
bool ReshapeCollapser::mayReadParts(OpOperand &operand) {
  return !comesFromReduction(operand.get());
}

//===----------------------------------------------------------------------===//
// Tensors that are free
//===----------------------------------------------------------------------===//

/// Gives every user of an empty tensor or a constant one of its own: what they
/// share does not make their dimensions one.
void ReshapeCollapser::splitFreeTensors() {
  // Users first: copies of fills are users of what is filled.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isFreeTensor(&op) || op.use_empty() || op.hasOneUse())
      continue;
    auto uses =
        llvm::map_to_vector(op.getUses(), [](OpOperand &use) { return &use; });
    for (OpOperand *use : ArrayRef(uses).drop_front()) {
      Operation *copy = OpBuilder(&op).clone(op);
      use->set(copy->getResult(0));
      original[copy] = &op;
    }
    original[&op] = &op;
  }
}

/// Leaves one of equal copies.
void ReshapeCollapser::joinFreeTensors() {
  DenseMap<Operation *, SmallVector<Operation *>> kept;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto of = original.find(&op);
    if (of == original.end())
      continue;
    SmallVector<Operation *> &others = kept[of->second];
    auto *same = llvm::find_if(others, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(
          other, &op, OperationEquivalence::IgnoreLocations);
    });
    if (same == others.end()) {
      others.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*same);
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Which classes
//===----------------------------------------------------------------------===//

/// May a reshape take the place of what `place` tells apart? Behind a reduction
/// it would come between that and what reads it; and who reads a tensor
/// reshaped shares no kernel with those who read it as it is.
bool ReshapeCollapser::mayCut(const Place &place) const {
  auto [op, value, dim] = place;
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<tensor::DimOp>(op))
    return true;
  if (place.isResult())
    return !comesFromReduction(value);
  // Tensors from elsewhere may be read as they are.
  Operation *def = value.getDefiningOp();
  return !def || isFreeTensor(def) || outside.contains({value, dim});
}

/// Chooses the classes that hold what a reduction or product next to a reshape
/// and a reduction on the other side have between them, or what is moved before
/// a reshape that joins dimensions.
void ReshapeCollapser::chooseClasses() {
  llvm::SmallBitVector stays = compressClasses();
  for (const Place &place : joined)
    if (reduces(place.op))
      reduced.insert(getClass(place));
  llvm::SmallBitVector chosen(classes.getNumClasses());
  for (const Place &place : splits) {
    bool isNext = isa<tensor::ExpandShapeOp>(place.op)
                      ? comesFromReduction(place.op->getOperand(0))
                      : isReduced(place.op->getResult(0));
    if ((isNext && reduced.contains(getClass(place))) || joinsMoved(place.op))
      chosen.set(getClass(place));
  }
  chosen.reset(stays);
  for (const Place &place : cuts)
    if (place.isResult())
      outside.insert({place.value, place.dim});
  auto isStaying = [&](const Place &place) {
    return !chosen.test(getClass(place));
  };
  llvm::erase_if(cuts, isStaying);
  for (const Place &place : cuts)
    if (!mayCut(place))
      chosen.reset(getClass(place));
  llvm::erase_if(cuts, isStaying);
  letFall(chosen);
}

//===----------------------------------------------------------------------===//
// Reshapes at the edges
//===----------------------------------------------------------------------===//

/// The sizes of `value`, from what keeps its shape.
SmallVector<OpFoldResult> ReshapeCollapser::getSizes(OpBuilder &builder,
                                                     Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape())
    return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes();
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>())
    return expand.getMixedOutputShape();
  if (auto scan = value.getDefiningOp<ScanOp>())
    return getSizes(builder, scan.getInputs().front());
  if (auto op = value.getDefiningOp<linalg::LinalgOp>())
    return getSizes(
        builder,
        op.getDpsInitOperand(cast<OpResult>(value).getResultNumber())->get());
  if (auto made = value.getDefiningOp<tensor::CastOp>();
      made && llvm::any_of(casts, [&](Cast &own) { return own.op == made; }))
    return getSizes(builder, value.getDefiningOp()->getOperand(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  return tensor::getMixedSizes(builder, value.getLoc(), value);
}

/// Puts a cast behind `value`, whose `own` boundaries stay.
void ReshapeCollapser::addCastBehind(Value value, ArrayRef<unsigned> own) {
  OpBuilder builder(block.getParentOp()->getContext());
  builder.setInsertionPointAfterValue(value);
  auto type = cast<RankedTensorType>(value.getType());
  auto made = tensor::CastOp::create(builder, value.getLoc(), type, value);
  value.replaceAllUsesExcept(made, made);
  for (Place &place : cuts)
    if (place.value == value && !place.isResult())
      place.value = made;
  addCastTensor(made);
  for (unsigned dim : own)
    fallen.reset(getBoundary(value, dim));
  casts.push_back({made, {}, getGroups(value), getGroups(made)});
}

/// Puts a cast before `op`, which reads `value` and for which the boundaries
/// `own` stay.
void ReshapeCollapser::addCastBefore(Operation *op, Value value,
                                     ArrayRef<unsigned> own) {
  OpBuilder builder(op);
  SmallVector<OpFoldResult> sizes = getSizes(builder, value);
  auto made =
      tensor::CastOp::create(builder, op->getLoc(), value.getType(), value);
  op->replaceUsesOfWith(value, made);
  addCastTensor(made);
  for (unsigned dim : own)
    fallen.reset(getBoundary(made, dim));
  casts.push_back({made, sizes, getGroups(value), getGroups(made)});
}

/// The result of `made` has the boundaries of its source.
void ReshapeCollapser::addCastTensor(tensor::CastOp made) {
  Value value = made.getSource();
  boundaries[made] = fallen.size();
  tensors.push_back(made);
  for (int64_t dim = 0; dim + 1 < made.getType().getRank(); ++dim)
    fallen.push_back(falls(value, dim));
}

void ReshapeCollapser::addCasts() {
  llvm::MapVector<std::pair<Operation *, Value>, SmallVector<unsigned>> places;
  for (const Place &place : cuts)
    if (place.isResult())
      places[{place.op, place.value}].push_back(place.dim);
  for (auto &[place, dims] : places)
    addCastBehind(place.second, dims);
  // Arguments stay as they are.
  for (BlockArgument argument : block.getArguments())
    if (changes(argument))
      addCastBehind(
          argument,
          llvm::to_vector(llvm::seq<unsigned>(
              0, cast<RankedTensorType>(argument.getType()).getRank() - 1)));
  places.clear();
  for (const Place &place : cuts)
    if (!place.isResult())
      places[{place.op, place.value}].push_back(place.dim);
  for (auto &[place, dims] : places)
    addCastBefore(place.first, place.second, dims);
}

/// Which dimensions of a tensor with `wide` ones are those of one with `narrow`
/// ones, both in terms of what their dimensions were before.
static SmallVector<ReassociationIndices>
getReassociation(ArrayRef<ReassociationIndices> wide,
                 ArrayRef<ReassociationIndices> narrow) {
  SmallVector<ReassociationIndices> groups;
  for (auto [number, group] : llvm::enumerate(wide)) {
    if (groups.size() < narrow.size() &&
        narrow[groups.size()].front() == group.front())
      groups.emplace_back();
    groups.back().push_back(static_cast<int64_t>(number));
  }
  return groups;
}

/// Makes the casts reshapes, or nothing.
void ReshapeCollapser::rewriteCasts() {
  SmallVector<Operation *> views;
  // What each view that collapses is one of, before it is canonicalized.
  DenseMap<Value, Value> collapsed;
  for (Cast &made : casts) {
    Value source = made.op.getSource();
    Type to = made.op.getType();
    Location loc = made.op.getLoc();
    OpBuilder builder(made.op);
    Value view = source, whole = collapsed.lookup(source);
    if (whole && whole.getType() == to &&
        made.result.size() > made.source.size())
      view = whole;
    else if (made.result.size() > made.source.size())
      view = tensor::ExpandShapeOp::create(
          builder, loc, to, source, getReassociation(made.result, made.source),
          joinSizes(builder, made.sizes, made.result));
    else if (made.result.size() < made.source.size())
      collapsed[view = tensor::CollapseShapeOp::create(
                    builder, loc, to, source,
                    getReassociation(made.source, made.result))] = source;
    if (view != source && view != whole)
      views.push_back(view.getDefiningOp());
    made.op.getResult().replaceAllUsesWith(view);
    made.op.erase();
  }
  // Some meet others.
  RewritePatternSet patterns(block.getParentOp()->getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns,
                                                     patterns.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                       patterns.getContext());
  (void)applyOpPatternsGreedily(
      views, std::move(patterns),
      GreedyRewriteConfig().setStrictness(
          GreedyRewriteStrictness::ExistingAndNewOps));
}

void ReshapeCollapser::run() {
  if (block.getOps<tensor::ExpandShapeOp>().empty() &&
      block.getOps<tensor::CollapseShapeOp>().empty())
    return;
  splitFreeTensors();
  addAll();
  chooseClasses();
  if (fallen.any()) {
    addCasts();
    rewriteInside();
    rewriteCasts();
  }
  joinFreeTensors();
}

void mlir::fusion::collapseReshapes(FunctionOpInterface func) {
  ReshapeCollapser(func).run();
}
