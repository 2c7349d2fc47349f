//===- RolePlan.cpp - Who loads, multiplies and stores what ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decisions on products, rings and staging buffers;
// FitRolePlan.cpp makes them fit shared memory.
//
//===----------------------------------------------------------------------===//

#include "RolePlan.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "fusion/Support/Float8.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Rows of one instruction of a warpgroup, the granule of its columns, and the
/// bytes of the contracted dimension that one instruction takes.
static constexpr int64_t kInstructionRows = 64, kColumnGranule = 8,
                         kDepthBytes = 32;
/// Smaller tiles are not worth a copy of their own in the epilogue.
static constexpr int64_t kLeastRows = 64;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool tile::isScalarType(Type type) { return type.isIntOrIndexOrFloat(); }

bool tile::isScalarComputable(Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return isa<ProgramOp>(parent) ||
           (loop && argument == loop.getInductionVar());
  }
  // A scalar may come from memory, such as the first row of a group.
  Operation *op = value.getDefiningOp();
  return op->getNumRegions() == 0 &&
         (isMemoryEffectFree(op) || isa<LoadOp>(op)) &&
         llvm::all_of(op->getOperands(), isScalarComputable);
}

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

/// True when one of `worklist` is computed from a value for which `isSource`
/// holds.
static bool dependsOn(SmallVector<Value> worklist,
                      function_ref<bool(Value)> isSource) {
  llvm::SmallPtrSet<Value, 16> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (isSource(value))
      return true;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
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

SmallVector<Operation *> ContractionPlan::getLoads(Block *block) const {
  SmallVector<Operation *> own;
  for (auto &[load, copy] : loads)
    if (blocks.size() == 1 || load->getBlock() == block)
      own.push_back(load);
  return own;
}

scf::ForOp ContractionPlan::findRowGroups() const {
  Operation *op = getFirst()->getParentOp();
  while (!isa<ProgramOp>(op) && !op->hasAttr(kRowGroupsAttrName))
    op = op->getParentOp();
  return dyn_cast<scf::ForOp>(op);
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

void ContractionPlan::dropRowGroups() {
  rowGroups = nullptr;
  ownLoads.clear();
}

int64_t ContractionPlan::countRowGroups() const {
  scf::ForOp loop = rowGroups;
  return loop ? *getConstantIntValue(loop.getUpperBound()) : 1;
}

int64_t ContractionPlan::getCopies(Operation *load) const {
  return ownLoads.contains(load) ? countRowGroups() : 1;
}

unsigned ContractionPlan::getNumber(Operation *load) const {
  unsigned number = 0;
  for (Operation *other : getLoads(load->getBlock())) {
    if (other == load)
      break;
    number += getCopies(other);
  }
  return number;
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

bool ContractionPlan::isHeld(Value operand) const {
  Operation *op = operand.getDefiningOp();
  return op && llvm::any_of(products, [&](Product product) {
           bool isPrepared =
               (product.preparedA && operand == product.dot.getA()) ||
               (product.preparedB && operand == product.dot.getB());
           return isPrepared && op->getBlock() != product.dot->getBlock();
         });
}

bool ContractionPlan::hasMulticast() const {
  return llvm::any_of(loads,
                      [](const auto &load) { return load.second.multicast; });
}

/// How a producer loads what `load` reads; fails with the reason.
static FailureOr<TensorCopy> getProducedCopy(LoadOp load, std::string &whyNot) {
  bool isGathered = !load.getIndices().empty();
  FailureOr<TensorCopy> copy = isGathered
                                   ? getGatheredCopy(load, whyNot)
                                   : getTensorCopy(Access::of(load), whyNot);
  if (failed(copy) && !isGathered) {
    std::string whyNoWindow;
    copy = getWindowCopy(Access::of(load), whyNoWindow);
    if (!whyNoWindow.empty())
      whyNot = whyNoWindow;
  }
  if (failed(copy))
    return failure();
  if (!llvm::all_of(load.getSymbols(), isScalarComputable)) {
    whyNot = "its coordinates depend on a tile or are carried by a loop";
    return failure();
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool ContractionPlan::outlivesProducts(Operation *op) const {
  if (blocks.size() == 1)
    return false;
  return llvm::any_of(products, [&](Product product) {
    Operation *made = op->getBlock()->findAncestorOpInBlock(*product.dot);
    return made && op->isBeforeInBlock(made) &&
           llvm::any_of(op->getUsers(), [&](Operation *user) {
             Operation *reader = op->getBlock()->findAncestorOpInBlock(*user);
             return reader && made->isBeforeInBlock(reader);
           });
  });
}

bool ContractionPlan::isKeptNarrow(Operation *op) const {
  return isa<arith::TruncFOp>(op) &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         outlivesProducts(op);
}

bool ContractionPlan::isLoop(Block *block) {
  auto loop = dyn_cast_or_null<scf::ForOp>(block->getParentOp());
  return loop && llvm::any_of(loop.getRegionIterArgs(), [](Value carried) {
           return isa<RankedTensorType>(carried.getType());
         });
}

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

/// True when `op` needs the result of a product of its block.
static bool needsProduct(Operation *op) {
  return dependsOn(SmallVector<Value>(op->getOperands()), [&](Value value) {
    auto dot = value.getDefiningOp<DotOp>();
    return dot && dot->getBlock() == op->getBlock();
  });
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

/// Makes `load`, of a vector that lies side by side in memory, that of a tile
/// of one row, as tensor copies take it.
static void makeRow(LoadOp load) {
  AffineMap map = load.getMap();
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || type.getRank() != 1 || !load.getIndices().empty() ||
      map.getNumResults() < 2 || !isContiguous(Access::of(load), /*axis=*/0))
    return;
  OpBuilder builder(load);
  SmallVector<AffineExpr> coords(map.getResults());
  AffineExpr row = builder.getAffineDimExpr(0);
  for (AffineExpr &coord : coords)
    coord = coord.replace(row, builder.getAffineDimExpr(1));
  coords[coords.size() - 2] = coords[coords.size() - 2] + row;
  SmallVector<int64_t> shape{1, type.getDimSize(0)};
  Value tile = LoadOp::create(
      builder, load.getLoc(), getTileType(shape, type.getElementType()),
      load.getView(), load.getSymbols(), ValueRange(),
      AffineMap::get(2, map.getNumSymbols(), coords, load.getContext()),
      load.getChecked());
  load.replaceAllUsesWith(
      ReshapeOp::create(builder, load.getLoc(), type, tile).getResult());
  load.erase();
}

/// Makes `load`, of a tile of bits, that of the bytes that these are in memory,
/// as tensor copies take them.
static void makeBytes(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  auto view = load.getView().getDefiningOp<MakeViewOp>();
  if (!type || type.getRank() != 2 || !type.getElementType().isInteger(1) ||
      !load.getIndices().empty() || !view)
    return;
  OpBuilder builder(view);
  Type byte = builder.getI8Type();
  auto ofBytes =
      ViewType::get(load.getContext(), view.getType().getShape(), byte);
  Value bytes =
      MakeViewOp::create(builder, view.getLoc(), ofBytes, view.getBase(),
                         view.getSizes(), view.getShapeAttr());
  builder.setInsertionPoint(load);
  Type tile = getTileType(type.getShape(), byte);
  Value loaded =
      LoadOp::create(builder, load.getLoc(), tile, bytes, load.getSymbols(),
                     ValueRange(), load.getMap(), load.getChecked());
  Value zero = arith::ConstantOp::create(builder, load.getLoc(),
                                         builder.getZeroAttr(tile));
  load.replaceAllUsesWith(arith::CmpIOp::create(builder, load.getLoc(),
                                                arith::CmpIPredicate::ne,
                                                loaded, zero)
                              .getResult());
  load.erase();
}

/// True when all that is computed of `value` are indices of gathered tiles.
static bool givesIndices(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (auto load = dyn_cast<LoadOp>(use.getOwner()))
      return llvm::is_contained(load.getIndices(), use.get());
    Operation *user = use.getOwner();
    return user->getNumRegions() == 0 && user->getNumResults() == 1 &&
           isMemoryEffectFree(user) && givesIndices(user->getResult(0));
  });
}

/// What products that feed each other have of a vector in each step, the sums
/// of rows that are walked, or of bits, a mask's, comes with their operands:
/// loaded by those who multiply it would be waited for in each.
static void makeRows(ArrayRef<DotOp> dots) {
  auto loop = dyn_cast<scf::ForOp>(dots.front()->getParentOp());
  if (!loop || llvm::none_of(dots, [](DotOp dot) { return needsProduct(dot); }))
    return;
  auto isPosition = [&](Value value) {
    return value == loop.getInductionVar();
  };
  for (LoadOp load : llvm::make_early_inc_range(loop.getOps<LoadOp>()))
    if (dependsOn(SmallVector<Value>(load.getSymbols()), isPosition) &&
        !givesIndices(load))
      makeRow(load);
  for (LoadOp load : llvm::make_early_inc_range(loop.getOps<LoadOp>()))
    makeBytes(load);
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

//===----------------------------------------------------------------------===//
// Loads and stores around the contraction
//===----------------------------------------------------------------------===//

/// True for a tile that is worth a copy of its own.
static bool isLarge(const TensorCopy &copy) {
  ArrayRef<int64_t> shape = copy.buffer.getShape();
  int64_t bytes = copy.buffer.getElementType().getIntOrFloatBitWidth() / 8;
  return shape[0] >= kLeastRows &&
         shape[copy.fastDim] * bytes >= fusion::kLeastSideRowBytes;
}

/// True for what is done once for each tile of the result: not in loops of its
/// own, not under a condition.
static bool isBesideProducts(Operation *op, Block *products) {
  return op->getBlock()->findAncestorOpInBlock(products->front());
}

scf::IfOp tile::findFinish(ProgramOp program, const ContractionPlan &plan) {
  scf::IfOp finish;
  WalkResult walk = program.getBody().walk([&](StoreOp store) {
    auto parent = dyn_cast<scf::IfOp>(store->getParentOp());
    if (!parent || (finish && finish != parent))
      return WalkResult::interrupt();
    finish = parent;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted() || !finish ||
      !isa<scf::ForOp>(finish->getParentOp()) || finish.getNumResults() != 0 ||
      finish.elseBlock() || !isBesideProducts(finish, plan.getFirst()) ||
      !isScalarComputable(finish.getCondition()))
    return nullptr;
  return finish;
}

/// True for what a block, or each of the groups that have rows of its tile,
/// does once.
static bool isOnce(Operation *op, const ContractionPlan &plan) {
  Operation *around = op->getParentOp();
  if (plan.rowGroups && around == plan.rowGroups)
    around = plan.rowGroups->getParentOp();
  return isa<ProgramOp>(around);
}

void tile::planHeldOperands(RolePlan &plan) {
  ContractionPlan &contraction = plan.contraction;
  if (!contraction.isLoop())
    return;
  std::vector<std::pair<Operation *, TensorCopy>> held;
  for (auto &[load, copy] : contraction.loads) {
    bool isShared = plan.groups > 1 && isa<ProgramOp>(load->getParentOp());
    // One that is copied for a whole cluster is freed by all its blocks.
    if (!contraction.holds(load->getBlock()) && !isShared && !copy.multicast)
      held.push_back({load, copy});
  }
  if (held.size() == contraction.loads.size())
    return;
  for (auto &[load, copy] : held) {
    contraction.loads.erase(load);
    contraction.ownLoads.erase(load);
    SideRing ring{copy.buffer, {}};
    ring.loads[load] = copy;
    ring.isHeld = true;
    // Where nothing comes after it there is nothing to load ahead.
    if (isOnce(load, contraction))
      ring.stages = 1;
    plan.sideRings.push_back(std::move(ring));
  }
}

void tile::planApartOperand(RolePlan &plan) {
  ContractionPlan &contraction = plan.contraction;
  if (!contraction.isLoop() || contraction.blocks.size() > 1 ||
      contraction.products.size() != 2 || plan.takesTurns() ||
      contraction.hasMulticast() || contraction.loads.size() < 2)
    return;
  DotOp behind = contraction.products.back().dot;
  for (Value operand : {behind.getA(), behind.getB()}) {
    auto load = operand.getDefiningOp<LoadOp>();
    auto *it = load ? contraction.loads.find(load) : contraction.loads.end();
    if (it == contraction.loads.end() || !load->hasOneUse() ||
        !contraction.holds(load->getBlock()) ||
        contraction.ownLoads.contains(load))
      continue;
    SideRing ring{it->second.buffer, {}};
    ring.loads[load] = it->second;
    ring.isApart = true;
    contraction.loads.erase(load);
    plan.sideRings.push_back(std::move(ring));
    return;
  }
}

/// Where `copy`, of `load`, starts: over the `values` of all loads.
static SmallVector<AffineExpr> getStarts(LoadOp load, const TensorCopy &copy,
                                         llvm::SetVector<Value> &values) {
  MLIRContext *context = load.getContext();
  SmallVector<AffineExpr> symbols, starts;
  for (Value symbol : load.getSymbols()) {
    std::optional<int64_t> number = getConstantIntValue(symbol);
    values.insert(symbol);
    unsigned position = llvm::find(values, symbol) - values.begin();
    symbols.push_back(number ? getAffineConstantExpr(*number, context)
                             : getAffineSymbolExpr(position, context));
  }
  for (AffineExpr start : copy.starts)
    starts.push_back(start.replaceSymbols(symbols));
  return starts;
}

/// True when the tiles that `a` and `b` load are the same box of one view, with
/// their dimensions exchanged.
static bool isTransposed(LoadOp a, const TensorCopy &copyOfA, LoadOp b,
                         const TensorCopy &copyOfB) {
  llvm::SetVector<Value> values;
  return a.getView() == b.getView() && copyOfA.map == copyOfB.map &&
         getStarts(a, copyOfA, values) == getStarts(b, copyOfB, values) &&
         !copyOfA.im2col && !copyOfB.im2col && !copyOfA.multicast &&
         !copyOfB.multicast && !copyOfA.pieces && !copyOfB.pieces &&
         copyOfA.buffer.getLayout().getShared().isTransposed(
             copyOfB.buffer.getLayout().getShared());
}

void tile::planTransposedOperands(ContractionPlan &plan) {
  if (!plan.isLoop())
    return;
  auto isShareable = [&](Operation *load) {
    return plan.holds(load->getBlock()) && !plan.ownLoads.contains(load);
  };
  llvm::MapVector<Operation *, TensorCopy> kept;
  for (auto &[op, copy] : plan.loads) {
    auto load = cast<LoadOp>(op);
    auto *same = llvm::find_if(kept, [&, &copy = copy](const auto &other) {
      return isShareable(load) && isShareable(other.first) &&
             load->getBlock() == other.first->getBlock() &&
             isTransposed(cast<LoadOp>(other.first), other.second, load, copy);
    });
    if (same == kept.end())
      kept[op] = copy;
    else
      plan.transposed[op] = {cast<LoadOp>(same->first), copy.buffer};
  }
  plan.loads = std::move(kept);
}

/// True where each warpgroup reads rows of its own of what `load` loads once,
/// and nothing else does.
static bool hasOwnRows(Operation *load, ProgramOp program,
                       const ContractionPlan &plan) {
  if (!load->hasOneUse() || !isOnce(load, plan))
    return false;
  auto *reader = llvm::find_if(plan.products, [&](const Product &product) {
    return product.dot == *load->user_begin();
  });
  if (reader == plan.products.end() || reader->swapped)
    return false;
  DotOp dot = reader->dot;
  if (dot.getA() != load->getResult(0))
    return false;
  int64_t warpgroups = program.getNumWarps() / fusion::kWarpgroupWarps;
  return getTileShape(dot.getType())[0] == warpgroups * kInstructionRows;
}

void tile::planEpilogue(ProgramOp program, RolePlan &plan) {
  Block *products = plan.contraction.getFirst();
  auto isInLoop = [&](Operation *op) {
    return plan.contraction.holds(op->getBlock()) &&
           ContractionPlan::isLoop(op->getBlock());
  };
  if (plan.groups == 1)
    plan.finish = findFinish(program, plan.contraction);
  auto isBeside = [&](Operation *op) {
    return isBesideProducts(op, products) ||
           (plan.finish && op->getBlock() == plan.finish.thenBlock());
  };
  std::string whyNot;
  program.getBody().walk<WalkOrder::PreOrder>([&](LoadOp load) {
    if (plan.contraction.loads.count(load) || !isBeside(load))
      return;
    // What stands before the tiles is every group's.
    if (plan.groups > 1 && isa<ProgramOp>(load->getParentOp()))
      return;
    if (isInLoop(load))
      return;
    FailureOr<TensorCopy> copy = getProducedCopy(load, whyNot);
    if (failed(copy) || !isLarge(*copy))
      return;
    auto isOperand = [](const SideRing &ring) { return ring.isOperand(); };
    if (llvm::any_of(plan.sideRings, [&](const SideRing &ring) {
          return ring.isOperand() && ring.loads.contains(load);
        }))
      return;
    auto ring = llvm::find_if(plan.sideRings, [&](const SideRing &ring) {
      return !ring.isOperand() && ring.buffer == copy->buffer;
    });
    if (ring == plan.sideRings.end()) {
      if (plan.sideRings.size() - llvm::count_if(plan.sideRings, isOperand) ==
          fusion::kMaxSideRings)
        return;
      plan.sideRings.push_back({copy->buffer, {}});
      ring = std::prev(plan.sideRings.end());
    }
    ring->loads[load] = *copy;
  });
  program.getBody().walk<WalkOrder::PreOrder>([&](StoreOp store) {
    if (!isBeside(store) || isInLoop(store))
      return;
    // Boxes of the rows that one warpgroup holds, so that each writes its own.
    FailureOr<TensorCopy> copy =
        getTensorCopy(Access::of(store), whyNot, kInstructionRows);
    if (failed(copy) || !isLarge(*copy))
      return;
    auto staging = llvm::find_if(plan.stagings, [&](const Staging &staging) {
      return staging.buffer == copy->buffer;
    });
    if (staging == plan.stagings.end()) {
      plan.stagings.push_back({copy->buffer, 1, {}});
      staging = std::prev(plan.stagings.end());
    }
    staging->stores[store] = *copy;
    // While one buffer is written to memory, the next is filled.
    staging->numBuffers = std::min<int64_t>(staging->stores.size(), 2);
  });
  // A warpgroup's products have ended before it stores its rows.
  for (Staging &staging : plan.stagings)
    for (auto [number, ring] : llvm::enumerate(plan.sideRings))
      if (ring.isHeld && ring.stages == 1 && ring.buffer == staging.buffer &&
          hasOwnRows(ring.loads.front().first, program, plan.contraction)) {
        staging.held = number;
        break;
      }
}
