//===- CollapseDims.cpp - One loop for dimensions side by side ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets each kernel run through dimensions
// that lie side by side as memory does. A layer norm over 7x7x513 elements is
// one over 25,137: tiles are powers of two along each dimension, and only rows
// of a multiple of 16 bytes are read and written by 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "FlatIndices.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_COLLAPSEDIMSPASS
#include "fusion/FusionPlanning/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// The loop that dimension `dim` of an operand is indexed by, or none.
static std::optional<unsigned> getLoop(AffineMap map, unsigned dim) {
  if (auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim)))
    return loop.getPosition();
  return std::nullopt;
}

/// The loops of `op` that run through one element, which stand in nobody's way.
/// Where a body asks for indices, or in the coordinates of windows, they are
/// loops like others.
static llvm::SmallBitVector getUnitLoops(linalg::LinalgOp op) {
  llvm::SmallBitVector units(op.getNumLoops());
  if (op.hasIndexSemantics())
    return units;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (range == 1)
      units.set(loop);
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (!isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(loop))
          units.reset(loop);
  return units;
}

/// True when dimension `dim` of an operand is indexed by one of `units`.
static bool isUnit(AffineMap map, unsigned dim,
                   const llvm::SmallBitVector &units) {
  std::optional<unsigned> loop = getLoop(map, dim);
  return loop && units.test(*loop);
}

/// On this side of a dimension are loops of one element only.
static constexpr int kNoLoop = -1;

/// Products have a choice of their own; other bodies are rewritten.
static bool isRewritten(linalg::LinalgOp op) {
  return isa<linalg::GenericOp, linalg::FillOp>(op) && !isContraction(op);
}

/// Coordinates that add up a loop of the result and a window of one element are
/// those of the result.
static void dropSingleTaps(linalg::GenericOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Builder b(op.getContext());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [map, operand] : llvm::zip(maps, op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    SmallVector<AffineExpr> results(map.getResults());
    for (auto [dim, expr] : llvm::enumerate(results)) {
      if (isa<AffineDimExpr>(expr))
        continue;
      AffineExpr left = expr;
      for (unsigned loop : reduced)
        if (ranges[loop] == 1)
          left = left.replace(b.getAffineDimExpr(loop),
                              b.getAffineConstantExpr(0));
      auto whole = dyn_cast<AffineDimExpr>(left);
      if (whole && type && ranges[whole.getPosition()] == type.getDimSize(dim))
        expr = left;
    }
    map = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
  }
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

namespace {
/// Lets the dimensions of one kernel fall together. Between each dimension of a
/// tensor and the next is a boundary. Boundaries that loops make one are a
/// class; a class goes, or stays, as a whole.
class DimCollapser {
public:
  explicit DimCollapser(KernelOp kernel) : kernel(kernel) {}

  void run();

private:
  void addTensor(Value value);
  void addTensors();
  void addLinalgOp(linalg::LinalgOp op);
  void addScan(ScanOp op);
  void addSize(tensor::DimOp op);
  void addView(Operation *op);
  void addOp(Operation *op);
  void blockAll(ValueRange values);
  void chooseClasses();
  /// True when every element of loop `first` of `op` is followed by one of
  /// `second` in each of its tensors that has either, but for loops of one
  /// element between them.
  bool areOneLoop(linalg::LinalgOp op, const FlatIndices &indices,
                  unsigned first, unsigned second) const;

  /// True when dimensions `dim` and `dim` + 1 of `value` become one.
  bool falls(Value value, unsigned dim) const {
    return chosen.test(classes[boundaries.lookup(value) + dim]);
  }
  bool changes(Value value) const;
  SmallVector<ReassociationIndices> getGroups(Value value) const;
  RankedTensorType getCollapsedType(Value value) const;

  /// The coordinates of `value` that stay of `map`, one for each group: the
  /// first that is of several elements. Notes the loops that follow it.
  SmallVector<AffineExpr> getKept(Value value, AffineMap map,
                                  const llvm::SmallBitVector &units,
                                  llvm::SmallBitVector &follows) const;
  void rewriteGeneric(linalg::GenericOp op);
  void rewriteScan(ScanOp op);
  void rewriteSizes();
  void rewriteViews();
  void rewriteInside();
  void rewriteOutside(ArrayRef<SmallVector<ReassociationIndices>> operands,
                      ArrayRef<SmallVector<ReassociationIndices>> results);

  KernelOp kernel;
  /// The number of each tensor's first boundary.
  DenseMap<Value, unsigned> boundaries;
  SmallVector<Value> tensors;
  llvm::IntEqClasses classes;
  llvm::SmallBitVector blocked;
  /// The classes that go.
  llvm::SmallBitVector chosen;
};
} // namespace

//===----------------------------------------------------------------------===//
// What may fall together
//===----------------------------------------------------------------------===//

void DimCollapser::addTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return;
  unsigned first = blocked.size();
  boundaries[value] = first;
  tensors.push_back(value);
  blocked.resize(first + std::max<int64_t>(type.getRank() - 1, 0));
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    if (type.isDynamicDim(dim) || type.isDynamicDim(dim + 1))
      blocked.set(first + dim);
}

void DimCollapser::addTensors() {
  for (Value argument : kernel.getBlock().getArguments())
    addTensor(argument);
  for (Operation &op : kernel.getBlock())
    for (Value result : op.getResults())
      addTensor(result);
  classes.grow(blocked.size());
}

void DimCollapser::blockAll(ValueRange values) {
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      blocked.set(boundaries.at(value),
                  boundaries.at(value) + std::max<int64_t>(type.getRank(), 1) -
                      1);
}

bool DimCollapser::areOneLoop(linalg::LinalgOp op, const FlatIndices &indices,
                              unsigned first, unsigned second) const {
  auto iterators = op.getIteratorTypesArray();
  if (iterators[first] != iterators[second] ||
      !indices.areOneLoop(first, second))
    return false;
  llvm::SmallBitVector units = getUnitLoops(op);
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    Builder b(op.getContext());
    // Coordinates of windows count along them as they are.
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr>(expr) &&
          (expr.isFunctionOfDim(first) || expr.isFunctionOfDim(second)))
        return false;
    auto a = map.getResultPosition(b.getAffineDimExpr(first));
    auto c = map.getResultPosition(b.getAffineDimExpr(second));
    if (!a || !c)
      return a.has_value() == c.has_value();
    if (*a >= *c)
      return false;
    for (unsigned between = *a + 1; between < *c; ++between)
      if (!isUnit(map, between, units))
        return false;
    return true;
  });
}

void DimCollapser::addLinalgOp(linalg::LinalgOp op) {
  FlatIndices indices(op);
  llvm::SmallBitVector units = getUnitLoops(op);
  DenseMap<std::pair<int, int>, unsigned> ofLoops;
  auto add = [&](Value value, AffineMap map) {
    // The first loop that is not of one element, going from `dim` by `step`.
    auto findLoop = [&](int dim, int step) -> std::optional<int> {
      for (; dim >= 0 && dim < static_cast<int>(map.getNumResults());
           dim += step)
        if (!isUnit(map, dim, units)) {
          std::optional<unsigned> loop = getLoop(map, dim);
          return loop ? std::optional<int>(*loop) : std::nullopt;
        }
      return kNoLoop;
    };
    for (unsigned dim = 0; dim + 1 < map.getNumResults(); ++dim) {
      unsigned boundary = boundaries.lookup(value) + dim;
      std::optional<int> first = findLoop(static_cast<int>(dim), -1);
      std::optional<int> second = findLoop(static_cast<int>(dim) + 1, 1);
      bool isEnd = first == kNoLoop || second == kNoLoop;
      if (!first || !second ||
          (!isEnd && !areOneLoop(op, indices, *first, *second))) {
        blocked.set(boundary);
        continue;
      }
      auto [it, isNew] = ofLoops.try_emplace({*first, *second}, boundary);
      if (!isNew)
        classes.join(it->second, boundary);
    }
  };
  for (OpOperand &operand : op->getOpOperands())
    add(operand.get(), op.getMatchingIndexingMap(&operand));
  for (OpOperand &init : op.getDpsInitsMutable())
    if (isa<RankedTensorType>(init.get().getType()))
      add(op.getTiedOpResult(&init), op.getMatchingIndexingMap(&init));
}

/// All tensors of a scan have the same dimensions, of which the scanned one
/// stays.
void DimCollapser::addScan(ScanOp op) {
  unsigned first = boundaries.at(op.getInputs().front());
  auto scanned = static_cast<unsigned>(op.getAxis());
  auto rank = static_cast<unsigned>(
      cast<RankedTensorType>(op.getInputs().front().getType()).getRank());
  for (unsigned dim = 0; dim + 1 < rank; ++dim) {
    if (dim == scanned || dim + 1 == scanned)
      blocked.set(first + dim);
    for (ValueRange values :
         {ValueRange(op.getInputs()), ValueRange(op.getResults())})
      for (Value value : values)
        classes.join(first + dim, boundaries.at(value) + dim);
  }
}

/// The dimension that `op` asks for stays.
void DimCollapser::addSize(tensor::DimOp op) {
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!dim)
    return blockAll(op.getSource());
  unsigned first = boundaries.at(op.getSource());
  if (*dim > 0)
    blocked.set(first + *dim - 1);
  if (*dim + 1 < cast<RankedTensorType>(op.getSource().getType()).getRank())
    blocked.set(first + *dim);
}

/// The tensor of `view` with more dimensions, the other one, and which
/// dimensions of the former each of the latter is.
static std::tuple<Value, Value, SmallVector<ReassociationIndices>>
getSides(Operation *view) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return {expand.getResult(), expand.getSrc(),
            expand.getReassociationIndices()};
  auto collapse = cast<tensor::CollapseShapeOp>(view);
  return {collapse.getSrc(), collapse.getResult(),
          collapse.getReassociationIndices()};
}

/// Of views that add or drop dimensions of size 1, dimensions of one side fall
/// together as those of the other do.
void DimCollapser::addView(Operation *op) {
  auto [wide, narrow, groups] = getSides(op);
  auto type = cast<RankedTensorType>(wide.getType());
  SmallVector<int64_t> large;
  for (ArrayRef<int64_t> group : groups) {
    auto isLarge = [&](int64_t dim) { return type.getDimSize(dim) != 1; };
    if (!type.hasStaticShape() || llvm::count_if(group, isLarge) > 1)
      return blockAll({wide, narrow});
    const auto *it = llvm::find_if(group, isLarge);
    large.push_back(it == group.end() ? group.front() : *it);
  }
  for (unsigned dim = 0; dim + 1 < groups.size(); ++dim)
    for (int64_t between = large[dim]; between < large[dim + 1]; ++between)
      classes.join(boundaries.at(narrow) + dim, boundaries.at(wide) + between);
}

void DimCollapser::addOp(Operation *op) {
  // Elements that a body reads where it likes.
  if (op->getBlock() != &kernel.getBlock())
    return blockAll(op->getOperands());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return addLinalgOp(linalgOp);
  if (auto scan = dyn_cast<ScanOp>(op))
    return addScan(scan);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return addSize(dim);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return addView(op);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (isa<tensor::EmptyOp, YieldOp>(op) ||
      (constant && isa<DenseElementsAttr>(constant.getValue())))
    return;
  blockAll(op->getOperands());
  blockAll(op->getResults());
}

/// Chooses the classes with which dimensions of several elements fall together.
void DimCollapser::chooseClasses() {
  classes.compress();
  llvm::SmallBitVector stays(classes.getNumClasses());
  for (unsigned boundary : blocked.set_bits())
    stays.set(classes[boundary]);
  chosen.resize(classes.getNumClasses());
  for (Value value : tensors) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t large = 0;
    for (int64_t begin = 0, dim = 0; dim < type.getRank(); ++dim) {
      large += type.getDimSize(dim) != 1;
      if (dim + 1 < type.getRank() &&
          !stays.test(classes[boundaries.lookup(value) + dim]))
        continue;
      for (; large > 1 && begin < dim; ++begin)
        chosen.set(classes[boundaries.lookup(value) + begin]);
      begin = dim + 1;
      large = 0;
    }
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

bool DimCollapser::changes(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; type && dim + 1 < type.getRank(); ++dim)
    if (falls(value, dim))
      return true;
  return false;
}

SmallVector<ReassociationIndices> DimCollapser::getGroups(Value value) const {
  SmallVector<ReassociationIndices> groups;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
    if (dim == 0 || !falls(value, dim - 1))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

/// The type of a tensor of type `type` whose dimensions fall together in
/// `groups`.
static RankedTensorType collapse(RankedTensorType type,
                                 ArrayRef<ReassociationIndices> groups) {
  return tensor::CollapseShapeOp::inferCollapsedType(type, groups);
}

RankedTensorType DimCollapser::getCollapsedType(Value value) const {
  return collapse(cast<RankedTensorType>(value.getType()), getGroups(value));
}

SmallVector<AffineExpr>
DimCollapser::getKept(Value value, AffineMap map,
                      const llvm::SmallBitVector &units,
                      llvm::SmallBitVector &follows) const {
  SmallVector<AffineExpr> kept;
  bool isOfUnits = true;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    bool begins = dim == 0 || !falls(value, dim - 1);
    bool isOne = isUnit(map, dim, units);
    if (begins)
      kept.push_back(map.getResult(dim));
    else if (!isOne && isOfUnits)
      kept.back() = map.getResult(dim);
    else if (!isOne)
      follows.set(*getLoop(map, dim));
    isOfUnits = isOne && (begins || isOfUnits);
  }
  return kept;
}

/// Gives `op` one loop for those that index dimensions that fall together. Its
/// tensors have their types of before.
void DimCollapser::rewriteGeneric(linalg::GenericOp op) {
  llvm::SmallBitVector units = getUnitLoops(op);
  // Each loop that follows another is part of that one.
  llvm::SmallBitVector follows(op.getNumLoops());
  SmallVector<SmallVector<AffineExpr>> kept;
  for (OpOperand &operand : op->getOpOperands())
    kept.push_back(getKept(operand.get(), op.getMatchingIndexingMap(&operand),
                           units, follows));
  // Loops of one element that no result has any more are none.
  Builder b(op.getContext());
  llvm::SmallBitVector gone = follows;
  auto parallel = utils::IteratorType::parallel;
  for (unsigned loop : units.set_bits()) {
    auto has = [&](ArrayRef<AffineExpr> exprs) {
      return llvm::is_contained(exprs, b.getAffineDimExpr(loop));
    };
    auto outputs = ArrayRef(kept).drop_front(op.getNumDpsInputs());
    bool isLeft = op.getIteratorTypesArray()[loop] == parallel
                      ? llvm::any_of(outputs, has)
                      : llvm::any_of(kept, has);
    if (!isLeft)
      gone.set(loop);
  }
  SmallVector<AffineExpr> loops;
  SmallVector<int64_t> numbers;
  SmallVector<Attribute> iterators;
  // Loops are numbered as they were: what falls together need not be
  // neighbours there.
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    numbers.push_back(iterators.size());
    bool isGoneUnit = units.test(loop) && gone.test(loop);
    loops.push_back(isGoneUnit ? b.getAffineConstantExpr(0)
                               : b.getAffineDimExpr(iterators.size()));
    if (!gone.test(loop))
      iterators.push_back(op.getIteratorTypes()[loop]);
  }
  SmallVector<AffineMap> maps;
  for (SmallVector<AffineExpr> &results : kept) {
    for (AffineExpr &expr : results)
      expr = expr.replaceDims(loops);
    maps.push_back(
        AffineMap::get(iterators.size(), 0, results, op.getContext()));
  }
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(b.getArrayAttr(iterators));
  FlatIndices::merge(op, follows);
  op->walk(
      [&](linalg::IndexOp index) { index.setDim(numbers[index.getDim()]); });
}

/// The scanned dimension has a new number.
void DimCollapser::rewriteScan(ScanOp op) {
  auto number = static_cast<int64_t>(op.getAxis());
  for (int64_t before = number; before > 0; --before)
    number -= falls(op.getInputs().front(), before - 1);
  op.setAxis(number);
}

/// Sizes are those of the dimensions' new numbers.
void DimCollapser::rewriteSizes() {
  OpBuilder builder(kernel.getContext());
  for (auto dim : kernel.getBlock().getOps<tensor::DimOp>()) {
    if (!changes(dim.getSource()))
      continue;
    int64_t number = *dim.getConstantIndex();
    for (int64_t before = *dim.getConstantIndex(); before > 0; --before)
      number -= falls(dim.getSource(), before - 1);
    builder.setInsertionPoint(dim);
    dim.getIndexMutable().assign(
        arith::ConstantIndexOp::create(builder, dim.getLoc(), number));
  }
}

/// Views split what their narrower side has left. Their tensors have their
/// types of before.
void DimCollapser::rewriteViews() {
  for (Operation &op : kernel.getBlock()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      continue;
    auto [wide, narrow, groups] = getSides(&op);
    if (!changes(wide) && !changes(narrow))
      continue;
    SmallVector<ReassociationIndices> left;
    int64_t number = 0;
    for (unsigned dim = 0; dim < groups.size(); ++dim) {
      if (dim == 0 || !falls(narrow, dim - 1))
        left.emplace_back();
      for (int64_t part : groups[dim])
        if (part == 0 || !falls(wide, part - 1))
          left.back().push_back(number++);
    }
    Builder b(op.getContext());
    op.setAttr(tensor::ExpandShapeOp::getReassociationAttrStrName(),
               getReassociationIndicesAttribute(b, left));
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      expand.setStaticOutputShape(getCollapsedType(wide).getShape());
  }
}

void DimCollapser::rewriteInside() {
  // What says how before types, which say what falls together.
  for (auto op : kernel.getBlock().getOps<linalg::GenericOp>())
    rewriteGeneric(op);
  for (auto op : kernel.getBlock().getOps<ScanOp>())
    rewriteScan(op);
  rewriteSizes();
  rewriteViews();
  SmallVector<RankedTensorType> types;
  for (Value value : tensors)
    types.push_back(getCollapsedType(value));
  for (auto [value, type] : llvm::zip_equal(tensors, types)) {
    if (value.getType() == type)
      continue;
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(
          cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    value.setType(type);
  }
  // Views that split nothing any more.
  for (Operation &op : llvm::make_early_inc_range(kernel.getBlock()))
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
        op.getOperand(0).getType() == op.getResult(0).getType()) {
      op.replaceAllUsesWith(ValueRange(op.getOperand(0)));
      op.erase();
    }
}

/// Gives the kernel views of its operands, and its users views of its results,
/// of which each has the dimensions of a group of `operands` and `results`.
void DimCollapser::rewriteOutside(
    ArrayRef<SmallVector<ReassociationIndices>> operands,
    ArrayRef<SmallVector<ReassociationIndices>> results) {
  OpBuilder builder(kernel);
  for (auto [operand, argument, groups] :
       llvm::zip_equal(kernel.getInputsMutable(),
                       kernel.getBlock().getArguments(), operands))
    if (operand.get().getType() != argument.getType())
      operand.set(builder.createOrFold<tensor::CollapseShapeOp>(
          kernel.getLoc(), argument.getType(), operand.get(), groups));
  builder.setInsertionPointAfter(kernel);
  for (auto [result, yielded, groups] : llvm::zip_equal(
           kernel.getResults(), kernel.getYield().getValues(), results)) {
    Type type = result.getType();
    if (type == yielded.getType())
      continue;
    result.setType(yielded.getType());
    auto uses = llvm::map_to_vector(result.getUses(),
                                    [](OpOperand &use) { return &use; });
    auto expanded = tensor::ExpandShapeOp::create(builder, kernel.getLoc(),
                                                  type, result, groups);
    for (OpOperand *use : uses)
      use->set(expanded);
  }
}

void DimCollapser::run() {
  Block &block = kernel.getBlock();
  // Products are scheduled along the dimensions that they have.
  if (kernel.getScheduleAttr() ||
      llvm::any_of(block.getOps<linalg::LinalgOp>(),
                   [](linalg::LinalgOp op) { return !isRewritten(op); }))
    return;
  for (auto op : block.getOps<linalg::GenericOp>())
    dropSingleTaps(op);
  addTensors();
  block.walk([&](Operation *op) { addOp(op); });
  chooseClasses();
  if (llvm::none_of(tensors, [&](Value value) { return changes(value); }))
    return;
  auto getAllGroups = [&](auto values) {
    return llvm::map_to_vector(values,
                               [&](Value value) { return getGroups(value); });
  };
  auto operands = getAllGroups(block.getArguments());
  auto results = getAllGroups(kernel.getYield().getValues());
  rewriteInside();
  rewriteOutside(operands, results);
}

namespace {
class CollapseDimsPass
    : public mlir::fusion::impl::CollapseDimsPassBase<CollapseDimsPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    getOperation()->walk([](KernelOp kernel) { DimCollapser(kernel).run(); });
  }
};
} // namespace
