//===- LowerGrid.cpp - Exchange between blocks of the grid ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the lowering of tiles that blocks of the grid hand to
// each other through global memory. Threads write their registers side by side
// and read what the thread of the same number wrote: no tile is rearranged, and
// warps need not wait for each other.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

/// Bytes of the widest access of a thread, and of a signal.
static constexpr int64_t kWidestBytes = 16, kWordBytes = 4;
/// Reads of a thread that are in flight together.
static constexpr size_t kMostInFlight = 12, kMostPartsInFlight = 32;

void ProgramLowering::collectScratches(SmallVectorImpl<Type> &arguments) {
  program.getBody().walk([&](tile::ScratchOp op) {
    scratches[op] = arguments.size();
    arguments.push_back(op.getType());
  });
}

void ProgramLowering::describeScratches() {
  if (scratches.empty())
    return;
  // In the order of the parameters, which follow those of the sizes.
  SmallVector<Attribute> descriptions;
  for (auto [op, parameter] : scratches) {
    auto scratch = cast<tile::ScratchOp>(op);
    descriptions.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("bytes", scratch.getBytesAttr()),
         builder.getNamedAttr("signals",
                              builder.getBoolAttr(scratch.getSignals()))}));
  }
  function->setAttr("tile.scratches", builder.getArrayAttr(descriptions));
}

struct ProgramLowering::SlotPlan {
  /// The thread's first byte in the slot, and its warp's signal.
  Value first, signal;
  /// Registers that lie next to each other, and how far after `first`.
  struct Group {
    unsigned tile, reg, count;
    int64_t offset;
  };
  SmallVector<Group> groups;
};

FailureOr<ProgramLowering::SlotPlan>
ProgramLowering::planSlot(Operation *op, ValueRange tiles, Value slots,
                          Value signals, Value number) {
  SlotPlan plan;
  int64_t warps = program.getNumWarps(), threads = warps * 32;
  int64_t offset = 0, bytesOfTiles = 0, width = kWidestBytes;
  for (Value tile : tiles)
    width = std::min<int64_t>(
        width, numScalars(tile.getType()) *
                   scalarType(tile.getType()).getIntOrFloatBitWidth() / 8);
  for (auto [position, tile] : llvm::enumerate(tiles)) {
    int64_t bytes = scalarType(tile.getType()).getIntOrFloatBitWidth() / 8;
    bytesOfTiles +=
        cast<RankedTensorType>(tile.getType()).getNumElements() * bytes;
    unsigned count = width / bytes;
    for (unsigned reg = 0; reg < numScalars(tile.getType()); reg += count) {
      plan.groups.push_back({unsigned(position), reg, count, offset});
      offset += threads * width;
    }
  }
  if (offset != bytesOfTiles)
    return op->emitOpError("FUS-3324: threads hold ")
           << offset << " bytes of tiles that have " << bytesOfTiles;
  auto pointer = cast<LLVM::LLVMPointerType>(slots.getType());
  auto at = [&](Value base, Value index) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                               getScalar(base), ArrayRef<LLVM::GEPArg>{index});
  };
  auto times = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, value, constantIndex(factor));
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  Value slot = getScalar(number);
  plan.first =
      at(slots, add(times(slot, offset), times(toIndex(thread), width)));
  plan.signal = at(signals, add(times(slot, warps * kWordBytes),
                                times(toIndex(warpNumber()), kWordBytes)));
  return plan;
}

LogicalResult ProgramLowering::lowerPublish(tile::PublishOp op) {
  FailureOr<SlotPlan> plan = planSlot(op, op.getValues(), op.getSlots(),
                                      op.getSignals(), op.getNumber());
  if (failed(plan))
    return failure();
  for (const SlotPlan::Group &group : plan->groups) {
    SmallVector<Value> members;
    for (unsigned i = 0; i < group.count; ++i)
      members.push_back(
          toMemory(get(op.getValues()[group.tile])[group.reg + i]));
    Value value = members.size() == 1 ? members.front() : buildVector(members);
    Value address = LLVM::GEPOp::create(
        builder, loc, plan->first.getType(), builder.getI8Type(), plan->first,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(group.offset)});
    unsigned bytes =
        group.count * members.front().getType().getIntOrFloatBitWidth() / 8;
    LLVM::StoreOp::create(builder, loc, value, address, bytes);
  }
  // What the warp has written is known wherever its signal is.
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  signalFromWarp(plan->signal, "st.release.gpu.global.u32 [$0], 1;");
  return success();
}

void ProgramLowering::signalFromWarp(Value signal, StringRef text) {
  Value lane = arith::AndIOp::create(builder, loc, thread, constant32(31));
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, constant32(0));
  ifThread(first, [&] { inlineAsm(nullptr, {signal}, text, "l,~{memory}"); });
}

LogicalResult ProgramLowering::lowerCollect(tile::CollectOp op) {
  FailureOr<SlotPlan> plan = planSlot(op, op.getValues(), op.getSlots(),
                                      op.getSignals(), op.getNumber());
  if (failed(plan))
    return failure();
  inlineAsm(nullptr, {plan->signal},
            "{\n"
            ".reg .pred waits;\n"
            ".reg .b32 word;\n"
            "again:\n"
            "ld.acquire.gpu.global.u32 word, [$0];\n"
            "setp.eq.u32 waits, word, 0;\n"
            "@waits bra again;\n"
            "}",
            "l,~{memory}");
  for (auto [value, result] : llvm::zip(op.getValues(), op.getResults()))
    values[result] = Scalars(get(value));
  for (auto [number, group] : llvm::enumerate(plan->groups)) {
    // ptxas moves no read over a barrier, and else so many to the front that
    // the sums are short of registers.
    if (number % kMostInFlight == 0 && number != 0)
      lowerBarrier();
    Value result = op.getResult(group.tile);
    Type element = scalarType(result.getType());
    Type stored = memoryType(element);
    Type type =
        group.count == 1 ? stored : Type(VectorType::get(group.count, stored));
    Value address = LLVM::GEPOp::create(
        builder, loc, plan->first.getType(), builder.getI8Type(), plan->first,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(group.offset)});
    Value loaded =
        LLVM::LoadOp::create(builder, loc, type, address,
                             group.count * stored.getIntOrFloatBitWidth() / 8);
    for (unsigned i = 0; i < group.count; ++i) {
      Value share = fromMemory(
          group.count == 1 ? loaded : extractElement(loaded, i), element);
      Value &sum = values[result][group.reg + i];
      sum = isa<FloatType>(element)
                ? arith::AddFOp::create(builder, loc, sum, share).getResult()
                : arith::AddIOp::create(builder, loc, sum, share).getResult();
    }
  }
  // The signal is zero again for the next launch; all of the warp have seen it.
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  signalFromWarp(plan->signal, "st.relaxed.gpu.global.u32 [$0], 0;");
  return success();
}

//===----------------------------------------------------------------------===//
// Sums that blocks share
//===----------------------------------------------------------------------===//

/// A slot has the parts of the tiles one after the other, so that a block reads
/// its part of all slots at the same place.
struct ProgramLowering::PartPlan {
  /// Registers that lie next to each other: the first of each part's among
  /// those of the tile, the first of the result's, and where they are in a
  /// part of a slot.
  struct Group {
    unsigned tile, result;
    SmallVector<SmallVector<unsigned, 4>, 0> regs;
    int64_t offset;
  };
  SmallVector<Group> groups;
  int64_t width = 0, partBytes = 0;
};

FailureOr<ProgramLowering::PartPlan>
ProgramLowering::planParts(tile::GridReduceOp op) {
  PartPlan plan;
  unsigned blocks = program.getTogether().value_or(1), dim = op.getDim();
  int64_t threads = program.getNumWarps() * 32;
  plan.width = kWidestBytes;
  for (Value result : op.getResults())
    plan.width = std::min<int64_t>(
        plan.width, numScalars(result.getType()) *
                        scalarType(result.getType()).getIntOrFloatBitWidth() /
                        8);
  for (auto [number, value] : llvm::enumerate(op.getValues())) {
    Type type = op.getResult(number).getType();
    const LinearLayout &whole = tile::getLayout(value.getType()).getLinear();
    const LinearLayout &part = tile::getLayout(type).getLinear();
    if (whole.getPart(tile::getTileShape(type)) != part)
      return op.emitOpError("FUS-3325: a part of tile ")
             << number << " is not made of registers of its threads";
    // The register of the tile that holds element `element` of the thread 0.
    std::map<tile::Coords, unsigned> registers;
    for (unsigned reg = whole.numRegs(); reg-- > 0;)
      registers[whole.elementOf(reg, 0, 0)] = reg;
    int64_t size = tile::getTileShape(type)[dim];
    unsigned count = plan.width * 8 / scalarType(type).getIntOrFloatBitWidth();
    for (unsigned first = 0; first < part.numRegs(); first += count) {
      PartPlan::Group group{unsigned(number), first, {}, plan.partBytes};
      for (unsigned block = 0; block < blocks; ++block) {
        SmallVector<unsigned, 4> &regs = group.regs.emplace_back();
        for (unsigned i = 0; i < count; ++i) {
          tile::Coords element = part.elementOf(first + i, 0, 0);
          element[dim] += block * size;
          regs.push_back(registers.at(element));
        }
      }
      plan.groups.push_back(std::move(group));
      plan.partBytes += threads * plan.width;
    }
  }
  return plan;
}

LogicalResult ProgramLowering::lowerGridReduce(tile::GridReduceOp op) {
  FailureOr<PartPlan> planned = planParts(op);
  if (failed(planned))
    return failure();
  const PartPlan &plan = *planned;
  int64_t blocks = program.getTogether().value_or(1);
  int64_t warps = program.getNumWarps();
  auto pointer = cast<LLVM::LLVMPointerType>(op.getSlots().getType());
  auto at = [&](Value base, Value index) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{index});
  };
  auto plus = [&](Value base, int64_t offset) -> Value {
    return LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI8Type(), base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  };
  auto times = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, value, constantIndex(factor));
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  Value block = getScalar(op.getBlock()), rank = getScalar(op.getRank());
  Value firstBlock = arith::SubIOp::create(builder, loc, block, rank);
  int64_t slotBytes = plan.partBytes * blocks, bytesOfTiles = 0;
  for (Value value : op.getValues())
    bytesOfTiles += cast<RankedTensorType>(value.getType()).getNumElements() *
                    scalarType(value.getType()).getIntOrFloatBitWidth() / 8;
  if (slotBytes != bytesOfTiles)
    return op.emitOpError("FUS-3324: threads hold ")
           << slotBytes << " bytes of tiles that have " << bytesOfTiles;
  Value ofThread =
      at(getScalar(op.getSlots()), times(toIndex(thread), plan.width));
  Value own = at(ofThread, times(block, slotBytes));
  // What another block finishes goes to this one's slot, part by part; what
  // this one does stays in registers.
  Value rank32 = toI32(rank);
  SmallVector<Value> isOwn;
  for (int64_t part = 0; part < blocks; ++part)
    isOwn.push_back(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, rank32, constant32(part)));
  for (int64_t part = 0; part < blocks; ++part) {
    Value isOther = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne, rank32, constant32(part));
    ifThread(isOther, [&] {
      for (const PartPlan::Group &group : plan.groups) {
        SmallVector<Value> members;
        for (unsigned reg : group.regs[part])
          members.push_back(toMemory(get(op.getValues()[group.tile])[reg]));
        Value value =
            members.size() == 1 ? members.front() : buildVector(members);
        LLVM::StoreOp::create(builder, loc, value,
                              plus(own, part * plan.partBytes + group.offset),
                              plan.width);
      }
    });
  }
  // Each block counts the others' signals, warp by warp: what a warp reads the
  // same warp of the other blocks has written. A lane signals to each block.
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  Value lane = arith::AndIOp::create(builder, loc, thread, constant32(31));
  Value signals =
      at(getScalar(op.getSignals()), times(toIndex(warpNumber()), kWordBytes));
  auto signalOf = [&](Value number) {
    return at(signals, times(number, warps * kWordBytes));
  };
  Value signal = signalOf(block);
  Value signaled = signalOf(add(firstBlock, toIndex(lane)));
  Value isSignaling = arith::AndIOp::create(
      builder, loc,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lane,
                            constant32(blocks)),
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, lane,
                            rank32));
  ifThread(isSignaling, [&] {
    inlineAsm(nullptr, {signaled}, "red.release.gpu.global.add.u32 [$0], 1;",
              "l,~{memory}");
  });
  inlineAsm(nullptr, {signal, constant32(blocks - 1)},
            "{\n"
            ".reg .pred waits;\n"
            ".reg .b32 word;\n"
            "again:\n"
            "ld.acquire.gpu.global.u32 word, [$0];\n"
            "setp.ne.u32 waits, word, $1;\n"
            "@waits bra again;\n"
            "}",
            "l,r,~{memory}");
  // Where the part lies in the slots of the next blocks, the first after the
  // last: a sum begins with the share of the block that finishes it, and so is
  // the same in every run.
  SmallVector<Value> shares;
  for (int64_t step = 1; step < blocks; ++step) {
    Value other =
        arith::AndIOp::create(builder, loc, add(rank, constantIndex(step)),
                              constantIndex(blocks - 1));
    shares.push_back(at(ofThread, add(times(add(firstBlock, other), slotBytes),
                                      times(rank, plan.partBytes))));
  }
  for (Value result : op.getResults())
    values[result] = Scalars(numScalars(result.getType()));
  size_t inFlight = 0;
  for (const PartPlan::Group &group : plan.groups) {
    Value result = op.getResult(group.tile);
    Type element = scalarType(result.getType());
    Type stored = memoryType(element);
    unsigned count = group.regs.front().size();
    Type type = count == 1 ? stored : Type(VectorType::get(count, stored));
    // As in `tile.collect`.
    if (inFlight != 0 && inFlight + shares.size() > kMostPartsInFlight) {
      lowerBarrier();
      inFlight = 0;
    }
    inFlight += shares.size();
    Scalars source = get(op.getValues()[group.tile]);
    for (unsigned i = 0; i < count; ++i) {
      Value sum = source[group.regs.back()[i]];
      for (int64_t part = blocks - 1; part-- > 0;)
        sum = arith::SelectOp::create(builder, loc, isOwn[part],
                                      source[group.regs[part][i]], sum);
      values[result][group.result + i] = sum;
    }
    for (Value share : shares) {
      Value loaded = LLVM::LoadOp::create(
          builder, loc, type, plus(share, group.offset), plan.width);
      for (unsigned i = 0; i < count; ++i) {
        Value more = fromMemory(count == 1 ? loaded : extractElement(loaded, i),
                                element);
        Value &sum = values[result][group.result + i];
        sum = isa<FloatType>(element)
                  ? arith::AddFOp::create(builder, loc, sum, more).getResult()
                  : arith::AddIOp::create(builder, loc, sum, more).getResult();
      }
    }
  }
  // The signals are zero again for the next launch; all of the warp have seen
  // them.
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  signalFromWarp(signal, "st.relaxed.gpu.global.u32 [$0], 0;");
  return success();
}
