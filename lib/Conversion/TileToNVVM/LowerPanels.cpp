//===- LowerPanels.cpp - Combination of the blocks of a panel -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the lowering of what blocks of a panel combine, each
// lane the members that fall to it and then the lanes theirs, and of how they
// leave what they exchanged through clean for the next launch.
//
//===----------------------------------------------------------------------===//

#include "PanelExchange.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct PanelReduceLowering : public TileOpLowering<tile::PanelReduceOp> {
  LogicalResult lower(tile::PanelReduceOp op,
                      ProgramLowering &lowering) const override;
};

struct PanelLeaveLowering : public TileOpLowering<tile::PanelLeaveOp> {
  LogicalResult lower(tile::PanelLeaveOp op,
                      ProgramLowering &lowering) const override;
};

/// Builds a reduction over the blocks of a panel.
class PanelReduceEmitter : PanelExchange {
public:
  PanelReduceEmitter(ProgramLowering &lowering, tile::PanelReduceOp op,
                     const PanelDeal &deal)
      : PanelExchange(lowering, op, deal, op.getValues(), /*states=*/1), op(op),
        numValues(op.getValues().size()),
        valueBytes(op.getNumWords() * kWordBytes) {}

  /// Lowers the operation.
  void run();

private:
  /// Reads what `count` members have from `first` and `offset` bytes on, each
  /// `step` bytes after the other, and combines it. The last lanes may have one
  /// member less: `isMember` of what they read.
  void accumulate(Value first, int64_t offset, int64_t step, int64_t count,
                  Value isMember);
  /// Combines the members that fall to this lane.
  void combineOwn();
  /// Combines what lanes with the same elements have.
  void combineLanes();
  /// Exchanges with the other blocks; returns the results by register.
  Scalars exchange();

  tile::PanelReduceOp op;
  /// Bytes between the words of two values.
  int64_t numValues, valueBytes;
  /// For each register, what is combined of the values.
  SmallVector<Scalars> sums;
};
} // namespace

void PanelReduceEmitter::accumulate(Value first, int64_t offset, int64_t step,
                                    int64_t count, Value isMember) {
  SmallVector<Scalars> words;
  for (int64_t i = 0; i < numValues; ++i)
    words.push_back(readPanel(
        {first, number, offset + i * valueBytes, step, deal.perThread, count}));
  for (int64_t at = 0; at < count * deal.perThread; ++at) {
    Scalars next;
    for (auto [own, tile] : llvm::zip_equal(words, values))
      next.push_back(
          takeFromWord(own[at], lowering.scalarType(tile.getType())));
    size_t reg = at % deal.perThread;
    if (sums.size() <= reg) {
      sums.push_back(next);
      continue;
    }
    Scalars sum = combine(sums[reg], next);
    sums[reg] = isMember ? builder.selectAll(isMember, sum, sums[reg]) : sum;
  }
}

void PanelReduceEmitter::combineOwn() {
  Value rank = getRank();
  int64_t together =
      std::max<int64_t>(1, kMostInFlight / (deal.perThread * numValues));
  Value first = getWords(rank);
  int64_t rounds = members / dealers;
  for (int64_t i = 0; i < rounds; i += together)
    accumulate(first, i * dealers * memberBytes, dealers * memberBytes,
               std::min(together, rounds - i), nullptr);
  if (members % dealers == 0)
    return;
  Value member = add(rank, index(rounds * dealers));
  Value last = index(members - 1);
  Value isMember =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ule, member, last);
  Value inside = arith::MinUIOp::create(builder, member, last);
  accumulate(getWords(inside), 0, 0, 1, isMember);
}

void PanelReduceEmitter::combineLanes() {
  builder.syncWarp();
  for (unsigned bit : deal.dealt)
    for (Scalars &sum : sums) {
      Scalars other;
      for (Value state : sum)
        other.push_back(builder.shuffle(state, builder.constant32(1 << bit),
                                        NVVM::ShflKind::bfly));
      sum = combine(sum, other);
    }
}

Scalars PanelReduceEmitter::exchange() {
  findPlace();
  publishOnce([&] {
    Value address = getWords(lowering.getScalar(op.getMember()));
    for (auto [i, tile] : llvm::enumerate(values))
      store(address, static_cast<int64_t>(i) * valueBytes, lowering.get(tile));
  });
  // Members that fall to this lane, then lanes: the same order in all blocks.
  combineOwn();
  combineLanes();
  Scalars results;
  for (const Scalars &sum : sums)
    llvm::append_range(results, sum);
  return results;
}

void PanelReduceEmitter::run() {
  Scalars own;
  for (int64_t reg = 0; reg < deal.perThread; ++reg)
    for (Value tile : values)
      own.push_back(lowering.get(tile)[reg]);
  Scalars results = runExchange(own, [&] { return exchange(); });
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Scalars own;
    for (int64_t reg = 0; reg < deal.perThread; ++reg)
      own.push_back(results[reg * numValues + static_cast<int64_t>(i)]);
    lowering.set(result, own);
  }
}

LogicalResult PanelReduceLowering::lower(tile::PanelReduceOp op,
                                         ProgramLowering &lowering) const {
  FailureOr<PanelDeal> deal =
      dealPanel(lowering, op, op.getValues(), op.getMembers());
  if (failed(deal))
    return failure();
  PanelReduceEmitter(lowering, op, *deal).run();
  return success();
}

LogicalResult PanelLeaveLowering::lower(tile::PanelLeaveOp op,
                                        ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  // All warps of the group have read what they wait for.
  lowering.getRole().createBarrier();
  Value isFirst = builder.isEqual(threads.getWarp(), 0);
  builder.ifThread(isFirst, [&] {
    Value lane = threads.getLane();
    Value offset =
        arith::MulIOp::create(builder, lowering.getScalar(op.getPanel()),
                              builder.constantIndex(op.getBytes()));
    Value memory = lowering.getScalar(op.getMemory());
    auto at = [&](Value bytes) -> Value {
      return builder.advance(memory, bytes);
    };
    Value before =
        builder.inlineAsm(builder.getI32Type(), {at(offset), lane},
                          "{\n"
                          ".reg .pred first;\n"
                          "setp.eq.u32 first, $2, 0;\n"
                          "mov.u32 $0, 0;\n"
                          "@first atom.add.acq_rel.gpu.global.u32 $0, [$1], "
                          "1;\n"
                          "}",
                          "=&r,l,r,~{memory}");
    before =
        builder.shuffle(before, builder.constant32(0), NVVM::ShflKind::idx);
    builder.syncWarp();
    Value isLast =
        builder.isEqual(before, static_cast<int32_t>(op.getArrivals()) - 1);
    builder.ifThread(isLast, [&] {
      Value begin = arith::MulIOp::create(builder, builder.toIndex(lane),
                                          builder.constantIndex(kWidestBytes));
      auto loop = scf::ForOp::create(
          builder, begin, builder.constantIndex(op.getBytes()),
          builder.constantIndex(kWidestBytes << kLaneBits));
      builder.setInsertionPointToStart(loop.getBody());
      Value zero = LLVM::ZeroOp::create(
          builder, VectorType::get(4, builder.getI32Type()));
      Value place =
          arith::AddIOp::create(builder, offset, loop.getInductionVar());
      LLVM::StoreOp::create(builder, zero, at(place), kWidestBytes);
    });
  });
  return success();
}

void mlir::fusion::populatePanelLowerings(LoweringSet &lowerings) {
  lowerings.add<PanelReduceLowering, PanelLeaveLowering>();
}
