//===- PlanContraction.cpp - How warpgroups make products -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decisions on the products of a program: with which
// operands in registers or in shared memory, loaded or computed by whom.
//
//===----------------------------------------------------------------------===//

#include "ContractionPlan.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "fusion/Support/Float8.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// The granule of an instruction's columns, and the bytes of the contracted
/// dimension that it takes.
static constexpr int64_t kColumnGranule = 8, kDepthBytes = 32;

namespace {
class ContractionPlanner {
public:
  ContractionPlanner(ProgramOp program, std::optional<Refusal> &refusal)
      : program(program), refusal(refusal) {}

  FailureOr<ContractionPlan> plan();

private:
  LogicalResult refuse(StringRef name, int number, const Twine &text,
                       Operation *op) {
    refusal = Refusal{name, number, text.str(), op->getLoc()};
    return failure();
  }
  /// Several loops need stages of the same buffers.
  LogicalResult checkStages();
  LogicalResult planProduct(DotOp dot);
  LogicalResult checkTypes(DotOp dot);
  /// Sorts an operand: a buffer, or computed from at least one.
  LogicalResult planOperand(DotOp dot, Value operand, bool &computed);
  LogicalResult collectComputed(DotOp dot, Value operand);

  ProgramOp program;
  std::optional<Refusal> &refusal;
  ContractionPlan result;
  /// Products feed each other in each turn of their loop.
  bool isWalk = false;
};
} // namespace

/// True when a producer can reach `op`: only loops that it can count are
/// around it.
static bool isInScalarLoops(Operation *op) {
  Operation *parent = op->getParentOp();
  for (; !isa<ProgramOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop || !isScalarComputable(loop.getLowerBound()) ||
        !isScalarComputable(loop.getUpperBound()) ||
        !isScalarComputable(loop.getStep()))
      return false;
  }
  return true;
}

/// True for a load that can take part in the contraction: in the block of the
/// products or in a loop around it, where it may be repeated.
static bool isAround(LoadOp load, Block *block) {
  return load->getBlock()->findAncestorOpInBlock(block->front()) != nullptr;
}

LogicalResult ContractionPlanner::checkTypes(DotOp dot) {
  Type a = getTileElementType(dot.getA().getType());
  Type acc = getTileElementType(dot.getType());
  bool known = false;
  if (a.isF16())
    known = acc.isF32() || acc.isF16();
  else if (a.isBF16())
    known = acc.isF32();
  else if (fusion::isFloat8(a))
    known = acc.isF32();
  else if (a.isF32())
    known = acc.isF32() && dot.getTf32();
  else if (a.isInteger(8))
    known = acc.isInteger(32);
  if (known)
    return success();
  std::string text;
  llvm::raw_string_ostream(text)
      << "warpgroups make no products of " << a << " into " << acc;
  return refuse("wgmma-types", 3212, text, dot);
}

LogicalResult ContractionPlanner::collectComputed(DotOp dot, Value operand) {
  int64_t elements = 1;
  for (int64_t size : getTileShape(operand.getType()))
    elements *= size;
  SmallVector<Value> worklist{operand};
  llvm::SmallPtrSet<Operation *, 16> seen;
  bool fed = false;
  std::string whyNot = "it is computed without a tile from memory";
  Operation *culprit = dot;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    // What the loop carries is in registers.
    if (!op && value.getParentBlock() == dot->getBlock())
      fed = true;
    if (!op || !seen.insert(op).second)
      continue;
    // What feeds another product is planned with that one.
    if (isa<DotOp>(op)) {
      fed = true;
      continue;
    }
    auto load = dyn_cast<LoadOp>(op);
    if (!load) {
      if (op->getBlock() == dot->getBlock())
        llvm::append_range(worklist, op->getOperands());
      // A tile made once, before the loop, is in registers already.
      else if (isa<RankedTensorType>(op->getResult(0).getType()) &&
               op == operand.getDefiningOp())
        fed = true;
      continue;
    }
    int64_t loaded = 1;
    for (int64_t size : getTileShape(load.getType()))
      loaded *= size;
    // Scales and biases of the operand stay loads of the consumer, but for the
    // rows of a walk.
    ArrayRef<int64_t> shape = getTileShape(load.getType());
    bool isRow = shape.size() == 2 && shape[0] == 1 && isWalk;
    if ((loaded < elements && !isRow) || load->getBlock() != dot->getBlock())
      continue;
    FailureOr<TensorCopy> copy = getProducedCopy(load, whyNot);
    if (failed(copy)) {
      culprit = load;
      continue;
    }
    result.loads[load] = *copy;
    fed = true;
  }
  if (fed)
    return success();
  return refuse("wgmma-load", 3211,
                "the copy engine cannot load an operand: " + Twine(whyNot),
                culprit);
}

LogicalResult ContractionPlanner::planOperand(DotOp dot, Value operand,
                                              bool &computed) {
  auto load = operand.getDefiningOp<LoadOp>();
  computed = !load || !isAround(load, dot->getBlock());
  if (computed)
    return collectComputed(dot, operand);
  std::string whyNot;
  FailureOr<TensorCopy> copy = getProducedCopy(load, whyNot);
  if (failed(copy))
    return refuse("wgmma-load", 3211,
                  "the copy engine cannot load an operand: " + Twine(whyNot),
                  load);
  int64_t bits =
      load.getView().getType().getElementType().getIntOrFloatBitWidth();
  if (copy->fastDim == 0 && bits != 16)
    return refuse("wgmma-major", 3213,
                  "an operand of " + Twine(bits) +
                      "-bit elements must have "
                      "the contracted dimension contiguous in memory",
                  load);
  // Instructions read rows of at least 32 bytes, the least swizzle's span.
  if (copy->map.getSwizzle() == Swizzle::None)
    return refuse("wgmma-shape", 3213,
                  "an operand has rows of less than 32 bytes", load);
  result.loads[load] = *copy;
  return success();
}

/// True when `operand` is computed of no product, by operations that are
/// written as they are: it may be put into its buffer as soon as it is made.
static bool isPrepared(Value operand) {
  return !dependsOn({operand}, [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? isa<RankedTensorType>(value.getType())
                    : isa<DotOp, scf::ForOp>(value.getDefiningOp());
  });
}

/// The dimension of `operand`, which is computed, along which its elements lie
/// side by side in memory. Only elements of 16 bits are read either way.
static unsigned getFastDim(Value operand, const ContractionPlan &plan) {
  Type type = operand.getType();
  if (getTileElementType(type).getIntOrFloatBitWidth() != 16)
    return 1;
  for (auto &[op, copy] : plan.loads) {
    auto load = cast<LoadOp>(op);
    if (getTileShape(load.getType()) == getTileShape(type) &&
        dependsOn({operand},
                  [&](Value value) { return value == load.getResult(); }))
      return copy.fastDim;
  }
  return 1;
}

/// The buffer of a computed operand, contiguous along dimension `fastDim`.
static BufferType getOperandBuffer(Type tile, unsigned fastDim) {
  ArrayRef<int64_t> shape = getTileShape(tile);
  int64_t bytes = getTileElementType(tile).getIntOrFloatBitWidth() / 8;
  int64_t row = shape[fastDim] * bytes;
  TmaSwizzle swizzle = row >= 128  ? TmaSwizzle::B128
                       : row >= 64 ? TmaSwizzle::B64
                                   : TmaSwizzle::B32;
  MLIRContext *context = tile.getContext();
  return BufferType::get(
      context, shape, getTileElementType(tile),
      SharedAttr::get(context,
                      SharedLayout::tmaTile(shape, fastDim, bytes, swizzle)));
}

LogicalResult ContractionPlanner::planProduct(DotOp dot) {
  if (failed(checkTypes(dot)))
    return failure();
  Product product{dot};
  if (failed(planOperand(dot, dot.getA(), product.computedA)) ||
      failed(planOperand(dot, dot.getB(), product.computedB)))
    return failure();
  ArrayRef<int64_t> acc = getTileShape(dot.getType());
  ArrayRef<int64_t> a = getTileShape(dot.getA().getType());
  int64_t bits =
      getTileElementType(dot.getA().getType()).getIntOrFloatBitWidth();
  // Few rows become columns: the instruction always has 64 rows. A computed
  // operand is best in registers; of two the larger is.
  bool fewRows = acc[0] < kInstructionRows,
       fewColumns = acc[1] < kInstructionRows;
  // What feeds another product, or needs one, has its rows.
  product.preparedA = isWalk && product.computedA && isPrepared(dot.getA());
  product.preparedB = isWalk && product.computedB && isPrepared(dot.getB());
  if (product.computedB && !fewColumns && !isWalk)
    product.swapped = !product.computedA || fewRows || acc[1] > acc[0];
  else
    product.swapped = fewRows;
  int64_t rows = acc[product.swapped ? 1 : 0];
  int64_t columns = acc[product.swapped ? 0 : 1];
  if (rows < kInstructionRows || columns % kColumnGranule != 0 ||
      a[1] * bits % (8 * kDepthBytes) != 0)
    return refuse("wgmma-shape", 3213,
                  "a tile of " + Twine(acc[0]) + " x " + Twine(acc[1]) +
                      " by chunks of " + Twine(a[1]) +
                      " is too small for the products of a warpgroup",
                  dot);
  if (product.isStoredA())
    result.stored[dot.getA()] =
        getOperandBuffer(dot.getA().getType(), getFastDim(dot.getA(), result));
  if (product.isStoredB())
    result.stored[dot.getB()] =
        getOperandBuffer(dot.getB().getType(), getFastDim(dot.getB(), result));
  result.products.push_back(product);
  return success();
}

/// True when the products `a` and `b` are of one block, or of loops that carry
/// their sums, beside each other or beside the other product.
static bool areBeside(DotOp a, DotOp b) {
  auto getOuter = [](DotOp dot) {
    Block *block = dot->getBlock();
    return ContractionPlan::isLoop(block) ? block->getParentOp()->getBlock()
                                          : block;
  };
  return a->getBlock() == b->getBlock() || getOuter(a) == getOuter(b);
}

/// Widens what is kept narrow where it is read, behind the products between.
static void sinkWidened(ProgramOp program, const ContractionPlan &plan) {
  SmallVector<arith::ExtFOp> wide;
  program.getBody().walk([&](arith::ExtFOp op) { wide.push_back(op); });
  for (arith::ExtFOp op : wide) {
    if (!plan.outlivesProducts(op))
      continue;
    Operation *first = nullptr;
    for (Operation *user : op->getUsers()) {
      Operation *reader = op->getBlock()->findAncestorOpInBlock(*user);
      if (!first || reader->isBeforeInBlock(first))
        first = reader;
    }
    op->moveBefore(first);
  }
}

LogicalResult ContractionPlanner::checkStages() {
  if (result.blocks.size() == 1)
    return success();
  SmallVector<BufferType> first;
  for (Block *block : result.blocks) {
    SmallVector<BufferType> own;
    for (Operation *load : result.getLoads(block))
      own.push_back(result.loads[load].buffer);
    if (first.empty())
      first = own;
    if (own.empty() || own != first)
      return refuse("wgmma-structure", 3210,
                    "products in several loops have operands of other tiles",
                    block->getParentOp());
  }
  for (auto &[load, copy] : result.loads)
    if (!result.holds(load->getBlock()))
      return refuse("wgmma-structure", 3210,
                    "products in several loops have operands before these",
                    load);
  return success();
}

/// An operand's part whose columns lie side by side in memory, fewer of them
/// than a row of the widest swizzle has, is copied as wide as that where it
/// follows a part that is: one instruction then reads both.
static void widenPart(ContractionPlan &plan, Product wide, Product narrow) {
  auto loadOf = [](Product product) {
    return product.dot.getB().getDefiningOp<LoadOp>();
  };
  LoadOp first = loadOf(wide), second = loadOf(narrow);
  if (wide.swapped || narrow.swapped || wide.computedB || narrow.computedB ||
      wide.dot.getA() != narrow.dot.getA() ||
      first.getView() != second.getView() || !second->hasOneUse())
    return;
  const TensorCopy &before = plan.loads[first];
  TensorCopy &copy = plan.loads[second];
  if (before.fastDim != 0 || copy.fastDim != 0 || before.im2col ||
      copy.im2col || before.pieces || copy.pieces ||
      before.map.getSwizzle() != Swizzle::B128 ||
      copy.map.getSwizzle() == Swizzle::B128)
    return;
  // Half of what is copied has to be used.
  int64_t width = before.map.getBox()[before.dims[0]];
  if (getTileShape(wide.dot.getType())[1] % width != 0 ||
      2 * copy.buffer.getShape()[0] < width)
    return;
  SmallVector<int64_t> box(copy.map.getBox()), shape(copy.buffer.getShape());
  shape[0] = box[copy.dims[0]] = width;
  Type element = copy.buffer.getElementType();
  MLIRContext *context = element.getContext();
  copy.map = TensorMapType::get(context, box, element, Swizzle::B128);
  copy.buffer = BufferType::get(
      context, shape, element,
      SharedAttr::get(context,
                      SharedLayout::tmaTile(shape, 0,
                                            element.getIntOrFloatBitWidth() / 8,
                                            TmaSwizzle::B128)));
}

static void addBounds(scf::ForOp loop, SmallVector<Value> &values) {
  values.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
}

/// True when all blocks of a cluster load the same tile at the same time:
/// neither where it lies nor how often its loops turn depends on the rank.
static bool isSameInCluster(LoadOp load) {
  SmallVector<Value> values(load.getSymbols());
  for (auto loop = load->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    addBounds(loop, values);
  return !dependsOn(values, [](Value value) {
    return value.getDefiningOp<ClusterRankOp>() != nullptr;
  });
}

/// Lets each of `blocks` blocks copy a part of the tile, for all of them, if
/// its boxes can be made as many.
static void dealCopy(TensorCopy &copy, int64_t blocks) {
  constexpr int64_t kLeastBoxRows = 8;
  if (copy.im2col || copy.pieces)
    return;
  const SharedLayout &shared = copy.buffer.getLayout().getShared();
  SmallVector<int64_t> box(copy.map.getBox());
  int64_t &rows = box[copy.dims[1 - copy.fastDim]];
  for (; rows >= kLeastBoxRows; rows /= 2) {
    auto boxes = getCopyBoxes(shared, box, copy.dims,
                              static_cast<TmaSwizzle>(copy.map.getSwizzle()));
    if (!boxes || !dealBoxes(*boxes, blocks))
      continue;
    copy.map =
        TensorMapType::get(copy.map.getContext(), box,
                           copy.map.getElementType(), copy.map.getSwizzle());
    copy.multicast = true;
    return;
  }
}

/// Lets groups of consumers share out the loop that is meant for them, when
/// they can read the same stages: their contractions have the same chunks.
static void planRowGroups(ContractionPlan &plan) {
  scf::ForOp shared = plan.findRowGroups();
  if (!shared || plan.blocks.size() > 1 || shared.getNumResults() != 0 ||
      !matchPattern(shared.getLowerBound(), m_Zero()) ||
      !matchPattern(shared.getStep(), m_One()) ||
      !getConstantIntValue(shared.getUpperBound()))
    return;
  SmallVector<Value> bounds;
  for (Operation *op = plan.getFirst()->getParentOp(); op != shared;
       op = op->getParentOp())
    addBounds(cast<scf::ForOp>(op), bounds);
  auto isNumber = [&](Value value) {
    return value == shared.getInductionVar();
  };
  if (dependsOn(bounds, isNumber))
    return;
  plan.rowGroups = shared;
  for (auto &[load, copy] : plan.loads) {
    SmallVector<Value> symbols(cast<LoadOp>(load).getSymbols());
    llvm::append_range(symbols, cast<LoadOp>(load).getIndices());
    if (dependsOn(symbols, isNumber))
      plan.ownLoads.insert(load);
  }
}

FailureOr<ContractionPlan> ContractionPlanner::plan() {
  SmallVector<DotOp> dots;
  program.getBody().walk([&](DotOp dot) { dots.push_back(dot); });
  if (dots.empty())
    return refuse("wgmma-structure", 3210, "the program has no products",
                  program);
  for (DotOp dot : dots) {
    if (!result.blocks.empty() && !areBeside(dot, dots.front()))
      return refuse("wgmma-structure", 3210,
                    "the products stand in several loops", dot);
    if (!result.holds(dot->getBlock()))
      result.blocks.push_back(dot->getBlock());
    if (!isInScalarLoops(dot))
      return refuse("wgmma-structure", 3210,
                    "a producer cannot count the loops around a product", dot);
  }
  if (program.getNumWarps() % fusion::kWarpgroupWarps != 0)
    return refuse("wgmma-structure", 3210,
                  "a block of " + Twine(program.getNumWarps()) +
                      " warps has no whole warpgroups",
                  program);
  isWalk = llvm::any_of(dots, [](DotOp dot) { return needsProduct(dot); });
  makeRows(dots);
  for (DotOp dot : dots)
    if (failed(planProduct(dot)))
      return failure();
  if (result.loads.empty())
    return refuse("wgmma-load", 3211, "no operand is loaded in the loop",
                  dots.front());
  // Loads of several products in program order, those of outer loops first.
  llvm::MapVector<Operation *, TensorCopy> ordered;
  program.getBody().walk<WalkOrder::PreOrder>([&](LoadOp load) {
    auto it = result.loads.find(load);
    if (it != result.loads.end())
      ordered[load] = it->second;
  });
  result.loads = std::move(ordered);
  if (failed(checkStages()))
    return failure();
  sinkWidened(program, result);
  for (size_t i = 1; i < result.products.size(); ++i)
    widenPart(result, result.products[i - 1], result.products[i]);
  if (int64_t blocks = program.getCluster().value_or(1); blocks > 1)
    for (auto &[load, copy] : result.loads)
      if (isSameInCluster(cast<LoadOp>(load)))
        dealCopy(copy, blocks);
  planRowGroups(result);
  return result;
}

FailureOr<ContractionPlan>
tile::planContraction(ProgramOp program, std::optional<Refusal> &refusal) {
  return ContractionPlanner(program, refusal).plan();
}
