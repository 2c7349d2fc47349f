//===- LowerExchange.cpp - Exchange between the threads of a block --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of reductions, layout conversions
// within a warp, and accesses to shared memory.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

Value ProgramLowering::shuffle(Value value, Value lane, bool butterfly) {
  return shuffle(value, lane,
                 butterfly ? NVVM::ShflKind::bfly : NVVM::ShflKind::idx);
}

Value ProgramLowering::shuffle(Value value, Value lane, NVVM::ShflKind kind) {
  Type type = value.getType();
  Type i32 = builder.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto exchange32 = [&](Value word) -> Value {
    auto constant = [&](int32_t bits) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getI32IntegerAttr(bits));
    };
    int32_t clamp = kind == NVVM::ShflKind::up ? 0 : 31;
    return NVVM::ShflOp::create(builder, loc, word.getType(), constant(-1),
                                word, lane, constant(clamp), kind, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return exchange32(value);
  Type bits = builder.getIntegerType(width);
  Value raw =
      type == bits
          ? value
          : arith::BitcastOp::create(builder, loc, bits, value).getResult();
  Value moved;
  if (width == 64) {
    Value shift =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    Value high = arith::ShRUIOp::create(builder, loc, raw, shift);
    Value low32 = exchange32(arith::TruncIOp::create(builder, loc, i32, raw));
    Value high32 = exchange32(arith::TruncIOp::create(builder, loc, i32, high));
    Value low = arith::ExtUIOp::create(builder, loc, bits, low32);
    Value top = arith::ExtUIOp::create(builder, loc, bits, high32);
    top = arith::ShLIOp::create(builder, loc, top, shift);
    moved = arith::OrIOp::create(builder, loc, low, top);
  } else {
    Value word = arith::ExtUIOp::create(builder, loc, i32, raw);
    moved = arith::TruncIOp::create(builder, loc, bits, exchange32(word));
  }
  return type == bits
             ? moved
             : arith::BitcastOp::create(builder, loc, type, moved).getResult();
}

LogicalResult ProgramLowering::lowerConvert(tile::ConvertLayoutOp op) {
  const LinearLayout &from =
      tile::getLayout(op.getValue().getType()).getLinear();
  const LinearLayout &to = tile::getLayout(op.getType()).getLinear();
  const Scalars &source = get(op.getValue());
  Scalars results;
  if (std::optional<tile::RegisterMap> map = tile::getRegisterMap(from, to)) {
    results = pick(op.getValue(), *map);
  } else if (std::optional<tile::ShufflePlan> plan =
                 tile::getShufflePlan(from, to)) {
    Value lane = applyToThread(plan->laneMap, plan->warpMap);
    Type i32 = builder.getI32Type();
    if (lane.getType() != i32)
      lane = arith::TruncIOp::create(builder, loc, i32, lane);
    for (auto [reg, flip] : llvm::zip(plan->srcReg, plan->regLane)) {
      Value source32 = lane;
      if (flip)
        source32 = arith::XOrIOp::create(
            builder, loc, lane,
            arith::ConstantOp::create(builder, loc,
                                      builder.getI32IntegerAttr(flip)));
      results.push_back(shuffle(source[reg], source32, /*butterfly=*/false));
    }
  } else {
    return op.emitOpError("FUS-3305: conversion crosses warps; run "
                          "tile-lower-exchanges first");
  }
  values[op.getResult()] = results;
  return success();
}

LogicalResult ProgramLowering::lowerExchange(tile::ExchangeOp op) {
  const LinearLayout &layout = tile::getLayout(op.getType()).getLinear();
  std::optional<tile::ExchangePlan> plan =
      tile::getExchangePlan(layout, op.getDim(), op.getMask());
  if (!plan)
    return op.emitOpError("FUS-3327: exchange crosses warps; run "
                          "tile-assign-layouts first");
  const Scalars &source = get(op.getValue());
  Scalars results;
  Value lane;
  if (plan->lane)
    lane = arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(plan->lane));
  for (unsigned reg = 0; reg < source.size(); ++reg) {
    Value other = source[reg ^ plan->reg];
    results.push_back(lane ? shuffle(other, lane, /*butterfly=*/true) : other);
  }
  values[op.getResult()] = results;
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Scalars ProgramLowering::combine(Region &combiner, const Scalars &lhs,
                                 const Scalars &rhs) {
  Block &block = combiner.front();
  IRMapping mapping;
  for (auto [argument, value] :
       llvm::zip(block.getArguments(), llvm::concat<const Value>(lhs, rhs)))
    mapping.map(argument, value);
  // Constants are outside.
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(combiner, above);
  for (Value value : above)
    mapping.map(value, getScalar(value));
  for (Operation &inner : block.without_terminator())
    builder.clone(inner, mapping);
  Scalars results;
  for (Value yielded : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(yielded));
  return results;
}

LogicalResult ProgramLowering::lowerReduce(tile::ReduceOp op) {
  const LinearLayout &layout =
      tile::getLayout(op.getInputs().front().getType()).getLinear();
  unsigned dim = op.getDim();
  std::optional<tile::ReductionBits> bits = tile::getReductionBits(layout, dim);
  if (!bits || (bits->warpMask && !op.getWithinWarp()))
    return op.emitOpError("FUS-3306: reduction crosses warps; run "
                          "tile-lower-exchanges first");
  unsigned numInputs = op.getInputs().size();
  SmallVector<const Scalars *> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(&get(input));
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
        next.push_back(combine(op.getCombiner(), states[i], states[i + 1]));
      if (states.size() % 2)
        next.push_back(states.back());
      states = std::move(next);
    }
    Scalars state = states.front();
    for (unsigned bit = 0; bit < 5; ++bit) {
      if (!(bits->laneMask >> bit & 1))
        continue;
      Value flip = arith::ConstantOp::create(
          builder, loc, builder.getI32IntegerAttr(1 << bit));
      Scalars other;
      for (Value value : state)
        other.push_back(shuffle(value, flip, /*butterfly=*/true));
      state = combine(op.getCombiner(), state, other);
    }
    for (auto [result, value] : llvm::zip(results, state))
      result.push_back(value);
  }
  for (auto [result, scalars] : llvm::zip(op.getResults(), results))
    values[result] = scalars;
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::storeShared(Operation *op, const Scalars &source,
                                           const LinearLayout &layout,
                                           const tile::SharedLayout &shared,
                                           const SharedPlace &place) {
  if (hasTensorCopies && storeMatrices(source, layout, shared, place))
    return success();
  unsigned width = tile::getWidestSharedVector(layout, shared);
  std::optional<tile::SharedAccess> access =
      tile::getSharedAccess(layout, shared, width);
  if (!access)
    return op->emitOpError("FUS-3307: no access of this layout to the buffer");
  Value threadOffset = applyToThread(access->laneOffset, access->warpOffset);
  OpBuilder::InsertionGuard guard(builder);
  if (Value owner = isOwner(layout)) {
    auto guarded = scf::IfOp::create(builder, loc, owner,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  for (const tile::SharedAccess::Group &group : access->groups) {
    SmallVector<Value> members;
    for (unsigned reg : group.regs)
      members.push_back(toMemory(source[reg]));
    Value value = members.size() == 1 ? members.front() : buildVector(members);
    Value address = sharedAddress(place, threadOffset, access->xorPart(group),
                                  access->immediatePart(group));
    LLVM::StoreOp::create(builder, loc, value, address,
                          shared.elementBytes() * members.size());
  }
  return success();
}

LogicalResult ProgramLowering::lowerLocalStore(tile::LocalStoreOp op) {
  if (failed(storeShared(op, get(op.getValue()),
                         tile::getLayout(op.getValue().getType()).getLinear(),
                         op.getBuffer().getType().getLayout().getShared(),
                         placeOf(op.getBuffer()))))
    return failure();
  // Tensor cores read operands past the caches of threads.
  if (llvm::any_of(op.getBuffer().getUsers(), llvm::IsaPred<tile::MmaAsyncOp>))
    fenceCopies();
  return success();
}

LogicalResult ProgramLowering::lowerLocalLoad(tile::LocalLoadOp op) {
  if (lowerLoadMatrix(op))
    return success();
  const LinearLayout &layout = tile::getLayout(op.getType()).getLinear();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  SharedPlace place = placeOf(op.getBuffer());
  unsigned width = tile::getWidestSharedVector(layout, shared);
  std::optional<tile::SharedAccess> access =
      tile::getSharedAccess(layout, shared, width);
  if (!access)
    return op.emitOpError("FUS-3307: no access of this layout to the buffer");
  Type element = scalarType(op.getType());
  Type stored = memoryType(element);
  Value threadOffset = applyToThread(access->laneOffset, access->warpOffset);
  Scalars results(layout.numRegs());
  for (const tile::SharedAccess::Group &group : access->groups) {
    unsigned count = group.regs.size();
    Type type = count == 1 ? stored : Type(VectorType::get(count, stored));
    Value address = sharedAddress(place, threadOffset, access->xorPart(group),
                                  access->immediatePart(group));
    Value loaded = LLVM::LoadOp::create(builder, loc, type, address,
                                        shared.elementBytes() * count);
    for (auto [i, reg] : llvm::enumerate(group.regs))
      results[reg] =
          fromMemory(count == 1 ? loaded : extractElement(loaded, i), element);
  }
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg)
    results[reg] = results[access->holder[reg]];
  values[op.getResult()] = results;
  return success();
}
