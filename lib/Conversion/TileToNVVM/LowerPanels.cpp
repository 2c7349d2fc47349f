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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;

class ProgramLowering::PanelReduceLowering : PanelExchange {
public:
  PanelReduceLowering(ProgramLowering &lowering, tile::PanelReduceOp op,
                      const PanelDeal &deal)
      : PanelExchange(lowering, op, deal, /*states=*/1), op(op),
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

void ProgramLowering::PanelReduceLowering::accumulate(
    Value first, int64_t offset, int64_t step, int64_t count, Value isMember) {
  SmallVector<Scalars> words;
  for (int64_t i = 0; i < numValues; ++i)
    words.push_back(lowering.readPanel(
        {first, number, offset + i * valueBytes, step, deal.perThread, count}));
  for (int64_t at = 0; at < count * deal.perThread; ++at) {
    Scalars next;
    for (auto [own, tile] : llvm::zip_equal(words, values))
      next.push_back(
          lowering.takeFromWord(own[at], lowering.scalarType(tile.getType())));
    size_t reg = at % deal.perThread;
    if (sums.size() <= reg) {
      sums.push_back(next);
      continue;
    }
    Scalars sum = combine(sums[reg], next);
    sums[reg] = isMember ? lowering.selectAll(isMember, sum, sums[reg]) : sum;
  }
}

void ProgramLowering::PanelReduceLowering::combineOwn() {
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
  Value isMember = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ule, member, last);
  Value inside = arith::MinUIOp::create(builder, loc, member, last);
  accumulate(getWords(inside), 0, 0, 1, isMember);
}

void ProgramLowering::PanelReduceLowering::combineLanes() {
  NVVM::SyncWarpOp::create(builder, loc, lowering.constant32(-1));
  for (unsigned bit : deal.dealt)
    for (Scalars &sum : sums) {
      Scalars other;
      for (Value state : sum)
        other.push_back(lowering.shuffle(state, lowering.constant32(1 << bit),
                                         /*butterfly=*/true));
      sum = combine(sum, other);
    }
}

Scalars ProgramLowering::PanelReduceLowering::exchange() {
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

void ProgramLowering::PanelReduceLowering::run() {
  Scalars own;
  for (int64_t reg = 0; reg < deal.perThread; ++reg)
    for (Value tile : values)
      own.push_back(lowering.get(tile)[reg]);
  Scalars results = runExchange(own, [&] { return exchange(); });
  const Value *next = results.begin();
  for (int64_t reg = 0; reg < deal.perThread; ++reg)
    for (Value result : op.getResults())
      lowering.values[result].push_back(*next++);
}

LogicalResult ProgramLowering::lowerPanelReduce(tile::PanelReduceOp op) {
  FailureOr<PanelDeal> deal = dealPanel(op, op.getValues(), op.getMembers());
  if (failed(deal))
    return failure();
  PanelReduceLowering(*this, op, *deal).run();
  return success();
}

LogicalResult ProgramLowering::lowerPanelLeave(tile::PanelLeaveOp op) {
  // All warps of the group have read what they wait for.
  lowerBarrier();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        warpNumber(), constant32(0));
  ifThread(isFirst, [&] {
    Value lane = arith::AndIOp::create(builder, loc, thread, constant32(31));
    Value offset = arith::MulIOp::create(builder, loc, getScalar(op.getPanel()),
                                         constantIndex(op.getBytes()));
    Value memory = getScalar(op.getMemory());
    auto at = [&](Value bytes) -> Value {
      return LLVM::GEPOp::create(builder, loc, memory.getType(),
                                 builder.getI8Type(), memory,
                                 ArrayRef<LLVM::GEPArg>{bytes});
    };
    Value before = inlineAsm(builder.getI32Type(), {at(offset), lane},
                             "{\n"
                             ".reg .pred first;\n"
                             "setp.eq.u32 first, $2, 0;\n"
                             "mov.u32 $0, 0;\n"
                             "@first atom.add.acq_rel.gpu.global.u32 $0, [$1], "
                             "1;\n"
                             "}",
                             "=&r,l,r,~{memory}");
    before = shuffle(before, constant32(0), /*butterfly=*/false);
    NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
    Value isLast = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, before,
        constant32(static_cast<int32_t>(op.getArrivals()) - 1));
    ifThread(isLast, [&] {
      Value begin = arith::MulIOp::create(builder, loc, toIndex(lane),
                                          constantIndex(kWidestBytes));
      auto loop =
          scf::ForOp::create(builder, loc, begin, constantIndex(op.getBytes()),
                             constantIndex(kWidestBytes << kLaneBits));
      builder.setInsertionPointToStart(loop.getBody());
      Value zero = LLVM::ZeroOp::create(
          builder, loc, VectorType::get(4, builder.getI32Type()));
      Value place =
          arith::AddIOp::create(builder, loc, offset, loop.getInductionVar());
      LLVM::StoreOp::create(builder, loc, zero, at(place), kWidestBytes);
    });
  });
  return success();
}
