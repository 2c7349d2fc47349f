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

/// True when the loops of `op` index its tensors plainly, each dimension by a
/// loop of its own or by zero, and nothing but the results' shape decides on
/// its tiles: products have a choice of their own.
static bool isPlain(linalg::LinalgOp op) {
  return isa<linalg::GenericOp, linalg::FillOp>(op) && !isContraction(op) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation(/*allowZeroInResults=*/true);
         });
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
  void addSize(tensor::DimOp op);
  void addOp(Operation *op);
  void blockAll(ValueRange values);
  void chooseClasses();
  /// True when every element of loop `first` of `op` is followed by one of
  /// `second` in each of its tensors that has either.
  bool areOneLoop(linalg::LinalgOp op, const llvm::SmallBitVector &counted,
                  unsigned first, unsigned second) const;

  /// True when dimensions `dim` and `dim` + 1 of `value` become one.
  bool falls(Value value, unsigned dim) const {
    return chosen.test(classes[boundaries.lookup(value) + dim]);
  }
  bool changes(Value value) const;
  SmallVector<ReassociationIndices> getGroups(Value value) const;
  RankedTensorType getCollapsedType(Value value) const;

  void rewriteGeneric(linalg::GenericOp op);
  void rewriteInside();
  void rewriteOutside(
      const llvm::SmallDenseMap<Value, SmallVector<ReassociationIndices>>
          &groups);

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

bool DimCollapser::areOneLoop(linalg::LinalgOp op,
                              const llvm::SmallBitVector &counted,
                              unsigned first, unsigned second) const {
  auto iterators = op.getIteratorTypesArray();
  if (iterators[first] != iterators[second] || counted.test(first) ||
      counted.test(second))
    return false;
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    Builder b(op.getContext());
    auto a = map.getResultPosition(b.getAffineDimExpr(first));
    auto c = map.getResultPosition(b.getAffineDimExpr(second));
    return a.has_value() == c.has_value() && (!a || *a + 1 == *c);
  });
}

void DimCollapser::addLinalgOp(linalg::LinalgOp op) {
  llvm::SmallBitVector counted(op.getNumLoops());
  op->walk([&](linalg::IndexOp index) { counted.set(index.getDim()); });
  DenseMap<std::pair<unsigned, unsigned>, unsigned> ofLoops;
  auto add = [&](Value value, AffineMap map) {
    for (unsigned dim = 0; dim + 1 < map.getNumResults(); ++dim) {
      unsigned boundary = boundaries.lookup(value) + dim;
      std::optional<unsigned> first = getLoop(map, dim);
      std::optional<unsigned> second = getLoop(map, dim + 1);
      if (!first || !second || !areOneLoop(op, counted, *first, *second)) {
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

void DimCollapser::addOp(Operation *op) {
  // Elements that a body reads where it likes.
  if (op->getBlock() != &kernel.getBlock())
    return blockAll(op->getOperands());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return addLinalgOp(linalgOp);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return addSize(dim);
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
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
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

/// Gives `op` one loop for those that index dimensions that fall together. Its
/// tensors have their types of before.
void DimCollapser::rewriteGeneric(linalg::GenericOp op) {
  // Each loop that follows another is part of that one.
  llvm::SmallBitVector follows(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned dim = 0; dim + 1 < map.getNumResults(); ++dim)
      if (falls(operand.get(), dim))
        follows.set(*getLoop(map, dim + 1));
  }
  Builder b(op.getContext());
  SmallVector<AffineExpr> loops;
  SmallVector<int64_t> numbers;
  SmallVector<Attribute> iterators;
  // Loops are numbered as they were: what falls together need not be
  // neighbours there.
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    numbers.push_back(iterators.size());
    loops.push_back(b.getAffineDimExpr(iterators.size()));
    if (!follows.test(loop))
      iterators.push_back(op.getIteratorTypes()[loop]);
  }
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> results;
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
      if (dim == 0 || !falls(operand.get(), dim - 1))
        results.push_back(map.getResult(dim).replaceDims(loops));
    maps.push_back(
        AffineMap::get(iterators.size(), 0, results, op.getContext()));
  }
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(b.getArrayAttr(iterators));
  op->walk(
      [&](linalg::IndexOp index) { index.setDim(numbers[index.getDim()]); });
}

void DimCollapser::rewriteInside() {
  // Loops before types, which say what falls together.
  for (auto op : kernel.getBlock().getOps<linalg::GenericOp>())
    rewriteGeneric(op);
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
  for (Value value : tensors) {
    if (!changes(value))
      continue;
    RankedTensorType type = getCollapsedType(value);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(
          cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    value.setType(type);
  }
}

/// Gives the kernel views of its operands, and its users views of its results.
void DimCollapser::rewriteOutside(
    const llvm::SmallDenseMap<Value, SmallVector<ReassociationIndices>>
        &groups) {
  OpBuilder builder(kernel);
  for (auto [operand, argument] : llvm::zip_equal(
           kernel.getInputsMutable(), kernel.getBlock().getArguments()))
    if (auto it = groups.find(argument); it != groups.end())
      operand.set(builder.createOrFold<tensor::CollapseShapeOp>(
          kernel.getLoc(), argument.getType(), operand.get(), it->second));
  builder.setInsertionPointAfter(kernel);
  for (auto [result, yielded] :
       llvm::zip_equal(kernel.getResults(), kernel.getYield().getValues())) {
    auto it = groups.find(yielded);
    if (it == groups.end())
      continue;
    Type type = result.getType();
    result.setType(yielded.getType());
    auto uses = llvm::map_to_vector(result.getUses(),
                                    [](OpOperand &use) { return &use; });
    auto expanded = tensor::ExpandShapeOp::create(builder, kernel.getLoc(),
                                                  type, result, it->second);
    for (OpOperand *use : uses)
      use->set(expanded);
  }
}

void DimCollapser::run() {
  Block &block = kernel.getBlock();
  // Windows and products are scheduled along the dimensions that they have.
  if (kernel.getScheduleAttr() ||
      llvm::any_of(block.getOps<linalg::LinalgOp>(),
                   [](linalg::LinalgOp op) { return !isPlain(op); }))
    return;
  addTensors();
  block.walk([&](Operation *op) { addOp(op); });
  chooseClasses();
  llvm::SmallDenseMap<Value, SmallVector<ReassociationIndices>> groups;
  for (Value value : tensors)
    if (changes(value))
      groups[value] = getGroups(value);
  if (groups.empty())
    return;
  rewriteInside();
  rewriteOutside(groups);
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
