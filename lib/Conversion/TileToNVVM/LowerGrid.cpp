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

#include "OpEmitter.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

/// Bytes of the widest access of a threads.getThread(), and of a signal.
static constexpr int64_t kWidestBytes = 16, kWordBytes = 4;
/// Reads of a thread that are in flight together: each takes registers until it
/// is added.
static constexpr size_t kMostInFlight = 12, kMostPartsInFlight = 32;

//===----------------------------------------------------------------------===//
// Memory that the launch provides
//===----------------------------------------------------------------------===//

namespace {
/// The memory is a parameter.
struct ScratchLowering : public TileOpLowering<tile::ScratchOp> {
  LogicalResult addParameters(ProgramLowering &lowering) const override;
  LogicalResult beginKernel(ProgramLowering &lowering) const override;
  LogicalResult lower(tile::ScratchOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

LogicalResult ScratchLowering::addParameters(ProgramLowering &lowering) const {
  lowering.getProgram().getBody().walk(
      [&](tile::ScratchOp op) { lowering.addParameter(op, op.getType()); });
  return success();
}

LogicalResult ScratchLowering::beginKernel(ProgramLowering &lowering) const {
  // In the order of the parameters, which follow those of the sizes.
  ThreadBuilder &builder = lowering.getBuilder();
  SmallVector<Attribute> descriptions;
  lowering.getProgram().getBody().walk([&](tile::ScratchOp op) {
    descriptions.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("bytes", op.getBytesAttr()),
         builder.getNamedAttr("signals",
                              builder.getBoolAttr(op.getSignals()))}));
  });
  if (!descriptions.empty())
    lowering.getKernel()->setAttr("fusion_tile.scratches",
                                  builder.getArrayAttr(descriptions));
  return success();
}

LogicalResult ScratchLowering::lower(tile::ScratchOp op,
                                     ProgramLowering &lowering) const {
  lowering.set(op.getResult(), {lowering.getParameter(op)});
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles that one block hands to another
//===----------------------------------------------------------------------===//

/// The bytes of an element of `tile`.
static int64_t elementBytes(const ProgramLowering &lowering, Type tile) {
  return lowering.scalarType(tile).getIntOrFloatBitWidth() / 8;
}

/// The widest access that all of `tiles` are made of.
static int64_t accessBytes(const ProgramLowering &lowering, TypeRange tiles) {
  int64_t width = kWidestBytes;
  for (Type tile : tiles)
    width = std::min<int64_t>(width, lowering.numScalars(tile) *
                                         elementBytes(lowering, tile));
  return width;
}

namespace {
/// Where this thread's registers of tiles lie in a slot.
struct SlotPlan {
  /// The thread's first byte in the slot, and its warp's signal.
  Value first, signal;
  /// Registers that lie next to each other, and how far after `first`.
  struct Group {
    unsigned tile, reg, count;
    int64_t offset;
  };
  SmallVector<Group> groups;
};

/// What the ways to hand tiles over have in common.
class GridEmitter : public OpEmitter {
protected:
  explicit GridEmitter(ProgramLowering &lowering) : OpEmitter(lowering) {}

  Value times(Value value, int64_t factor) {
    return arith::MulIOp::create(builder, value, builder.constantIndex(factor));
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, a, b); }
  /// Lets one thread of the warp do `text` to its signal.
  void signalFromWarp(Value signal, StringRef text);
  int64_t getNumWarps() { return lowering.getProgram().getNumWarps(); }
};

/// Builds the way of tiles through a slot.
class SlotEmitter : public GridEmitter {
public:
  explicit SlotEmitter(ProgramLowering &lowering) : GridEmitter(lowering) {}

  LogicalResult publish(tile::PublishOp op);
  LogicalResult collect(tile::CollectOp op);

private:
  /// Where registers of `tiles` lie in slot `number`.
  FailureOr<SlotPlan> planSlot(Operation *op, ValueRange tiles, Value slots,
                               Value signals, Value number);
};

struct PublishLowering : public TileOpLowering<tile::PublishOp> {
  LogicalResult lower(tile::PublishOp op,
                      ProgramLowering &lowering) const override {
    return SlotEmitter(lowering).publish(op);
  }
};

struct CollectLowering : public TileOpLowering<tile::CollectOp> {
  LogicalResult lower(tile::CollectOp op,
                      ProgramLowering &lowering) const override {
    return SlotEmitter(lowering).collect(op);
  }
};
} // namespace

void GridEmitter::signalFromWarp(Value signal, StringRef text) {
  builder.ifThread(builder.isEqual(threads.getLane(), 0), [&] {
    builder.inlineAsm(nullptr, {signal}, text, "l,~{memory}");
  });
}

FailureOr<SlotPlan> SlotEmitter::planSlot(Operation *op, ValueRange tiles,
                                          Value slots, Value signals,
                                          Value number) {
  SlotPlan plan;
  int64_t numThreads = getNumWarps() * kWarpThreads;
  int64_t offset = 0, bytesOfTiles = 0;
  int64_t width = accessBytes(lowering, tiles.getTypes());
  for (auto [position, tile] : llvm::enumerate(tiles)) {
    int64_t bytes = elementBytes(lowering, tile.getType());
    bytesOfTiles +=
        cast<RankedTensorType>(tile.getType()).getNumElements() * bytes;
    unsigned count = width / bytes;
    for (unsigned reg = 0; reg < lowering.numScalars(tile.getType());
         reg += count) {
      plan.groups.push_back({unsigned(position), reg, count, offset});
      offset += numThreads * width;
    }
  }
  if (offset != bytesOfTiles)
    return op->emitOpError("FUS-3324: threads hold ")
           << offset << " bytes of tiles that have " << bytesOfTiles;
  Value slot = lowering.getScalar(number);
  auto at = [&](Value base, int64_t slotBytes, Value unit, int64_t bytes) {
    Value first = times(slot, slotBytes);
    Value own = times(builder.toIndex(unit), bytes);
    return builder.advance(lowering.getScalar(base), add(first, own));
  };
  plan.first = at(slots, offset, threads.getThread(), width);
  plan.signal =
      at(signals, getNumWarps() * kWordBytes, threads.getWarp(), kWordBytes);
  return plan;
}

LogicalResult SlotEmitter::publish(tile::PublishOp op) {
  FailureOr<SlotPlan> plan = planSlot(op, op.getValues(), op.getSlots(),
                                      op.getSignals(), op.getNumber());
  if (failed(plan))
    return failure();
  for (const SlotPlan::Group &group : plan->groups) {
    SmallVector<Value> members;
    for (unsigned i = 0; i < group.count; ++i)
      members.push_back(
          lowering.get(op.getValues()[group.tile])[group.reg + i]);
    Value value = builder.packForMemory(members);
    Value address =
        builder.advance(plan->first, static_cast<int32_t>(group.offset));
    unsigned bytes =
        group.count *
        memoryType(members.front().getType()).getIntOrFloatBitWidth() / 8;
    LLVM::StoreOp::create(builder, value, address, bytes);
  }
  // What the warp has written is known wherever its signal is.
  builder.syncWarp();
  signalFromWarp(plan->signal, "st.release.gpu.global.u32 [$0], 1;");
  return success();
}

LogicalResult SlotEmitter::collect(tile::CollectOp op) {
  FailureOr<SlotPlan> plan = planSlot(op, op.getValues(), op.getSlots(),
                                      op.getSignals(), op.getNumber());
  if (failed(plan))
    return failure();
  builder.inlineAsm(nullptr, {plan->signal},
                    "{\n"
                    ".reg .pred waits;\n"
                    ".reg .b32 word;\n"
                    "again:\n"
                    "ld.acquire.gpu.global.u32 word, [$0];\n"
                    "setp.eq.u32 waits, word, 0;\n"
                    "@waits bra again;\n"
                    "}",
                    "l,~{memory}");
  SmallVector<Scalars> sums;
  for (Value value : op.getValues())
    sums.push_back(lowering.get(value));
  for (auto [number, group] : llvm::enumerate(plan->groups)) {
    // ptxas moves no read over a barrier, and else so many to the front that
    // the sums are short of registers.
    if (number % kMostInFlight == 0 && number != 0)
      lowering.getRole().createBarrier();
    Type element = lowering.scalarType(op.getResult(group.tile).getType());
    Type stored = memoryType(element);
    Type type =
        group.count == 1 ? stored : Type(VectorType::get(group.count, stored));
    Value address =
        builder.advance(plan->first, static_cast<int32_t>(group.offset));
    Value loaded =
        LLVM::LoadOp::create(builder, type, address,
                             group.count * stored.getIntOrFloatBitWidth() / 8);
    for (unsigned i = 0; i < group.count; ++i) {
      Value share = builder.fromMemory(
          group.count == 1 ? loaded : builder.extractElement(loaded, i),
          element);
      Value &sum = sums[group.tile][group.reg + i];
      sum = builder.createSum(sum, share);
    }
  }
  for (auto [result, scalars] : llvm::zip_equal(op.getResults(), sums))
    lowering.set(result, scalars);
  // The signal is zero again for the next launch; all of the warp have seen it.
  builder.syncWarp();
  signalFromWarp(plan->signal, "st.relaxed.gpu.global.u32 [$0], 0;");
  return success();
}

//===----------------------------------------------------------------------===//
// Sums that blocks share
//===----------------------------------------------------------------------===//

namespace {
/// A slot has the parts of the tiles one after the other, so that a block reads
/// its part of all slots at the same place.
struct PartPlan {
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
} // namespace

static FailureOr<PartPlan> planParts(const ProgramLowering &lowering,
                                     tile::GridReduceOp op) {
  PartPlan plan;
  unsigned blocks = lowering.getProgram().getTogether().value_or(1),
           dim = op.getDim();
  int64_t threads = lowering.getProgram().getNumWarps() * kWarpThreads;
  plan.width = accessBytes(lowering, op.getResultTypes());
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
    unsigned count =
        plan.width * 8 / lowering.scalarType(type).getIntOrFloatBitWidth();
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
  int64_t slotBytes = plan.partBytes * blocks, bytesOfTiles = 0;
  for (Type type : op.getValues().getTypes())
    bytesOfTiles += cast<RankedTensorType>(type).getNumElements() *
                    elementBytes(lowering, type);
  if (slotBytes != bytesOfTiles)
    return op.emitOpError("FUS-3324: threads hold ")
           << slotBytes << " bytes of tiles that have " << bytesOfTiles;
  return plan;
}

namespace {
struct GridReduceLowering : public TileOpLowering<tile::GridReduceOp> {
  LogicalResult lower(tile::GridReduceOp op,
                      ProgramLowering &lowering) const override;
};

/// What blocks that wait for each other have in common.
class TogetherEmitter : public GridEmitter {
protected:
  template <typename Op>
  TogetherEmitter(ProgramLowering &lowering, Op op)
      : GridEmitter(lowering),
        blocks(lowering.getProgram().getTogether().value_or(1)),
        block(lowering.getScalar(op.getBlock())),
        rank(lowering.getScalar(op.getRank())),
        firstBlock(arith::SubIOp::create(builder, block, rank)),
        rank32(builder.toI32(rank)),
        signals(lowering.getScalar(op.getSignals())) {}

  Value plus(Value base, int64_t offset) {
    return builder.advance(base, static_cast<int32_t>(offset));
  }
  /// Signals to the other blocks and waits for their signals.
  void meet();
  /// Lets the signals be zero again for the next launch.
  void leave();

  int64_t blocks;
  Value block, rank, firstBlock, rank32, signals;
  /// The warp's signal.
  Value signal;
};

/// Builds a sum of which each block finishes a part.
class GridReduceEmitter : public TogetherEmitter {
public:
  GridReduceEmitter(ProgramLowering &lowering, tile::GridReduceOp op,
                    const PartPlan &plan)
      : TogetherEmitter(lowering, op), op(op), plan(plan) {}

  void emit();

private:
  /// Writes what other blocks finish to this block's slot.
  void storeParts();
  /// Where the part lies in the slots of the other blocks.
  SmallVector<Value> findShares();
  /// The part that this block finishes, of registers of `group`.
  Scalars pickOwn(const PartPlan::Group &group);
  void addShares();

  tile::GridReduceOp op;
  const PartPlan &plan;
  /// The thread's place in slot 0.
  Value ofThread;
  /// For each part, whether this block finishes it.
  SmallVector<Value> isOwn;
};
} // namespace

void GridReduceEmitter::storeParts() {
  ofThread =
      builder.advance(lowering.getScalar(op.getSlots()),
                      times(builder.toIndex(threads.getThread()), plan.width));
  Value own = builder.advance(ofThread, times(block, plan.partBytes * blocks));
  // What another block finishes goes to this one's slot, part by part; what
  // this one does stays in registers.
  for (int64_t part = 0; part < blocks; ++part)
    isOwn.push_back(builder.isEqual(rank32, part));
  for (int64_t part = 0; part < blocks; ++part) {
    Value isOther = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                          rank32, builder.constant32(part));
    builder.ifThread(isOther, [&] {
      for (const PartPlan::Group &group : plan.groups) {
        const Scalars &source = lowering.get(op.getValues()[group.tile]);
        SmallVector<Value> members;
        for (unsigned reg : group.regs[part])
          members.push_back(source[reg]);
        Value value = builder.packForMemory(members);
        LLVM::StoreOp::create(builder, value,
                              plus(own, part * plan.partBytes + group.offset),
                              plan.width);
      }
    });
  }
}

void TogetherEmitter::meet() {
  // Each block counts the others' signals, warp by warp: what a warp reads the
  // same warp of the other blocks has written. A lane signals to each block.
  builder.syncWarp();
  Value lane = threads.getLane();
  Value ofWarp = builder.advance(
      signals, times(builder.toIndex(threads.getWarp()), kWordBytes));
  auto signalOf = [&](Value number) {
    return builder.advance(ofWarp, times(number, getNumWarps() * kWordBytes));
  };
  signal = signalOf(block);
  Value signaled = signalOf(add(firstBlock, builder.toIndex(lane)));
  Value isBlock = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                        lane, builder.constant32(blocks));
  Value isOther =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, lane, rank32);
  Value isSignaling = arith::AndIOp::create(builder, isBlock, isOther);
  builder.ifThread(isSignaling, [&] {
    builder.inlineAsm(nullptr, {signaled},
                      "red.release.gpu.global.add.u32 [$0], 1;", "l,~{memory}");
  });
  builder.inlineAsm(nullptr, {signal, builder.constant32(blocks - 1)},
                    "{\n"
                    ".reg .pred waits;\n"
                    ".reg .b32 word;\n"
                    "again:\n"
                    "ld.acquire.gpu.global.u32 word, [$0];\n"
                    "setp.ne.u32 waits, word, $1;\n"
                    "@waits bra again;\n"
                    "}",
                    "l,r,~{memory}");
}

void TogetherEmitter::leave() {
  // All of the warp have seen the signals.
  builder.syncWarp();
  signalFromWarp(signal, "st.relaxed.gpu.global.u32 [$0], 0;");
}

SmallVector<Value> GridReduceEmitter::findShares() {
  // In the slots of the next blocks, the first after the last: a sum begins
  // with the share of the block that finishes it, and so is the same in every
  // run.
  SmallVector<Value> shares;
  for (int64_t step = 1; step < blocks; ++step) {
    Value next = add(rank, builder.constantIndex(step));
    Value other =
        arith::AndIOp::create(builder, next, builder.constantIndex(blocks - 1));
    Value slot = times(add(firstBlock, other), plan.partBytes * blocks);
    shares.push_back(
        builder.advance(ofThread, add(slot, times(rank, plan.partBytes))));
  }
  return shares;
}

Scalars GridReduceEmitter::pickOwn(const PartPlan::Group &group) {
  const Scalars &source = lowering.get(op.getValues()[group.tile]);
  Scalars own;
  for (unsigned i = 0; i < group.regs.front().size(); ++i) {
    Value value = source[group.regs.back()[i]];
    for (int64_t part = blocks - 1; part-- > 0;)
      value = arith::SelectOp::create(builder, isOwn[part],
                                      source[group.regs[part][i]], value);
    own.push_back(value);
  }
  return own;
}

void GridReduceEmitter::addShares() {
  SmallVector<Value> shares = findShares();
  SmallVector<Scalars> results;
  for (Value result : op.getResults())
    results.push_back(Scalars(lowering.numScalars(result.getType())));
  size_t inFlight = 0;
  for (const PartPlan::Group &group : plan.groups) {
    Type element = lowering.scalarType(op.getResult(group.tile).getType());
    Type stored = memoryType(element);
    unsigned count = group.regs.front().size();
    Type type = count == 1 ? stored : Type(VectorType::get(count, stored));
    // As in `fusion_tile.collect`.
    if (inFlight != 0 && inFlight + shares.size() > kMostPartsInFlight) {
      lowering.getRole().createBarrier();
      inFlight = 0;
    }
    inFlight += shares.size();
    Scalars sums = pickOwn(group);
    for (Value share : shares) {
      Value loaded = LLVM::LoadOp::create(
          builder, type, plus(share, group.offset), plan.width);
      for (unsigned i = 0; i < count; ++i)
        sums[i] = builder.createSum(
            sums[i],
            builder.fromMemory(count == 1 ? loaded
                                          : builder.extractElement(loaded, i),
                               element));
    }
    llvm::copy(sums, results[group.tile].begin() + group.result);
  }
  for (auto [result, scalars] : llvm::zip_equal(op.getResults(), results))
    lowering.set(result, scalars);
}

void GridReduceEmitter::emit() {
  storeParts();
  meet();
  addShares();
  leave();
}

LogicalResult GridReduceLowering::lower(tile::GridReduceOp op,
                                        ProgramLowering &lowering) const {
  FailureOr<PartPlan> plan = planParts(lowering, op);
  if (failed(plan))
    return failure();
  GridReduceEmitter(lowering, op, *plan).emit();
  return success();
}

//===----------------------------------------------------------------------===//
// Shares of all
//===----------------------------------------------------------------------===//

namespace {
/// Where what threads have of one tile lies in a slot: share by share, and in a
/// share accesses of all threads side by side.
struct SharePlan {
  /// Registers of the tile for each access of a share, first those of the first
  /// share; one share where all blocks have the whole tile.
  SmallVector<SmallVector<SmallVector<unsigned, 4>, 0>, 0> shares;
  /// Bytes of an access, and of a share of all threads.
  int64_t width = 0, bytes = 0;
  /// The first byte in the slot.
  int64_t offset = 0;
};

/// Builds the exchange of shares.
class GridGatherEmitter : public TogetherEmitter {
public:
  GridGatherEmitter(ProgramLowering &lowering, tile::GridGatherOp op)
      : TogetherEmitter(lowering, op), op(op) {}

  LogicalResult emit();

private:
  FailureOr<SharePlan> planShares(unsigned number);
  /// The thread's place in slot 0 for tile `plan` is of.
  Value getPlace(const SharePlan &plan);
  void store(unsigned number, const SharePlan &plan);
  Scalars load(unsigned number, const SharePlan &plan);

  tile::GridGatherOp op;
  int64_t slotBytes = 0;
  /// Reads since the last barrier.
  size_t inFlight = 0;
};

struct GridGatherLowering : public TileOpLowering<tile::GridGatherOp> {
  LogicalResult lower(tile::GridGatherOp op,
                      ProgramLowering &lowering) const override {
    return GridGatherEmitter(lowering, op).emit();
  }
};
} // namespace

FailureOr<SharePlan> GridGatherEmitter::planShares(unsigned number) {
  SharePlan plan;
  Type type = op.getValues()[number].getType();
  SmallVector<int64_t> shape = op.getShareShape(number);
  const LinearLayout &whole = tile::getLayout(type).getLinear();
  std::optional<LinearLayout> part = whole.getPart(shape);
  if (!part || part->expandDim(shape.size(), blocks) !=
                   tile::getLayout(op.getResult(number).getType()).getLinear())
    return op.emitOpError("FUS-3325: a part of tile ")
           << number << " is not made of registers of its threads";
  std::map<tile::Coords, unsigned> registers;
  for (unsigned reg = whole.numRegs(); reg-- > 0;)
    registers[whole.elementOf(reg, 0, 0)] = reg;
  int64_t bytes = elementBytes(lowering, type);
  plan.width = std::min<int64_t>(kWidestBytes, part->numRegs() * bytes);
  unsigned count = plan.width / bytes;
  int64_t dim = op.getParts()[number];
  int64_t numShares = dim < 0 ? 1 : tile::getTileShape(type)[dim] / shape[dim];
  for (int64_t share = 0; share < numShares; ++share) {
    auto &accesses = plan.shares.emplace_back();
    for (unsigned first = 0; first < part->numRegs(); first += count) {
      SmallVector<unsigned, 4> &regs = accesses.emplace_back();
      for (unsigned i = 0; i < count; ++i) {
        tile::Coords element = part->elementOf(first + i, 0, 0);
        if (dim >= 0)
          element[dim] += share * shape[dim];
        regs.push_back(registers.at(element));
      }
    }
  }
  int64_t threadCount = getNumWarps() * kWarpThreads;
  plan.bytes = static_cast<int64_t>(plan.shares.front().size()) * threadCount *
               plan.width;
  plan.offset = slotBytes;
  slotBytes += static_cast<int64_t>(plan.shares.size()) * plan.bytes;
  return plan;
}

Value GridGatherEmitter::getPlace(const SharePlan &plan) {
  Value ofThread = times(builder.toIndex(threads.getThread()), plan.width);
  return plus(builder.advance(lowering.getScalar(op.getSlots()), ofThread),
              plan.offset);
}

void GridGatherEmitter::store(unsigned number, const SharePlan &plan) {
  const Scalars &source = lowering.get(op.getValues()[number]);
  int64_t stride = getNumWarps() * kWarpThreads * plan.width;
  Value place = builder.advance(getPlace(plan), times(block, slotBytes));
  for (auto [share, accesses] : llvm::enumerate(plan.shares))
    for (auto [i, regs] : llvm::enumerate(accesses)) {
      SmallVector<Value> members;
      for (unsigned reg : regs)
        members.push_back(source[reg]);
      int64_t offset = static_cast<int64_t>(share) * plan.bytes +
                       static_cast<int64_t>(i) * stride;
      LLVM::StoreOp::create(builder, builder.packForMemory(members),
                            plus(place, offset), plan.width);
    }
}

Scalars GridGatherEmitter::load(unsigned number, const SharePlan &plan) {
  Type element = lowering.scalarType(op.getResult(number).getType());
  Type stored = memoryType(element);
  size_t accesses = plan.shares.front().size();
  unsigned count = plan.shares.front().front().size();
  Type type = count == 1 ? stored : Type(VectorType::get(count, stored));
  int64_t stride = getNumWarps() * kWarpThreads * plan.width;
  Value place = getPlace(plan);
  if (auto numShares = static_cast<int64_t>(plan.shares.size());
      numShares > 1) {
    Value share =
        arith::RemUIOp::create(builder, rank, builder.constantIndex(numShares));
    place = builder.advance(place, times(share, plan.bytes));
  }
  Scalars results;
  for (int64_t other = 0; other < blocks; ++other) {
    // As in `fusion_tile.collect`.
    if (inFlight != 0 && inFlight + accesses > kMostPartsInFlight) {
      lowering.getRole().createBarrier();
      inFlight = 0;
    }
    inFlight += accesses;
    Value slot = add(firstBlock, builder.constantIndex(other));
    Value own = builder.advance(place, times(slot, slotBytes));
    for (size_t i = 0; i < accesses; ++i) {
      Value loaded = LLVM::LoadOp::create(
          builder, type, plus(own, static_cast<int64_t>(i) * stride),
          plan.width);
      for (unsigned j = 0; j < count; ++j)
        results.push_back(builder.fromMemory(
            count == 1 ? loaded : builder.extractElement(loaded, j), element));
    }
  }
  return results;
}

LogicalResult GridGatherEmitter::emit() {
  SmallVector<SharePlan> plans;
  for (unsigned number = 0; number < op.getValues().size(); ++number) {
    FailureOr<SharePlan> plan = planShares(number);
    if (failed(plan))
      return failure();
    plans.push_back(std::move(*plan));
  }
  // Threads that have the same elements each write them.
  auto scratch = op.getSlots().getDefiningOp<tile::ScratchOp>();
  std::optional<AffineMap> grid = lowering.getProgram().getGrid();
  if (!scratch || !grid || !grid->isSingleConstant() ||
      static_cast<int64_t>(scratch.getBytes()) <
          slotBytes * grid->getSingleConstantResult())
    return op.emitOpError("FUS-3324: threads hold ")
           << slotBytes << " bytes, more than slots have";
  for (auto [number, plan] : llvm::enumerate(plans))
    store(number, plan);
  meet();
  for (auto [number, plan] : llvm::enumerate(plans))
    lowering.set(op.getResult(number), load(number, plan));
  leave();
  return success();
}

void mlir::fusion::populateGridLowerings(LoweringSet &lowerings) {
  lowerings.add<ScratchLowering, PublishLowering, CollectLowering,
                GridReduceLowering, GridGatherLowering>();
}
