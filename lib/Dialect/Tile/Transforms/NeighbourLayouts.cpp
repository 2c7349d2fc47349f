//===- NeighbourLayouts.cpp - What neighbours have in common --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements layouts of what groups of neighbours have in common,
// such as what a generator of random numbers draws for eight elements. In the
// fragments of products threads have pairs of neighbours, and would each draw
// all eight. Bits are few words: lanes compute those of whole groups, and tell
// each other.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Transforms/NeighbourLayouts.h"

#include "fusion/Analysis/MovedBits.h"
#include "fusion/Analysis/OpCosts.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Neighbours that have something in common, at most: lanes that tell each
/// other have so many.
static constexpr unsigned kLog2MostGroup = 5;
static constexpr int64_t kMostGroup = int64_t(1) << kLog2MostGroup;

//===----------------------------------------------------------------------===//
// What is in common
//===----------------------------------------------------------------------===//

namespace {
using Groups = SmallVector<int64_t, 2>;
/// The operations of a program whose tiles, of integers, follow from positions
/// and scalars. What bits choose between is no part of them.
using PositionOps = llvm::MapVector<Operation *, Groups>;
} // namespace

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static Groups getGroups(IndexOp index) {
  ArrayRef<int64_t> shape = getTileShape(index.getType());
  Groups groups(shape.size(), 1);
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    while (groups[dim] < kMostGroup && groups[dim] < shape[dim] &&
           isOfGroups(index.getMap(), index.getSymbols(), dim, 2 * groups[dim]))
      groups[dim] *= 2;
  return groups;
}

/// The groups of the result of `op`; nothing where it follows from more than
/// positions and scalars.
static std::optional<Groups> getGroups(Operation *op,
                                       const PositionOps &known) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isTile(op->getResult(0)) ||
      !getTileElementType(op->getResult(0).getType()).isIntOrIndex())
    return std::nullopt;
  ArrayRef<int64_t> shape = getTileShape(op->getResult(0).getType());
  auto find = [&](Value operand) -> const Groups * {
    auto source = known.find(operand.getDefiningOp());
    return source == known.end() ? nullptr : &source->second;
  };
  if (auto index = dyn_cast<IndexOp>(op))
    return getGroups(index);
  Groups groups(shape.size(), kMostGroup);
  if (isa<SplatOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return groups;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    const Groups *source = find(broadcast.getValue());
    if (!source)
      return std::nullopt;
    for (auto [dim, own] : llvm::zip_equal(broadcast.getDims(), *source))
      groups[dim] = own;
    return groups;
  }
  if (isa<TileDialect>(op->getDialect()) || !isMemoryEffectFree(op) ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return std::nullopt;
  for (Value operand : op->getOperands()) {
    if (!isTile(operand))
      continue;
    const Groups *source = find(operand);
    if (!source || source->size() != groups.size())
      return std::nullopt;
    for (auto [all, own] : llvm::zip_equal(groups, *source))
      all = std::min(all, own);
  }
  return groups;
}

static PositionOps findPositionOps(ProgramOp program) {
  PositionOps found;
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (std::optional<Groups> groups = getGroups(op, found))
      found[op] = std::move(*groups);
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

double PositionBits::countInstructions(const LinearLayout &layout) const {
  double instructions = 0;
  for (const Part &part : parts) {
    double own = fusion::getOpCost(part.op).instructions;
    if (own == 0 || part.groups.size() != layout.rank())
      continue;
    for (unsigned bit = 0; bit < layout.numBits(HwDim::Register); ++bit)
      if (llvm::all_of_zip(
              layout.basis(HwDim::Register, bit), part.groups,
              [](int32_t step, int64_t size) { return step < size; }))
        own /= 2;
    instructions += own;
  }
  return instructions;
}

/// `used` with 2^`log2` neighbours along `dim` in registers: lanes that have
/// some of these have something else instead.
static std::optional<LinearLayout>
getLayoutOfGroups(const LinearLayout &used, unsigned dim, unsigned log2) {
  SmallVector<Coords> regs = getBases(used, HwDim::Register);
  SmallVector<Coords> lanes = getBases(used, HwDim::Lane);
  SmallVector<Coords> warps = getBases(used, HwDim::Warp);
  auto isInGroup = [&](const Coords &basis) {
    return basis[dim] > 0 && basis[dim] < 1 << log2;
  };
  for (unsigned bit = 0; bit < log2; ++bit) {
    Coords wanted(used.rank(), 0);
    wanted[dim] = 1 << bit;
    if (llvm::is_contained(regs, wanted))
      continue;
    auto lane = llvm::find(lanes, wanted);
    // What lies near along the dimension first: positions are then apart by
    // constants.
    Coords *given = nullptr;
    for (Coords &reg : regs) {
      bool isFree = llvm::any_of(reg, [](int32_t step) { return step; });
      if (!isFree || isInGroup(reg))
        continue;
      if (!given || (reg[dim] > 0 && (*given)[dim] == 0))
        given = &reg;
    }
    if (lane == lanes.end() || !given)
      return std::nullopt;
    std::swap(*lane, *given);
  }
  return LinearLayout::fromBases(used.shape(), regs, lanes, warps);
}

LinearLayout PositionBits::chooseLayout(const LinearLayout &used) const {
  LinearLayout best = used;
  double least = countInstructions(used);
  for (unsigned dim = 0; dim < used.rank(); ++dim)
    for (unsigned log2 = 1; log2 <= kLog2MostGroup; ++log2) {
      std::optional<LinearLayout> layout = getLayoutOfGroups(used, dim, log2);
      if (!layout || !getBitShufflePlan(*layout, used))
        continue;
      double instructions =
          countInstructions(*layout) + fusion::kMovedBitInstructions;
      // Equal sums differ in their roundings.
      if (instructions < least * (1 - 1e-9)) {
        least = instructions;
        best = *layout;
      }
    }
  return best;
}

//===----------------------------------------------------------------------===//
// Separation
//===----------------------------------------------------------------------===//

/// What `root` is made of, itself the last.
static SmallVector<PositionBits::Part> collectParts(Operation *root,
                                                    const PositionOps &known) {
  llvm::SmallPtrSet<Operation *, 16> needed = {root};
  SmallVector<Operation *> pending = {root};
  while (!pending.empty())
    for (Value operand : pending.pop_back_val()->getOperands())
      if (isTile(operand) && needed.insert(operand.getDefiningOp()).second)
        pending.push_back(operand.getDefiningOp());
  SmallVector<PositionBits::Part> parts;
  for (const auto &[op, groups] : known)
    if (needed.contains(op))
      parts.push_back({op, groups});
  return parts;
}

/// Whether lanes that have whole groups could save more than it takes to tell
/// others.
static bool mayGain(const PositionBits &bits) {
  double saved = 0;
  for (const PositionBits::Part &part : bits.parts) {
    int64_t group = 1;
    for (int64_t size : part.groups)
      group = std::min(group * size, kMostGroup);
    saved += fusion::getOpCost(part.op).instructions *
             (1 - 1 / static_cast<double>(group));
  }
  return saved > fusion::kMovedBitInstructions;
}

SmallVector<PositionBits> tile::separatePositionBits(ProgramOp program) {
  PositionOps known = findPositionOps(program);
  auto isRead = [&](OpOperand &use) { return !known.contains(use.getOwner()); };
  SmallVector<PositionBits> found;
  for (const auto &[root, groups] : known) {
    Value bits = root->getResult(0);
    if (!getTileElementType(bits.getType()).isInteger(1) ||
        llvm::none_of(bits.getUses(), isRead))
      continue;
    PositionBits own{nullptr, collectParts(root, known)};
    if (mayGain(own))
      found.push_back(std::move(own));
  }
  for (PositionBits &own : found) {
    Value bits = own.parts.back().op->getResult(0);
    IRMapping copies;
    OpBuilder builder(program.getContext());
    for (PositionBits::Part &part : own.parts) {
      builder.setInsertionPoint(part.op);
      part.op = builder.clone(*part.op, copies);
    }
    Value copy = copies.lookup(bits);
    builder.setInsertionPointAfterValue(copy);
    own.conversion =
        ConvertLayoutOp::create(builder, bits.getLoc(), copy.getType(), copy);
    bits.replaceUsesWithIf(own.conversion.getResult(), isRead);
  }
  for (const auto &[op, groups] : llvm::reverse(known))
    if (op->use_empty())
      op->erase();
  return found;
}
