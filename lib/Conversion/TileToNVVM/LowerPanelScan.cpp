//===- LowerPanelScan.cpp - Scans over the blocks of a panel --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the lowering of what a block learns from those of its
// panel before it. Lanes that hold the same elements have neighbouring members
// each, combine those in order, and then what they have, as a tree that keeps
// the order: once for all members and once for those before the block's own.
//
//===----------------------------------------------------------------------===//

#include "PanelExchange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

class ProgramLowering::PanelScanLowering {
public:
  PanelScanLowering(ProgramLowering &lowering, tile::PanelScanOp op,
                    const LinearLayout &layout, const PanelDeal &deal)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc),
        op(op), layout(layout), deal(deal), numStates(op.getValues().size()),
        perThread(deal.perThread * numStates),
        perWarp(deal.perWarp * numStates),
        members(static_cast<int64_t>(op.getMembers())),
        dealers(int64_t(1) << deal.dealt.size()),
        perLane(llvm::divideCeil(members, dealers)) {}

  /// Lowers the operation.
  void run();

private:
  /// The states of each of a thread's elements.
  using Elements = SmallVector<Scalars>;

  Value index(int64_t value) { return lowering.constantIndex(value); }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value times(Value value, int64_t factor) {
    return arith::MulIOp::create(builder, loc, value, index(factor));
  }
  Value isBelow(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, a, b);
  }
  Scalars combine(const Scalars &left, const Scalars &right) {
    return lowering.combine(op.getCombiner(), left, right);
  }
  /// Each lane has as many members as the next.
  bool isEven() const { return members == dealers * perLane; }

  void findPlace();
  /// The address of the thread's words among those of `member`.
  Value getWords(Value member);
  void publish();
  /// Words of the members from `firstMember` on, numbers `begin` to `end`.
  Scalars readMembers(int64_t begin, int64_t end);
  /// Combines the members that fall to this lane: all of them, and those before
  /// this block.
  void combineOwn();
  /// Combines the lanes' parts.
  void combineLanes();
  /// Exchanges with the other blocks; returns by register the states before
  /// this block's, then those of all.
  Scalars exchange();

  ProgramLowering &lowering;
  OpBuilder &builder;
  Location loc;
  tile::PanelScanOp op;
  const LinearLayout &layout;
  const PanelDeal &deal;
  int64_t numStates, perThread, perWarp, members;
  /// Lanes that share the members of an element, and members of each.
  int64_t dealers, perLane;
  /// The number of the exchange; bytes from the start of the memory to the
  /// thread's words among those of member 0.
  Value number, place;
  /// The number of this block, and of the lane among those that share.
  Value member, rank;
  /// The first member of this lane, and the first that it reads.
  Value ownMember, firstMember;
  Elements all, before;
};

void ProgramLowering::PanelScanLowering::findPlace() {
  Value turn = lowering.getScalar(op.getTurn());
  number = arith::AddIOp::create(builder, loc, lowering.toI32(turn),
                                 lowering.constant32(1));
  Value copy = arith::RemUIOp::create(
      builder, loc, turn, index(static_cast<int64_t>(op.getCopies())));
  Value warpPlace =
      add(times(copy, deal.numWarps), lowering.applyBits(deal.warps));
  place = add(times(warpPlace, members * perWarp),
              times(lowering.applyBits(deal.lanes), perThread));
  place = add(times(place, kWordBytes),
              index(static_cast<int64_t>(op.getOffset())));
  place = add(place, times(lowering.getScalar(op.getPanel()),
                           static_cast<int64_t>(op.getBytes())));
  member = lowering.getScalar(op.getMember());
  SmallVector<std::pair<unsigned, uint64_t>> bits;
  for (auto [i, bit] : llvm::enumerate(deal.dealt))
    bits.push_back({bit, uint64_t(1) << i});
  rank = lowering.applyBits(bits);
  ownMember = firstMember = times(rank, perLane);
  // The last lanes read what others have as well, instead of words that nobody
  // writes.
  if (!isEven())
    firstMember = arith::MinUIOp::create(builder, loc, ownMember,
                                         index(members - perLane));
}

Value ProgramLowering::PanelScanLowering::getWords(Value member) {
  Value memory = lowering.getScalar(op.getMemory());
  Value offset = add(place, times(member, perWarp * kWordBytes));
  return LLVM::GEPOp::create(builder, loc, memory.getType(),
                             builder.getI8Type(), memory,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void ProgramLowering::PanelScanLowering::publish() {
  Type i64 = builder.getI64Type();
  Value address = getWords(member);
  Value high = arith::ShLIOp::create(
      builder, loc, arith::ExtUIOp::create(builder, loc, i64, number),
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32)));
  SmallVector<Value> words;
  for (int64_t reg = 0; reg < deal.perThread; ++reg)
    for (Value tile : op.getValues()) {
      Value bits = lowering.toMemory(lowering.get(tile)[reg]);
      Type own = builder.getIntegerType(bits.getType().getIntOrFloatBitWidth());
      if (bits.getType() != own)
        bits = arith::BitcastOp::create(builder, loc, own, bits);
      Value low = arith::ExtUIOp::create(builder, loc, i64, bits);
      words.push_back(arith::OrIOp::create(builder, loc, low, high));
    }
  int64_t perAccess = getWordsOfAccess(perThread);
  for (int64_t i = 0; i < perThread; i += perAccess) {
    std::string at = "[$0+" + std::to_string(i * kWordBytes) + "], ";
    if (perAccess == 1)
      lowering.inlineAsm(nullptr, {address, words[i]},
                         "st.relaxed.gpu.global.b64 " + at + "$1;",
                         "l,l,~{memory}");
    else
      lowering.inlineAsm(nullptr, {address, words[i], words[i + 1]},
                         "st.relaxed.gpu.global.v2.b64 " + at + "{$1, $2};",
                         "l,l,l,~{memory}");
  }
}

Scalars ProgramLowering::PanelScanLowering::readMembers(int64_t begin,
                                                        int64_t end) {
  // Members without other threads' words between them lie side by side.
  if (isEven() && perWarp == perThread)
    return lowering.readPanel({getWords(firstMember), number,
                               begin * perWarp * kWordBytes, 0,
                               (end - begin) * perThread, 1});
  return lowering.readPanel({getWords(firstMember), number,
                             begin * perWarp * kWordBytes, perWarp * kWordBytes,
                             perThread, end - begin});
}

void ProgramLowering::PanelScanLowering::combineOwn() {
  int64_t perRead = std::max<int64_t>(1, kMostInFlight / perThread);
  for (int64_t begin = 0; begin < perLane; begin += perRead) {
    int64_t end = std::min(perLane, begin + perRead);
    Scalars words = readMembers(begin, end);
    for (int64_t i = begin; i < end; ++i) {
      Value current = add(firstMember, index(i));
      Value isBefore = isBelow(current, member);
      // False for the first that is this lane's own, and those before it.
      Value continues = isEven() ? Value() : isBelow(ownMember, current);
      for (int64_t reg = 0; reg < deal.perThread; ++reg) {
        Scalars states;
        for (auto [s, tile] : llvm::enumerate(op.getValues()))
          states.push_back(lowering.takeFromWord(
              words[(i - begin) * perThread + reg * numStates + s],
              tile::getTileElementType(tile.getType())));
        if (i == 0) {
          all.push_back(states);
          before.push_back(states);
          continue;
        }
        Scalars longer = combine(all[reg], states);
        all[reg] =
            continues ? lowering.selectAll(continues, longer, states) : longer;
        before[reg] = lowering.selectAll(isBefore, all[reg], before[reg]);
      }
    }
  }
}

void ProgramLowering::PanelScanLowering::combineLanes() {
  NVVM::SyncWarpOp::create(builder, loc, lowering.constant32(-1));
  for (size_t i = 0; i < deal.dealt.size(); ++i) {
    // The right half of so many lanes has the members from `right` on.
    int64_t half = int64_t(1) << i;
    Value distance = lowering.constant32(1 << deal.dealt[i]);
    Value right = arith::AndIOp::create(builder, loc, rank, index(-2 * half));
    Value isRight = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(builder, loc, rank, index(half)), index(0));
    right = times(add(right, index(half)), perLane);
    auto meet = [&](Scalars &own, Value exists) {
      Scalars other;
      for (Value state : own)
        other.push_back(lowering.shuffle(state, distance, /*butterfly=*/true));
      Scalars first = lowering.selectAll(isRight, other, own);
      Scalars second = lowering.selectAll(isRight, own, other);
      Scalars both = combine(first, second);
      own = exists ? lowering.selectAll(exists, both, first) : both;
    };
    for (Scalars &states : all)
      meet(states, isEven() ? Value() : isBelow(right, index(members)));
    for (Scalars &states : before)
      meet(states, isBelow(right, member));
  }
}

Scalars ProgramLowering::PanelScanLowering::exchange() {
  findPlace();
  if (Value owner = lowering.isOwner(layout))
    lowering.ifThread(owner, [&] { publish(); });
  else
    publish();
  combineOwn();
  combineLanes();
  Value hasBefore = isBelow(index(0), member);
  Scalars results;
  for (int64_t reg = 0; reg < deal.perThread; ++reg) {
    Scalars inits;
    for (Value init : op.getInits())
      inits.push_back(lowering.get(init)[reg]);
    llvm::append_range(
        results,
        lowering.selectAll(hasBefore, combine(inits, before[reg]), inits));
    llvm::append_range(results, combine(inits, all[reg]));
  }
  return results;
}

void ProgramLowering::PanelScanLowering::run() {
  Scalars results;
  if (op.getByOwners()) {
    Scalars none;
    for (int64_t reg = 0; reg < deal.perThread; ++reg)
      for (int64_t half = 0; half < 2; ++half)
        for (Value init : op.getInits())
          none.push_back(lowering.get(init)[reg]);
    results = lowering.runByOwners(layout, none, [&] { return exchange(); });
  } else {
    // Warps with the same elements have read what is written over now.
    if (layout.freeWarpMask() != 0)
      lowering.lowerBarrier();
    results = exchange();
  }
  const Value *next = results.begin();
  for (int64_t reg = 0; reg < deal.perThread; ++reg)
    for (ResultRange tiles : {op.getBefore(), op.getTotals()})
      for (Value tile : tiles)
        lowering.values[tile].push_back(*next++);
}

LogicalResult ProgramLowering::lowerPanelScan(tile::PanelScanOp op) {
  LinearLayout layout =
      getThreadLayout(op.getValues().front().getType(), program.getNumWarps());
  std::optional<PanelDeal> deal =
      dealPanel(layout, static_cast<int64_t>(op.getMembers()));
  if (!deal)
    return op.emitOpError("FUS-3326: threads hold an element of the tile more "
                          "than once");
  PanelScanLowering(*this, op, layout, *deal).run();
  return success();
}
