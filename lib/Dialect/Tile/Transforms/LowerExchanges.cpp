//===- LowerExchanges.cpp - Makes exchanges between threads explicit ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rewrite of layout conversions, reductions and scans
// that cross warps into stores to and loads from shared memory.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/IR/SharedExchange.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_LOWEREXCHANGESPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-lower-exchanges"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Bytes of one element in shared memory.
static unsigned elementBytes(Type type, int64_t indexBits) {
  if (type.isIndex())
    return indexBits / 8;
  return std::max<unsigned>(llvm::PowerOf2Ceil(type.getIntOrFloatBitWidth()),
                            8) /
         8;
}

/// Moves `value` to `layout` through shared memory; null when no exchange
/// exists.
static Value exchange(OpBuilder &builder, Value value,
                      const LinearLayout &layout, int64_t indexBits) {
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<SharedExchange> plan =
      planSharedExchange(getLayout(type).getLinear(), layout,
                         elementBytes(type.getElementType(), indexBits));
  if (!plan)
    return nullptr;
  MLIRContext *context = builder.getContext();
  Location loc = value.getLoc();
  auto bufferType =
      BufferType::get(context, type.getShape(), type.getElementType(),
                      SharedAttr::get(context, plan->buffer));
  auto buffer = AllocOp::create(builder, loc, bufferType, IntegerAttr());
  LocalStoreOp::create(builder, loc, value, buffer);
  return LocalLoadOp::create(
      builder, loc,
      RankedTensorType::get(type.getShape(), type.getElementType(),
                            LayoutAttr::get(context, layout)),
      buffer);
}

/// The layout of the partial results that warps hold after combining, along
/// `dim`, the elements each has itself.
static LinearLayout partialLayout(const LinearLayout &layout, unsigned dim,
                                  unsigned warpMask) {
  LinearLayout slice = layout.sliceDim(dim);
  SmallVector<int64_t> shape(layout.shape());
  shape[dim] = int64_t(1) << llvm::popcount(warpMask);
  SmallVector<Coords> regs, lanes, warps;
  for (unsigned bit = 0; bit < slice.numBits(HwDim::Register); ++bit) {
    Coords basis = slice.basis(HwDim::Register, bit);
    basis.insert(basis.begin() + dim, 0);
    regs.push_back(basis);
  }
  auto flatten = [&](HwDim hw, unsigned bit) {
    Coords basis = layout.basis(hw, bit);
    basis[dim] = 0;
    return basis;
  };
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit)
    lanes.push_back(flatten(HwDim::Lane, bit));
  int32_t step = 1;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Warp); ++bit) {
    Coords basis = flatten(HwDim::Warp, bit);
    if (warpMask & (1u << bit)) {
      basis[dim] = step;
      step *= 2;
    }
    warps.push_back(basis);
  }
  return *LinearLayout::fromBases(shape, regs, lanes, warps);
}

/// The layout in which threads combine the `parts` partial results of warps
/// along `dim`, to have results in the layout `slice`. Lanes that would have
/// the same ones share those of a thread beyond `most`.
static LinearLayout gatherLayout(const LinearLayout &slice, unsigned dim,
                                 int64_t parts, int64_t most) {
  SmallVector<int64_t> shape(slice.shape());
  shape.insert(shape.begin() + dim, parts);
  SmallVector<Coords> regs, lanes, warps;
  auto expand = [&](HwDim hw, unsigned bit) {
    Coords basis = slice.basis(hw, bit);
    basis.insert(basis.begin() + dim, 0);
    return basis;
  };
  for (unsigned bit = 0; bit < slice.numBits(HwDim::Register); ++bit)
    regs.push_back(expand(HwDim::Register, bit));
  int32_t step = 1;
  for (unsigned bit = 0; bit < slice.numBits(HwDim::Lane); ++bit) {
    lanes.push_back(expand(HwDim::Lane, bit));
    bool isFree =
        llvm::all_of(lanes.back(), [](int32_t step) { return step == 0; });
    if (isFree && slice.numRegs() * parts > most * step && step < parts) {
      lanes.back()[dim] = step;
      step *= 2;
    }
  }
  for (unsigned bit = 0; bit < slice.numBits(HwDim::Warp); ++bit)
    warps.push_back(expand(HwDim::Warp, bit));
  for (; step < parts; step *= 2) {
    regs.push_back(Coords(shape.size(), 0));
    regs.back()[dim] = step;
  }
  return *LinearLayout::fromBases(shape, regs, lanes, warps);
}

/// Each element of `shape` in one warp, and in as many as there are: neighbours
/// in registers, then in lanes. What lies along `together` one warp has.
static LinearLayout
spreadOverWarps(ArrayRef<int64_t> shape, unsigned warpBits, unsigned laneBits,
                std::optional<unsigned> together = std::nullopt) {
  SmallVector<Coords> ofWarp, steps;
  for (size_t dim = shape.size(); dim-- > 0;)
    for (int64_t step = 1; step < shape[dim]; step *= 2) {
      SmallVector<Coords> &own = dim == together ? ofWarp : steps;
      own.push_back(Coords(shape.size(), 0));
      own.back()[dim] = static_cast<int32_t>(step);
    }
  auto takeLast = [&](unsigned bits) {
    SmallVector<Coords> taken;
    while (taken.size() < bits && !steps.empty())
      taken.push_back(steps.pop_back_val());
    std::reverse(taken.begin(), taken.end());
    taken.resize(bits, Coords(shape.size(), 0));
    return taken;
  };
  SmallVector<Coords> warps = takeLast(warpBits);
  steps.insert(steps.begin(), ofWarp.begin(), ofWarp.end());
  SmallVector<Coords> lanes = takeLast(laneBits);
  return *LinearLayout::fromBases(shape, steps, lanes, warps);
}

/// Whether threads should combine what they would have in `dealt`, and tell the
/// others, instead of what they have in `gathered`, each warp all of it.
static bool isDealt(ReduceOp op, const LinearLayout &gathered,
                    const LinearLayout &dealt,
                    const fusion::LayoutConstants &fitted) {
  // A combination in a register, or after a shuffle of each state.
  auto states = static_cast<int64_t>(op.getInputs().size());
  auto ops =
      static_cast<int64_t>(op.getCombiner().front().getOperations().size());
  auto countOps = [&](const LinearLayout &layout) {
    LinearLayout slice = layout.sliceDim(op.getDim());
    int64_t combined = layout.numRegs() - slice.numRegs();
    int64_t shuffled = 0;
    for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit)
      shuffled += layout.basis(HwDim::Lane, bit)[op.getDim()] != 0
                      ? slice.numRegs()
                      : 0;
    return static_cast<double>((combined + shuffled) * ops + shuffled * states);
  };
  return isa<RankedTensorType>(op.getResultTypes().front()) &&
         countOps(gathered) >
             countOps(dealt) +
                 fitted.stateExchangeInstructions * static_cast<double>(states);
}

/// Splits a reduction over several warps; leaves others alone.
static LogicalResult splitReduction(ReduceOp op, int64_t indexBits,
                                    const fusion::LayoutConstants &fitted) {
  unsigned dim = op.getDim();
  auto inputType = cast<RankedTensorType>(op.getInputs().front().getType());
  const LinearLayout &layout = getLayout(inputType).getLinear();
  std::optional<ReductionBits> bits = getReductionBits(layout, dim);
  if (!bits)
    return op.emitOpError("FUS-3201: the layout cannot be reduced along "
                          "dimension ")
           << dim;
  if (bits->warpMask == 0)
    return success();

  OpBuilder builder(op);
  LinearLayout partial = partialLayout(layout, dim, bits->warpMask);
  SmallVector<int64_t> shape(partial.shape());
  auto withLayout = [&](Value value, ArrayRef<int64_t> newShape,
                        const LinearLayout &linear) -> Type {
    return RankedTensorType::get(newShape, getTileElementType(value.getType()),
                                 LayoutAttr::get(op.getContext(), linear));
  };
  SmallVector<Type> partialTypes;
  for (Value input : op.getInputs())
    partialTypes.push_back(withLayout(input, shape, partial));
  auto inWarp = ReduceOp::create(builder, op.getLoc(), partialTypes,
                                 op.getInputs(), dim, /*within_warp=*/true);
  IRMapping mapping;
  op.getCombiner().cloneInto(&inWarp.getCombiner(), mapping);

  LinearLayout slice = layout.sliceDim(dim);
  LinearLayout gathered =
      gatherLayout(slice, dim, shape[dim], fitted.mostGathered);
  LinearLayout dealt =
      spreadOverWarps(shape, layout.numBits(HwDim::Warp),
                      layout.numBits(HwDim::Lane), /*together=*/dim);
  SmallVector<Type> resultTypes(op.getResultTypes());
  bool deals = isDealt(op, gathered, dealt, fitted);
  if (deals) {
    gathered = dealt;
    for (Type &type : resultTypes)
      type = RankedTensorType::get(
          slice.shape(), getTileElementType(type),
          LayoutAttr::get(op.getContext(), dealt.sliceDim(dim)));
  }
  SmallVector<Value> moved;
  for (Value result : inWarp.getResults()) {
    Value value = exchange(builder, result, gathered, indexBits);
    if (!value)
      return op.emitOpError("FUS-3202: no exchange of partial results");
    moved.push_back(value);
  }
  auto final = ReduceOp::create(builder, op.getLoc(), resultTypes, moved, dim,
                                /*within_warp=*/false);
  IRMapping finalMapping;
  op.getCombiner().cloneInto(&final.getCombiner(), finalMapping);
  SmallVector<Value> results(final.getResults());
  for (Value &result : results) {
    if (deals)
      result = exchange(builder, result, slice, indexBits);
    if (!result)
      return op.emitOpError("FUS-3202: no exchange of partial results");
  }
  op.replaceAllUsesWith(results);
  op.erase();
  return success();
}

/// A scan of `inputs` like `op`, of so many parts; 0: whole.
static tile::ScanOp createScan(OpBuilder &builder, tile::ScanOp op,
                               ValueRange inputs, ValueRange inits,
                               TypeRange totals, int64_t parts,
                               bool exclusive) {
  auto scan = tile::ScanOp::create(
      builder, op.getLoc(), inputs.getTypes(), totals, inputs, inits,
      op.getDimAttr(), parts ? builder.getI64IntegerAttr(parts) : IntegerAttr(),
      exclusive ? builder.getUnitAttr() : UnitAttr(), op.getReverseAttr(),
      op.getInOrderAttr());
  IRMapping mapping;
  op.getCombiner().cloneInto(&scan.getCombiner(), mapping);
  return scan;
}

namespace {
/// What each warp combines of the tiles of `scan`, in all warps; or what comes
/// before the neighbours that a thread holds, in the block.
struct WarpTotals {
  tile::ScanOp scan;
  SmallVector<Value> totals;
  SmallVector<Value> starts;

  /// `other` combines the same elements in the same order, later.
  bool serves(tile::ScanOp other) {
    return scan->getBlock() == other->getBlock() &&
           scan.getInputs() == other.getInputs() &&
           scan.getDim() == other.getDim() &&
           scan.getReverse() == other.getReverse() &&
           OperationEquivalence::isRegionEquivalentTo(
               &scan.getCombiner(), &other.getCombiner(),
               OperationEquivalence::IgnoreLocations);
  }
};
} // namespace

/// `value` as a tile of `type`, which has dimension `dim` beside its own.
static Value spread(OpBuilder &builder, Location loc, Value value,
                    RankedTensorType type, unsigned dim) {
  if (!isa<RankedTensorType>(value.getType()))
    return SplatOp::create(builder, loc, type, value);
  auto source = cast<RankedTensorType>(value.getType());
  LinearLayout slice = getLayout(type).getLinear().sliceDim(dim);
  if (getLayout(source).getLinear() != slice)
    value = ConvertLayoutOp::create(
        builder, loc,
        RankedTensorType::get(source.getShape(), source.getElementType(),
                              LayoutAttr::get(type.getContext(), slice)),
        value);
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != dim)
      dims.push_back(i);
  return BroadcastOp::create(builder, loc, type, value, dims);
}

/// The states of `before` and `after`, tiles of the same layout, combined
/// element by element.
static SmallVector<Value> combineTiles(OpBuilder &builder, Location loc,
                                       Region &combiner, ValueRange before,
                                       ValueRange after) {
  auto shape = cast<RankedTensorType>(after.front().getType());
  auto toTile = [&](Type element) {
    return RankedTensorType::get(shape.getShape(), element,
                                 shape.getEncoding());
  };
  IRMapping mapping;
  SmallVector<Value> states(before);
  llvm::append_range(states, after);
  mapping.map(combiner.front().getArguments(), states);
  for (Operation &op : combiner.front().without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    if (copy->getNumOperands() == 0) {
      for (auto [own, value] : llvm::zip(op.getResults(), copy->getResults()))
        mapping.map(
            own, SplatOp::create(builder, loc, toTile(value.getType()), value));
      continue;
    }
    for (Value result : copy->getResults())
      result.setType(toTile(result.getType()));
  }
  SmallVector<Value> combined;
  for (Value value : combiner.front().getTerminator()->getOperands())
    combined.push_back(mapping.lookupOrDefault(value));
  return combined;
}

/// Whether each of `combiner`'s operations can be done on tiles.
static bool combinesTiles(Region &combiner) {
  Block &block = combiner.front();
  return llvm::all_of(block, [&](Operation &op) {
    return op.getNumRegions() == 0 &&
           llvm::all_of(op.getOperands(), [&](Value operand) {
             return operand.getParentBlock() == &block;
           });
  });
}

/// The layout of what the neighbours that each thread holds along `dim` make
/// together, and their number.
static LinearLayout getRunLayout(const LinearLayout &layout, unsigned dim,
                                 unsigned regBits) {
  return regBits == 0 ? layout : getRepeatedLayout(layout, dim, regBits);
}

/// Splits a scan that is done for its totals alone: each thread combines its
/// neighbours, and lanes and warps scan those, once for all. What comes before
/// the neighbours stays `known` for another scan of the same elements, which
/// has each of them to combine once more and nothing to exchange.
static LogicalResult splitTotals(tile::ScanOp op, const ScanPlan &plan,
                                 int64_t indexBits,
                                 SmallVectorImpl<WarpTotals> &known) {
  unsigned dim = op.getDim();
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  const LinearLayout &layout = getLayout(type).getLinear();
  OpBuilder builder(op);
  auto typesOf = [&](const LinearLayout &linear) {
    SmallVector<Type> types;
    for (Value input : op.getInputs())
      types.push_back(RankedTensorType::get(
          linear.shape(), getTileElementType(input.getType()),
          LayoutAttr::get(op.getContext(), linear)));
    return types;
  };
  int64_t size = type.getDimSize(dim);
  SmallVector<Value> runs(op.getInputs()), starts(op.getInits());
  tile::ScanOp first;
  if (plan.regBits != 0) {
    first = createScan(builder, op, runs, {},
                       typesOf(getRunLayout(layout, dim, plan.regBits)),
                       size >> plan.regBits, /*exclusive=*/false);
    runs = llvm::to_vector_of<Value>(first.getTotals());
  }
  int64_t parts = 0;
  SmallVector<Type> ofParts(op.getTotals().getTypes());
  if (plan.warpBits != 0) {
    parts = size >> plan.bitsOfWarp();
    ofParts = typesOf(getRepeatedLayout(layout, dim, plan.bitsOfWarp()));
    tile::ScanOp ofWarps = createScan(builder, op, runs, {}, ofParts, parts,
                                      /*exclusive=*/false);
    first = first ? first : ofWarps;
    LinearLayout gathered = getLayoutInLanes(layout.sliceDim(dim), dim, parts);
    SmallVector<Value> totals;
    for (Value total : ofWarps.getTotals()) {
      totals.push_back(exchange(builder, total, gathered, indexBits));
      if (!totals.back())
        return op.emitOpError("FUS-3202: no exchange of partial results");
    }
    tile::ScanOp ofTotals =
        createScan(builder, op, totals, starts, op.getTotals().getTypes(),
                   /*parts=*/0, /*exclusive=*/true);
    for (auto [start, result, part] :
         llvm::zip(starts, ofTotals.getResults(), ofParts))
      start = ConvertLayoutOp::create(builder, op.getLoc(), part, result);
    op->getResults()
        .take_back(starts.size())
        .replaceAllUsesWith(ofTotals.getTotals());
  }
  tile::ScanOp ofRuns =
      createScan(builder, op, runs, starts, ofParts, parts, /*exclusive=*/true);
  first = first ? first : ofRuns;
  if (plan.warpBits == 0)
    op->getResults()
        .take_back(starts.size())
        .replaceAllUsesWith(ofRuns.getTotals());
  known.push_back({first, {}, llvm::to_vector_of<Value>(ofRuns.getResults())});
  op.erase();
  return success();
}

/// Continues the neighbours that threads hold from what comes before them in
/// the block, `starts`, and before the block.
static void continueRuns(tile::ScanOp op, const ScanPlan &plan,
                         ValueRange starts) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  unsigned dim = op.getDim();
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  SmallVector<Value> before;
  for (auto [init, start] : llvm::zip(op.getInits(), starts))
    before.push_back(spread(builder, loc, init,
                            cast<RankedTensorType>(start.getType()), dim));
  SmallVector<Value> inits =
      combineTiles(builder, loc, op.getCombiner(), before, starts);
  tile::ScanOp runs = createScan(
      builder, op, op.getInputs(), inits, ValueRange(inits).getTypes(),
      type.getDimSize(dim) >> plan.regBits, op.getExclusive());
  runs.setInOrder(int64_t(1) << plan.regBits <= fusion::kMostInOrder);
  op->getResults()
      .take_front(runs.getResults().size())
      .replaceAllUsesWith(runs.getResults());
  op.erase();
}

static bool isUnused(ResultRange values) {
  return llvm::all_of(values, [](Value value) { return value.use_empty(); });
}

/// Splits a scan that several warps share; leaves others alone. Each warp
/// combines what it has, every warp scans the totals, and each scans its own
/// elements from the total of those before them. What warps told each other for
/// a scan in `known` is not told again.
static LogicalResult splitScan(tile::ScanOp op, int64_t indexBits,
                               SmallVectorImpl<WarpTotals> &known) {
  unsigned dim = op.getDim();
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  const LinearLayout &layout = getLayout(type).getLinear();
  std::optional<ScanPlan> plan = getScanPlan(layout, dim);
  if (!plan)
    return op.emitOpError("FUS-3204: the layout cannot be scanned along "
                          "dimension ")
           << dim;
  auto earlier = llvm::find_if(
      known, [&](WarpTotals &totals) { return totals.serves(op); });
  if (plan->bitsOfWarp() + plan->warpBits > plan->regBits && !op.getParts() &&
      !op.getInits().empty() && combinesTiles(op.getCombiner())) {
    if (isUnused(op.getResults()))
      return splitTotals(op, *plan, indexBits, known);
    if (earlier != known.end() && !earlier->starts.empty() &&
        isUnused(op.getTotals())) {
      continueRuns(op, *plan, earlier->starts);
      return success();
    }
  }
  if (plan->warpBits == 0)
    return success();
  if (op.getInits().empty() || op.getParts())
    return op.emitOpError("FUS-3205: warps share a scan that has no initial "
                          "values or that is one of parts");

  OpBuilder builder(op);
  int64_t parts = type.getDimSize(dim) >> plan->bitsOfWarp();
  LinearLayout partial = getRepeatedLayout(layout, dim, plan->bitsOfWarp());
  LinearLayout gathered = getLayoutInLanes(layout.sliceDim(dim), dim, parts);
  auto partType = [&](Value value, const LinearLayout &linear) -> Type {
    return RankedTensorType::get(linear.shape(),
                                 getTileElementType(value.getType()),
                                 LayoutAttr::get(op.getContext(), linear));
  };
  SmallVector<Type> partialTypes;
  for (Value input : op.getInputs())
    partialTypes.push_back(partType(input, partial));
  SmallVector<Value> totals;
  if (earlier != known.end() && !earlier->totals.empty()) {
    totals = earlier->totals;
  } else {
    tile::ScanOp ofWarps = createScan(builder, op, op.getInputs(), {},
                                      partialTypes, parts, /*exclusive=*/false);
    for (Value total : ofWarps.getTotals()) {
      totals.push_back(exchange(builder, total, gathered, indexBits));
      if (!totals.back())
        return op.emitOpError("FUS-3202: no exchange of partial results");
    }
    known.push_back({ofWarps, totals, {}});
  }
  tile::ScanOp ofTotals =
      createScan(builder, op, totals, op.getInits(), op.getTotals().getTypes(),
                 /*parts=*/0, /*exclusive=*/true);
  SmallVector<Value> starts;
  for (auto [start, partialType] :
       llvm::zip(ofTotals.getResults(), partialTypes))
    starts.push_back(
        ConvertLayoutOp::create(builder, op.getLoc(), partialType, start));
  tile::ScanOp final = createScan(builder, op, op.getInputs(), starts,
                                  partialTypes, parts, op.getExclusive());
  SmallVector<Value> results(final.getResults());
  llvm::append_range(results, ofTotals.getTotals());
  op.replaceAllUsesWith(results);
  op.erase();
  return success();
}

/// How threads hold what an exchange with other blocks is of.
static LinearLayout getExchangedLayout(Type type, int64_t numWarps) {
  if (isa<RankedTensorType>(type))
    return getLayout(type).getLinear();
  return getBlockedLayout({1}, {0}, /*vec=*/1, 32, numWarps);
}

/// `states` as tiles of `layout`; scalars become tiles of one element.
static SmallVector<Value> asTiles(OpBuilder &builder, Location loc,
                                  ValueRange states,
                                  const LinearLayout &layout) {
  SmallVector<Value> tiles;
  for (Value state : states) {
    if (isa<RankedTensorType>(state.getType())) {
      tiles.push_back(state);
      continue;
    }
    auto type = RankedTensorType::get(
        {1}, state.getType(), LayoutAttr::get(builder.getContext(), layout));
    tiles.push_back(SplatOp::create(builder, loc, type, state));
  }
  return tiles;
}

/// `tiles`, which `asTiles` made of states of `types`, as those.
static SmallVector<Value> fromTiles(OpBuilder &builder, Location loc,
                                    ValueRange tiles, TypeRange types,
                                    Region &combiner) {
  if (isa<RankedTensorType>(types.front()))
    return llvm::to_vector_of<Value>(tiles);
  auto only = ReduceOp::create(builder, loc, types, tiles, /*dim=*/0,
                               /*within_warp=*/false);
  IRMapping mapping;
  combiner.cloneInto(&only.getCombiner(), mapping);
  return llvm::to_vector_of<Value>(only.getResults());
}

/// Hands `states`, which the owners of their elements have, to all threads that
/// had `types` before, in `layout`. Empty where there is no way.
static SmallVector<Value> handOut(OpBuilder &builder, Location loc,
                                  ValueRange states, TypeRange types,
                                  const LinearLayout &layout, Region &combiner,
                                  int64_t indexBits) {
  SmallVector<Value> shared;
  for (Value state : states) {
    shared.push_back(exchange(builder, state, layout, indexBits));
    if (!shared.back())
      return {};
  }
  return fromTiles(builder, loc, shared, types, combiner);
}

/// Whether nothing but further exchanges begins with `state`, which loops may
/// carry: of a state that only the owners of elements have others need nothing.
static bool isForExchanges(Value state, llvm::SmallPtrSetImpl<Value> &seen) {
  if (!seen.insert(state).second)
    return true;
  return llvm::all_of(state.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<PanelScanOp>(user))
      return true;
    if (auto splat = dyn_cast<SplatOp>(user))
      return isForExchanges(splat.getResult(), seen);
    if (auto loop = dyn_cast<scf::ForOp>(user))
      return isForExchanges(loop.getTiedLoopRegionIterArg(&use), seen) &&
             isForExchanges(loop.getTiedLoopResult(&use), seen);
    auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
    return loop && isa<scf::YieldOp>(user) &&
           isForExchanges(loop.getRegionIterArg(use.getOperandNumber()),
                          seen) &&
           isForExchanges(loop.getResult(use.getOperandNumber()), seen);
  });
}

/// Lets the first of warps that hold the same elements exchange with other
/// blocks, and hand the others what it got: the words of all members are read
/// by as few as possible, again and again until they are there.
static LogicalResult leaveToOwners(PanelScanOp op, int64_t numWarps,
                                   int64_t indexBits) {
  LinearLayout layout =
      getExchangedLayout(op.getInits().front().getType(), numWarps);
  if (op.getByOwners() || layout.freeMask(HwDim::Warp) == 0)
    return success();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  TypeRange types = op.getInits().getTypes();
  SmallVector<Value> inits = asTiles(builder, loc, op.getInits(), layout);
  auto owned = PanelScanOp::create(
      builder, loc, ValueRange(inits).getTypes(), ValueRange(inits).getTypes(),
      inits, op.getMemory(), op.getPanel(), op.getMember(), op.getTurn(),
      op.getMembers(), op.getCopies(), op.getOffset(), op.getBytes(),
      /*by_owners=*/true);
  IRMapping mapping;
  op.getCombiner().cloneInto(&owned.getCombiner(), mapping);
  SmallVector<Value> results = handOut(builder, loc, owned.getBefore(), types,
                                       layout, op.getCombiner(), indexBits);
  llvm::SmallPtrSet<Value, 8> seen;
  bool forExchanges = llvm::all_of(
      op.getTotals(), [&](Value total) { return isForExchanges(total, seen); });
  llvm::append_range(
      results, forExchanges ? fromTiles(builder, loc, owned.getTotals(), types,
                                        op.getCombiner())
                            : handOut(builder, loc, owned.getTotals(), types,
                                      layout, op.getCombiner(), indexBits));
  if (results.size() != op.getNumResults())
    return op.emitOpError("FUS-3202: no exchange of partial results");
  op.replaceAllUsesWith(results);
  op.erase();
  return success();
}

/// Deals what several warps would exchange with other blocks, each for itself,
/// out to them: each reads the words of a part of the elements, again and again
/// until they are there, and the others get what it combined.
static LogicalResult dealToWarps(PanelReduceOp op, int64_t numWarps,
                                 int64_t indexBits) {
  Type type = op.getValues().front().getType();
  LinearLayout layout = getExchangedLayout(type, numWarps);
  // Groups of warps with work of their own have no barrier for all.
  if (op.getByOwners() || layout.freeMask(HwDim::Warp) == 0 ||
      !isa<ProgramOp>(op->getParentOp()))
    return success();
  LinearLayout dealt = spreadOverWarps(
      layout.shape(), layout.numBits(HwDim::Warp), layout.numBits(HwDim::Lane));
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> values;
  for (Value value : asTiles(builder, loc, op.getValues(), layout)) {
    values.push_back(
        dealt == layout ? value : exchange(builder, value, dealt, indexBits));
    if (!values.back())
      return op.emitOpError("FUS-3202: no exchange of partial results");
  }
  auto owned = PanelReduceOp::create(
      builder, loc, ValueRange(values).getTypes(), values, op.getMemory(),
      op.getPanel(), op.getMember(), op.getTurn(), op.getMembers(),
      op.getCopies(), op.getOffset(), op.getBytes(), /*by_owners=*/true);
  IRMapping mapping;
  op.getCombiner().cloneInto(&owned.getCombiner(), mapping);
  SmallVector<Value> results =
      handOut(builder, loc, owned.getResults(), op.getValues().getTypes(),
              layout, op.getCombiner(), indexBits);
  if (results.empty())
    return op.emitOpError("FUS-3202: no exchange of partial results");
  op.replaceAllUsesWith(results);
  op.erase();
  return success();
}

/// What the threads hold of one part of a tile, wherever the parts of others
/// belong: steps to other parts stay in place. None if a step goes to another
/// part and another place in it at once.
static std::optional<LinearLayout> getShare(const LinearLayout &layout,
                                            ArrayRef<int64_t> partShape) {
  SmallVector<Coords> kept[kNumHwDims];
  for (HwDim hw : kHwDims)
    for (unsigned bit = 0; bit != layout.numBits(hw); ++bit) {
      Coords step = layout.basis(hw, bit), inside = step;
      for (auto [coord, size] : llvm::zip_equal(inside, partShape))
        coord %= size;
      bool leaves = inside != step;
      bool moves = llvm::any_of(inside, [](int32_t coord) { return coord; });
      if (leaves && moves)
        return std::nullopt;
      if (!leaves || hw != HwDim::Register)
        kept[unsigned(hw)].push_back(inside);
    }
  return LinearLayout::fromBases(partShape, kept[0], kept[1], kept[2], kept[3]);
}

/// Gives the sum over a cluster the buffer that blocks write their shares to:
/// the parts of the tile one after the other, each as suits the exchange
/// between the two layouts.
static LogicalResult addClusterBuffer(ClusterReduceOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  const LinearLayout &part = getLayout(op.getType()).getLinear();
  std::optional<LinearLayout> from =
      getShare(getLayout(type).getLinear(), getTileShape(op.getType()));
  unsigned bytes = elementBytes(type.getElementType(), 0);
  std::optional<SharedExchange> plan;
  if (from)
    plan = planSharedExchange(*from, part, bytes);
  if (!plan)
    return op.emitOpError("FUS-3202: no exchange of partial results");
  SmallVector<SmallVector<int64_t, 8>> offsets(type.getRank());
  int64_t size = plan->buffer.sizeInBytes();
  for (auto [dim, steps] : llvm::enumerate(offsets)) {
    for (unsigned bit = 0; bit < part.dimLog2(dim); ++bit)
      steps.push_back(plan->buffer.offsetBasis(dim, bit));
    for (; int64_t(1) << steps.size() < type.getDimSize(dim); size *= 2)
      steps.push_back(size);
  }
  std::optional<SharedLayout> shared =
      SharedLayout::fromOffsets(bytes, plan->buffer.alignment(), offsets);
  if (!shared)
    return op.emitOpError("FUS-3202: no exchange of partial results");
  OpBuilder builder(op);
  auto buffer = AllocOp::create(
      builder, op.getLoc(),
      BufferType::get(op.getContext(), type.getShape(), type.getElementType(),
                      SharedAttr::get(op.getContext(), *shared)),
      IntegerAttr());
  op.getBufferMutable().assign(buffer);
  return success();
}

namespace {
class LowerExchangesPass
    : public tile::impl::LowerExchangesPassBase<LowerExchangesPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    FailureOr<fusion::TargetInfo> target = fusion::resolveTarget(program);
    if (failed(target))
      return signalPassFailure();
    int64_t indexBits = program.getIndexBits();
    SmallVector<ReduceOp> reductions;
    SmallVector<ConvertLayoutOp> conversions;
    WalkResult walk = program.getBody().walk([](ClusterReduceOp op) {
      return op.getBuffer() || succeeded(addClusterBuffer(op))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    SmallVector<tile::ScanOp> scans;
    program.getBody().walk([&](tile::ScanOp scan) { scans.push_back(scan); });
    SmallVector<PanelScanOp> overBlocks;
    program.getBody().walk([&](PanelScanOp op) { overBlocks.push_back(op); });
    for (PanelScanOp op : overBlocks)
      if (failed(leaveToOwners(op, program.getNumWarps(), indexBits)))
        return signalPassFailure();
    SmallVector<PanelReduceOp> reducedOverBlocks;
    program.getBody().walk(
        [&](PanelReduceOp op) { reducedOverBlocks.push_back(op); });
    for (PanelReduceOp op : reducedOverBlocks)
      if (failed(dealToWarps(op, program.getNumWarps(), indexBits)))
        return signalPassFailure();
    SmallVector<WarpTotals> known;
    for (tile::ScanOp scan : scans)
      if (failed(splitScan(scan, indexBits, known)))
        return signalPassFailure();
    program.getBody().walk([&](Operation *op) {
      if (auto reduce = dyn_cast<ReduceOp>(op))
        reductions.push_back(reduce);
      else if (auto convert = dyn_cast<ConvertLayoutOp>(op))
        conversions.push_back(convert);
    });
    for (ReduceOp reduce : reductions)
      if (failed(splitReduction(reduce, indexBits, target->fitted.layouts)))
        return signalPassFailure();
    for (ConvertLayoutOp convert : conversions) {
      const LinearLayout &from =
          getLayout(convert.getValue().getType()).getLinear();
      const LinearLayout &to = getLayout(convert.getType()).getLinear();
      // Lanes of a warp exchange bits in words.
      if (getTileElementType(convert.getType()).isInteger(1) &&
          getBitShufflePlan(from, to))
        continue;
      ConversionKind kind = classifyConversion(from, to);
      if (kind != ConversionKind::Shared) {
        if (kind != ConversionKind::Unsupported)
          continue;
        convert.emitOpError("FUS-3203: no conversion between these layouts");
        return signalPassFailure();
      }
      OpBuilder builder(convert);
      Value moved = exchange(builder, convert.getValue(), to, indexBits);
      if (!moved) {
        convert.emitOpError("FUS-3203: no conversion between these layouts");
        return signalPassFailure();
      }
      convert.replaceAllUsesWith(moved);
      convert.erase();
    }
  }
};
} // namespace
