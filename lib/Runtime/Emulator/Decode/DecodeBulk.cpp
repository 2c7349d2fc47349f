//===- DecodeBulk.cpp - cp.async.bulk -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of bulk copies, plain and of tensors.
//
//===----------------------------------------------------------------------===//

#include "Async/Bulk.h"
#include "Decode/Families.h"
#include "Decode/Payload.h"

using namespace fusionemu;

static bool takeBulkSpaces(InstructionDecoder &d, BulkForm &form);
static bool takeBulkReduction(InstructionDecoder &d, BulkForm &form);
static bool decodeBulkPlain(InstructionDecoder &d, BulkForm form);
static bool decodeBulkTensor(InstructionDecoder &d, BulkForm form);
static bool readIm2colOffsets(InstructionDecoder &d, const BulkForm &form,
                              std::vector<int32_t> &slots, size_t &next);

bool fusionemu::decodeBulk(InstructionDecoder &d, bool reduces) {
  Modifiers &modifiers = d.getModifiers();
  if (modifiers.take("commit_group"))
    return (!reduces || d.failInstruction()) && d.needOperands(0, 0) &&
           d.emit(d.make(bulkCommit));
  if (modifiers.take("wait_group")) {
    Instruction I = d.make(bulkWait);
    I.dst = modifiers.take("read");
    return (!reduces || d.failInstruction()) && d.needOperands(1, 1) &&
           readGroupCount(d, d.operand(0), I.aux) && d.emit(I);
  }
  BulkForm form;
  form.reduces = reduces;
  form.isPrefetch = modifiers.take("prefetch");
  form.isTensor = modifiers.take("tensor");
  if (form.isTensor) {
    int rank = modifiers.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
    if (rank < 0)
      return d.failInstruction();
    form.rank = uint8_t(rank + 1);
    form.isIm2col = modifiers.takeOneOf({"im2col", "im2col_no_offs"}) >= 0;
    if (!form.isIm2col)
      modifiers.take("tile");
  }
  if (!takeBulkSpaces(d, form) || (reduces && !takeBulkReduction(d, form)))
    return !d.hasFailed() ? d.failInstruction() : false;
  return form.isTensor ? decodeBulkTensor(d, form) : decodeBulkPlain(d, form);
}

/// Takes the destination, the source and how the copy completes.
static bool takeBulkSpaces(InstructionDecoder &d, BulkForm &form) {
  Modifiers &modifiers = d.getModifiers();
  const InstructionSyntax &syntax = d.getSyntax();
  // The order of the modifiers is what tells destination from source.
  std::vector<Space> spaces;
  for (std::string_view m : syntax.modifiers) {
    if (m == "global")
      spaces.push_back(Space::Global);
    else if (m == "shared::cluster" || m == "shared::cta" || m == "shared")
      spaces.push_back(Space::Shared);
  }
  for (size_t i = 0; i < spaces.size(); ++i)
    modifiers.takeOneOf({"global", "shared::cluster", "shared::cta", "shared"});
  bool toGroup = modifiers.take("bulk_group");
  bool toMBarrier = modifiers.take("mbarrier::complete_tx::bytes");
  if (form.isPrefetch) {
    modifiers.take("L2");
    form.direction = BulkForm::Direction::Load;
    return spaces.size() == 1 && spaces[0] == Space::Global && !toGroup &&
           !toMBarrier;
  }
  if (spaces.size() != 2)
    return false;
  bool fromGlobal = spaces[1] == Space::Global;
  bool toGlobal = spaces[0] == Space::Global;
  if (fromGlobal && toGlobal)
    return false;
  form.direction = fromGlobal ? BulkForm::Direction::Load
                   : toGlobal ? BulkForm::Direction::Store
                              : BulkForm::Direction::Share;
  if (form.isTensor && form.direction == BulkForm::Direction::Share)
    return false;
  return toGlobal ? toGroup && !toMBarrier : toMBarrier && !toGroup;
}

static bool takeBulkReduction(InstructionDecoder &d, BulkForm &form) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Kernel &kernel = d.getKernel();
  int op = modifiers.takeOneOf(
      {"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  static const Op ops[] = {Op::Add, Op::Min, Op::Max, Op::Inc,
                           Op::Dec, Op::And, Op::Or,  Op::Xor};
  if (op < 0 || form.direction == BulkForm::Direction::Load)
    return false;
  form.op = uint8_t(ops[op]);
  form.payload = handlers.payload;
  modifiers.take("noftz");
  bool isStore = form.direction == BulkForm::Direction::Store;
  // Blocks on several host threads would reduce into the same bytes at once.
  if (isStore)
    kernel.orderSensitive = true;
  // The elements of a tensor have the type that its map says.
  if (form.isTensor)
    return true;
  Type type = modifiers.takeType();
  form.type = uint8_t(handlers.payload ? getPayloadType(type) : type);
  return isStore ? canReduce(ops[op], type) : canReduceShared(ops[op], type);
}

/// Takes what the two kinds have in common and emits the copy. `slots` are the
/// operands so far; the operands from `next` on are the mask and a cache hint.
static bool finishBulk(InstructionDecoder &d, const BulkForm &form,
                       std::vector<int32_t> slots, size_t next) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  bool multicast = modifiers.take("multicast::cluster");
  bool hint = modifiers.take("L2::cache_hint");
  if (modifiers.has("cp_mask") || modifiers.has("ignore_oob") ||
      modifiers.has("cta_group::1") || modifiers.has("cta_group::2"))
    return d.failInstruction();
  size_t expected = next + (multicast ? 1 : 0) + (hint ? 1 : 0);
  if (!d.needOperands(expected, expected))
    return false;
  if (multicast) {
    if (form.direction != BulkForm::Direction::Load || form.isPrefetch)
      return d.failInstruction();
    if (!d.read(d.operand(next), Type::U16, slots[4]) ||
        !d.resizeSlot(slots[4], 2, 4, false))
      return false;
  }
  Instruction I = d.make(bulkCopy);
  I.aux = uint32_t(kernel.bulkForms.size());
  kernel.bulkForms.push_back(form);
  I.target = d.keepSlots(slots);
  return d.emit(I);
}

/// Destination, source, size, mbarrier, mask, five coordinates, three offsets.
static constexpr size_t bulkSlots = 13;

static bool decodeBulkPlain(InstructionDecoder &d, BulkForm form) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  std::vector<int32_t> slots(bulkSlots, -1);
  Space to = form.direction == BulkForm::Direction::Store ? Space::Global
                                                          : Space::Shared;
  Space from = form.direction == BulkForm::Direction::Load ? Space::Global
                                                           : Space::Shared;
  if (form.isPrefetch) {
    int32_t ignored = 0;
    if (!d.needOperands(2, 3) || !readAddress(d, d.operand(0), from, ignored) ||
        !d.read(d.operand(1), Type::U32, ignored))
      return false;
    modifiers.take("L2::cache_hint");
    return d.emit(d.make(handlers.special("nop")));
  }
  if (!d.needOperands(3, 6) || !readAddress(d, d.operand(0), to, slots[0]) ||
      !readAddress(d, d.operand(1), from, slots[1]) ||
      !d.read(d.operand(2), Type::U32, slots[2]))
    return false;
  size_t next = 3;
  if (form.direction != BulkForm::Direction::Store) {
    if (!d.needOperands(4, 6) ||
        !readAddress(d, d.operand(3), Space::Shared, slots[3]))
      return false;
    next = 4;
  }
  return finishBulk(d, form, std::move(slots), next);
}

/// Reads [map, {coordinates}].
static bool readTensorOperand(InstructionDecoder &d, const Operand &o,
                              const BulkForm &form, std::vector<int32_t> &slots,
                              size_t at) {
  if (o.kind != Operand::Kind::Address || o.elements.size() != 1)
    return d.failSyntax("expected [map, {coordinates}]");
  Operand map = o;
  map.elements.clear();
  // A parameter is named by its place in the generic space.
  if (!readAddress(d, map, Space::Generic, slots[at]))
    return false;
  const Operand &list = o.elements[0];
  std::vector<const Operand *> coordinates = partsOf(list);
  if (coordinates.size() != form.rank)
    return d.failSyntax("expected " + std::to_string(form.rank) +
                        " coordinates, found " +
                        std::to_string(coordinates.size()));
  for (size_t i = 0; i < coordinates.size(); ++i)
    if (!d.read(*coordinates[i], Type::S32, slots[5 + i]))
      return false;
  return true;
}

static bool decodeBulkTensor(InstructionDecoder &d, BulkForm form) {
  std::vector<int32_t> slots(bulkSlots, -1);
  if (form.isPrefetch) {
    size_t next = 1;
    if (!d.needOperands(1, 3) ||
        !readTensorOperand(d, d.operand(0), form, slots, 1))
      return false;
    if (form.isIm2col && !readIm2colOffsets(d, form, slots, next))
      return false;
    return finishBulk(d, form, std::move(slots), next);
  }
  if (form.direction == BulkForm::Direction::Store)
    return d.needOperands(2, 3) &&
           readTensorOperand(d, d.operand(0), form, slots, 0) &&
           readAddress(d, d.operand(1), Space::Shared, slots[1]) &&
           finishBulk(d, form, std::move(slots), 2);
  size_t next = 3;
  if (!d.needOperands(3, 6) ||
      !readAddress(d, d.operand(0), Space::Shared, slots[0]) ||
      !readTensorOperand(d, d.operand(1), form, slots, 1) ||
      !readAddress(d, d.operand(2), Space::Shared, slots[3]))
    return false;
  if (form.isIm2col && !readIm2colOffsets(d, form, slots, next))
    return false;
  return finishBulk(d, form, std::move(slots), next);
}

static bool readIm2colOffsets(InstructionDecoder &d, const BulkForm &form,
                              std::vector<int32_t> &slots, size_t &next) {
  if (form.rank < 3)
    return d.failSyntax("im2col needs a tensor of rank 3 to 5");
  if (!d.needOperands(next + 1, next + 3))
    return false;
  const Operand &list = d.operand(next++);
  std::vector<const Operand *> offsets = partsOf(list);
  if (offsets.size() != size_t(form.rank) - 2)
    return d.failSyntax("expected " + std::to_string(form.rank - 2) +
                        " im2col offsets");
  for (size_t i = 0; i < offsets.size(); ++i) {
    int32_t &slot = slots[10 + i];
    if (!d.read(*offsets[i], Type::U16, slot) ||
        !d.resizeSlot(slot, 2, 4, false))
      return false;
  }
  return true;
}
