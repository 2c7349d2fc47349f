//===- LowerMmaSync.cpp - Products by the instruction of a warp -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of products to mma.sync and of reads of
// their operands to ldmatrix. Whether and how is read off the layouts alone.
//
//===----------------------------------------------------------------------===//

#include "PackPairs.h"
#include "ProgramLowering.h"

#include "fusion/Dialect/Tile/IR/MatrixAccess.h"
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

  static SplitFactor of(OpBuilder &builder, Location loc, Value factor);
};
} // namespace

SplitFactor SplitFactor::of(OpBuilder &builder, Location loc, Value factor) {
  Type i32 = builder.getI32Type(), f32 = factor.getType();
  auto bits = [&](Value value) -> Value {
    return arith::BitcastOp::create(builder, loc, i32, value);
  };
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  };
  // Cut, not rounded: the largest numbers stay finite, and the rest is exact.
  constexpr int32_t kCutBits = 13, kHalf = 1 << (kCutBits - 1);
  SplitFactor split;
  split.high = arith::AndIOp::create(builder, loc, bits(factor),
                                     constant(-(1 << kCutBits)));
  Value rest = arith::SubFOp::create(
      builder, loc, factor,
      arith::BitcastOp::create(builder, loc, f32, split.high));
  // The instruction cuts the rest, which half of its last place makes a
  // rounding.
  Value low = arith::AddIOp::create(builder, loc, bits(rest), constant(kHalf));
  // NaN is what remains of an infinity, and of NaN.
  Value isInfinite = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OEQ,
      LLVM::FAbsOp::create(builder, loc, factor),
      arith::ConstantOp::create(
          builder, loc,
          builder.getFloatAttr(f32, APFloat::getInf(APFloat::IEEEsingle()))));
  Value zero = constant(0);
  split.low = arith::SelectOp::create(builder, loc, isInfinite, zero, low);
  split.finite =
      arith::SelectOp::create(builder, loc, isInfinite, zero, split.high);
  return split;
}

Value ProgramLowering::packOperand(ArrayRef<Value> elements) {
  Type type = elements.front().getType();
  if (type.isF64())
    return elements.front();
  Type i32 = builder.getI32Type();
  if (type.isF32()) // The instruction would cut the mantissa off, not round it.
    return LLVM::CallIntrinsicOp::create(
               builder, loc, i32, builder.getStringAttr("llvm.nvvm.f2tf32.rna"),
               elements.front())
        .getResult(0);
  Value vector;
  if (elements.size() == 2 && !plainFactors)
    vector = packPair(builder, loc, elements[0], elements[1]);
  if (!vector) {
    SmallVector<Value> stored;
    for (Value element : elements)
      stored.push_back(toMemory(element));
    vector = buildVector(stored);
  }
  if (type.isF16())
    return vector;
  return LLVM::BitcastOp::create(builder, loc, i32, vector);
}

bool ProgramLowering::lowerMmaSync(tile::DotOp op) {
  Type aType = tile::getTileElementType(op.getA().getType());
  Type bType = tile::getTileElementType(op.getB().getType());
  Type accType = tile::getTileElementType(op.getType());
  LinearLayout acc = tile::getLayout(op.getType()).getLinear();
  SmallVector<bool> isPart(acc.numBits(HwDim::Warp), false);
  if (acc.rank() == 3) {
    for (unsigned bit = 0; bit < isPart.size(); ++bit)
      isPart[bit] = acc.basis(HwDim::Warp, bit)[0] != 0;
    if (unsigned(llvm::count(isPart, true)) != acc.dimLog2(0))
      return false;
    acc = acc.selectDims({1, 2});
  }
  // Products of f32 to f32's precision: only where that is the plan.
  bool isPrecise = aType.isF32() && !op.getTf32();
  std::optional<tile::PipelineAttr> pipeline =
      op->getParentOfType<tile::ProgramOp>().getPipeline();
  if (isPrecise && (!pipeline || pipeline->getKind() != tile::MmaKind::MmaSync))
    return false;
  if (!tile::hasMmaSync(aType, bType, accType) || acc.numLanes() != 32 ||
      acc.numBits(HwDim::Register) < 1)
    return false;
  LinearLayout a = tile::getLayout(op.getA().getType()).getLinear();
  LinearLayout b = tile::getLayout(op.getB().getType()).getLinear();
  const Scalars *as = &get(op.getA()), *bs = &get(op.getB());
  constexpr unsigned columnBit = 0;
  if (tile::isMmaSyncSwapped(acc)) {
    acc = acc.permuteDims({1, 0});
    std::swap(a, b);
    std::swap(as, bs);
    std::swap(aType, bType);
  }
  unsigned bits = aType.getIntOrFloatBitWidth();
  bool hasRowBit = bits != 64;
  if (hasRowBit && (acc.numBits(HwDim::Register) < 2 ||
                    acc.basis(HwDim::Register, 1)[1] != 0))
    return false;
  if (!threadsMatch(acc, a, b, columnBit, isPart))
    return false;
  Fragment aFragment(a), bFragment(b);
  SmallVector<int32_t> depths = aFragment.depths();
  unsigned wordElements = bits < 32 ? 32 / bits : 1;
  unsigned words = hasRowBit ? 2 : 1;
  unsigned perStep = wordElements * words;
  if (depths != bFragment.depths() || depths.size() % perStep != 0)
    return false;

  if (wordElements == 2)
    for (auto [fragment, scalars] :
         {std::pair(&aFragment, as), std::pair(&bFragment, bs)}) {
      unsigned distance = fragment->pairDistance(depths, *scalars);
      if (distance == 1)
        continue;
      depths = interleave(depths, distance);
      break;
    }

  // A product to f32's precision is three of tf32: what is left out, that of
  // both rests, is 2^-20 of it at most.
  bool split = isPrecise && !plainFactors;
  enum Term { Whole, High = Whole, Finite, Low, numTerms };

  // Each operand register once, however many instructions take it.
  std::map<std::pair<int32_t, int32_t>, std::array<Value, numTerms>> packed[2];
  bool complete = true;
  auto word = [&](bool ofB, int32_t place, unsigned number,
                  Term term) -> Value {
    std::array<Value, numTerms> &known =
        packed[ofB][{place, static_cast<int32_t>(number)}];
    if (known[Whole])
      return known[term];
    SmallVector<Value> elements;
    for (unsigned i = 0; i < wordElements; ++i) {
      std::optional<unsigned> reg =
          (ofB ? bFragment : aFragment)
              .find(place, depths[number * wordElements + i]);
      if (!reg) {
        complete = false;
        return Value();
      }
      elements.push_back((*(ofB ? bs : as))[*reg]);
    }
    if (split) {
      SplitFactor factor = SplitFactor::of(builder, loc, elements.front());
      known = {factor.high, factor.finite, factor.low};
    } else {
      known[Whole] = packOperand(elements);
    }
    return known[term];
  };

  Type result = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(hasRowBit ? 4 : 2, accType));
  auto name = builder.getStringAttr(intrinsicName(aType, bType));
  Scalars results = get(op.getAcc());
  // The sums `onto` with the products of a step for one instruction's group.
  auto multiply = [&](unsigned step, const Group &group, Term ofA, Term ofB,
                      Scalars onto) {
    Coords at = acc.elementOf(group.front(), 0, 0);
    SmallVector<Value> operands;
    for (unsigned half = 0; half < words; ++half) {
      operands.push_back(word(false, at[0], step * words + half, ofA));
      if (hasRowBit)
        operands.push_back(word(false, acc.elementOf(group[2], 0, 0)[0],
                                step * words + half, ofA));
    }
    for (unsigned half = 0; half < words; ++half)
      operands.push_back(word(true, at[1], step * words + half, ofB));
    if (!complete)
      return onto;
    llvm::append_range(operands, onto);
    Value products =
        LLVM::CallIntrinsicOp::create(builder, loc, result, name, operands)
            .getResult(0);
    for (auto [i, sum] : llvm::enumerate(onto))
      sum = LLVM::ExtractValueOp::create(
          builder, loc, products, ArrayRef<int64_t>{static_cast<int64_t>(i)});
    return onto;
  };
  // Step by step along the depth, so that products in a row are independent.
  for (unsigned step = 0; step < depths.size() / perStep; ++step)
    for (const Group &group : groupsOf(acc, hasRowBit)) {
      Scalars sums;
      for (unsigned reg : group)
        sums.push_back(results[reg]);
      if (split) {
        // The instruction cuts sums off where an addition rounds: it adds up a
        // step, an addition the steps.
        Scalars own(sums.size(),
                    arith::ConstantOp::create(builder, loc,
                                              builder.getZeroAttr(accType)));
        own = multiply(step, group, Low, Finite, own);
        own = multiply(step, group, Finite, Low, own);
        own = multiply(step, group, High, High, own);
        for (auto [sum, part] : llvm::zip(sums, own))
          sum = arith::AddFOp::create(builder, loc, sum, part);
      } else {
        sums = multiply(step, group, Whole, Whole, sums);
      }
      if (!complete)
        return false;
      for (auto [sum, reg] : llvm::zip(sums, group))
        results[reg] = sum;
    }
  values[op.getResult()] = results;
  return true;
}

//===----------------------------------------------------------------------===//
// Reading operands
//===----------------------------------------------------------------------===//

bool ProgramLowering::lowerLoadMatrix(tile::LocalLoadOp op) {
  const LinearLayout &layout = tile::getLayout(op.getType()).getLinear();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  std::optional<tile::MatrixAccess> access =
      tile::getMatrixAccess(layout, shared);
  if (!access)
    return false;
  Type i32 = builder.getI32Type();
  Type element = scalarType(op.getType());
  Type stored = memoryType(element);
  unsigned perWord = access->groups.front().regs.front().size();
  Type result = access->matrices == 1
                    ? i32
                    : Type(LLVM::LLVMStructType::getLiteral(
                          builder.getContext(),
                          SmallVector<Type>(access->matrices, i32)));
  auto name = builder.getStringAttr(
      "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + Twine(access->matrices) +
      (access->transposed ? ".trans" : "") + ".b16");
  SharedPlace place = placeOf(op.getBuffer());
  Value threadOffset = applyToThread(access->laneOffset, access->warpOffset);
  Scalars results(layout.numRegs());
  for (const tile::MatrixAccess::Group &group : access->groups) {
    Value address = sharedAddress(place, threadOffset, access->xorPart(group),
                                  access->immediatePart(group));
    Value loaded =
        LLVM::CallIntrinsicOp::create(builder, loc, result, name, address)
            .getResult(0);
    for (auto [matrix, members] : llvm::enumerate(group.regs)) {
      Value word = loaded;
      if (access->matrices != 1)
        word = LLVM::ExtractValueOp::create(
            builder, loc, loaded,
            ArrayRef<int64_t>{static_cast<int64_t>(matrix)});
      Type type = perWord == 1 ? stored : VectorType::get(perWord, stored);
      Value parts =
          type == i32
              ? word
              : LLVM::BitcastOp::create(builder, loc, type, word).getResult();
      for (auto [i, reg] : llvm::enumerate(members))
        results[reg] = fromMemory(
            perWord == 1 ? parts : extractElement(parts, i), element);
    }
  }
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg)
    results[reg] = results[access->holder[reg]];
  values[op.getResult()] = results;
  return true;
}
