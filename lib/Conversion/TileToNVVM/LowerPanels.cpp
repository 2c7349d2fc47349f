//===- LowerPanels.cpp - Exchange between the blocks of a panel -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the lowering of what blocks of a panel combine. A warp
// exchanges with the warps of the same number in the other blocks, whose lanes
// hold the same elements: no tile is rearranged, and the warps of a block do
// not wait for each other. Lanes that hold the same elements deal out the
// members among themselves, so that each word is read once in a warp.
//
//===----------------------------------------------------------------------===//

#include "PanelExchange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

std::optional<PanelDeal> mlir::fusion::dealPanel(const LinearLayout &layout,
                                                 int64_t members) {
  PanelDeal deal;
  if (!layout.isInjective() || layout.freeRegMask() != 0)
    return std::nullopt;
  deal.perThread = layout.numRegs();
  unsigned taken = 0;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit) {
    if (!(layout.freeLaneMask() >> bit & 1))
      deal.lanes.push_back({bit, uint64_t(1) << taken++});
    else if (members >= int64_t(2) << deal.dealt.size())
      deal.dealt.push_back(bit);
  }
  deal.perWarp = deal.perThread << taken;
  taken = 0;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Warp); ++bit)
    if (!(layout.freeWarpMask() >> bit & 1))
      deal.warps.push_back({kLaneBits + bit, uint64_t(1) << taken++});
  deal.numWarps = int64_t(1) << taken;
  if (deal.perWarp * deal.numWarps != layout.numElements())
    return std::nullopt;
  return deal;
}

Scalars ProgramLowering::readPanel(const PanelRead &read) {
  int64_t perAccess = getWordsOfAccess(read.perThread);
  int64_t words = read.members * read.perThread;
  std::string base = "[$" + std::to_string(words) + "+";
  std::string number = "$" + std::to_string(words + 1);
  std::string loads, checks, constraints;
  for (int64_t i = 0; i < words; ++i) {
    std::string word = "$" + std::to_string(i);
    int64_t bytes = read.offset + i / read.perThread * read.memberBytes +
                    i % read.perThread * kWordBytes;
    if (perAccess == 1)
      loads += "ld.relaxed.gpu.global.b64 " + word;
    else if (i % 2 == 0)
      loads += "ld.relaxed.gpu.global.v2.b64 {" + word + ", $" +
               std::to_string(i + 1) + "}";
    if (perAccess == 1 || i % 2 == 0)
      loads += ", " + base + std::to_string(bytes) + "];\n";
    checks += "mov.b64 {low, high}, " + word + ";\n";
    checks += i == 0 ? "setp.ne.u32 waits, high, " + number + ";\n"
                     : "setp.ne.or.u32 waits, high, " + number + ", waits;\n";
    constraints += "=&l,";
  }
  Type result = builder.getI64Type();
  if (words > 1)
    result = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                              SmallVector<Type>(words, result));
  Value all = inlineAsm(result, {read.first, read.number},
                        "{\n.reg .pred waits;\n.reg .b32 low, high;\nagain:\n" +
                            loads + checks + "@waits bra again;\n}",
                        constraints + "l,r,~{memory}");
  if (words == 1)
    return {all};
  Scalars scalars;
  for (int64_t i = 0; i < words; ++i)
    scalars.push_back(
        LLVM::ExtractValueOp::create(builder, loc, all, ArrayRef<int64_t>{i}));
  return scalars;
}

Value ProgramLowering::takeFromWord(Value word, Type element) {
  Type stored = memoryType(element);
  unsigned width = stored.getIntOrFloatBitWidth();
  Value bits = arith::TruncIOp::create(builder, loc,
                                       builder.getIntegerType(width), word);
  if (bits.getType() != stored)
    bits = arith::BitcastOp::create(builder, loc, stored, bits);
  return fromMemory(bits, element);
}

LinearLayout mlir::fusion::getThreadLayout(Type type, int64_t numWarps) {
  if (isa<RankedTensorType>(type))
    return tile::getLayout(type).getLinear();
  return LinearLayout::blocked({1}, {0}, /*vec=*/1, 1 << kLaneBits, numWarps);
}

LogicalResult ProgramLowering::lowerPanelReduce(tile::PanelReduceOp op) {
  LinearLayout layout =
      getThreadLayout(op.getValues().front().getType(), program.getNumWarps());
  auto members = static_cast<int64_t>(op.getMembers());
  std::optional<PanelDeal> deal = dealPanel(layout, members);
  if (!deal)
    return op.emitOpError("FUS-3326: threads hold an element of the tile more "
                          "than once");
  int64_t numValues = static_cast<int64_t>(op.getValues().size());
  Type i64 = builder.getI64Type();
  auto times = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, value, constantIndex(factor));
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  Value turn = getScalar(op.getTurn());
  Value number = toI32(turn);
  number = arith::AddIOp::create(builder, loc, number, constant32(1));

  // The first word of this thread's place, in the area of member 0.
  Value copy =
      arith::RemUIOp::create(builder, loc, turn, constantIndex(op.getCopies()));
  Value warpPlace = add(times(copy, deal->numWarps), applyBits(deal->warps));
  Value place = add(times(warpPlace, members * deal->perWarp),
                    times(applyBits(deal->lanes), deal->perThread));
  place = add(times(place, kWordBytes), constantIndex(op.getOffset()));
  place = add(place, times(getScalar(op.getPanel()), op.getBytes()));
  int64_t memberBytes = deal->perWarp * kWordBytes;
  int64_t valueBytes = op.getNumWords() * kWordBytes;
  auto at = [&](Value member) -> Value {
    Value offset = add(place, times(member, memberBytes));
    Value memory = getScalar(op.getMemory());
    return LLVM::GEPOp::create(builder, loc, memory.getType(),
                               builder.getI8Type(), memory,
                               ArrayRef<LLVM::GEPArg>{offset});
  };

  // Warps with the same elements have read what is written over now.
  if (layout.freeWarpMask() != 0)
    lowerBarrier();
  int64_t perAccess = getWordsOfAccess(deal->perThread);
  int64_t accesses = deal->perThread / perAccess;
  StringRef vector = perAccess == 1 ? "" : ".v2";
  auto publish = [&] {
    Value address = at(getScalar(op.getMember()));
    Value high = arith::ShLIOp::create(
        builder, loc, arith::ExtUIOp::create(builder, loc, i64, number),
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32)));
    for (int64_t access = 0; access < accesses * numValues; ++access) {
      Value tile = op.getValues()[access / accesses];
      int64_t bytes =
          access / accesses * valueBytes + access % accesses * kWidestBytes;
      SmallVector<Value> operands{address};
      std::string text = "st.relaxed.gpu.global" + vector.str() + ".b64 [$0+" +
                         std::to_string(bytes) + "], ";
      std::string constraints = "l";
      for (int64_t i = 0; i < perAccess; ++i) {
        Value bits = toMemory(get(tile)[access % accesses * perAccess + i]);
        unsigned width = bits.getType().getIntOrFloatBitWidth();
        Type own = builder.getIntegerType(width);
        if (bits.getType() != own)
          bits = arith::BitcastOp::create(builder, loc, own, bits);
        Value word = arith::ExtUIOp::create(builder, loc, i64, bits);
        operands.push_back(arith::OrIOp::create(builder, loc, word, high));
        text += (i                ? ", $"
                 : perAccess == 1 ? "$"
                                  : "{$") +
                std::to_string(i + 1);
        constraints += ",l";
      }
      text += perAccess == 1 ? ";" : "};";
      inlineAsm(nullptr, operands, text, constraints + ",~{memory}");
    }
  };
  if (Value owner = isOwner(layout))
    ifThread(owner, publish);
  else
    publish();

  // Members that fall to this lane, then lanes: the same order in all blocks.
  SmallVector<std::pair<unsigned, uint64_t>> dealt;
  for (auto [i, bit] : llvm::enumerate(deal->dealt))
    dealt.push_back({bit, uint64_t(1) << i});
  int64_t dealers = int64_t(1) << dealt.size();
  int64_t together =
      std::max<int64_t>(1, kMostInFlight / (deal->perThread * numValues));
  Value rank = applyBits(dealt);
  // For each register, what is combined of the values.
  SmallVector<Scalars> sums;
  // Reads what `count` members have from `first` on, each `step` bytes after
  // the other, and adds it. The last lanes may have one member less:
  // `isMember` of what they read.
  auto accumulate = [&](Value first, int64_t offset, int64_t step,
                        int64_t count, Value isMember) {
    SmallVector<Scalars> words;
    for (int64_t i = 0; i < numValues; ++i)
      words.push_back(readPanel({first, number, offset + i * valueBytes, step,
                                 deal->perThread, count}));
    for (int64_t at = 0; at < count * deal->perThread; ++at) {
      Scalars next;
      for (auto [own, tile] : llvm::zip_equal(words, op.getValues()))
        next.push_back(takeFromWord(own[at], scalarType(tile.getType())));
      size_t reg = at % deal->perThread;
      if (sums.size() <= reg) {
        sums.push_back(next);
        continue;
      }
      Scalars sum = combine(op.getCombiner(), sums[reg], next);
      sums[reg] = isMember ? selectAll(isMember, sum, sums[reg]) : sum;
    }
  };
  Value first = at(rank);
  int64_t rounds = members / dealers;
  for (int64_t i = 0; i < rounds; i += together)
    accumulate(first, i * dealers * memberBytes, dealers * memberBytes,
               std::min(together, rounds - i), nullptr);
  if (members % dealers != 0) {
    Value member = arith::AddIOp::create(builder, loc, rank,
                                         constantIndex(rounds * dealers));
    Value last = constantIndex(members - 1);
    Value isMember = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ule, member, last);
    Value inside = arith::MinUIOp::create(builder, loc, member, last);
    accumulate(at(inside), 0, 0, 1, isMember);
  }
  NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
  for (unsigned bit : deal->dealt)
    for (Scalars &sum : sums) {
      Scalars other;
      for (Value state : sum)
        other.push_back(
            shuffle(state, constant32(1 << bit), /*butterfly=*/true));
      sum = combine(op.getCombiner(), sum, other);
    }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Scalars &own = values[result];
    for (const Scalars &sum : sums)
      own.push_back(sum[i]);
  }
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
