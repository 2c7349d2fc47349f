//===- StoreAsync.cpp - st.async and red.async ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements stores and reductions into the shared memory of a block
// of the cluster that complete at an mbarrier of that block. Each lane's is a
// BulkCopy that carries its bytes with it.
//
//===----------------------------------------------------------------------===//

#include "Async/Bulk.h"
#include "Decode/Families.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

/// st.async.weak.shared::cluster.mbarrier::complete_tx::bytes[.v].type and
/// red.async.relaxed.cluster.shared::cluster.mbarrier::...op.type.
bool fusionemu::decodeStoreAsync(InstructionDecoder &d, bool reduces) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  kernel.usesAsync = true;
  Instruction I = d.make(storeAsync);
  if (reduces) {
    modifiers.take("relaxed");
    modifiers.take("cluster");
  } else {
    modifiers.take("weak");
  }
  bool isShared = modifiers.take("shared::cluster");
  I.space = isShared ? Space::Shared : Space::Generic;
  if (!modifiers.take("mbarrier::complete_tx::bytes"))
    return d.failInstruction();
  int op = reduces ? modifiers.takeOneOf({"add", "min", "max", "inc", "dec",
                                          "and", "or", "xor"})
                   : 0;
  static const Op ops[] = {Op::Add, Op::Min, Op::Max, Op::Inc,
                           Op::Dec, Op::And, Op::Or,  Op::Xor};
  int vector = reduces ? -1 : modifiers.takeOneOf({"v2", "v4"});
  unsigned count = vector < 0 ? 1 : vector == 0 ? 2 : 4;
  Type type = modifiers.takeType();
  unsigned bytes = getSize(type);
  if (op < 0 || (bytes != 4 && bytes != 8) ||
      (reduces && !canReduceShared(ops[op], type)))
    return d.failInstruction();
  if (!d.needOperands(3, 3) || !readAddress(d, d.operand(0), I.space, I.a) ||
      !readAddress(d, d.operand(2), I.space, I.b))
    return false;
  const Operand &from = d.operand(1);
  std::vector<const Operand *> parts = partsOf(from);
  if (parts.size() != count)
    return d.failSyntax("expected a vector of " + std::to_string(count) +
                        " registers");
  std::vector<int32_t> slots(count);
  for (unsigned i = 0; i < count; ++i)
    if (!d.read(*parts[i], type, slots[i]))
      return false;
  I.target = d.keepSlots(slots);
  I.aux = count;
  I.c = int32_t(bytes);
  I.d = reduces ? int32_t(type) : -1;
  I.dst = int32_t(ops[op]);
  kernel.sharedGranuleShift = std::min(kernel.sharedGranuleShift, 2u);
  return d.emit(I);
}

/// a and b are the addresses of destination and mbarrier, aux the number of
/// elements, whose slots stand in extraOperands, and c their size. Of a
/// reduction d is the type and dst the operation; otherwise d is -1.
Next fusionemu::storeAsync(Context &c, const Instruction &I) {
  unsigned size = unsigned(I.c);
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = unsigned(__builtin_ctz(r));
    BulkCopy copy;
    copy.kind = BulkCopy::Kind::Value;
    copy.lane = uint8_t(lane);
    copy.bytes = size * I.aux;
    copy.reduces = I.d >= 0;
    if (copy.reduces) {
      copy.op = Op(I.dst);
      copy.type = Type(I.d);
    }
    uint64_t offset = 0, at = 0;
    Block *block = findShared(c, I, I.a, lane, copy.bytes, copy.bytes,
                              "stores to", offset);
    Block *signalled =
        block ? findShared(c, I, I.b, lane, 8, 8, "signals", at) : nullptr;
    if (!signalled)
      return Next::Fail;
    if (signalled != block)
      return fail(c, ErrorKind::BadDescriptor, lane,
                  "signals an mbarrier in block " +
                      std::to_string(signalled->rank) +
                      " of the cluster for bytes in block " +
                      std::to_string(block->rank));
    copy.targets = uint16_t(1u << block->rank);
    copy.shared = uint32_t(offset);
    copy.signals = true;
    copy.mbarrier = uint32_t(at);
    copy.staged.resize(copy.bytes);
    for (unsigned i = 0; i < I.aux; ++i)
      std::memcpy(copy.staged.data() + i * size,
                  c.regs + c.kernel->extraOperands[I.target + i] + lane * size,
                  size);
    if (!issueBulkCopy(c, std::move(copy)))
      return Next::Fail;
  }
  return Next::Continue;
}
