//===- LowerScan.cpp - Scans within a warp --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of scans: a thread combines the
// neighbours that it holds, lanes combine what threads have by shuffles, and
// each thread continues its own elements from what lies before them.
//
//===----------------------------------------------------------------------===//

#include "OpEmitter.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

//===----------------------------------------------------------------------===//
// Which registers and lanes
//===----------------------------------------------------------------------===//

namespace {
/// The lanes that a scan goes through.
struct ScanLanes {
  unsigned shift = 0;
  unsigned bits = 0;
  bool reverse = false;
  /// The place of this lane in the order of the scan.
  Value place;
  /// True in all lanes but the first.
  Value hasBefore;

  int32_t step() const { return 1 << shift; }
  int32_t mask() const { return (1 << bits) - 1; }
  NVVM::ShflKind towardsLater() const {
    return reverse ? NVVM::ShflKind::down : NVVM::ShflKind::up;
  }
};

/// Which registers a thread combines: those of one round follow each other, and
/// lanes come between rounds.
struct ScanRegisters {
  /// For each part that the thread has elements of, its rounds, both in the
  /// order of the scan, and the register of its init and total.
  struct Part {
    SmallVector<SmallVector<unsigned>> rounds;
    unsigned outer;
  };
  SmallVector<Part> parts;
  unsigned numOuter = 0;
};
} // namespace

/// None if the scan goes through several warps within a part, or a part ends
/// within what a warp has.
static std::optional<ScanRegisters>
getScanRegisters(tile::ScanOp op, const LinearLayout &layout,
                 const tile::ScanPlan &plan) {
  unsigned dim = op.getDim();
  unsigned partBits =
      layout.dimLog2(dim) - llvm::Log2_64(op.getParts().value_or(1));
  if (partBits < plan.bitsOfWarp() ||
      (plan.warpBits && partBits > plan.bitsOfWarp()))
    return std::nullopt;
  tile::ReductionBits bits = *tile::getReductionBits(layout, dim);
  SmallVector<unsigned, 4> kept;
  for (unsigned i = 0; i != layout.rank(); ++i)
    if (i != dim)
      kept.push_back(i);
  ScanRegisters result;
  tile::RegisterMap outer;
  if (op.getParts()) {
    LinearLayout divided = tile::getRepeatedLayout(layout, dim, partBits);
    outer = *tile::getRepeatRegisterMap(divided, layout, dim, partBits);
    result.numOuter = divided.numRegs();
  } else {
    tile::LayoutProjection projection = layout.project(kept);
    outer.assign(projection.regMap.begin(), projection.regMap.end());
    result.numOuter = projection.layout.numRegs();
  }
  size_t perRound = size_t(1) << plan.regBits, numFound = 0;
  size_t roundsOfPart = size_t(1) << (partBits - plan.bitsOfWarp());
  for (tile::RegisterMap group :
       tile::getReductionRegisterGroups(layout, dim, bits)) {
    if (op.getReverse())
      std::reverse(group.begin(), group.end());
    ArrayRef<unsigned> rest(group);
    numFound += rest.size();
    for (size_t round = 0; !rest.empty(); ++round) {
      if (round % roundsOfPart == 0)
        result.parts.push_back({{}, outer[rest.front()]});
      result.parts.back().rounds.push_back(
          SmallVector<unsigned>(rest.take_front(perRound)));
      rest = rest.drop_front(perRound);
    }
  }
  // Registers that repeat others would have no results.
  return numFound == layout.numRegs() ? std::optional(result) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Building a scan
//===----------------------------------------------------------------------===//

/// Writes `states` at `reg`.
static void setStates(MutableArrayRef<Scalars> tiles, unsigned reg,
                      const Scalars &states) {
  for (auto [tile, state] : llvm::zip_equal(tiles, states))
    tile[reg] = state;
}

/// Of a scan that is done for its totals, or of one part, shuffles are left
/// out: nothing else would drop them.
static bool isUsed(ResultRange tiles) {
  return llvm::any_of(tiles, [](Value tile) { return !tile.use_empty(); });
}

namespace {
/// What threads combine of a round before anything comes before it: of their
/// own elements up to each, and of those and what the lanes before have. The
/// former is not known where neighbours were combined at once.
struct ScannedRound {
  SmallVector<Scalars> own;
  Scalars scanned;
};

/// Scans without initial values, with their rounds.
struct ScannedRounds {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScannedRounds)
  SmallVector<std::pair<tile::ScanOp, SmallVector<ScannedRound>>> scans;

  /// The rounds of `op` where a scan before it, for the totals of warps or
  /// blocks, has combined them; else none.
  SmallVector<ScannedRound> take(tile::ScanOp op);
};

struct ScanLowering : public TileOpLowering<tile::ScanOp> {
  LogicalResult lower(tile::ScanOp op,
                      ProgramLowering &lowering) const override;
};

/// Builds the scan of the registers in question.
class ScanEmitter : public OpEmitter {
public:
  ScanEmitter(ProgramLowering &lowering, tile::ScanOp op,
              const tile::ScanPlan &plan, const ScanRegisters &registers)
      : OpEmitter(lowering), op(op), combiner(op.getCombiner()),
        registers(registers),
        results(op.getInputs().size(),
                Scalars(lowering.numScalars(op.getInputs().front().getType()))),
        totals(op.getInputs().size(), Scalars(registers.numOuter)) {
    findLanes(plan);
  }

  void emit();

private:
  void findLanes(const tile::ScanPlan &plan);
  /// For the states of a thread, those of the lanes up to it, combined.
  Scalars scanLanes(Scalars states);
  /// The states of the last lane.
  Scalars lastOf(const Scalars &states);
  /// What a thread's elements, combined up to each in `round`, are after those
  /// of the lanes before it and after what is `before` all of them, if anything
  /// is.
  SmallVector<Scalars> placeAfter(const std::optional<Scalars> &before,
                                  ArrayRef<unsigned> registers,
                                  const ScannedRound &round);
  /// The results of elements that follow `state`, one combination for each;
  /// `state` becomes that after them.
  SmallVector<Scalars> continueFrom(Scalars &state,
                                    ArrayRef<unsigned> registers);
  /// The elements of `registers` combined at once, where that takes fewer
  /// instructions than one after the other, and nothing wants those up to each.
  std::optional<Scalars> foldRun(ArrayRef<unsigned> registers);
  /// The states at register `reg` of `tiles`.
  Scalars getStates(ValueRange tiles, unsigned reg);
  Scalars combine(const Scalars &before, const Scalars &after) {
    return lowering.combine(combiner, before, after);
  }
  ScannedRound scanRound(ArrayRef<unsigned> round);
  /// Writes the results of the rounds of a part, given what lies before them,
  /// if anything does; returns what lies before the next part.
  std::optional<Scalars> scanRounds(ArrayRef<SmallVector<unsigned>> rounds,
                                    std::optional<Scalars> before,
                                    ArrayRef<ScannedRound> scanned);
  /// The same where the thread has all elements, one combination for each.
  Scalars scanInOrder(ArrayRef<unsigned> part, Scalars before);

  tile::ScanOp op;
  Region &combiner;
  const ScanRegisters &registers;
  ScanLanes lanes;
  SmallVector<Scalars> results, totals;
};
} // namespace

SmallVector<ScannedRound> ScannedRounds::take(tile::ScanOp op) {
  for (auto &[known, rounds] : scans)
    if (known->getBlock() == op->getBlock() &&
        known.getInputs() == op.getInputs() && known.getDim() == op.getDim() &&
        known.getParts() == op.getParts() &&
        known.getReverse() == op.getReverse() &&
        OperationEquivalence::isRegionEquivalentTo(
            &known.getCombiner(), &op.getCombiner(),
            OperationEquivalence::IgnoreLocations))
      return std::move(rounds);
  return {};
}

void ScanEmitter::findLanes(const tile::ScanPlan &plan) {
  lanes = {plan.laneShift, plan.laneBits, op.getReverse(), nullptr, nullptr};
  if (lanes.bits == 0)
    return;
  Value mask = builder.constant32(lanes.mask());
  lanes.place = arith::ShRUIOp::create(builder, threads.getThread(),
                                       builder.constant32(lanes.shift));
  lanes.place = arith::AndIOp::create(builder, lanes.place, mask);
  if (lanes.reverse)
    lanes.place = arith::XOrIOp::create(builder, lanes.place, mask);
  lanes.hasBefore = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                          lanes.place, builder.constant32(0));
}

Scalars ScanEmitter::scanLanes(Scalars states) {
  for (unsigned bit = 0; bit < lanes.bits; ++bit) {
    Value distance = builder.constant32(lanes.step() << bit);
    Scalars before;
    for (Value state : states)
      before.push_back(builder.shuffle(state, distance, lanes.towardsLater()));
    Value hasSuch =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, lanes.place,
                              builder.constant32(1 << bit));
    states = builder.selectAll(hasSuch, combine(before, states), states);
  }
  return states;
}

Scalars ScanEmitter::lastOf(const Scalars &states) {
  if (!lanes.bits)
    return states;
  Value last = threads.getLane();
  Value spread = builder.constant32(lanes.mask() << lanes.shift);
  last = arith::OrIOp::create(builder, last, spread);
  if (lanes.reverse)
    last = arith::XOrIOp::create(builder, last, spread);
  Scalars moved;
  for (Value state : states)
    moved.push_back(builder.shuffle(state, last, NVVM::ShflKind::idx));
  return moved;
}

SmallVector<Scalars>
ScanEmitter::placeAfter(const std::optional<Scalars> &before,
                        ArrayRef<unsigned> registers,
                        const ScannedRound &round) {
  // What lies before the elements of this thread.
  std::optional<Scalars> start = before;
  if (lanes.bits) {
    Scalars lower;
    for (Value state : round.scanned)
      lower.push_back(builder.shuffle(state, builder.constant32(lanes.step()),
                                      lanes.towardsLater()));
    start = before ? builder.selectAll(lanes.hasBefore, combine(*before, lower),
                                       *before)
                   : lower;
  }
  if (!start)
    return SmallVector<Scalars>(round.own);
  if (round.own.empty())
    return continueFrom(*start, registers);
  SmallVector<Scalars> placed;
  for (unsigned i = 0; i < round.own.size(); ++i) {
    if (op.getExclusive()) {
      placed.push_back(i == 0 ? *start : combine(*start, round.own[i - 1]));
      continue;
    }
    placed.push_back(combine(*start, round.own[i]));
    // Nothing stands before the first lane without inits.
    if (!before)
      placed.back() =
          builder.selectAll(lanes.hasBefore, placed.back(), round.own[i]);
  }
  return placed;
}

Scalars ScanEmitter::getStates(ValueRange tiles, unsigned reg) {
  Scalars states;
  for (Value tile : tiles)
    states.push_back(lowering.get(tile)[reg]);
  return states;
}

SmallVector<Scalars> ScanEmitter::continueFrom(Scalars &state,
                                               ArrayRef<unsigned> registers) {
  SmallVector<Scalars> placed;
  for (unsigned reg : registers) {
    Scalars upTo = combine(state, getStates(op.getInputs(), reg));
    placed.push_back(op.getExclusive() ? state : upTo);
    state = std::move(upTo);
  }
  return placed;
}

std::optional<Scalars> ScanEmitter::foldRun(ArrayRef<unsigned> registers) {
  std::optional<LogOfSum> sum =
      matchFolding(combiner.front(), static_cast<double>(registers.size()));
  // Where each element's state is wanted, it follows from what lies before the
  // run.
  if (!sum || registers.size() > kMostInOrder ||
      (isUsed(op.getResults()) && op.getInits().empty()))
    return std::nullopt;
  SmallVector<Value> elements;
  for (unsigned reg : registers)
    elements.push_back(getStates(op.getInputs(), reg).front());
  return Scalars{sum->fold(builder, op.getLoc(), elements)};
}

ScannedRound ScanEmitter::scanRound(ArrayRef<unsigned> round) {
  ScannedRound result;
  if (std::optional<Scalars> total = foldRun(round)) {
    result.scanned = *total;
  } else {
    for (unsigned reg : round) {
      Scalars element = getStates(op.getInputs(), reg);
      result.own.push_back(
          result.own.empty() ? element : combine(result.own.back(), element));
    }
    result.scanned = result.own.back();
  }
  if (lanes.bits)
    result.scanned = scanLanes(result.scanned);
  return result;
}

Scalars ScanEmitter::scanInOrder(ArrayRef<unsigned> part, Scalars before) {
  if (!isUsed(op.getResults()))
    if (std::optional<Scalars> total = foldRun(part))
      return combine(before, *total);
  for (auto [reg, states] : llvm::zip_equal(part, continueFrom(before, part)))
    setStates(results, reg, states);
  return before;
}

std::optional<Scalars>
ScanEmitter::scanRounds(ArrayRef<SmallVector<unsigned>> rounds,
                        std::optional<Scalars> before,
                        ArrayRef<ScannedRound> scanned) {
  bool needsResults = isUsed(op.getResults());
  bool needsTotals = isUsed(op.getTotals());
  for (auto [round, known] : llvm::zip_equal(rounds, scanned)) {
    if (needsResults)
      for (auto [reg, states] :
           llvm::zip_equal(round, placeAfter(before, round, known)))
        setStates(results, reg, states);
    if (&round == &rounds.back() && !needsTotals)
      break;
    Scalars total = lastOf(known.scanned);
    before = before ? combine(*before, total) : total;
  }
  return before;
}

void ScanEmitter::emit() {
  auto &state = lowering.getState<ScannedRounds>();
  SmallVector<ScannedRound> known = state.take(op), scanned;
  // Without inits each element's state is that of its run so far.
  bool serves =
      !known.empty() && (!known.front().own.empty() || !op.getInits().empty() ||
                         !isUsed(op.getResults()));
  for (const ScanRegisters::Part &part : registers.parts) {
    // What lies before a round; nothing before the first without inits.
    std::optional<Scalars> before;
    if (!op.getInits().empty())
      before = getStates(op.getInits(), part.outer);
    if (before && op.getInOrder() && !lanes.bits && part.rounds.size() == 1) {
      before = scanInOrder(part.rounds.front(), *before);
    } else {
      size_t first = scanned.size();
      for (const auto &round : part.rounds)
        scanned.push_back(serves ? known[scanned.size()] : scanRound(round));
      before =
          scanRounds(part.rounds, before, ArrayRef(scanned).drop_front(first));
    }
    setStates(totals, part.outer,
              before ? *before
                     : getStates(op.getInputs(), part.rounds.front().front()));
  }
  if (op.getInits().empty())
    state.scans.push_back({op, std::move(scanned)});
  for (auto [value, scalars] : llvm::zip(op.getResults(), results))
    lowering.set(value, scalars);
  for (auto [value, scalars] : llvm::zip(op.getTotals(), totals))
    lowering.set(value, scalars);
}

LogicalResult ScanLowering::lower(tile::ScanOp op,
                                  ProgramLowering &lowering) const {
  const LinearLayout &layout =
      tile::getLayout(op.getInputs().front().getType()).getLinear();
  std::optional<tile::ScanPlan> plan = tile::getScanPlan(layout, op.getDim());
  std::optional<ScanRegisters> registers;
  // Parts of what a thread holds itself concern no other lane.
  if (plan && op.getParts() &&
      layout.dimLog2(op.getDim()) - llvm::Log2_64(*op.getParts()) ==
          plan->regBits)
    plan->laneBits = plan->warpBits = 0;
  if (plan)
    registers = getScanRegisters(op, layout, *plan);
  if (!registers)
    return op.emitOpError("FUS-3328: scan crosses warps; run "
                          "fusion-tile-lower-exchanges first");
  ScanEmitter(lowering, op, *plan, *registers).emit();
  return success();
}

void mlir::fusion::populateScanLowerings(LoweringSet &lowerings) {
  lowerings.add<ScanLowering>();
}
