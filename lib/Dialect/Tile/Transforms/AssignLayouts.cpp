//===- AssignLayouts.cpp - Decides where the elements of tiles live -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements layout assignment: values that must agree form groups,
// memory accesses vote on each group's layout, and conversions stand where
// groups meet.
//
//===----------------------------------------------------------------------===//

#include "SharedPieces.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "fusion/Dialect/Tile/Transforms/BitDealer.h"
#include "fusion/Dialect/Tile/Transforms/DotLayouts.h"
#include "fusion/Dialect/Tile/Transforms/LayoutVotes.h"
#include "fusion/Dialect/Tile/Transforms/NeighbourLayouts.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Support/Hardware.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-assign-layouts"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

namespace {
/// Values that share one layout.
struct Group {
  SmallVector<Value> values; // in program order
  SmallVector<int64_t> shape;
  /// Accesses of memory on this group's values.
  SmallVector<Access> accesses;
  /// Dimensions that a reduction or scan of the group combines.
  llvm::SmallBitVector reduced;
  /// Those that a reduction and what reduces its results again leave none of.
  llvm::SmallBitVector reducedAtLast;
  /// Values of an element that reductions combine.
  unsigned numReduced = 0;
  /// Those that a scan goes through in order, and the scans.
  llvm::SmallBitVector scanned;
  SmallVector<ScanOp> scans;
  /// A loop carries it, and reduces it in each step.
  bool isReducedInSteps = false;
  bool isAccumulator = false;
  /// Threads have whole rows along memory.
  bool hasRows = false;
  /// The layout that the instruction of the group's products gives it.
  std::optional<LinearLayout> fragment;
  std::optional<LinearLayout> layout;
};

class LayoutAssigner {
public:
  LayoutAssigner(ProgramOp program, const fusion::TargetInfo &target)
      : program(program), target(target), voter(program.getNumWarps(), target) {
  }

  void run() {
    positionBits = separatePositionBits(program);
    collect();
    choose();
    apply();
  }

private:
  void collect();
  void choose();
  void apply();

  /// Puts values that operations tie together into one class.
  void joinValues(Operation *op);
  /// Makes a group of each class.
  void makeGroups(ArrayRef<Value> values);
  /// Notes what the group's layout has to serve at `op`.
  void noteUse(Operation *op);
  void noteReduction(ReduceOp reduce);
  /// Whether `loop` carries a tile of `group`.
  bool carries(scf::ForOp loop, const Group &group);
  /// Whether `op` is in a loop that carries what it reduces in each step.
  bool isInSteps(Operation *op);
  void noteAccess(Value accessed, const Access &access);

  /// Gives all values their group's layout.
  void setLayouts();
  /// Converts operands and results of an operation that makes or takes other
  /// layouts than those of their groups.
  void convertAround(BroadcastOp broadcast, OpBuilder &builder);
  void convertAround(RepeatOp repeat, OpBuilder &builder);
  void convertAround(ReduceOp reduce, OpBuilder &builder);
  void convertAround(ScanOp scan, OpBuilder &builder);
  void convertAround(ExchangeOp exchange, OpBuilder &builder);
  void convertAround(DotOp dot, OpBuilder &builder);
  void convertAround(MmaAsyncOp mma, OpBuilder &builder);
  void convertAround(GridGatherOp gather, OpBuilder &builder);
  void convertAround(SliceOp slice, OpBuilder &builder);
  void convertAround(ReshapeOp reshape, OpBuilder &builder);
  void convertAround(LoadOp load, OpBuilder &builder);
  void convertAround(StoreOp store, OpBuilder &builder);

  void join(Value a, Value b) {
    if (isTile(a) && isTile(b))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  /// The group of a value that the program had when groups were made: not of
  /// a conversion.
  Group &groupOf(Value value) {
    return groups[numbers.lookup(
        *classes.findLeader(value.getAsOpaquePointer()))];
  }
  const LinearLayout &layoutOf(Value value) { return *groupOf(value).layout; }

  LinearLayout voteLayout(Group &group) const;
  /// The layout in which what no access of memory is made of goes to a buffer
  /// of shared memory in the widest accesses.
  std::optional<LinearLayout> bufferLayout(const Group &group) const;
  void addProduct(Group &group, std::optional<LinearLayout> fragment);
  std::optional<LinearLayout> operandLayout(OpOperand &use);
  std::optional<LinearLayout> derivedLayout(const Group &group);
  /// `layout`, or another one of its tile, in which parts of shape `share` are
  /// registers of threads.
  LinearLayout getSharedOutLayout(const LinearLayout &layout,
                                  ArrayRef<int64_t> share) const;
  std::optional<LinearLayout> spreadLayout(const Group &group);
  LinearLayout preferredLayout(Operation *op, const Access &access,
                               const LinearLayout &used,
                               bool once = false) const;
  /// Whether shared memory has room, at `op`, for what turns a tile of one
  /// layout into one of the other.
  bool canExchange(Operation *op, Type tile, const LinearLayout &used,
                   const LinearLayout &preferred) const;
  Value convert(OpBuilder &builder, Value value, const LinearLayout &layout);
  void convertResult(OpBuilder &builder, Value result,
                     std::optional<LinearLayout> made);

  mutable ProgramOp program;
  const fusion::TargetInfo &target;
  LayoutVoter voter;
  llvm::EquivalenceClasses<void *> classes;
  DenseMap<void *, unsigned> numbers;
  std::vector<Group> groups;
  /// Tiles that have layouts of their own beside those of what reads them.
  SmallVector<PositionBits> positionBits;
  /// Of the program without the conversions that are made.
  std::optional<SharedTimes> times;
  /// Conversions have no group: what is asked of groups while they are made is
  /// known before. Reductions of what warps that share a depth have, accesses
  /// around scans, those where threads have rows, those in loops that carry
  /// what they reduce in each step, and those of what goes to buffers.
  llvm::SmallPtrSet<Operation *, 4> sumsOfWarps, ofScans, ofRows, ofSteps,
      toBuffers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void LayoutAssigner::joinValues(Operation *op) {
  auto joinPairs = [&](ValueRange values, ValueRange results) {
    for (auto [value, result] : llvm::zip(values, results))
      join(value, result);
  };
  auto joinAll = [&](ValueRange values) {
    for (Value value : values)
      join(value, values.front());
  };
  TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) {
        joinPairs(loop.getInitArgs(), loop.getRegionIterArgs());
        joinPairs(loop.getRegionIterArgs(), loop.getYieldedValues());
        joinPairs(loop.getYieldedValues(), loop.getResults());
      })
      .Case([&](scf::IfOp branch) {
        for (Region *region : branch.getRegions())
          if (!region->empty())
            joinPairs(region->front().getTerminator()->getOperands(),
                      branch.getResults());
      })
      .Case([&](LoadOp load) {
        for (Value indices : load.getIndices())
          join(indices, load.getResult());
      })
      .Case([&](ReduceOp reduce) {
        joinAll(reduce.getInputs());
        joinAll(reduce.getResults());
      })
      .Case([&](ScanOp scan) {
        joinAll(scan.getInputs());
        joinPairs(scan.getInputs(), scan.getResults());
        joinAll(scan.getTotals());
        for (Value init : scan.getInits())
          join(init, scan.getTotals().front());
      })
      .Case([&](ExchangeOp exchange) {
        join(exchange.getValue(), exchange.getResult());
      })
      .Case([&](PinOp pin) { join(pin.getValue(), pin.getResult()); })
      .Case<DotOp, MmaAsyncOp>(
          [&](auto product) { join(product.getAcc(), product.getResult()); })
      .Case<MmaWaitOp, CollectOp>([&](auto passes) {
        joinPairs(passes.getValues(), passes.getResults());
      })
      .Case([&](PanelReduceOp panel) {
        joinPairs(panel.getValues(), panel.getResults());
        joinAll(panel.getValues());
      })
      .Case([&](PanelPublishOp publish) { joinAll(publish.getValues()); })
      .Case([&](PanelScanOp scan) {
        // What is read lies where it was written.
        for (auto publish : scan->getBlock()->getOps<PanelPublishOp>())
          if (publish.getOffset() == scan.getOffset())
            join(publish.getValues().front(), scan.getInits().front());
        for (ValueRange states :
             {ValueRange(scan.getInits()), ValueRange(scan.getBefore()),
              ValueRange(scan.getTotals())})
          for (Value state : states)
            join(state, scan.getInits().front());
      })
      .Default([&](Operation *other) {
        if (!isa_and_nonnull<TileDialect>(other->getDialect()) &&
            other->getNumRegions() == 0 && other->getNumResults() == 1)
          for (Value operand : other->getOperands())
            join(operand, other->getResult(0));
      });
}

void LayoutAssigner::makeGroups(ArrayRef<Value> values) {
  for (Value value : values) {
    void *leader = *classes.findLeader(value.getAsOpaquePointer());
    auto [it, inserted] = numbers.try_emplace(leader, groups.size());
    if (inserted) {
      Group group;
      group.shape = llvm::to_vector(getTileShape(value.getType()));
      group.reduced.resize(group.shape.size());
      group.reducedAtLast.resize(group.shape.size());
      group.scanned.resize(group.shape.size());
      groups.push_back(std::move(group));
    }
    groups[it->second].values.push_back(value);
  }
}

void LayoutAssigner::noteAccess(Value accessed, const Access &access) {
  if (isTile(accessed))
    groupOf(accessed).accesses.push_back(access);
}

/// The dimensions of its inputs that `reduce` and what reduces its results
/// again leave none of.
static llvm::SmallBitVector findReduced(ReduceOp reduce) {
  unsigned rank = getTileShape(reduce.getInputs().front().getType()).size();
  llvm::SmallBitVector reduced(rank);
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  while (reduce) {
    reduced.set(dims[reduce.getDim()]);
    dims.erase(dims.begin() + reduce.getDim());
    ReduceOp again = nullptr;
    for (Operation *user : reduce.getResults().front().getUsers())
      if (auto next = dyn_cast<ReduceOp>(user))
        again = next;
    reduce = again;
  }
  return reduced;
}

/// Of each dimension of what `reshape` gives, the operand's dimension that it
/// is a part of; nothing where it joins dimensions.
static std::optional<SmallVector<unsigned>> findSplitDims(ReshapeOp reshape) {
  SmallVector<unsigned> dims;
  ArrayRef<int64_t> parts = getTileShape(reshape.getType());
  for (auto [dim, size] :
       llvm::enumerate(getTileShape(reshape.getValue().getType()))) {
    int64_t have = 1;
    for (; have < size && dims.size() < parts.size(); dims.push_back(dim))
      have *= parts[dims.size()];
    if (have != size)
      return std::nullopt;
  }
  return dims;
}

bool LayoutAssigner::carries(scf::ForOp loop, const Group &group) {
  return loop && llvm::any_of(loop.getRegionIterArgs(), [&](Value carried) {
           return isTile(carried) && &groupOf(carried) == &group;
         });
}

bool LayoutAssigner::isInSteps(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  return loop && llvm::any_of(loop.getRegionIterArgs(), [&](Value carried) {
           return isTile(carried) && groupOf(carried).isReducedInSteps;
         });
}

void LayoutAssigner::noteReduction(ReduceOp reduce) {
  Value input = reduce.getInputs().front();
  Group &group = groupOf(input);
  group.reduced.set(reduce.getDim());
  group.numReduced += reduce.getNumResults();
  group.reducedAtLast |= findReduced(reduce);
  group.isReducedInSteps |=
      carries(reduce->getParentOfType<scf::ForOp>(), group);
  // Where threads reduce what they have of a tile before they share it, the
  // tile was cut into parts.
  auto reshape = input.getDefiningOp<ReshapeOp>();
  std::optional<SmallVector<unsigned>> dims;
  if (reshape)
    dims = findSplitDims(reshape);
  if (!dims)
    return;
  Group &source = groupOf(reshape.getValue());
  for (unsigned part : group.reducedAtLast.set_bits())
    source.reduced.set((*dims)[part]);
  source.reducedAtLast |= source.reduced;
}

void LayoutAssigner::noteUse(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case(
          [&](LoadOp load) { noteAccess(load.getResult(), Access::of(load)); })
      .Case([&](StoreOp store) {
        noteAccess(store.getValue(), Access::of(store));
      })
      .Case([&](ReduceOp reduce) { noteReduction(reduce); })
      .Case([&](ScanOp scan) {
        Group &group = groupOf(scan.getInputs().front());
        group.reduced.set(scan.getDim());
        group.scanned.set(scan.getDim());
        group.scans.push_back(scan);
      })
      .Case([&](DotOp dot) {
        addProduct(groupOf(dot.getResult()), getDotAccumulatorLayout(dot));
      })
      .Case([&](MmaAsyncOp mma) {
        addProduct(groupOf(mma.getResult()),
                   getWgmmaAccumulatorLayout(getTileShape(mma.getType()),
                                             program.getNumWarps(),
                                             mma.getSwapped()));
      });
}

void LayoutAssigner::collect() {
  SmallVector<Value> values;
  auto add = [&](ValueRange added) {
    llvm::append_range(values, llvm::make_filter_range(added, isTile));
  };
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      add(region.getArguments());
    add(op->getResults());
  });
  for (Value value : values)
    classes.insert(value.getAsOpaquePointer());
  program.getBody().walk([&](Operation *op) { joinValues(op); });
  makeGroups(values);
  program.getBody().walk([&](Operation *op) { noteUse(op); });
}

/// Whether warps that share the depth of a product have a sum each.
static bool isShared(const Group &group) {
  return group.isAccumulator && group.shape.size() == 3;
}

/// One layout for all products into an accumulator, or none.
void LayoutAssigner::addProduct(Group &group,
                                std::optional<LinearLayout> fragment) {
  if (!group.isAccumulator)
    group.fragment = fragment;
  else if (group.fragment != fragment)
    group.fragment = std::nullopt;
  group.isAccumulator = true;
}

/// The layout that an operand in registers must have for its product.
std::optional<LinearLayout> LayoutAssigner::operandLayout(OpOperand &use) {
  if (auto dot = dyn_cast<DotOp>(use.getOwner())) {
    const auto &fragment = groupOf(dot.getResult()).fragment;
    if (fragment && use.getOperandNumber() < 2)
      return getDotOperandLayout(dot, use.getOperandNumber(), *fragment);
  } else if (auto mma = dyn_cast<MmaAsyncOp>(use.getOwner())) {
    if (use.getOperandNumber() < 2)
      return getWgmmaOperandALayout(
          getTileShape(use.get().getType()),
          getTileElementType(use.get().getType()).getIntOrFloatBitWidth() / 8,
          program.getNumWarps());
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// The scans of a group, but for those that are done for their totals where
/// another does them again.
static SmallVector<ScanWork> getScanWork(const Group &group) {
  auto isTotalOfOther = [&](ScanOp scan) {
    return llvm::all_of(scan.getResults(),
                        [](Value result) { return result.use_empty(); }) &&
           llvm::any_of(group.scans, [&](ScanOp other) {
             return scan != other && scan.getInputs() == other.getInputs();
           });
  };
  SmallVector<ScanWork> work;
  for (ScanOp scan : group.scans)
    if (!isTotalOfOther(scan))
      work.push_back(ScanWork::of(scan));
  return work;
}

/// The layout of a tile of `shape` whose parts have layout `part` each: which
/// part an element is in is a matter of registers.
static LinearLayout getLayoutOfParts(const LinearLayout &part,
                                     ArrayRef<int64_t> shape) {
  auto order = llvm::to_vector(llvm::reverse(
      llvm::seq<unsigned>(0, static_cast<unsigned>(shape.size()))));
  return part.extendTo(shape, order);
}

std::optional<LinearLayout>
LayoutAssigner::bufferLayout(const Group &group) const {
  for (Value value : group.values)
    for (Operation *user : value.getUsers()) {
      auto store = dyn_cast<LocalStoreOp>(user);
      if (!store)
        continue;
      const SharedLayout &shared =
          store.getBuffer().getType().getLayout().getShared();
      unsigned rank = group.shape.size(), fastest = rank - 1;
      for (unsigned dim = 0; dim < rank; ++dim)
        if (group.shape[dim] > 1 &&
            shared.offsetBasis(dim, 0) == shared.elementBytes())
          fastest = dim;
      int64_t vector = fusion::kMaxAccessBytes / shared.elementBytes();
      return getBlockedLayout(group.shape, orderByMemory({}, rank, fastest),
                              std::min(vector, group.shape[fastest]),
                              program.getNumWarps(),
                              llvm::SmallBitVector(rank));
    }
  return std::nullopt;
}

LinearLayout LayoutAssigner::voteLayout(Group &group) const {
  unsigned rank = group.shape.size();
  if (group.isAccumulator)
    return getBlockedLayout(group.shape,
                            orderByMemory({}, rank, /*fastest=*/rank - 1),
                            std::min<int64_t>(4, group.shape.back()),
                            program.getNumWarps(), llvm::SmallBitVector(rank));
  if (group.accesses.empty())
    if (std::optional<LinearLayout> layout = bufferLayout(group))
      return *layout;
  LayoutVotes votes(group.shape);
  for (const Access &access : group.accesses)
    votes.accesses.push_back(VotingAccess::of(AccessForm::of(access)));
  votes.reduced = group.reduced;
  votes.reducedAtLast = group.reducedAtLast;
  votes.numReduced = group.numReduced;
  votes.isReducedInSteps = group.isReducedInSteps;
  votes.scanned = group.scanned;
  votes.scans = getScanWork(group);
  // Sums of a cluster are read from shared memory 16 bytes at a time.
  for (Value value : group.values)
    if (value.getDefiningOp<ClusterReduceOp>())
      votes.leastVector = std::max<int64_t>(
          votes.leastVector,
          128 / getTileElementType(value.getType()).getIntOrFloatBitWidth());
  LayoutVoter::Choice choice = voter.choose(votes);
  group.hasRows = choice.hasRows;
  return choice.layout;
}

std::optional<LinearLayout> LayoutAssigner::derivedLayout(const Group &group) {
  if (group.isAccumulator)
    return group.fragment;
  for (Value value : group.values) {
    if (auto reduce = value.getDefiningOp<ReduceOp>()) {
      Group &source = groupOf(reduce.getInputs().front());
      if (source.layout && !isShared(source))
        return source.layout->sliceDim(reduce.getDim());
    }
    if (auto scan = value.getDefiningOp<ScanOp>();
        scan && !scan.getParts() &&
        llvm::is_contained(scan.getTotals(), value)) {
      Group &source = groupOf(scan.getInputs().front());
      if (source.layout)
        return source.layout->sliceDim(scan.getDim());
    }
    if (auto slice = value.getDefiningOp<SliceOp>()) {
      Group &source = groupOf(slice.getValue());
      if (source.layout)
        if (auto part = source.layout->getPart(group.shape))
          return part;
    }
    if (auto sum = value.getDefiningOp<GridReduceOp>()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      Group &source = groupOf(sum.getValues()[number]);
      if (source.layout)
        if (auto part = source.layout->getPart(group.shape))
          return part;
    }
    if (auto gather = value.getDefiningOp<GridGatherOp>()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      Group &source = groupOf(gather.getValues()[number]);
      SmallVector<int64_t> share = gather.getShareShape(number);
      // All blocks' shares may be more than one block's tile.
      if (!source.layout)
        source.layout = derivedLayout(source);
      if (source.layout)
        return getSharedOutLayout(*source.layout, share)
            .getPart(share)
            ->expandDim(share.size(), group.shape.back());
    }
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      Group &source = groupOf(reshape.getValue());
      if (source.layout)
        return source.layout->reshape(group.shape);
    }
    for (OpOperand &use : value.getUses())
      if (std::optional<LinearLayout> layout = operandLayout(use))
        return layout;
    for (Operation *user : value.getUsers())
      if (auto repeat = dyn_cast<RepeatOp>(user)) {
        Group &target = groupOf(repeat.getResult());
        if (target.layout)
          return getRepeatedLayout(*target.layout, repeat.getDim(),
                                   repeat.getLog2Factor());
      } else if (auto reshape = dyn_cast<ReshapeOp>(user)) {
        Group &target = groupOf(reshape.getResult());
        // A row of a tile is read as what is made of the vector needs it.
        if (!target.layout && target.shape.size() == 1)
          target.layout = derivedLayout(target);
        if (target.layout)
          return target.layout->reshape(group.shape);
      } else if (auto broadcast = dyn_cast<BroadcastOp>(user)) {
        Group &target = groupOf(broadcast.getResult());
        if (target.layout)
          return target.layout
              ->project(SmallVector<unsigned>(broadcast.getDims().begin(),
                                              broadcast.getDims().end()))
              .layout;
      }
  }
  return std::nullopt;
}

LinearLayout LayoutAssigner::getSharedOutLayout(const LinearLayout &layout,
                                                ArrayRef<int64_t> share) const {
  if (layout.getPart(share))
    return layout;
  unsigned rank = share.size();
  return getLayoutOfParts(
      getBlockedLayout(share, orderByMemory({}, rank, /*fastest=*/rank - 1),
                       /*vector=*/1, program.getNumWarps(),
                       llvm::SmallBitVector(rank)),
      layout.shape());
}

/// Instructions, about, of one element of `op`.
static double getWeight(Operation *op, double ofFunction) {
  if (isa<arith::ConstantOp, SplatOp>(op))
    return 0;
  bool isLong = isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(op) ||
                op->getName().getDialectNamespace() == "math";
  return isLong ? ofFunction : 1;
}

/// Where a vector that a larger tile is computed with, such as the factors of a
/// normalisation, is repeated in the lanes of a warp: the layout in which lanes
/// hold parts of it, when that saves more than the shuffles that bring
/// the elements to where they are used.
std::optional<LinearLayout> LayoutAssigner::spreadLayout(const Group &group) {
  if (group.shape.size() != 1 || !group.layout)
    return std::nullopt;
  const fusion::LayoutConstants &fitted = target.fitted.layouts;
  double weight = 0;
  int64_t shuffled = 0;
  for (Value value : group.values) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() != 0 ||
        (isa<TileDialect>(op->getDialect()) && !isa<LoadOp, SplatOp>(op)))
      return std::nullopt;
    weight += getWeight(op, target.fitted.loops.functionInstructions);
    for (Operation *user : value.getUsers()) {
      if (isa<BroadcastOp>(user))
        ++shuffled;
      else if (isa<TileDialect>(user->getDialect()))
        return std::nullopt;
    }
  }
  // The last registers go to lanes, so that the first stay a vector in memory.
  const LinearLayout &layout = *group.layout;
  SmallVector<Coords> regs, lanes, warps;
  for (auto [hw, bases] :
       {std::pair(HwDim::Register, &regs), std::pair(HwDim::Lane, &lanes),
        std::pair(HwDim::Warp, &warps)})
    for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
      bases->push_back(layout.basis(hw, bit));
  int64_t before = int64_t(1) << regs.size();
  if (before < fitted.leastSpread)
    return std::nullopt;
  for (Coords &lane : lanes)
    if (lane.front() == 0 && !regs.empty() && regs.back().front() != 0)
      lane = regs.pop_back_val();
  int64_t after = int64_t(1) << regs.size();
  if ((before - after) * weight <=
      fitted.spreadInstructions * before * shuffled)
    return std::nullopt;
  std::optional<LinearLayout> spread =
      LinearLayout::fromBases(group.shape, regs, lanes, warps);
  if (!spread || !getShufflePlan(*spread, layout))
    return std::nullopt;
  return spread;
}

void LayoutAssigner::choose() {
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, groups.size()));
  DenseMap<const Group *, const PositionBits *> separate;
  for (const PositionBits &bits : positionBits)
    separate[&groupOf(bits.conversion->getOperand(0))] = &bits;
  // Larger tiles first; they decide for the smaller ones, and what reads others
  // for these.
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-ShapedType::getNumElements(groups[a].shape),
                     separate.contains(&groups[a])) <
           std::pair(-ShapedType::getNumElements(groups[b].shape),
                     separate.contains(&groups[b]));
  });
  for (unsigned number : order) {
    Group &group = groups[number];
    if (const PositionBits *bits = separate.lookup(&group)) {
      group.layout =
          bits->chooseLayout(layoutOf(bits->conversion->getResult(0)));
      continue;
    }
    group.layout = derivedLayout(group);
    if (std::optional<LinearLayout> spread = spreadLayout(group))
      group.layout = spread;
    if (!group.layout)
      group.layout = voteLayout(group);
  }
}

/// The layout in which `access` of `op` is best done when its values are used
/// in layout `used`.
LinearLayout LayoutAssigner::preferredLayout(Operation *op,
                                             const Access &access,
                                             const LinearLayout &used,
                                             bool once) const {
  LinearLayout preferred = voter.prefer(
      VotingAccess::of(AccessForm::of(access)), getTileShape(access.tile), used,
      {once, ofScans.contains(op), ofRows.contains(op)});
  return preferred == used || canExchange(op, access.tile, used, preferred)
             ? preferred
             : used;
}

bool LayoutAssigner::canExchange(Operation *op, Type tile,
                                 const LinearLayout &used,
                                 const LinearLayout &preferred) const {
  if (classifyConversion(used, preferred) != ConversionKind::Shared)
    return true;
  Type element = getTileElementType(tile);
  int64_t bits = element.isIntOrFloat()
                     ? std::max(8u, element.getIntOrFloatBitWidth())
                     : program.getIndexBits();
  int64_t bytes = llvm::product_of(getTileShape(tile)) * bits / 8;
  return times->getBytesWith(op, bytes) <= target.maxSharedPerBlock;
}

//===----------------------------------------------------------------------===//
// Application
//===----------------------------------------------------------------------===//

Value LayoutAssigner::convert(OpBuilder &builder, Value value,
                              const LinearLayout &layout) {
  auto attr = LayoutAttr::get(builder.getContext(), layout);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getEncoding() == attr)
    return value;
  return ConvertLayoutOp::create(
      builder, value.getLoc(),
      RankedTensorType::get(type.getShape(), type.getElementType(), attr),
      value);
}

/// Gives `result` the layout that its operation makes, and its users a
/// conversion to the one chosen for it. Without such a layout it is left as it
/// is, for the lowering to refuse.
void LayoutAssigner::convertResult(OpBuilder &builder, Value result,
                                   std::optional<LinearLayout> made) {
  LinearLayout wanted = getLayout(result.getType()).getLinear();
  if (!made || wanted == *made)
    return;
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(
      RankedTensorType::get(type.getShape(), type.getElementType(),
                            LayoutAttr::get(builder.getContext(), *made)));
  builder.setInsertionPointAfter(result.getDefiningOp());
  Value converted = convert(builder, result, wanted);
  result.replaceAllUsesExcept(converted, converted.getDefiningOp());
}

void LayoutAssigner::setLayouts() {
  for (Group &group : groups) {
    auto attr = LayoutAttr::get(program.getContext(), *group.layout);
    for (Value value : group.values) {
      auto type = cast<RankedTensorType>(value.getType());
      type =
          RankedTensorType::get(type.getShape(), type.getElementType(), attr);
      value.setType(type);
      // What folded to a constant has its type twice.
      if (auto constant = value.getDefiningOp<arith::ConstantOp>())
        constant.setValueAttr(
            cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
    }
  }
}

void LayoutAssigner::convertAround(BroadcastOp broadcast, OpBuilder &builder) {
  SmallVector<unsigned> dims(broadcast.getDims().begin(),
                             broadcast.getDims().end());
  const LinearLayout &target = getLayout(broadcast.getType()).getLinear();
  const LinearLayout &source =
      getLayout(broadcast.getValue().getType()).getLinear();
  if (!getBroadcastRegisterMap(source, target, dims))
    broadcast.getValueMutable().assign(
        convert(builder, broadcast.getValue(), target.project(dims).layout));
}

void LayoutAssigner::convertAround(RepeatOp repeat, OpBuilder &builder) {
  repeat.getValueMutable().assign(
      convert(builder, repeat.getValue(),
              getRepeatedLayout(getLayout(repeat.getType()).getLinear(),
                                repeat.getDim(), repeat.getLog2Factor())));
}

void LayoutAssigner::convertAround(ReduceOp reduce, OpBuilder &builder) {
  unsigned dim = reduce.getDim();
  Type reduced = reduce.getInputs().front().getType();
  if (!sumsOfWarps.contains(reduce)) {
    LinearLayout slice = getLayout(reduced).getLinear().sliceDim(dim);
    for (Value result : reduce.getResults())
      if (isTile(result))
        convertResult(builder, result, slice);
    return;
  }
  // Sums of warps come together in one exchange, each thread adding up those of
  // its own elements of the result.
  LinearLayout parts = getLayout(reduce.getResult(0).getType())
                           .getLinear()
                           .expandDim(dim, getTileShape(reduced)[dim]);
  for (OpOperand &input : reduce.getInputsMutable())
    input.set(convert(builder, input.get(), parts));
}

void LayoutAssigner::convertAround(ScanOp scan, OpBuilder &builder) {
  if (scan.getParts())
    return;
  // Totals of a scan along another dimension lie as that one's elements do.
  LinearLayout made = getScannedLayout(
      getLayout(scan.getInputs().front().getType()).getLinear(), scan.getDim(),
      program.getNumWarps());
  for (OpOperand &input : scan.getInputsMutable())
    input.set(convert(builder, input.get(), made));
  for (Value result : scan.getResults())
    convertResult(builder, result, made);
  builder.setInsertionPoint(scan);
  LinearLayout slice = made.sliceDim(scan.getDim());
  for (OpOperand &init : scan.getInitsMutable())
    if (isTile(init.get()))
      init.set(convert(builder, init.get(), slice));
  for (Value total : scan.getTotals())
    if (isTile(total))
      convertResult(builder, total, slice);
}

void LayoutAssigner::convertAround(ExchangeOp exchange, OpBuilder &builder) {
  // Warps exchange elements by another layout, in which a thread has both.
  LinearLayout used = getLayout(exchange.getType()).getLinear();
  if (getExchangePlan(used, exchange.getDim(), exchange.getMask()))
    return;
  LinearLayout made =
      getExchangeLayout(used, exchange.getDim(), exchange.getMask());
  exchange.getValueMutable().assign(
      convert(builder, exchange.getValue(), made));
  convertResult(builder, exchange.getResult(), made);
}

void LayoutAssigner::convertAround(DotOp dot, OpBuilder &builder) {
  LinearLayout acc = getLayout(dot.getType()).getLinear();
  bool hasFragment = groupOf(dot.getResult()).fragment.has_value();
  OpOperand *operands[] = {&dot.getAMutable(), &dot.getBMutable()};
  for (auto [dim, operand] : llvm::enumerate(operands)) {
    int64_t depth = getTileShape(operand->get().getType())[1];
    LinearLayout wanted = hasFragment
                              ? getDotOperandLayout(dot, dim, acc)
                              : acc.project({static_cast<unsigned>(dim)})
                                    .layout.expandDim(1, depth);
    operand->set(convert(builder, operand->get(), wanted));
  }
}

void LayoutAssigner::convertAround(MmaAsyncOp mma, OpBuilder &builder) {
  for (OpOperand &operand : mma->getOpOperands().take_front(2))
    if (isTile(operand.get()))
      if (std::optional<LinearLayout> wanted = operandLayout(operand))
        operand.set(convert(builder, operand.get(), *wanted));
}

void LayoutAssigner::convertAround(GridGatherOp gather, OpBuilder &builder) {
  for (auto [number, value] : llvm::enumerate(gather.getValues())) {
    SmallVector<int64_t> share = gather.getShareShape(number);
    LinearLayout whole =
        getSharedOutLayout(getLayout(value.getType()).getLinear(), share);
    gather.getValuesMutable()[number].set(convert(builder, value, whole));
    Value result = gather.getResult(number);
    convertResult(builder, result,
                  whole.getPart(share)->expandDim(
                      share.size(), getTileShape(result.getType()).back()));
  }
}

void LayoutAssigner::convertAround(SliceOp slice, OpBuilder &builder) {
  LinearLayout whole = getLayout(slice.getValue().getType()).getLinear();
  ArrayRef<int64_t> shape = getTileShape(slice.getType());
  if (!whole.getPart(shape)) {
    whole =
        getLayoutOfParts(getLayout(slice.getType()).getLinear(), whole.shape());
    slice.getValueMutable().assign(convert(builder, slice.getValue(), whole));
  }
  convertResult(builder, slice.getResult(), whole.getPart(shape));
}

void LayoutAssigner::convertAround(ReshapeOp reshape, OpBuilder &builder) {
  convertResult(builder, reshape.getResult(),
                getLayout(reshape.getValue().getType())
                    .getLinear()
                    .reshape(getTileShape(reshape.getType())));
}

void LayoutAssigner::convertAround(LoadOp load, OpBuilder &builder) {
  if (!isTile(load.getResult()) || !load.getIndices().empty())
    return;
  // What goes to a buffer is exchanged there.
  if (toBuffers.contains(load))
    return;
  LinearLayout used = getLayout(load.getType()).getLinear();
  // What the elements of a vector are in one step of a walk, lanes read as they
  // use them: threads that exchange them would wait for each other in each.
  auto walk = load->getParentOfType<scf::ForOp>();
  if (walk && !walk.getBody()->getOps<MmaAsyncOp>().empty() &&
      llvm::count_if(getTileShape(load.getType()),
                     [](int64_t size) { return size > 1; }) <= 1)
    return;
  if (ofSteps.contains(load))
    return;
  // Operands of warps' products, which are loaded ahead: in the layout of the
  // products every warp would load them, element by element, and what is held
  // ahead would not leave enough registers for the sums.
  std::optional<PipelineAttr> pipeline = program.getPipeline();
  bool once = pipeline && pipeline->getKind() == MmaKind::MmaSync &&
              getTileShape(load.getType()).size() == 2;
  convertResult(builder, load.getResult(),
                preferredLayout(load, Access::of(load), used, once));
}

/// What `store` stores, without what lies past the ends of its view wherever
/// the tile is.
static Value crop(OpBuilder &builder, StoreOp store) {
  Value value = store.getValue();
  auto sizes = llvm::to_vector(getTileShape(value.getType()));
  ArrayRef<int64_t> ends = store.getView().getType().getShape();
  bool isCropped = false;
  for (auto [end, coord, checked] :
       llvm::zip(ends, store.getMap().getResults(), store.getChecked())) {
    auto dim = dyn_cast<AffineDimExpr>(coord);
    // Of an empty view the store's own checks keep everything.
    if (!dim || !checked || ShapedType::isDynamic(end) || end == 0)
      continue;
    int64_t &size = sizes[dim.getPosition()];
    isCropped |= end < size;
    size = std::min(size, end);
  }
  if (!isCropped)
    return value;
  return CropOp::create(builder, store.getLoc(), value.getType(), value, sizes);
}

void LayoutAssigner::convertAround(StoreOp store, OpBuilder &builder) {
  if (!isTile(store.getValue()) || ofSteps.contains(store))
    return;
  LinearLayout used = getLayout(store.getValue().getType()).getLinear();
  LinearLayout wanted = preferredLayout(store, Access::of(store), used);
  if (wanted == used)
    return;
  Value value = crop(builder, store);
  store.getValueMutable().assign(convert(builder, value, wanted));
}

void LayoutAssigner::apply() {
  setLayouts();
  for (const PositionBits &bits : positionBits) {
    ConvertLayoutOp conversion = bits.conversion;
    if (conversion.getValue().getType() != conversion.getType())
      continue;
    llvm::erase(groupOf(conversion.getResult()).values, conversion.getResult());
    conversion.replaceAllUsesWith(conversion.getValue());
    conversion.erase();
  }
  times.emplace(program);
  SmallVector<Operation *> ops;
  program.getBody().walk([&](Operation *op) {
    ops.push_back(op);
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    Value accessed = load    ? Value(load.getResult())
                     : store ? store.getValue()
                             : Value();
    if (accessed && isTile(accessed) && !groupOf(accessed).scans.empty())
      ofScans.insert(op);
    if (accessed && isTile(accessed) && groupOf(accessed).hasRows)
      ofRows.insert(op);
    // Threads that exchange them would wait for each other in each step.
    if (accessed && isTile(accessed) &&
        (isInSteps(op) || groupOf(accessed).isReducedInSteps))
      ofSteps.insert(op);
    if (load && isTile(accessed) && bufferLayout(groupOf(accessed)))
      toBuffers.insert(op);
    if (auto reduce = dyn_cast<ReduceOp>(op);
        reduce && isShared(groupOf(reduce.getInputs().front())))
      sumsOfWarps.insert(op);
  });
  OpBuilder builder(program.getContext());
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    TypeSwitch<Operation *>(op)
        .Case<BroadcastOp, RepeatOp, ReduceOp, ScanOp, ExchangeOp, DotOp,
              MmaAsyncOp, GridGatherOp, SliceOp, ReshapeOp, LoadOp, StoreOp>(
            [&](auto typed) { convertAround(typed, builder); });
  }
}

namespace {
class AssignLayoutsPass
    : public tile::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    FailureOr<fusion::TargetInfo> target =
        fusion::resolveTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    LayoutAssigner(getOperation(), *target).run();
  }
};
} // namespace
