//===- PanelExchange.cpp - Words that the blocks of a panel exchange ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what exchanges between the blocks of a panel have in
// common. A warp exchanges with the warps of the same number in the other
// blocks, whose lanes hold the same elements: no tile is rearranged, and the
// warps of a block do not wait for each other. Lanes that hold the same
// elements deal out the members among themselves, so that each word is read
// once in a warp.
//
//===----------------------------------------------------------------------===//

#include "PanelExchange.h"
#include "ClusterBarriers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

/// None when some element has no place of its own.
static std::optional<PanelDeal> dealWords(const LinearLayout &layout,
                                          int64_t members) {
  PanelDeal deal{layout, {}, {}, {}};
  if (!layout.isInjective() || layout.freeMask(HwDim::Register) != 0)
    return std::nullopt;
  deal.perThread = layout.numRegs();
  unsigned taken = 0;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit) {
    if (!(layout.freeMask(HwDim::Lane) >> bit & 1))
      deal.lanes.push_back({bit, uint64_t(1) << taken++});
    else if (members >= int64_t(2) << deal.dealt.size())
      deal.dealt.push_back(bit);
  }
  deal.perWarp = deal.perThread << taken;
  taken = 0;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Warp); ++bit)
    if (!(layout.freeMask(HwDim::Warp) >> bit & 1))
      deal.warps.push_back({kLaneBits + bit, uint64_t(1) << taken++});
  deal.numWarps = int64_t(1) << taken;
  if (deal.perWarp * deal.numWarps != layout.numElements())
    return std::nullopt;
  return deal;
}

FailureOr<PanelDeal> mlir::fusion::dealPanel(const ProgramLowering &lowering,
                                             Operation *op, ValueRange values,
                                             int64_t members) {
  // All threads have a scalar.
  Type type = values.front().getType();
  LinearLayout layout =
      isa<RankedTensorType>(type)
          ? tile::getLayout(type).getLinear()
          : tile::getBlockedLayout({1}, {0}, /*vec=*/1, 1 << kLaneBits,
                                   lowering.getProgram().getNumWarps());
  std::optional<PanelDeal> deal = dealWords(layout, members);
  if (!deal)
    return op->emitOpError("FUS-3326: threads hold an element of the tile more "
                           "than once");
  return *deal;
}

Scalars PanelExchange::readPanel(const PanelRead &read) {
  if (inCluster)
    return readSent(read);
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
  Value all =
      builder.inlineAsm(result, {read.first, read.number},
                        "{\n.reg .pred waits;\n.reg .b32 low, high;\nagain:\n" +
                            loads + checks + "@waits bra again;\n}",
                        constraints + "l,r,~{memory}");
  return unpackWords(all, words);
}

Scalars PanelExchange::unpackWords(Value all, int64_t words) {
  if (words == 1)
    return {all};
  Scalars scalars;
  for (int64_t i = 0; i < words; ++i)
    scalars.push_back(
        LLVM::ExtractValueOp::create(builder, all, ArrayRef<int64_t>{i}));
  return scalars;
}

Value PanelExchange::takeFromWord(Value word, Type element) {
  Type stored = memoryType(element);
  unsigned width = stored.getIntOrFloatBitWidth();
  Value bits =
      arith::TruncIOp::create(builder, builder.getIntegerType(width), word);
  if (bits.getType() != stored)
    bits = arith::BitcastOp::create(builder, stored, bits);
  return builder.fromMemory(bits, element);
}

Value PanelExchange::add(Value a, Value b) {
  return arith::AddIOp::create(builder, a, b);
}

Value PanelExchange::times(Value value, int64_t factor) {
  return arith::MulIOp::create(builder, value, index(factor));
}

void PanelExchange::findPlace() {
  Value scalar = lowering.getScalar(turn);
  number = arith::AddIOp::create(builder, builder.toI32(scalar),
                                 builder.constant32(1));
  Value copy = arith::RemUIOp::create(builder, scalar, index(copies));
  Value warpPlace = add(times(copy, deal.numWarps), threads.apply(deal.warps));
  place = add(times(warpPlace, members * deal.perWarp * states),
              times(threads.apply(deal.lanes), perThread));
  place = add(times(place, kWordBytes), index(firstByte));
  place = add(place, times(lowering.getScalar(panel), panelBytes));
}

Value PanelExchange::getRank() {
  SmallVector<std::pair<unsigned, uint64_t>> bits;
  for (auto [i, bit] : llvm::enumerate(deal.dealt))
    bits.push_back({bit, uint64_t(1) << i});
  return threads.apply(bits);
}

Value PanelExchange::getWords(Value member) {
  Value base = lowering.getScalar(memory);
  Value offset = add(place, times(member, memberBytes));
  return builder.advance(base, offset);
}

Value PanelExchange::toBits(Value scalar, Type type) {
  Value bits = builder.toMemory(scalar);
  Type own = builder.getIntegerType(bits.getType().getIntOrFloatBitWidth());
  if (bits.getType() != own)
    bits = arith::BitcastOp::create(builder, own, bits);
  return own == type ? bits : arith::ExtUIOp::create(builder, type, bits);
}

void PanelExchange::store(Value address, int64_t offset,
                          ArrayRef<Value> scalars) {
  if (inCluster)
    return send(address, offset, scalars);
  Type i64 = builder.getI64Type();
  Value high = arith::ShLIOp::create(
      builder, arith::ExtUIOp::create(builder, i64, number),
      arith::ConstantOp::create(builder, builder.getI64IntegerAttr(32)));
  auto toWord = [&](Value scalar) -> Value {
    return arith::OrIOp::create(builder, toBits(scalar, i64), high);
  };
  auto perAccess = static_cast<size_t>(getWordsOfAccess(scalars.size()));
  for (size_t i = 0; i < scalars.size(); i += perAccess) {
    SmallVector<Value> operands{address};
    for (Value scalar : scalars.slice(i, perAccess))
      operands.push_back(toWord(scalar));
    std::string at =
        "[$0+" + std::to_string(offset + static_cast<int64_t>(i) * kWordBytes) +
        "], ";
    if (perAccess == 1)
      builder.inlineAsm(nullptr, operands,
                        "st.relaxed.gpu.global.b64 " + at + "$1;",
                        "l,l,~{memory}");
    else
      builder.inlineAsm(nullptr, operands,
                        "st.relaxed.gpu.global.v2.b64 " + at + "{$1, $2};",
                        "l,l,l,~{memory}");
  }
}

//===----------------------------------------------------------------------===//
// In a cluster
//===----------------------------------------------------------------------===//

void PanelExchange::send(Value address, int64_t offset,
                         ArrayRef<Value> scalars) {
  LLVM::LLVMPointerType type = getClusterPointerType(builder.getContext());
  Value head = builder.advance(lowering.getScalar(memory),
                               static_cast<int32_t>(firstByte - kHeadBytes));
  SmallVector<Value> words;
  for (Value scalar : scalars)
    words.push_back(toBits(scalar, builder.getI32Type()));
  // Each member has a copy of its own.
  for (int64_t member = 0; member < members; ++member) {
    Value rank = builder.constant32(static_cast<int32_t>(member));
    Value place = NVVM::MapaOp::create(builder, type, address, rank);
    Value barrier = NVVM::MapaOp::create(builder, type, head, rank);
    for (auto [i, word] : llvm::enumerate(words))
      sendAsync(builder, word, kSentBytes,
                builder.advance(
                    place, static_cast<int32_t>(
                               offset + static_cast<int64_t>(i) * kWordBytes)),
                barrier);
  }
}

Scalars PanelExchange::readSent(const PanelRead &read) {
  int64_t words = read.members * read.perThread;
  std::string base = "[$" + std::to_string(words) + "+", loads, constraints;
  for (int64_t i = 0; i < words; ++i) {
    int64_t bytes = read.offset + i / read.perThread * read.memberBytes +
                    i % read.perThread * kWordBytes;
    loads += "ld.shared::cta.b32 word, " + base + std::to_string(bytes) +
             "];\ncvt.u64.u32 $" + std::to_string(i) + ", word;\n";
    constraints += "=&l,";
  }
  Value barrier = builder.advance(lowering.getScalar(memory),
                                  static_cast<int32_t>(firstByte - kHeadBytes));
  Type result = builder.getI64Type();
  if (words > 1)
    result = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                              SmallVector<Type>(words, result));
  Value all =
      builder.inlineAsm(result, {read.first, barrier},
                        "{\n.reg .pred done;\n.reg .b32 word;\nagain:\n"
                        "mbarrier.try_wait.parity.shared::cta.b64 done, [$" +
                            std::to_string(words + 1) +
                            "], 0;\n@!done bra again;\n" + loads + "}",
                        constraints + "l,l,~{memory}");
  return unpackWords(all, words);
}

void PanelExchange::publishOnce(llvm::function_ref<void()> publish) {
  if (Value owner = threads.isOwner(deal.layout))
    builder.ifThread(owner, [&] { publish(); });
  else
    publish();
}

Scalars PanelExchange::runByOwners(const Scalars &others,
                                   llvm::function_ref<Scalars()> run) {
  Value bits = arith::AndIOp::create(builder, threads.getWarp(),
                                     builder.constant32(static_cast<int32_t>(
                                         deal.layout.freeMask(HwDim::Warp))));
  Value isOwner = builder.isEqual(bits, 0);
  auto owners = scf::IfOp::create(builder, ValueRange(others).getTypes(),
                                  isOwner, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(owners.thenBlock());
  scf::YieldOp::create(builder, run());
  builder.setInsertionPointToStart(owners.elseBlock());
  scf::YieldOp::create(builder, others);
  return llvm::to_vector_of<Value>(owners.getResults());
}

Scalars PanelExchange::runExchange(const Scalars &others,
                                   llvm::function_ref<Scalars()> exchange) {
  if (inCluster)
    awaitClusterMemory(lowering);
  bool isShared = deal.layout.freeMask(HwDim::Warp) != 0;
  if (isShared && byOwners)
    return runByOwners(others, exchange);
  // Warps with the same elements have read what is written over now; in a
  // cluster each exchange has memory of its own.
  if (isShared && !inCluster)
    lowering.getRole().createBarrier();
  return exchange();
}
