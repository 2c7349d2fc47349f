//===- LowerExchange.cpp - Exchange between the threads of a warp ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of reductions, layout conversions and
// exchanges within a warp.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

namespace {
struct ConvertLayoutLowering : public TileOpLowering<tile::ConvertLayoutOp> {
  LogicalResult lower(tile::ConvertLayoutOp op,
                      ProgramLowering &lowering) const override;
};

struct ExchangeLowering : public TileOpLowering<tile::ExchangeOp> {
  LogicalResult lower(tile::ExchangeOp op,
                      ProgramLowering &lowering) const override;
};

struct ReduceLowering : public TileOpLowering<tile::ReduceOp> {
  LogicalResult lower(tile::ReduceOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

static Value constant32(ThreadBuilder &builder, uint32_t number) {
  return arith::ConstantOp::create(
      builder, builder.getI32IntegerAttr(static_cast<int32_t>(number)));
}

/// What `lanes` and `warps` map the thread to.
static Value mapThread(const tile::BitMatrix &lanes,
                       const tile::BitMatrix &warps,
                       ProgramLowering &lowering) {
  ThreadBuilder &builder = lowering.getBuilder();
  Value number = lowering.getThreads().apply(lanes, warps);
  Type i32 = builder.getI32Type();
  return number.getType() == i32
             ? number
             : arith::TruncIOp::create(builder, i32, number).getResult();
}

/// Words of the bits `source`, each at its place.
static Scalars packBits(const Scalars &source, ArrayRef<unsigned> places,
                        ThreadBuilder &builder) {
  constexpr unsigned kWord = 32;
  Value zero = constant32(builder, 0);
  Scalars words(llvm::divideCeil(source.size(), kWord));
  for (auto [bit, place] : llvm::zip_equal(source, places)) {
    Value &word = words[place / kWord];
    Value own = arith::SelectOp::create(
        builder, bit, constant32(builder, 1u << place % kWord), zero);
    word = word ? arith::OrIOp::create(builder, word, own).getResult() : own;
  }
  return words;
}

/// The bits `source` as `plan` says: a word for each lane that has some.
static Scalars shuffleBits(const Scalars &source,
                           const tile::BitShufflePlan &plan,
                           ProgramLowering &lowering) {
  constexpr unsigned kWord = 32;
  ThreadBuilder &builder = lowering.getBuilder();
  Scalars words = packBits(source, plan.srcPlace, builder);
  Value lane = mapThread(plan.laneMap, plan.warpMap, lowering);
  Value shift = mapThread(plan.laneShift, plan.warpShift, lowering);
  Value zero = constant32(builder, 0);
  std::map<std::pair<unsigned, unsigned>, Value> received;
  Scalars results;
  for (auto [place, flip] : llvm::zip_equal(plan.dstPlace, plan.regLane)) {
    Value &word = received[{place / kWord, flip}];
    if (!word) {
      Value from =
          arith::XOrIOp::create(builder, lane, constant32(builder, flip));
      word = builder.shuffle(words[place / kWord], from, NVVM::ShflKind::idx);
      word = arith::ShRUIOp::create(builder, word, shift);
    }
    Value own = arith::AndIOp::create(builder, word,
                                      constant32(builder, 1u << place % kWord));
    results.push_back(
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, own, zero));
  }
  return results;
}

/// How to convert a tile of bits; none for other types.
static std::optional<tile::BitShufflePlan>
getPlanOfBits(tile::ConvertLayoutOp op) {
  if (!tile::getTileElementType(op.getType()).isInteger(1))
    return std::nullopt;
  return tile::getBitShufflePlan(
      tile::getLayout(op.getValue().getType()).getLinear(),
      tile::getLayout(op.getType()).getLinear());
}

LogicalResult ConvertLayoutLowering::lower(tile::ConvertLayoutOp op,
                                           ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  const LinearLayout &from =
      tile::getLayout(op.getValue().getType()).getLinear();
  const LinearLayout &to = tile::getLayout(op.getType()).getLinear();
  const Scalars &source = lowering.get(op.getValue());
  Scalars results;
  if (std::optional<tile::RegisterMap> map = tile::getRegisterMap(from, to)) {
    results = lowering.pick(op.getValue(), *map);
  } else if (std::optional<tile::BitShufflePlan> plan = getPlanOfBits(op)) {
    results = shuffleBits(source, *plan, lowering);
  } else if (std::optional<tile::ShufflePlan> plan =
                 tile::getShufflePlan(from, to)) {
    Value lane = mapThread(plan->laneMap, plan->warpMap, lowering);
    for (auto [reg, flip] : llvm::zip(plan->srcReg, plan->regLane)) {
      Value source32 = lane;
      if (flip)
        source32 =
            arith::XOrIOp::create(builder, lane, constant32(builder, flip));
      results.push_back(
          builder.shuffle(source[reg], source32, NVVM::ShflKind::idx));
    }
  } else {
    return op.emitOpError("FUS-3305: conversion crosses warps; run "
                          "fusion-tile-lower-exchanges first");
  }
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult ExchangeLowering::lower(tile::ExchangeOp op,
                                      ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  const LinearLayout &layout = tile::getLayout(op.getType()).getLinear();
  std::optional<tile::ExchangePlan> plan =
      tile::getExchangePlan(layout, op.getDim(), op.getMask());
  if (!plan)
    return op.emitOpError("FUS-3327: exchange crosses warps; run "
                          "fusion-tile-assign-layouts first");
  const Scalars &source = lowering.get(op.getValue());
  Scalars results;
  Value lane;
  if (plan->lane)
    lane = arith::ConstantOp::create(builder,
                                     builder.getI32IntegerAttr(plan->lane));
  for (unsigned reg = 0; reg < source.size(); ++reg) {
    Value other = source[reg ^ plan->reg];
    results.push_back(lane ? builder.shuffle(other, lane, NVVM::ShflKind::bfly)
                           : other);
  }
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult ReduceLowering::lower(tile::ReduceOp op,
                                    ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  const LinearLayout &layout =
      tile::getLayout(op.getInputs().front().getType()).getLinear();
  unsigned dim = op.getDim();
  std::optional<tile::ReductionBits> bits = tile::getReductionBits(layout, dim);
  if (!bits || (bits->warpMask && !op.getWithinWarp()))
    return op.emitOpError("FUS-3306: reduction crosses warps; run "
                          "fusion-tile-lower-exchanges first");
  unsigned numInputs = op.getInputs().size();
  SmallVector<const Scalars *> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(&lowering.get(input));
  auto at = [&](unsigned reg) {
    Scalars state;
    for (const Scalars *input : inputs)
      state.push_back((*input)[reg]);
    return state;
  };
  SmallVector<Scalars> results(numInputs);
  for (const tile::RegisterMap &group :
       tile::getReductionRegisterGroups(layout, dim, *bits)) {
    // A balanced tree: independent operations, and less rounding error.
    SmallVector<Scalars> states;
    for (unsigned reg : group)
      states.push_back(at(reg));
    while (states.size() > 1) {
      SmallVector<Scalars> next;
      for (unsigned i = 0; i + 1 < states.size(); i += 2)
        next.push_back(
            lowering.combine(op.getCombiner(), states[i], states[i + 1]));
      if (states.size() % 2)
        next.push_back(states.back());
      states = std::move(next);
    }
    Scalars state = states.front();
    for (unsigned bit = 0; bit < 5; ++bit) {
      if (!(bits->laneMask >> bit & 1))
        continue;
      Value flip = arith::ConstantOp::create(
          builder, builder.getI32IntegerAttr(1 << bit));
      Scalars other;
      for (Value value : state)
        other.push_back(builder.shuffle(value, flip, NVVM::ShflKind::bfly));
      state = lowering.combine(op.getCombiner(), state, other);
    }
    for (auto [result, value] : llvm::zip(results, state))
      result.push_back(value);
  }
  for (auto [result, scalars] : llvm::zip(op.getResults(), results))
    lowering.set(result, scalars);
  return success();
}

void mlir::fusion::populateExchangeLowerings(LoweringSet &lowerings) {
  lowerings.add<ConvertLayoutLowering, ExchangeLowering, ReduceLowering>();
}
