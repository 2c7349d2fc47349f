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

#include "ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

/// The lanes that a scan goes through.
struct ProgramLowering::ScanLanes {
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

Scalars ProgramLowering::selectAll(Value condition, const Scalars &yes,
                                   const Scalars &no) {
  Scalars selected;
  for (auto [a, b] : llvm::zip_equal(yes, no))
    selected.push_back(arith::SelectOp::create(builder, loc, condition, a, b));
  return selected;
}

Scalars ProgramLowering::scanLanes(const ScanLanes &lanes, Region &combiner,
                                   Scalars states) {
  for (unsigned bit = 0; bit < lanes.bits; ++bit) {
    Value distance = constant32(lanes.step() << bit);
    Scalars before;
    for (Value state : states)
      before.push_back(shuffle(state, distance, lanes.towardsLater()));
    Value hasSuch =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                              lanes.place, constant32(1 << bit));
    states = selectAll(hasSuch, combine(combiner, before, states), states);
  }
  return states;
}

ProgramLowering::ScanLanes
ProgramLowering::findLanes(const tile::ScanPlan &plan, bool reverse) {
  ScanLanes lanes{plan.laneShift, plan.laneBits, reverse, nullptr, nullptr};
  if (lanes.bits == 0)
    return lanes;
  Value mask = constant32(lanes.mask());
  lanes.place =
      arith::ShRUIOp::create(builder, loc, thread, constant32(lanes.shift));
  lanes.place = arith::AndIOp::create(builder, loc, lanes.place, mask);
  if (reverse)
    lanes.place = arith::XOrIOp::create(builder, loc, lanes.place, mask);
  lanes.hasBefore = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ne, lanes.place, constant32(0));
  return lanes;
}

Scalars ProgramLowering::lastOf(const ScanLanes &lanes, const Scalars &states) {
  if (!lanes.bits)
    return states;
  Value last = arith::AndIOp::create(builder, loc, thread, constant32(31));
  Value spread = constant32(lanes.mask() << lanes.shift);
  last = arith::OrIOp::create(builder, loc, last, spread);
  if (lanes.reverse)
    last = arith::XOrIOp::create(builder, loc, last, spread);
  Scalars moved;
  for (Value state : states)
    moved.push_back(shuffle(state, last, NVVM::ShflKind::idx));
  return moved;
}

SmallVector<Scalars>
ProgramLowering::placeAfter(const ScanLanes &lanes, tile::ScanOp op,
                            const std::optional<Scalars> &before,
                            const Scalars &scanned, ArrayRef<Scalars> own) {
  Region &combiner = op.getCombiner();
  // What lies before the elements of this thread.
  std::optional<Scalars> start = before;
  if (lanes.bits) {
    Scalars lower;
    for (Value state : scanned)
      lower.push_back(
          shuffle(state, constant32(lanes.step()), lanes.towardsLater()));
    start = before ? selectAll(lanes.hasBefore,
                               combine(combiner, *before, lower), *before)
                   : lower;
  }
  if (!start)
    return SmallVector<Scalars>(own);
  SmallVector<Scalars> placed;
  for (unsigned i = 0; i < own.size(); ++i) {
    if (op.getExclusive()) {
      placed.push_back(i == 0 ? *start : combine(combiner, *start, own[i - 1]));
      continue;
    }
    placed.push_back(combine(combiner, *start, own[i]));
    // Nothing stands before the first lane without inits.
    if (!before)
      placed.back() = selectAll(lanes.hasBefore, placed.back(), own[i]);
  }
  return placed;
}

namespace {
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

Scalars ProgramLowering::getStates(ValueRange tiles, unsigned reg) {
  Scalars states;
  for (Value tile : tiles)
    states.push_back(get(tile)[reg]);
  return states;
}

SmallVector<ProgramLowering::ScannedRound>
ProgramLowering::takeScannedRounds(tile::ScanOp op) {
  for (auto &[known, rounds] : scannedRounds)
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

ProgramLowering::ScannedRound
ProgramLowering::scanRound(const ScanLanes &lanes, tile::ScanOp op,
                           ArrayRef<unsigned> round) {
  Region &combiner = op.getCombiner();
  ScannedRound result;
  for (unsigned reg : round) {
    Scalars element = getStates(op.getInputs(), reg);
    result.own.push_back(result.own.empty()
                             ? element
                             : combine(combiner, result.own.back(), element));
  }
  result.scanned = result.own.back();
  if (lanes.bits)
    result.scanned = scanLanes(lanes, combiner, result.own.back());
  return result;
}

Scalars ProgramLowering::scanInOrder(tile::ScanOp op,
                                     ArrayRef<unsigned> registers,
                                     Scalars before,
                                     MutableArrayRef<Scalars> results) {
  for (unsigned reg : registers) {
    Scalars upTo =
        combine(op.getCombiner(), before, getStates(op.getInputs(), reg));
    setStates(results, reg, op.getExclusive() ? before : upTo);
    before = std::move(upTo);
  }
  return before;
}

std::optional<Scalars> ProgramLowering::scanRounds(
    const ScanLanes &lanes, tile::ScanOp op,
    ArrayRef<SmallVector<unsigned>> rounds, std::optional<Scalars> before,
    ArrayRef<ScannedRound> scanned, MutableArrayRef<Scalars> results) {
  bool needsResults = isUsed(op.getResults());
  bool needsTotals = isUsed(op.getTotals());
  for (auto [round, known] : llvm::zip_equal(rounds, scanned)) {
    SmallVector<Scalars> placed =
        needsResults ? placeAfter(lanes, op, before, known.scanned, known.own)
                     : known.own;
    for (auto [reg, states] : llvm::zip_equal(round, placed))
      setStates(results, reg, states);
    if (&round == &rounds.back() && !needsTotals)
      break;
    Scalars total = lastOf(lanes, known.scanned);
    before = before ? combine(op.getCombiner(), *before, total) : total;
  }
  return before;
}

LogicalResult ProgramLowering::lowerScan(tile::ScanOp op) {
  const LinearLayout &layout =
      tile::getLayout(op.getInputs().front().getType()).getLinear();
  std::optional<tile::ScanPlan> plan = tile::getScanPlan(layout, op.getDim());
  std::optional<ScanRegisters> registers;
  if (plan)
    registers = getScanRegisters(op, layout, *plan);
  if (!registers)
    return op.emitOpError("FUS-3328: scan crosses warps; run "
                          "tile-lower-exchanges first");
  ScanLanes lanes = findLanes(*plan, op.getReverse());
  unsigned numStates = op.getInputs().size();
  SmallVector<Scalars> results(numStates, Scalars(layout.numRegs()));
  SmallVector<Scalars> totals(numStates, Scalars(registers->numOuter));
  SmallVector<ScannedRound> known = takeScannedRounds(op), scanned;
  for (const ScanRegisters::Part &part : registers->parts) {
    // What lies before a round; nothing before the first without inits.
    std::optional<Scalars> before;
    if (!op.getInits().empty())
      before = getStates(op.getInits(), part.outer);
    if (before && op.getInOrder() && !lanes.bits && part.rounds.size() == 1) {
      before = scanInOrder(op, part.rounds.front(), *before, results);
    } else {
      size_t first = scanned.size();
      for (const auto &round : part.rounds)
        scanned.push_back(known.empty() ? scanRound(lanes, op, round)
                                        : known[scanned.size()]);
      before = scanRounds(lanes, op, part.rounds, before,
                          ArrayRef(scanned).drop_front(first), results);
    }
    setStates(totals, part.outer,
              before ? *before
                     : getStates(op.getInputs(), part.rounds.front().front()));
  }
  if (op.getInits().empty())
    scannedRounds.push_back({op, std::move(scanned)});
  for (auto [value, scalars] : llvm::zip(op.getResults(), results))
    values[value] = scalars;
  for (auto [value, scalars] : llvm::zip(op.getTotals(), totals))
    values[value] = scalars;
  return success();
}
