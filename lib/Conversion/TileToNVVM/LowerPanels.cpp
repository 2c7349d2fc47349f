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

Scalars ProgramLowering::runByOwners(const LinearLayout &layout,
                                     const Scalars &others,
                                     llvm::function_ref<Scalars()> run) {
  Value bits = arith::AndIOp::create(
      builder, loc, warpNumber(),
      constant32(static_cast<int32_t>(layout.freeWarpMask())));
  Value isOwner = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        bits, constant32(0));
  auto owners = scf::IfOp::create(builder, loc, ValueRange(others).getTypes(),
                                  isOwner, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(owners.thenBlock());
  scf::YieldOp::create(builder, loc, run());
  builder.setInsertionPointToStart(owners.elseBlock());
  scf::YieldOp::create(builder, loc, others);
  return llvm::to_vector_of<Value>(owners.getResults());
}

class ProgramLowering::PanelReduceLowering {
public:
  PanelReduceLowering(ProgramLowering &lowering, tile::PanelReduceOp op,
                      const LinearLayout &layout, const PanelDeal &deal)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc),
        op(op), layout(layout), deal(deal), numValues(op.getValues().size()),
        members(static_cast<int64_t>(op.getMembers())),
        dealers(int64_t(1) << deal.dealt.size()),
        memberBytes(deal.perWarp * kWordBytes),
        valueBytes(op.getNumWords() * kWordBytes) {}

  /// Lowers the operation.
  void run();

private:
  Value index(int64_t value) { return lowering.constantIndex(value); }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value times(Value value, int64_t factor) {
    return arith::MulIOp::create(builder, loc, value, index(factor));
  }

  void findPlace();
  /// The address of the thread's words among those of `member`.
  Value getWords(Value member);
  void publish();
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

  ProgramLowering &lowering;
  OpBuilder &builder;
  Location loc;
  tile::PanelReduceOp op;
  const LinearLayout &layout;
  const PanelDeal &deal;
  int64_t numValues, members;
  /// Lanes that share the members of an element, and bytes between the words of
  /// two members, and of two values.
  int64_t dealers, memberBytes, valueBytes;
  /// The number of the exchange; bytes from the start of the memory to the
  /// thread's words among those of member 0.
  Value number, place;
  /// For each register, what is combined of the values.
  SmallVector<Scalars> sums;
};

void ProgramLowering::PanelReduceLowering::findPlace() {
  Value turn = lowering.getScalar(op.getTurn());
  number = arith::AddIOp::create(builder, loc, lowering.toI32(turn),
                                 lowering.constant32(1));
  Value copy = arith::RemUIOp::create(
      builder, loc, turn, index(static_cast<int64_t>(op.getCopies())));
  Value warpPlace =
      add(times(copy, deal.numWarps), lowering.applyBits(deal.warps));
  place = add(times(warpPlace, members * deal.perWarp),
              times(lowering.applyBits(deal.lanes), deal.perThread));
  place = add(times(place, kWordBytes),
              index(static_cast<int64_t>(op.getOffset())));
  place = add(place, times(lowering.getScalar(op.getPanel()),
                           static_cast<int64_t>(op.getBytes())));
}

Value ProgramLowering::PanelReduceLowering::getWords(Value member) {
  Value memory = lowering.getScalar(op.getMemory());
  Value offset = add(place, times(member, memberBytes));
  return LLVM::GEPOp::create(builder, loc, memory.getType(),
                             builder.getI8Type(), memory,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void ProgramLowering::PanelReduceLowering::publish() {
  Type i64 = builder.getI64Type();
  Value address = getWords(lowering.getScalar(op.getMember()));
  Value high = arith::ShLIOp::create(
      builder, loc, arith::ExtUIOp::create(builder, loc, i64, number),
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32)));
  int64_t perAccess = getWordsOfAccess(deal.perThread);
  int64_t accesses = deal.perThread / perAccess;
  for (int64_t access = 0; access < accesses * numValues; ++access) {
    Value tile = op.getValues()[access / accesses];
    int64_t bytes =
        access / accesses * valueBytes + access % accesses * kWidestBytes;
    SmallVector<Value> operands{address};
    for (int64_t i = 0; i < perAccess; ++i) {
      Value bits = lowering.toMemory(
          lowering.get(tile)[access % accesses * perAccess + i]);
      Type own = builder.getIntegerType(bits.getType().getIntOrFloatBitWidth());
      if (bits.getType() != own)
        bits = arith::BitcastOp::create(builder, loc, own, bits);
      Value low = arith::ExtUIOp::create(builder, loc, i64, bits);
      operands.push_back(arith::OrIOp::create(builder, loc, low, high));
    }
    std::string at = "[$0+" + std::to_string(bytes) + "], ";
    if (perAccess == 1)
      lowering.inlineAsm(nullptr, operands,
                         "st.relaxed.gpu.global.b64 " + at + "$1;",
                         "l,l,~{memory}");
    else
      lowering.inlineAsm(nullptr, operands,
                         "st.relaxed.gpu.global.v2.b64 " + at + "{$1, $2};",
                         "l,l,l,~{memory}");
  }
}

void ProgramLowering::PanelReduceLowering::accumulate(
    Value first, int64_t offset, int64_t step, int64_t count, Value isMember) {
  SmallVector<Scalars> words;
  for (int64_t i = 0; i < numValues; ++i)
    words.push_back(lowering.readPanel(
        {first, number, offset + i * valueBytes, step, deal.perThread, count}));
  for (int64_t at = 0; at < count * deal.perThread; ++at) {
    Scalars next;
    for (auto [own, tile] : llvm::zip_equal(words, op.getValues()))
      next.push_back(
          lowering.takeFromWord(own[at], lowering.scalarType(tile.getType())));
    size_t reg = at % deal.perThread;
    if (sums.size() <= reg) {
      sums.push_back(next);
      continue;
    }
    Scalars sum = lowering.combine(op.getCombiner(), sums[reg], next);
    sums[reg] = isMember ? lowering.selectAll(isMember, sum, sums[reg]) : sum;
  }
}

void ProgramLowering::PanelReduceLowering::combineOwn() {
  SmallVector<std::pair<unsigned, uint64_t>> bits;
  for (auto [i, bit] : llvm::enumerate(deal.dealt))
    bits.push_back({bit, uint64_t(1) << i});
  Value rank = lowering.applyBits(bits);
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
      sum = lowering.combine(op.getCombiner(), sum, other);
    }
}

Scalars ProgramLowering::PanelReduceLowering::exchange() {
  findPlace();
  if (Value owner = lowering.isOwner(layout))
    lowering.ifThread(owner, [&] { publish(); });
  else
    publish();
  // Members that fall to this lane, then lanes: the same order in all blocks.
  combineOwn();
  combineLanes();
  Scalars results;
  for (const Scalars &sum : sums)
    llvm::append_range(results, sum);
  return results;
}

void ProgramLowering::PanelReduceLowering::run() {
  Scalars results;
  if (op.getByOwners()) {
    Scalars own;
    for (int64_t reg = 0; reg < deal.perThread; ++reg)
      for (Value tile : op.getValues())
        own.push_back(lowering.get(tile)[reg]);
    results =
        layout.freeWarpMask() == 0
            ? exchange()
            : lowering.runByOwners(layout, own, [&] { return exchange(); });
  } else {
    // Warps with the same elements have read what is written over now.
    if (layout.freeWarpMask() != 0)
      lowering.lowerBarrier();
    results = exchange();
  }
  const Value *next = results.begin();
  for (int64_t reg = 0; reg < deal.perThread; ++reg)
    for (Value result : op.getResults())
      lowering.values[result].push_back(*next++);
}

LogicalResult ProgramLowering::lowerPanelReduce(tile::PanelReduceOp op) {
  LinearLayout layout =
      getThreadLayout(op.getValues().front().getType(), program.getNumWarps());
  std::optional<PanelDeal> deal =
      dealPanel(layout, static_cast<int64_t>(op.getMembers()));
  if (!deal)
    return op.emitOpError("FUS-3326: threads hold an element of the tile more "
                          "than once");
  PanelReduceLowering(*this, op, layout, *deal).run();
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
