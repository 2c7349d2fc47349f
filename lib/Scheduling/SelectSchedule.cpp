//===- SelectSchedule.cpp - Chooses how a kernel is executed --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of a schedule: the form of a kernel, the
// tile along each iteration dimension, and the number of warps.
//
//===----------------------------------------------------------------------===//

#include "fusion/Scheduling/SelectSchedule.h"
#include "ContractionSchedule.h"
#include "ScheduleDraft.h"
#include "WindowSchedule.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations per element from which on a thread has registers for one vector
/// of elements only; a counter-based random generator alone has about 100.
static constexpr int64_t kLongBody = 64;

/// True when the body of `op` adds products to its only accumulator.
static bool isProductSum(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() < 2)
    return false;
  Operation *sum =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  if (std::optional<GroupedSum> grouped = matchGroupedSum(op))
    return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(
        grouped->element.getDefiningOp());
  for (Value operand : sum->getOperands())
    if (Operation *product = operand.getDefiningOp())
      if (isa<arith::MulFOp, arith::MulIOp>(product))
        return true;
  return false;
}

/// Sorts the dimensions of a contraction into those of its first operand only
/// (rows), of its second only (columns), and the contracted ones.
static bool classifyContraction(linalg::LinalgOp op,
                                const IterationSpace &space,
                                KernelFacts &facts) {
  SmallVector<unsigned> rows, columns, contracted;
  AffineMap maps[2] = {op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
                       op.getMatchingIndexingMap(op.getDpsInputOperand(1))};
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool in[2] = {maps[0].isFunctionOfDim(loop), maps[1].isFunctionOfDim(loop)};
    unsigned dim = space.getDimOfLoop(op, loop);
    if (kind == utils::IteratorType::reduction) {
      if (in[0] && in[1])
        contracted.push_back(dim);
    } else if (in[0] && !in[1]) {
      rows.push_back(dim);
    } else if (in[1] && !in[0]) {
      columns.push_back(dim);
    }
  }
  if (contracted.empty() || rows.empty() || columns.empty())
    return false;
  facts.contraction = op;
  facts.rows = rows;
  facts.columns = columns;
  facts.contracted = contracted;
  return true;
}

static KernelFacts collectFacts(KernelOp kernel, const IterationSpace &space,
                                const ScheduleLimits &limits) {
  KernelFacts facts;
  for (const IterationDim &dim : space.getDims()) {
    facts.extents.push_back(
        dim.getStaticExtent().value_or(limits.typicalExtent));
    facts.hasReduction |= dim.reduction;
  }
  facts.contiguousBytes.assign(space.getNumDims(), 0);
  facts.repeats.resize(space.getNumDims());
  for (Value argument : kernel.getBlock().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() == 0)
      continue;
    llvm::SmallBitVector missing(space.getNumDims(), true);
    for (int64_t i = 0; i < type.getRank(); ++i)
      missing.reset(space.getDimOfTensor(argument, i));
    // An operand that shares no dimension is read by position, not repeated.
    if (missing.count() < space.getNumDims())
      facts.repeats |= missing;
  }
  auto note = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0)
      return;
    int64_t bytes = llvm::divideCeil(
        type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth(),
        8);
    double total = bytes;
    int64_t fastest = -1;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      unsigned dim = space.getDimOfTensor(value, i);
      total *= facts.extents[dim];
      if (type.getDimSize(i) != 1)
        fastest = dim;
    }
    facts.widestElement = std::max(facts.widestElement, bytes);
    facts.narrowestElement = std::min(facts.narrowestElement, bytes);
    if (fastest >= 0)
      facts.contiguousBytes[fastest] += total;
  };
  for (Value argument : kernel.getBlock().getArguments())
    note(argument);
  for (Value yielded : kernel.getStoredValues())
    note(yielded);
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>())
    facts.operations +=
        std::distance(op.getBlock()->begin(), op.getBlock()->end());
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>())
    if (!facts.contraction && isProductSum(op))
      classifyContraction(op, space, facts);
  return facts;
}

static ScheduleAttr schedulePointwise(KernelOp kernel,
                                      const IterationSpace &space,
                                      const KernelFacts &facts,
                                      const ScheduleLimits &limits) {
  Draft draft(space.getNumDims());
  // One 16-byte access a thread for each operand: more of them in flight did
  // not help at full occupancy, more blocks did. Where an operand repeats along
  // a dimension, four in half the threads, so that registers keep it; but not
  // with long bodies, whose registers then do not suffice (sm_90a, 2026-11-21).
  int64_t vector = std::max<int64_t>(16 / facts.narrowestElement, 1);
  vector = std::min<int64_t>(vector, 8);
  bool several = facts.repeats.any() && facts.operations <= kLongBody;
  int64_t threads = several ? 128 : 256;
  int64_t budget = threads * vector * (several ? 4 : 1);
  bool square = false;

  // Dimensions along which some operand is contiguous, most bytes first.
  SmallVector<unsigned> fast;
  for (unsigned i = 0; i < space.getNumDims(); ++i)
    if (facts.contiguousBytes[i] > 0 && space.getDims()[i].root &&
        facts.extents[i] > 1)
      fast.push_back(i);
  llvm::stable_sort(fast, [&](unsigned a, unsigned b) {
    return facts.contiguousBytes[a] > facts.contiguousBytes[b];
  });
  if (fast.size() > 1 &&
      facts.contiguousBytes[fast[1]] * 16 > facts.contiguousBytes[fast[0]]) {
    // Two directions: a square tile that both read in whole cache lines.
    square = true;
    for (unsigned i = 0; i < 2; ++i) {
      draft.tiles[fast[i]] =
          std::min<int64_t>(64, nextPowerOfTwo(facts.extents[fast[i]]));
      draft.vectors[fast[i]] = vector;
    }
  }
  auto primary = kernel.getStoredValues()[space.getPrimaryResult()];
  int64_t rank = cast<RankedTensorType>(primary.getType()).getRank();
  // A few steps along a dimension that an operand lacks: the block reads that
  // operand once for all of them.
  for (int64_t i = rank - 2; i >= 0 && draft.tileElements() < 2; --i) {
    unsigned dim = space.getDimOfTensor(primary, i);
    if (facts.repeats.test(dim) && several)
      draft.tiles[dim] =
          std::min<int64_t>(8, nextPowerOfTwo(facts.extents[dim]));
  }
  // Fill the tile from the fastest dimension of the primary result outwards.
  for (int64_t i = rank - 1; i >= 0 && draft.tileElements() < budget; --i) {
    unsigned dim = space.getDimOfTensor(primary, i);
    // The steps are more where the dimensions inside are short.
    int64_t room = budget / draft.tileElements() * draft.tiles[dim];
    draft.tiles[dim] = std::min(room, nextPowerOfTwo(facts.extents[dim]));
    if (draft.vectors[dim] == 1 && i == rank - 1)
      draft.vectors[dim] = vector;
  }
  // A small problem is spread over the chip before threads get several
  // elements each.
  int64_t least = 128;
  while (gridBlocks(draft, facts) < limits.multiprocessors &&
         draft.tileElements() > least) {
    auto widest = std::max_element(draft.tiles.begin(), draft.tiles.end());
    *widest /= 2;
  }
  int64_t perThread = several && !square ? 4 * vector : vector;
  return draft.finish(
      kernel.getContext(), Strategy::Pointwise,
      warpsFor(draft.tileElements(), perThread, square ? 16 : threads / 32));
}

static ScheduleAttr scheduleContraction(KernelOp kernel,
                                        const IterationSpace &space,
                                        const KernelFacts &facts,
                                        const ScheduleLimits &limits) {
  Draft draft(space.getNumDims());
  for (unsigned i = 0; i < space.getNumDims(); ++i)
    if (space.getDims()[i].reduction)
      draft.kinds[i] = AxisKind::Loop;
  auto largest = [&](ArrayRef<unsigned> dims) {
    unsigned best = dims.front();
    for (unsigned dim : dims)
      if (facts.extents[dim] > facts.extents[best])
        best = dim;
    return best;
  };
  unsigned row = largest(facts.rows), column = largest(facts.columns),
           inner = largest(facts.contracted);
  draft.tiles[row] = std::min<int64_t>(64, nextPowerOfTwo(facts.extents[row]));
  draft.tiles[column] =
      std::min<int64_t>(64, nextPowerOfTwo(facts.extents[column]));
  draft.tiles[inner] =
      std::min<int64_t>(16, nextPowerOfTwo(facts.extents[inner]));
  while (gridBlocks(draft, facts) < limits.multiprocessors &&
         draft.tiles[row] * draft.tiles[column] > 1024) {
    unsigned larger = draft.tiles[row] >= draft.tiles[column] ? row : column;
    draft.tiles[larger] /= 2;
  }
  int64_t elements = draft.tiles[row] * draft.tiles[column];
  return draft.finish(kernel.getContext(), Strategy::Contraction,
                      warpsFor(elements, 16, 8));
}

SmallVector<ScheduleAttr>
mlir::fusion::getSchedules(KernelOp kernel, const IterationSpace &space,
                           const ScheduleLimits &limits) {
  KernelFacts facts = collectFacts(kernel, space, limits);
  if (llvm::any_of(space.getDims(),
                   [](const IterationDim &dim) { return dim.scan; }))
    return {scheduleScan(kernel, space, facts, limits)};
  if (facts.contraction) {
    SmallVector<ScheduleAttr> schedules =
        getTensorCoreSchedules(kernel, space, limits);
    if (schedules.empty())
      schedules.push_back(scheduleContraction(kernel, space, facts, limits));
    return schedules;
  }
  if (facts.hasReduction) {
    WindowFacts windowFacts{facts.extents, facts.contiguousBytes,
                            facts.narrowestElement};
    if (ScheduleAttr windows =
            scheduleWindows(kernel, space, windowFacts, limits))
      return {windows};
  }
  if (facts.hasReduction)
    return {scheduleReduction(kernel, space, facts, limits)};
  return {schedulePointwise(kernel, space, facts, limits)};
}

ScheduleAttr mlir::fusion::selectSchedule(KernelOp kernel,
                                          const IterationSpace &space,
                                          const ScheduleLimits &limits) {
  return getSchedules(kernel, space, limits).front();
}
