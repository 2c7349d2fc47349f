//===- LowerMmaSync.cpp - Products by the instruction of a warp -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of products to mma.sync. Whether and
// how is read off the layouts alone.
//
//===----------------------------------------------------------------------===//

#include "MmaOperands.h"
#include "OpEmitter.h"
#include "PackPairs.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "fusion/Dialect/Tile/IR/MmaSyncLayouts.h"
#include "fusion/Dialect/Tile/Transforms/DotLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::Coords;
using tile::HwDim;
using tile::LinearLayout;

//===----------------------------------------------------------------------===//
// Reading the layouts
//===----------------------------------------------------------------------===//

namespace {
/// An operand as registers found by (row or column, depth) in thread 0.
struct Fragment {
  DenseMap<std::pair<int32_t, int32_t>, unsigned> registers;

  explicit Fragment(const LinearLayout &layout) {
    for (unsigned reg = 0; reg < layout.numRegs(); ++reg) {
      Coords at = layout.elementOf(reg, 0, 0);
      registers.try_emplace({at[0], at[1]}, reg);
    }
  }

  std::optional<unsigned> find(int32_t place, int32_t depth) const {
    auto found = registers.find({place, depth});
    if (found == registers.end())
      return std::nullopt;
    return found->second;
  }

  /// How far apart along `depths` the elements of a register should be.
  unsigned pairDistance(ArrayRef<int32_t> depths,
                        const Scalars &scalars) const {
    std::optional<unsigned> first = find(0, depths[0]),
                            second = find(0, depths[1]);
    return first && second ? getPairDistance(scalars[*first], scalars[*second])
                           : 1;
  }

  /// The depths that a thread holds, increasing.
  SmallVector<int32_t> depths() const {
    SmallVector<int32_t> result;
    for (auto &entry : registers)
      result.push_back(entry.first.second);
    llvm::sort(result);
    result.erase(llvm::unique(result), result.end());
    return result;
  }
};

/// One instruction: registers of the accumulator in its order.
using Group = SmallVector<unsigned, 4>;

/// A product of two-dimensional tiles as instructions see it.
struct MmaSyncPlan {
  LinearLayout acc;
  /// The operands that have the instruction's rows and its columns.
  Value rows, columns;
  Fragment rowFragment, columnFragment;
  /// The depths that a thread has.
  SmallVector<int32_t> depths;
  Type rowType, columnType, accType;
  /// Elements of a register, and registers of an operand along the depth.
  unsigned wordElements, words;
  /// The instruction's accumulator has two rows.
  bool hasRowBit;
  /// Products of f32 to f32's precision.
  bool isPrecise;

  unsigned perStep() const { return wordElements * words; }
  unsigned numSteps() const { return depths.size() / perStep(); }
  /// Depths of register `number` along the depth.
  ArrayRef<int32_t> depthsOf(unsigned number) const {
    return ArrayRef(depths).slice(number * wordElements, wordElements);
  }
};
} // namespace

/// `depths` with those that are `distance` apart side by side.
static SmallVector<int32_t> interleave(ArrayRef<int32_t> depths,
                                       unsigned distance) {
  if (depths.size() % (2 * distance) != 0)
    return SmallVector<int32_t>(depths);
  SmallVector<int32_t> result;
  for (unsigned first = 0; first < depths.size(); first += 2 * distance)
    for (unsigned i = first; i < first + distance; ++i)
      result.append({depths[i], depths[i + distance]});
  return result;
}

/// Whether threads hold rows of `a` and columns of `b` where an instruction
/// with accumulator `acc` [rows, columns] wants them. The depth may lie among
/// lanes and registers in any way that is the same on both sides; the bits of
/// warps that `isPart` names choose parts of it.
static bool threadsMatch(const LinearLayout &acc, const LinearLayout &a,
                         const LinearLayout &b, unsigned columnBit,
                         ArrayRef<bool> isPart) {
  auto is = [](const Coords &basis, int32_t first, int32_t second) {
    return basis[0] == first && basis[1] == second;
  };
  for (unsigned bit = 2; bit < 5; ++bit) {
    Coords rows = acc.basis(HwDim::Lane, bit);
    if (rows[1] != 0 || !is(a.basis(HwDim::Lane, bit), rows[0], 0))
      return false;
    Coords columns = bit == 2 ? acc.basis(HwDim::Register, columnBit)
                              : acc.basis(HwDim::Lane, bit - 3);
    if (columns[0] != 0 || !is(b.basis(HwDim::Lane, bit), columns[1], 0))
      return false;
  }
  for (unsigned bit = 0; bit < 2; ++bit) {
    Coords depth = a.basis(HwDim::Lane, bit);
    if (depth[0] != 0 || !is(b.basis(HwDim::Lane, bit), 0, depth[1]))
      return false;
  }
  for (unsigned bit = 0; bit < acc.numBits(HwDim::Warp); ++bit) {
    // Warps may have parts of the depth.
    Coords place = acc.basis(HwDim::Warp, bit);
    int32_t depth = a.basis(HwDim::Warp, bit)[1];
    if (!is(a.basis(HwDim::Warp, bit), place[0], depth) ||
        !is(b.basis(HwDim::Warp, bit), place[1], depth) ||
        (depth != 0) != isPart[bit])
      return false;
  }
  return true;
}

/// The instructions that make up the accumulator [rows, columns].
static SmallVector<Group> groupsOf(const LinearLayout &acc, bool hasRowBit) {
  SmallVector<Group> groups;
  unsigned first = hasRowBit ? 4 : 2;
  for (unsigned reg = 0; reg < acc.numRegs(); reg += first) {
    Group group;
    for (unsigned i = 0; i < first; ++i)
      group.push_back(reg + i);
    groups.push_back(group);
  }
  return groups;
}

/// Every register of an instruction is one that the thread has.
static bool isComplete(const MmaSyncPlan &plan) {
  auto has = [&](const Fragment &fragment, int32_t place) {
    return llvm::all_of(plan.depths, [&](int32_t depth) {
      return fragment.find(place, depth).has_value();
    });
  };
  for (const Group &group : groupsOf(plan.acc, plan.hasRowBit)) {
    Coords at = plan.acc.elementOf(group.front(), 0, 0);
    if (!has(plan.rowFragment, at[0]) || !has(plan.columnFragment, at[1]))
      return false;
    if (plan.hasRowBit &&
        !has(plan.rowFragment, plan.acc.elementOf(group[2], 0, 0)[0]))
      return false;
  }
  return true;
}

/// A product to f32's precision is one of instructions only where that is the
/// plan.
static bool isPreciseByPlan(tile::DotOp op) {
  std::optional<tile::PipelineAttr> pipeline =
      op->getParentOfType<tile::ProgramOp>().getPipeline();
  return pipeline && pipeline->getKind() == tile::MmaKind::MmaSync;
}

/// None when the layouts are not those of an instruction.
static std::optional<MmaSyncPlan> planMmaSync(tile::DotOp op) {
  Value rows = op.getA(), columns = op.getB();
  Type rowType = tile::getTileElementType(rows.getType());
  Type columnType = tile::getTileElementType(columns.getType());
  Type accType = tile::getTileElementType(op.getType());
  LinearLayout acc = tile::getLayout(op.getType()).getLinear();
  SmallVector<bool> isPart(acc.numBits(HwDim::Warp), false);
  if (acc.rank() == 3) {
    for (unsigned bit = 0; bit < isPart.size(); ++bit)
      isPart[bit] = acc.basis(HwDim::Warp, bit)[0] != 0;
    if (unsigned(llvm::count(isPart, true)) != acc.dimLog2(0))
      return std::nullopt;
    acc = acc.selectDims({1, 2});
  }
  bool isPrecise = rowType.isF32() && !op.getTf32();
  if (isPrecise && !isPreciseByPlan(op))
    return std::nullopt;
  if (!tile::hasMmaSync(rowType, columnType, accType) || acc.numLanes() != 32 ||
      acc.numBits(HwDim::Register) < 1)
    return std::nullopt;
  if (tile::isMmaSyncSwapped(acc)) {
    acc = acc.permuteDims({1, 0});
    std::swap(rows, columns);
    std::swap(rowType, columnType);
  }
  unsigned bits = rowType.getIntOrFloatBitWidth();
  bool hasRowBit = bits != 64;
  if (hasRowBit && (acc.numBits(HwDim::Register) < 2 ||
                    acc.basis(HwDim::Register, 1)[1] != 0))
    return std::nullopt;
  const LinearLayout &a = tile::getLayout(rows.getType()).getLinear();
  const LinearLayout &b = tile::getLayout(columns.getType()).getLinear();
  constexpr unsigned columnBit = 0;
  if (!threadsMatch(acc, a, b, columnBit, isPart))
    return std::nullopt;
  MmaSyncPlan plan{acc,
                   rows,
                   columns,
                   Fragment(a),
                   Fragment(b),
                   {},
                   rowType,
                   columnType,
                   accType,
                   /*wordElements=*/bits < 32 ? 32 / bits : 1,
                   /*words=*/hasRowBit ? 2u : 1u,
                   hasRowBit,
                   isPrecise};
  plan.depths = plan.rowFragment.depths();
  if (plan.depths != plan.columnFragment.depths() ||
      plan.depths.size() % plan.perStep() != 0 || !isComplete(plan))
    return std::nullopt;
  return plan;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The intrinsic's name for operands `a`, `b`.
static std::string intrinsicName(Type a, Type b) {
  auto name = [](Type type) -> StringRef {
    return isa<Float8E4M3FNType>(type) ? "e4m3" : "e5m2";
  };
  if (a.isF64())
    return "llvm.nvvm.mma.m8n8k4.row.col.f64";
  if (a.isF32())
    return "llvm.nvvm.mma.m16n8k8.row.col.tf32";
  if (a.isF16())
    return "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
  if (a.isBF16())
    return "llvm.nvvm.mma.m16n8k16.row.col.bf16";
  if (a.isInteger(8))
    return "llvm.nvvm.mma.m16n8k32.row.col.s8";
  return ("llvm.nvvm.mma.m16n8k32.row.col.f32." + name(a) + "." + name(b) +
          ".f32")
      .str();
}

namespace {
/// An f32 factor as a sum of two that tf32 holds, high + low, up to 2^-22 of
/// it. `finite` is `high`, or 0 where that is infinite: what is multiplied with
/// the other factor's `low`, which may be 0.
struct SplitFactor {
  Value high, finite, low;

  static SplitFactor of(ThreadBuilder &builder, Value factor);
};
} // namespace

SplitFactor SplitFactor::of(ThreadBuilder &builder, Value factor) {
  Type i32 = builder.getI32Type(), f32 = factor.getType();
  auto bits = [&](Value value) -> Value {
    return arith::BitcastOp::create(builder, i32, value);
  };
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, i32, value);
  };
  // Cut, not rounded: the largest numbers stay finite, and the rest is exact.
  constexpr int32_t kCutBits = 13, kHalf = 1 << (kCutBits - 1);
  SplitFactor split;
  split.high =
      arith::AndIOp::create(builder, bits(factor), constant(-(1 << kCutBits)));
  Value rest = arith::SubFOp::create(
      builder, factor, arith::BitcastOp::create(builder, f32, split.high));
  // The instruction cuts the rest, which half of its last place makes a
  // rounding.
  Value low = arith::AddIOp::create(builder, bits(rest), constant(kHalf));
  // NaN is what remains of an infinity, and of NaN.
  Value isInfinite = arith::CmpFOp::create(
      builder, arith::CmpFPredicate::OEQ, LLVM::FAbsOp::create(builder, factor),
      arith::ConstantOp::create(
          builder,
          builder.getFloatAttr(f32, APFloat::getInf(APFloat::IEEEsingle()))));
  Value zero = constant(0);
  split.low = arith::SelectOp::create(builder, isInfinite, zero, low);
  split.finite = arith::SelectOp::create(builder, isInfinite, zero, split.high);
  return split;
}

namespace {
/// Builds a product by instructions.
class MmaSyncEmitter : public OpEmitter {
public:
  MmaSyncEmitter(ProgramLowering &lowering, MmaSyncPlan ofOp,
                 bool plainFactors);

  /// The sums `sums` with the products.
  Scalars emit(Scalars sums);

private:
  /// The parts of a factor to f32's precision.
  enum Term { Whole, High = Whole, Finite, Low, numTerms };
  enum Operand { Rows, Columns, numOperands };

  /// Register `number` along the depth of the row or column `place`: each is
  /// made once, however many instructions take it.
  Value word(Operand operand, int32_t place, unsigned number, Term term);
  /// The sums `onto` with the products of a step for one instruction's group.
  Scalars multiply(unsigned step, const Group &group, Term ofRows,
                   Term ofColumns, Scalars onto);
  /// The same to f32's precision.
  Scalars multiplyPrecisely(unsigned step, const Group &group, Scalars onto);

  MmaSyncPlan plan;
  bool plainFactors;
  /// A product to f32's precision is three of tf32: what is left out, that of
  /// both rests, is 2^-20 of it at most.
  bool split;
  Type result;
  StringAttr name;
  std::map<std::pair<int32_t, int32_t>, std::array<Value, numTerms>>
      packed[numOperands];
};
} // namespace

MmaSyncEmitter::MmaSyncEmitter(ProgramLowering &lowering, MmaSyncPlan ofOp,
                               bool plainFactors)
    : OpEmitter(lowering), plan(std::move(ofOp)), plainFactors(plainFactors),
      split(plan.isPrecise && !plainFactors),
      result(LLVM::LLVMStructType::getLiteral(
          builder.getContext(),
          SmallVector<Type>(plan.hasRowBit ? 4 : 2, plan.accType))),
      name(
          builder.getStringAttr(intrinsicName(plan.rowType, plan.columnType))) {
  if (plan.wordElements != 2)
    return;
  for (auto [fragment, operand] :
       {std::pair(&plan.rowFragment, plan.rows),
        std::pair(&plan.columnFragment, plan.columns)}) {
    unsigned distance =
        fragment->pairDistance(plan.depths, lowering.get(operand));
    if (distance == 1)
      continue;
    plan.depths = interleave(plan.depths, distance);
    break;
  }
}

Value MmaSyncEmitter::word(Operand operand, int32_t place, unsigned number,
                           Term term) {
  std::array<Value, numTerms> &known =
      packed[operand][{place, static_cast<int32_t>(number)}];
  if (known[Whole])
    return known[term];
  const Fragment &fragment =
      operand == Rows ? plan.rowFragment : plan.columnFragment;
  const Scalars &scalars =
      lowering.get(operand == Rows ? plan.rows : plan.columns);
  SmallVector<Value> elements;
  for (int32_t depth : plan.depthsOf(number))
    elements.push_back(scalars[*fragment.find(place, depth)]);
  if (split) {
    SplitFactor factor = SplitFactor::of(builder, elements.front());
    known = {factor.high, factor.finite, factor.low};
  } else {
    known[Whole] = packOperand(builder, elements, plainFactors);
  }
  return known[term];
}

Scalars MmaSyncEmitter::multiply(unsigned step, const Group &group, Term ofRows,
                                 Term ofColumns, Scalars onto) {
  Coords at = plan.acc.elementOf(group.front(), 0, 0);
  SmallVector<Value> operands;
  unsigned first = step * plan.words;
  for (unsigned half = 0; half < plan.words; ++half) {
    operands.push_back(word(Rows, at[0], first + half, ofRows));
    if (plan.hasRowBit)
      operands.push_back(word(Rows, plan.acc.elementOf(group[2], 0, 0)[0],
                              first + half, ofRows));
  }
  for (unsigned half = 0; half < plan.words; ++half)
    operands.push_back(word(Columns, at[1], first + half, ofColumns));
  llvm::append_range(operands, onto);
  Value products =
      LLVM::CallIntrinsicOp::create(builder, result, name, operands)
          .getResult(0);
  for (auto [i, sum] : llvm::enumerate(onto))
    sum = LLVM::ExtractValueOp::create(
        builder, products, ArrayRef<int64_t>{static_cast<int64_t>(i)});
  return onto;
}

Scalars MmaSyncEmitter::multiplyPrecisely(unsigned step, const Group &group,
                                          Scalars onto) {
  // The instruction cuts sums off where an addition rounds: it adds up a step,
  // an addition the steps.
  Scalars own(onto.size(), arith::ConstantOp::create(
                               builder, builder.getZeroAttr(plan.accType)));
  own = multiply(step, group, Low, Finite, own);
  own = multiply(step, group, Finite, Low, own);
  own = multiply(step, group, High, High, own);
  for (auto [sum, part] : llvm::zip(onto, own))
    sum = arith::AddFOp::create(builder, sum, part);
  return onto;
}

Scalars MmaSyncEmitter::emit(Scalars sums) {
  // Step by step along the depth, so that products in a row are independent.
  for (unsigned step = 0; step < plan.numSteps(); ++step)
    for (const Group &group : groupsOf(plan.acc, plan.hasRowBit)) {
      Scalars own;
      for (unsigned reg : group)
        own.push_back(sums[reg]);
      own = split ? multiplyPrecisely(step, group, own)
                  : multiply(step, group, Whole, Whole, own);
      for (auto [sum, reg] : llvm::zip(own, group))
        sums[reg] = sum;
    }
  return sums;
}

namespace {
class MmaSyncLowering : public TileOpLowering<tile::DotOp> {
public:
  explicit MmaSyncLowering(bool plainFactors) : plainFactors(plainFactors) {}

  bool matches(tile::DotOp op) const override {
    return planMmaSync(op).has_value();
  }
  LogicalResult lower(tile::DotOp op,
                      ProgramLowering &lowering) const override {
    MmaSyncEmitter emitter(lowering, *planMmaSync(op), plainFactors);
    lowering.set(op.getResult(), emitter.emit(lowering.get(op.getAcc())));
    return success();
  }

private:
  bool plainFactors;
};
} // namespace

void mlir::fusion::populateMmaSyncLowerings(LoweringSet &lowerings,
                                            const TileToNVVMOptions &options) {
  lowerings.add<MmaSyncLowering>(options.plainFactors);
}
