//===- PipelineLoads.cpp - Starts loads of products ahead -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that turns the loads of products into copies
// that run several iterations ahead. In iteration i, with S stages:
//
//   wait for the copies of iteration i; barrier
//   read the stage of iteration i
//   start the copies of iteration i + S - 1, into the stage that iteration
//     i - 1 read: the barrier has made sure that it has been read
//   multiply
//
// A perfect nest of loops becomes one loop first. Where each warp reads what it
// copies itself, the barrier is that of a warp. Where warps share the depth and
// unpack what they multiply, stages have barriers of their own if the chip has
// good ones:
//
//   wait until the stage of iteration i is full; read it; say so
//   multiply
//   wait until all warps have read it; start the copies of iteration i + S
//
// Warps that run ahead of others by up to one iteration keep different units of
// the chip busy; behind a barrier all would read, unpack and multiply at once.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/MatrixAccess.h"
#include "fusion/Dialect/Tile/IR/SharedExchange.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tile {
#define GEN_PASS_DEF_PIPELINELOADSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#define DEBUG_TYPE "tile-pipeline-loads"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// What can be copied ahead
//===----------------------------------------------------------------------===//

/// Whether `value` can be computed for another iteration of `loop`: it depends
/// on the induction variable and on what is known before the loop alone.
static bool isKnownAhead(Value value, scf::ForOp loop) {
  if (value.getParentRegion()->isProperAncestor(&loop.getRegion()) ||
      value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
         isPure(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isKnownAhead(operand, loop);
         });
}

/// Clones what computes `value` in the iteration to which `mapping` takes the
/// induction variable.
static Value computeAhead(OpBuilder &builder, Value value, scf::ForOp loop,
                          IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return value;
  for (Value operand : op->getOperands())
    computeAhead(builder, operand, loop, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The loads in the body of `loop` that a product in it depends on, in order.
static SmallVector<LoadOp> loadsOfProducts(scf::ForOp loop) {
  llvm::SetVector<Operation *> needed;
  for (auto dot : loop.getBody()->getOps<DotOp>())
    for (Value operand : {dot.getA(), dot.getB()})
      if (Operation *op = operand.getDefiningOp())
        needed.insert(op);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        if (op->getBlock() == loop.getBody())
          needed.insert(op);
  SmallVector<LoadOp> loads;
  for (auto load : loop.getBody()->getOps<LoadOp>())
    if (needed.contains(load) && load.getIndices().empty() &&
        isa<RankedTensorType>(load.getType()) &&
        load.getView().getParentRegion()->isProperAncestor(&loop.getRegion()) &&
        llvm::all_of(load.getSymbols(),
                     [&](Value symbol) { return isKnownAhead(symbol, loop); }))
      loads.push_back(load);
  return loads;
}

namespace {
/// How the threads copy a tile.
struct CopyPlan {
  LinearLayout threads;
  SharedLayout buffer;
  /// Each warp copies what it reads itself.
  bool byReader = false;
};
} // namespace

/// The one layout in which a tile that `load` loads is used; none if there are
/// several.
static std::optional<LinearLayout> getOnlyUse(LoadOp load) {
  std::optional<LinearLayout> only;
  for (Operation *user : load.getResult().getUsers()) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    LinearLayout used =
        getLayout(convert ? convert.getType() : load.getType()).getLinear();
    if (only && *only != used)
      return std::nullopt;
    only = used;
  }
  return only;
}

/// A buffer that `threads` fill in pieces of `width` elements and from which
/// `load` is then used without bank conflicts.
static std::optional<SharedLayout>
chooseBuffer(LoadOp load, const LinearLayout &threads, unsigned bytes,
             unsigned fastest, int64_t width) {
  std::optional<SharedLayout> chunked =
      getChunkedBuffer(getTileShape(load.getType()), bytes, fastest);
  std::optional<LinearLayout> used = getOnlyUse(load);
  if (!chunked || !used || getMatrixAccess(*used, *chunked))
    return chunked;
  std::optional<SharedExchange> plan =
      planSharedExchange(threads, *used, bytes);
  // Pieces are those of memory, in one register after the other.
  auto isPiece = [&](const SharedAccess::Group &group) {
    return llvm::all_of(llvm::enumerate(group.regs), [&](auto reg) {
      return reg.value() == group.regs.front() + reg.index();
    });
  };
  if (!plan || plan->write.vecElements != width ||
      !llvm::all_of(plan->write.groups, isPiece))
    return chunked;
  SharedAccessCost cost = getSharedAccessCost(
      *used, *chunked, getWidestSharedVector(*used, *chunked));
  return plan->readCost.totalWavefronts() < cost.totalWavefronts()
             ? plan->buffer
             : *chunked;
}

/// The layout by which each warp copies, in pieces of `width` elements along
/// dimension `fastest`, what it reads in layout `used`; none when warps share
/// what they read. Rows of memory are cut into pieces only with `mayCut`.
static std::optional<LinearLayout> getReaderLayout(const LinearLayout &used,
                                                   unsigned fastest,
                                                   int64_t width, bool mayCut) {
  SmallVector<int64_t> part(used.shape());
  SmallVector<Coords> warps;
  for (unsigned bit = used.numBits(HwDim::Warp); bit-- > 0;) {
    // From the highest on, each takes half of what is left.
    Coords basis = used.basis(HwDim::Warp, bit);
    for (unsigned dim = 0; dim < 2; ++dim)
      if (basis[dim] != 0 && basis[1 - dim] == 0 &&
          int64_t(basis[dim]) * 2 == part[dim])
        part[dim] /= 2;
    warps.insert(warps.begin(), basis);
  }
  int64_t parts = (used.dimSize(0) / part[0]) * (used.dimSize(1) / part[1]);
  if (parts != used.numWarps() || part[fastest] < width ||
      (part[fastest] != used.dimSize(fastest) && !mayCut))
    return std::nullopt;
  LinearLayout one =
      LinearLayout::blocked(part, {fastest, 1 - fastest}, width, 32, 1);
  auto basesOf = [&](HwDim hw) {
    SmallVector<Coords> bases;
    for (unsigned bit = 0; bit < one.numBits(hw); ++bit)
      bases.push_back(one.basis(hw, bit));
    return bases;
  };
  return LinearLayout::fromBases(used.shape(), basesOf(HwDim::Register),
                                 basesOf(HwDim::Lane), warps);
}

/// None when the instruction, which moves 4, 8 or 16 bytes that are contiguous
/// and aligned on both sides, cannot copy the tile.
static std::optional<CopyPlan> planCopy(LoadOp load, unsigned numWarps,
                                        bool byReader = false,
                                        bool mayCut = false) {
  Access access = Access::of(load);
  ArrayRef<int64_t> shape = getTileShape(load.getType());
  Type element = getTileElementType(load.getType());
  if (shape.size() != 2 || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() % 8 != 0)
    return std::nullopt;
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  unsigned fastest = 0;
  int64_t width = 0;
  for (unsigned dim = 0; dim < 2; ++dim)
    if (isContiguous(access, dim) && getVectorWidth(access, dim) >= width) {
      fastest = dim;
      width = getVectorWidth(access, dim);
    }
  if (width * bytes < 4)
    return std::nullopt;
  LinearLayout threads =
      LinearLayout::blocked(shape, {fastest, 1 - fastest}, width, 32, numWarps);
  if (byReader) {
    std::optional<LinearLayout> used = getOnlyUse(load), own;
    if (used)
      own = getReaderLayout(*used, fastest, width, mayCut);
    if (!own)
      return std::nullopt;
    threads = *own;
  }
  std::optional<SharedLayout> buffer =
      chooseBuffer(load, threads, bytes, fastest, width);
  if (!buffer)
    buffer = SharedLayout::linear(shape, bytes, {fastest, 1 - fastest});
  return CopyPlan{threads, *buffer, byReader};
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

/// Whether `outer` does nothing but run `inner` and compute scalars for it.
static bool isPerfectNest(scf::ForOp outer, scf::ForOp inner) {
  for (Operation &op : outer.getBody()->without_terminator())
    if (&op != inner && (op.getNumRegions() != 0 || !isPure(&op)))
      return false;
  for (Value bound :
       {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!bound.getParentRegion()->isProperAncestor(&outer.getRegion()))
      return false;
  return llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) &&
         llvm::equal(outer.getYieldedValues(), inner.getResults());
}

static Value tripCount(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    return arith::ConstantIndexOp::create(builder, loc, trips->getSExtValue());
  // An empty loop must not count as a huge one.
  Value end = arith::MaxSIOp::create(builder, loc, loop.getUpperBound(),
                                     loop.getLowerBound());
  Value length = arith::SubIOp::create(builder, loc, end, loop.getLowerBound());
  return arith::CeilDivUIOp::create(builder, loc, length, loop.getStep());
}

/// Makes one loop of the perfect nest of `outer` and `inner`, so that copies
/// run ahead over the ends of the inner loop.
static scf::ForOp flatten(scf::ForOp outer, scf::ForOp inner) {
  IRRewriter rewriter(outer);
  Location loc = inner.getLoc();
  Value innerTrips = tripCount(rewriter, inner);
  Value total = arith::MulIOp::create(rewriter, loc, tripCount(rewriter, outer),
                                      innerTrips);
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value zero = number(0), one = number(1);
  auto flat = scf::ForOp::create(
      rewriter, loc, zero, total, one, outer.getInitArgs(),
      [&](OpBuilder &builder, Location loc, Value iteration,
          ValueRange carried) {
        auto positionOf = [&](scf::ForOp loop, Value number) -> Value {
          Value distance =
              arith::MulIOp::create(builder, loc, number, loop.getStep());
          return arith::AddIOp::create(builder, loc, loop.getLowerBound(),
                                       distance);
        };
        IRMapping mapping;
        mapping.map(
            outer.getInductionVar(),
            positionOf(outer, arith::DivUIOp::create(builder, loc, iteration,
                                                     innerTrips)));
        mapping.map(
            inner.getInductionVar(),
            positionOf(inner, arith::RemUIOp::create(builder, loc, iteration,
                                                     innerTrips)));
        mapping.map(outer.getRegionIterArgs(), carried);
        mapping.map(inner.getRegionIterArgs(), carried);
        for (Operation &op : outer.getBody()->without_terminator())
          if (&op != inner)
            builder.clone(op, mapping);
        for (Operation &op : *inner.getBody())
          builder.clone(op, mapping);
      });
  rewriter.replaceOp(outer, flat.getResults());
  return flat;
}

//===----------------------------------------------------------------------===//
// Rewriting a loop
//===----------------------------------------------------------------------===//

namespace {
class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, PipelineAttr pipeline, unsigned numWarps)
      : loop(loop), stages(pipeline.getStages()),
        mbarriers(pipeline.getMbarriers()), numWarps(numWarps),
        rewriter(loop.getContext()), loc(loop.getLoc()) {}

  void run();

private:
  struct Copied {
    LoadOp load;
    CopyPlan plan;
    Value buffer;
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value positionAhead(int64_t iterations, Value from);
  Value isInLoop(Value position);
  bool planReaders(ArrayRef<LoadOp> loads, SmallVectorImpl<LoadOp> &others);
  void startCopies(Value position, Value stage, Value predicate);
  void fillFirstStages(int64_t count);
  void takeTurns(bool byReaders);
  void takeTurnsWithBarriers();
  /// Replaces the loads by reads of the buffers; copies still begin where the
  /// loads say, so that they are erased when all copies have been started.
  void readStages(Value stage);
  void eraseLoads();
  void loadAhead(ArrayRef<LoadOp> loads);
  bool unpacksOnce();

  /// Carries `first` through the loop as one more value, which `next` gives for
  /// the next iteration.
  Value carry(Value first, function_ref<Value(OpBuilder &, Value)> next);
  Value carryStage();

  scf::ForOp loop;
  int64_t stages;
  bool mbarriers;
  unsigned numWarps;
  /// The barriers of the stages, if they have some.
  Value ring;
  IRRewriter rewriter;
  Location loc;
  std::vector<Copied> copies;
};
} // namespace

/// The induction variable so many iterations after `from`.
Value LoopPipeliner::positionAhead(int64_t iterations, Value from) {
  if (iterations == 0)
    return from;
  Value distance = arith::MulIOp::create(rewriter, loc, loop.getStep(),
                                         constant(iterations));
  return arith::AddIOp::create(rewriter, loc, from, distance);
}

Value LoopPipeliner::isInLoop(Value position) {
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                               position, loop.getUpperBound());
}

void LoopPipeliner::startCopies(Value position, Value stage, Value predicate) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), position);
  for (Copied &copy : copies) {
    SmallVector<Value> symbols;
    for (Value symbol : copy.load.getSymbols())
      symbols.push_back(computeAhead(rewriter, symbol, loop, mapping));
    Value buffer = StageOp::create(rewriter, loc, copy.buffer.getType(),
                                   copy.buffer, stage);
    CopyStartOp::create(
        rewriter, copy.load.getLoc(), copy.load.getView(), symbols, buffer,
        predicate, copy.load.getMap(), copy.load.getChecked(),
        LayoutAttr::get(rewriter.getContext(), copy.plan.threads));
  }
  if (!ring)
    CopyCommitOp::create(rewriter, loc);
}

void LoopPipeliner::fillFirstStages(int64_t count) {
  // In an outer loop other threads may still read the last stages.
  if (loop->getParentOfType<scf::ForOp>())
    BarrierOp::create(rewriter, loc);
  std::optional<APInt> trips = loop.getStaticTripCount();
  for (int64_t stage = 0; stage < count; ++stage) {
    Value position = positionAhead(stage, loop.getLowerBound());
    bool exists = trips && trips->sgt(stage);
    startCopies(position, constant(stage),
                exists ? Value() : isInLoop(position));
    if (!ring)
      continue;
    // The barriers are ready for all once the first copies are under way.
    if (stage == 0)
      BarrierOp::create(rewriter, loc);
    CopyArriveOp::create(rewriter, loc, ring, constant(stage));
  }
}

/// Replaces the loads by reads of their stage, in each layout that is wanted.
void LoopPipeliner::readStages(Value stage) {
  for (Copied &copy : copies) {
    rewriter.setInsertionPoint(copy.load);
    Value buffer = StageOp::create(rewriter, loc, copy.buffer.getType(),
                                   copy.buffer, stage);
    for (Operation *user :
         llvm::make_early_inc_range(copy.load.getResult().getUsers()))
      if (auto convert = dyn_cast<ConvertLayoutOp>(user)) {
        rewriter.setInsertionPoint(convert);
        rewriter.replaceOpWithNewOp<LocalLoadOp>(convert, convert.getType(),
                                                 buffer);
      }
    rewriter.setInsertionPoint(copy.load);
    if (!copy.load.getResult().use_empty())
      rewriter.replaceAllUsesWith(
          copy.load.getResult(),
          LocalLoadOp::create(rewriter, copy.load.getLoc(), copy.load.getType(),
                              buffer));
  }
}

void LoopPipeliner::eraseLoads() {
  for (Copied &copy : copies)
    rewriter.eraseOp(copy.load);
}

/// Whether warps share the depth of all products and compute an operand. Those
/// that multiply what they read wait for memory alone.
bool LoopPipeliner::unpacksOnce() {
  auto isComputed = [](Value operand) {
    if (auto convert = operand.getDefiningOp<ConvertLayoutOp>())
      operand = convert.getValue();
    return !operand.getDefiningOp<LoadOp>();
  };
  return llvm::all_of(loop.getBody()->getOps<DotOp>(), [&](DotOp dot) {
    return getTileShape(dot.getType()).size() == 3 &&
           (isComputed(dot.getA()) || isComputed(dot.getB()));
  });
}

/// Makes `loads` one iteration ahead, into values that the loop carries.
void LoopPipeliner::loadAhead(ArrayRef<LoadOp> loads) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  // Before a loop that may not run at all nothing may be loaded.
  if (loads.empty() || !trips || trips->isZero())
    return;
  auto cloneAt = [&](Value position) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), position);
    SmallVector<Value> results;
    for (LoadOp load : loads) {
      for (Value symbol : load.getSymbols())
        computeAhead(rewriter, symbol, loop, mapping);
      results.push_back(rewriter.clone(*load, mapping)->getResult(0));
    }
    return results;
  };
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> first = cloneAt(loop.getLowerBound());
  auto yieldNext = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
    return SmallVector<Value>(first);
  };
  unsigned before = loop.getNumRegionIterArgs();
  FailureOr<LoopLikeOpInterface> carried =
      loop.replaceWithAdditionalYields(rewriter, first, false, yieldNext);
  assert(succeeded(carried) && "scf.for takes more values");
  loop = cast<scf::ForOp>(carried->getOperation());
  // The last iteration repeats its own loads: what lies beyond may not exist.
  rewriter.setInsertionPointToStart(loop.getBody());
  Value next = positionAhead(1, loop.getInductionVar());
  Value position = arith::SelectOp::create(rewriter, loc, isInLoop(next), next,
                                           loop.getInductionVar());
  SmallVector<Value> ahead = cloneAt(position);
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, load] : llvm::enumerate(loads)) {
    yield->setOperand(before + i, ahead[i]);
    rewriter.replaceOp(load, loop.getRegionIterArg(before + i));
  }
}

/// Lets each warp copy what it reads, where that is all but little: then no
/// warp waits for another one, and while some start copies others multiply.
/// What is left, factors of groups, is loaded as it is used. False when warps
/// share more.
bool LoopPipeliner::planReaders(ArrayRef<LoadOp> loads,
                                SmallVectorImpl<LoadOp> &others) {
  constexpr int64_t kLittle = 8;
  // Pieces of 64 bytes a warp reach two thirds of the memory's rate; what is
  // small comes from L2.
  auto bitsOf = [](LoadOp load) -> int64_t {
    ViewType view = load.getView().getType();
    if (llvm::any_of(view.getShape(), ShapedType::isDynamic) ||
        !view.getElementType().isIntOrFloat())
      return std::numeric_limits<int64_t>::max() / kLittle;
    return ShapedType::getNumElements(view.getShape()) *
           view.getElementType().getIntOrFloatBitWidth();
  };
  int64_t largest = 0;
  for (LoadOp load : loads)
    largest = std::max(largest, bitsOf(load));
  int64_t copied = 0, loaded = 0;
  for (LoadOp load : loads) {
    auto type = cast<RankedTensorType>(load.getType());
    int64_t bits = type.getNumElements();
    if (type.getElementType().isIntOrFloat())
      bits *= type.getElementTypeBitWidth();
    if (std::optional<CopyPlan> plan =
            planCopy(load, numWarps, /*byReader=*/true,
                     /*mayCut=*/bitsOf(load) * kLittle <= largest)) {
      copies.push_back({load, *plan, nullptr});
      copied += bits;
    } else {
      others.push_back(load);
      loaded += bits;
    }
  }
  std::optional<APInt> trips = loop.getStaticTripCount();
  bool allKnown = llvm::all_of(
      others, [](LoadOp load) { return getOnlyUse(load).has_value(); });
  if (copies.empty() || loaded * kLittle > copied || !allKnown ||
      (!others.empty() && (!trips || trips->isZero()))) {
    copies.clear();
    others.clear();
    return false;
  }
  for (LoadOp load : others)
    for (Operation *user :
         llvm::make_early_inc_range(load.getResult().getUsers()))
      if (auto convert = dyn_cast<ConvertLayoutOp>(user)) {
        load.getResult().setType(convert.getType());
        rewriter.replaceOp(convert, load.getResult());
      }
  return true;
}

void LoopPipeliner::run() {
  SmallVector<LoadOp> others;
  SmallVector<LoadOp> loads = loadsOfProducts(loop);
  bool byReaders = planReaders(loads, others);
  if (!byReaders)
    for (LoadOp load : loads) {
      if (std::optional<CopyPlan> plan = planCopy(load, numWarps))
        copies.push_back({load, *plan, nullptr});
      else
        others.push_back(load);
    }
  loadAhead(others);
  if (copies.empty())
    return;

  rewriter.setInsertionPoint(loop);
  for (Copied &copy : copies) {
    Type element = getTileElementType(copy.load.getType());
    auto type = BufferType::get(
        rewriter.getContext(), getTileShape(copy.load.getType()), element,
        SharedAttr::get(rewriter.getContext(), copy.plan.buffer));
    auto buffer = AllocOp::create(rewriter, loc, type, IntegerAttr());
    buffer.setStages(stages);
    copy.buffer = buffer;
  }
  // A loop in a loop would meet barriers in the middle of a turn.
  if (mbarriers && !byReaders && unpacksOnce() &&
      !loop->getParentOfType<scf::ForOp>())
    takeTurnsWithBarriers();
  else
    takeTurns(byReaders);
}

Value LoopPipeliner::carry(Value first,
                           function_ref<Value(OpBuilder &, Value)> next) {
  auto yieldNext = [&](OpBuilder &builder, Location,
                       ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>{next(builder, arguments.front())};
  };
  FailureOr<LoopLikeOpInterface> carried =
      loop.replaceWithAdditionalYields(rewriter, first, false, yieldNext);
  assert(succeeded(carried) && "scf.for takes more values");
  loop = cast<scf::ForOp>(carried->getOperation());
  return loop.getRegionIterArgs().back();
}

/// The number of the stage that an iteration reads.
Value LoopPipeliner::carryStage() {
  Value zero = constant(0), one = constant(1), count = constant(stages);
  return carry(zero, [&](OpBuilder &builder, Value stage) -> Value {
    Value next = arith::AddIOp::create(builder, loc, stage, one);
    Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        next, count);
    return arith::SelectOp::create(builder, loc, wraps, zero, next);
  });
}

void LoopPipeliner::takeTurns(bool byReaders) {
  fillFirstStages(stages - 1);
  Value zero = constant(0), one = constant(1), last = constant(stages - 1);
  Value stage = carryStage();
  rewriter.setInsertionPointToStart(loop.getBody());
  CopyWaitOp::create(rewriter, loc, stages - 2);
  BarrierOp::create(rewriter, loc, /*within_warp=*/byReaders);
  Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                        stage, zero);
  Value before = arith::SubIOp::create(rewriter, loc, stage, one);
  Value target = arith::SelectOp::create(rewriter, loc, isFirst, last, before);
  Value position = positionAhead(stages - 1, loop.getInductionVar());
  startCopies(position, target, isInLoop(position));
  readStages(stage);
  eraseLoads();
}

void LoopPipeliner::takeTurnsWithBarriers() {
  ring = MakeRingOp::create(
      rewriter, loc, RingType::get(rewriter.getContext(), stages, {}),
      /*offset=*/IntegerAttr(), /*multicast=*/false, /*by_threads=*/true,
      /*groups=*/IntegerAttr());
  fillFirstStages(stages);
  Value zero = constant(0), one = constant(1), all = constant(stages);
  carryStage();
  Value turn = carry(zero, [&](OpBuilder &builder, Value turn) -> Value {
    return arith::AddIOp::create(builder, loc, turn, one);
  });
  // Each value that is carried makes the loop, and all its values, anew.
  Value stage = loop.getRegionIterArgs().drop_back().back();
  rewriter.setInsertionPointToStart(loop.getBody());
  WaitOp::create(rewriter, loc, TypeRange(), ring, turn);
  readStages(stage);
  for (Operation &op : *loop.getBody())
    if (isa<LocalLoadOp>(op))
      rewriter.setInsertionPointAfter(&op);
  ReleaseOp::create(rewriter, loc, ring, turn);
  // Behind the products: nobody waits for these copies yet.
  for (Operation &op : *loop.getBody())
    if (isa<DotOp>(op))
      rewriter.setInsertionPointAfter(&op);
  Value next = arith::AddIOp::create(rewriter, loc, turn, all);
  AcquireOp::create(rewriter, loc, TypeRange(), ring, next);
  Value position = positionAhead(stages, loop.getInductionVar());
  startCopies(position, stage, isInLoop(position));
  eraseLoads();
  CopyArriveOp::create(rewriter, loc, ring, next);
}

namespace {
class PipelineLoadsPass
    : public tile::impl::PipelineLoadsPassBase<PipelineLoadsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<PipelineAttr> pipeline = program.getPipeline();
    if (!pipeline || pipeline->getKind() != MmaKind::MmaSync ||
        pipeline->getStages() < 2)
      return;
    SmallVector<scf::ForOp> loops;
    program.getBody().walk([&](scf::ForOp loop) {
      if (!loadsOfProducts(loop).empty())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      for (auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
           outer && isPerfectNest(outer, loop);
           outer = dyn_cast<scf::ForOp>(loop->getParentOp()))
        loop = flatten(outer, loop);
      LoopPipeliner(loop, *pipeline, program.getNumWarps()).run();
    }
  }
};
} // namespace
