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
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct PanelPublishLowering : public TileOpLowering<tile::PanelPublishOp> {
  LogicalResult lower(tile::PanelPublishOp op,
                      ProgramLowering &lowering) const override;
};

struct PanelScanLowering : public TileOpLowering<tile::PanelScanOp> {
  LogicalResult lower(tile::PanelScanOp op,
                      ProgramLowering &lowering) const override;
};

/// Writes what a block has for a scan over the blocks of a panel.
class PanelPublishEmitter : PanelExchange {
public:
  PanelPublishEmitter(ProgramLowering &lowering, tile::PanelPublishOp op,
                      const PanelDeal &deal)
      : PanelExchange(lowering, op, deal, op.getValues(),
                      /*states=*/op.getValues().size()),
        op(op) {}

  /// Lowers the operation.
  void run();

private:
  tile::PanelPublishOp op;
};

/// Builds a scan over the blocks of a panel.
class PanelScanEmitter : PanelExchange {
public:
  PanelScanEmitter(ProgramLowering &lowering, tile::PanelScanOp op,
                   const PanelDeal &deal)
      : PanelExchange(lowering, op, deal, op.getInits(),
                      /*states=*/op.getInits().size()),
        op(op), perLane(llvm::divideCeil(members, dealers)) {}

  /// Lowers the operation.
  void run();

private:
  /// The states of each of a thread's elements.
  using Elements = SmallVector<Scalars>;

  Value isBelow(Value a, Value b) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, a, b);
  }
  /// Each lane has as many members as the next.
  bool isEven() const { return members == dealers * perLane; }

  /// Finds the members of this lane.
  void findMembers();
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

  tile::PanelScanOp op;
  /// Members of each of the lanes that share them.
  int64_t perLane;
  /// The number of this block, and of the lane among those that share.
  Value member, rank;
  /// The first member of this lane, and the first that it reads.
  Value ownMember, firstMember;
  Elements all, before;
};
} // namespace

void PanelPublishEmitter::run() {
  findPlace();
  publishOnce([&] {
    Scalars own;
    for (int64_t reg = 0; reg < deal.perThread; ++reg)
      for (Value tile : values)
        own.push_back(lowering.get(tile)[reg]);
    store(getWords(lowering.getScalar(op.getMember())), 0, own);
  });
}

void PanelScanEmitter::findMembers() {
  member = lowering.getScalar(op.getMember());
  rank = getRank();
  ownMember = firstMember = times(rank, perLane);
  // The last lanes read what others have as well, instead of words that nobody
  // writes.
  if (!isEven())
    firstMember =
        arith::MinUIOp::create(builder, ownMember, index(members - perLane));
}

Scalars PanelScanEmitter::readMembers(int64_t begin, int64_t end) {
  // Members without other threads' words between them lie side by side.
  if (isEven() && memberBytes == perThread * kWordBytes)
    return readPanel({getWords(firstMember), number, begin * memberBytes, 0,
                      (end - begin) * perThread, 1});
  return readPanel({getWords(firstMember), number, begin * memberBytes,
                    memberBytes, perThread, end - begin});
}

void PanelScanEmitter::combineOwn() {
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
        Scalars next;
        for (auto [s, tile] : llvm::enumerate(values))
          next.push_back(
              takeFromWord(words[(i - begin) * perThread + reg * states + s],
                           lowering.scalarType(tile.getType())));
        if (i == 0) {
          all.push_back(next);
          before.push_back(next);
          continue;
        }
        Scalars longer = combine(all[reg], next);
        all[reg] =
            continues ? builder.selectAll(continues, longer, next) : longer;
        before[reg] = builder.selectAll(isBefore, all[reg], before[reg]);
      }
    }
  }
}

void PanelScanEmitter::combineLanes() {
  builder.syncWarp();
  for (size_t i = 0; i < deal.dealt.size(); ++i) {
    // The right half of so many lanes has the members from `right` on.
    int64_t half = int64_t(1) << i;
    Value distance = builder.constant32(1 << deal.dealt[i]);
    Value right = arith::AndIOp::create(builder, rank, index(-2 * half));
    Value isRight = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::ne,
        arith::AndIOp::create(builder, rank, index(half)), index(0));
    right = times(add(right, index(half)), perLane);
    auto meet = [&](Scalars &own, Value exists) {
      Scalars other;
      for (Value state : own)
        other.push_back(builder.shuffle(state, distance, NVVM::ShflKind::bfly));
      Scalars first = builder.selectAll(isRight, other, own);
      Scalars second = builder.selectAll(isRight, own, other);
      Scalars both = combine(first, second);
      own = exists ? builder.selectAll(exists, both, first) : both;
    };
    for (Scalars &states : all)
      meet(states, isEven() ? Value() : isBelow(right, index(members)));
    for (Scalars &states : before)
      meet(states, isBelow(right, member));
  }
}

Scalars PanelScanEmitter::exchange() {
  findPlace();
  findMembers();
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
        builder.selectAll(hasBefore, combine(inits, before[reg]), inits));
    llvm::append_range(results, combine(inits, all[reg]));
  }
  return results;
}

void PanelScanEmitter::run() {
  Scalars none;
  for (int64_t reg = 0; reg < deal.perThread; ++reg)
    for (int64_t half = 0; half < 2; ++half)
      for (Value init : op.getInits())
        none.push_back(lowering.get(init)[reg]);
  Scalars results = runExchange(none, [&] { return exchange(); });
  // By register: of each state what is before, then what is of all.
  int64_t first = 0;
  for (ResultRange tiles : {op.getBefore(), op.getTotals()})
    for (Value tile : tiles) {
      Scalars own;
      for (int64_t reg = 0; reg < deal.perThread; ++reg)
        own.push_back(results[reg * 2 * states + first]);
      lowering.set(tile, own);
      ++first;
    }
}

LogicalResult PanelPublishLowering::lower(tile::PanelPublishOp op,
                                          ProgramLowering &lowering) const {
  FailureOr<PanelDeal> deal =
      dealPanel(lowering, op, op.getValues(), op.getMembers());
  if (failed(deal))
    return failure();
  PanelPublishEmitter(lowering, op, *deal).run();
  return success();
}

LogicalResult PanelScanLowering::lower(tile::PanelScanOp op,
                                       ProgramLowering &lowering) const {
  FailureOr<PanelDeal> deal =
      dealPanel(lowering, op, op.getInits(), op.getMembers());
  if (failed(deal))
    return failure();
  // Words are written over when those that wait for the first warps have read
  // them.
  if (deal->layout.freeMask(tile::HwDim::Warp) != 0 && !op.getByOwners())
    return op.emitOpError("FUS-3329: warps hold the same elements; run "
                          "fusion-tile-lower-exchanges first");
  PanelScanEmitter(lowering, op, *deal).run();
  return success();
}

void mlir::fusion::populatePanelScanLowerings(LoweringSet &lowerings) {
  lowerings.add<PanelPublishLowering, PanelScanLowering>();
}
