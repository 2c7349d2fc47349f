//===- DecodeMatrix.cpp - Matrices of one warp ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of ldmatrix, stmatrix, movmatrix and
// mma.sync.
//
//===----------------------------------------------------------------------===//

#include "Decode/Families.h"

using namespace fusionemu;

MatrixType Modifiers::takeMatrixType() {
  for (size_t i = 0; i < list.size(); ++i) {
    if (used[i])
      continue;
    MatrixType type = parseMatrixType(list[i]);
    if (type == MatrixType::None)
      continue;
    used[i] = true;
    return type;
  }
  return MatrixType::None;
}

/// A number of at most three digits at `at`, behind the letter `letter`.
static bool parseExtent(std::string_view text, size_t &at, char letter,
                        unsigned &value) {
  if (at >= text.size() || text[at] != letter)
    return false;
  size_t first = ++at;
  value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    value = value * 10 + unsigned(text[at] - '0');
  return at > first && at - first <= 3;
}

bool Modifiers::takeMatrixShape(unsigned &m, unsigned &n, unsigned &k) {
  for (size_t i = 0; i < list.size(); ++i) {
    size_t at = 0;
    if (used[i] || !parseExtent(list[i], at, 'm', m) ||
        !parseExtent(list[i], at, 'n', n))
      continue;
    k = 0;
    if (at != list[i].size() &&
        (!parseExtent(list[i], at, 'k', k) || at != list[i].size()))
      continue;
    used[i] = true;
    return true;
  }
  return false;
}

bool fusionemu::takeMatrixRegisters(InstructionDecoder &d,
                                    const Operand &operand, unsigned count,
                                    unsigned bytes, bool writes,
                                    uint32_t &first) {
  if (operand.kind != Operand::Kind::Vector || operand.elements.size() != count)
    return d.failSyntax("expected a vector of " + std::to_string(count) +
                        (count == 1 ? " register" : " registers"));
  // Copies of a called function take memory for their registers too.
  if (!d.countDecoded(count / 8))
    return false;
  std::vector<int32_t> slots(count);
  for (unsigned i = 0; i < count; ++i) {
    const Operand &element = operand.elements[i];
    if (!(writes ? d.writeSized(element, bytes, false, slots[i])
                 : d.readSized(element, bytes, false, false, slots[i])))
      return false;
  }
  first = d.keepSlots(slots);
  return true;
}

static bool decodeMatrixMove(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool isLoad = syntax.name == "ldmatrix";
  bool isStore = syntax.name == "stmatrix";
  bool aligned = modifiers.take("sync");
  aligned &= modifiers.take("aligned");
  unsigned m = 0, n = 0, k = 0;
  if (!aligned || !modifiers.takeMatrixShape(m, n, k) || m != 8 || n != 8 ||
      k != 0)
    return d.failInstruction();
  bool transposed = modifiers.take("trans");
  if (!isLoad && !isStore) {
    if (!transposed || modifiers.takeType() != Type::U16)
      return d.failInstruction();
    Instruction I = d.make(handlers.matrixMove(MatrixMove::Transpose, true));
    if (!d.needOperands(2, 2) ||
        !d.readSized(d.operand(1), 4, false, false, I.a) ||
        !d.writeSized(d.operand(0), 4, false, I.dst))
      return false;
    return d.emitAll(I);
  }
  static const unsigned counts[] = {1, 2, 4};
  int number = modifiers.takeOneOf({"x1", "x2", "x4"});
  bool isShared = modifiers.takeOneOf({"shared", "shared::cta"}) >= 0;
  if (number < 0 || modifiers.takeType() != Type::U16)
    return d.failInstruction();
  if (!d.needOperands(2, 2))
    return false;
  Instruction I = d.make(handlers.matrixMove(
      isLoad ? MatrixMove::Load : MatrixMove::Store, transposed));
  I.d = int32_t(counts[number]);
  if (!d.resolveAddress(d.operand(isLoad ? 1 : 0), I,
                        isShared ? Space::Shared : Space::Generic) ||
      !takeMatrixRegisters(d, d.operand(isLoad ? 0 : 1), counts[number], 4,
                           isLoad, I.target))
    return false;
  if (I.space != Space::Shared && I.space != Space::Generic)
    return d.failSyntax("expected an address of shared memory");
  return finishAccess(d, I, Type::B128, 1) && d.emitAll(I);
}

/// Whether mma.sync exists for these types in this shape.
static bool isMmaShape(const MmaOp &op, bool isNarrowKind) {
  auto is = [&](unsigned m, unsigned k) { return op.m == m && op.k == k; };
  if (op.n != 8)
    return false;
  bool wide = op.d == MatrixType::F32;
  switch (op.a) {
  case MatrixType::F16:
    return op.b == op.a && (wide || op.d == MatrixType::F16) &&
           (is(16, 8) || is(16, 16));
  case MatrixType::BF16:
    return op.b == op.a && wide && (is(16, 8) || is(16, 16));
  case MatrixType::TF32:
    return op.b == op.a && wide && (is(16, 4) || is(16, 8));
  case MatrixType::F64:
    return op.b == op.a && op.d == op.a &&
           (is(8, 4) || is(16, 4) || is(16, 8) || is(16, 16));
  case MatrixType::S8:
  case MatrixType::U8:
    return (op.b == MatrixType::S8 || op.b == MatrixType::U8) &&
           op.d == MatrixType::S32 && (is(8, 16) || is(16, 16) || is(16, 32));
  case MatrixType::E4M3:
  case MatrixType::E5M2:
    return (op.b == MatrixType::E4M3 || op.b == MatrixType::E5M2) &&
           (wide || op.d == MatrixType::F16) &&
           (is(16, 32) || (is(16, 16) && !isNarrowKind));
  default:
    return false;
  }
}

static bool decodeMma(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Kernel &kernel = d.getKernel();
  MmaOp op;
  op.payload = handlers.payload;
  unsigned m = 0, n = 0, k = 0;
  bool aligned = modifiers.take("sync");
  aligned &= modifiers.take("aligned");
  if (!aligned || !modifiers.takeMatrixShape(m, n, k) ||
      !modifiers.take("row") || !modifiers.take("col"))
    return d.failInstruction();
  bool isNarrowKind = modifiers.take("kind::f8f6f4");
  op.d = modifiers.takeMatrixType();
  op.a = modifiers.takeMatrixType();
  op.b = modifiers.takeMatrixType();
  MatrixType c = modifiers.takeMatrixType();
  op.m = uint16_t(m);
  op.n = uint16_t(n);
  op.k = uint16_t(k);
  if (c != op.d || !isMmaShape(op, isNarrowKind) ||
      (isNarrowKind && getBits(op.a) != 8))
    return d.failInstruction();
  if (op.d == MatrixType::S32)
    op.saturate = modifiers.take("satfinite");
  op.payload = handlers.payload && isFloat(op.a);
  bool isDouble = op.a == MatrixType::F64;
  if (isDouble)
    modifiers.take("rn");
  if (isFloat(op.a) && !isDouble)
    op.model = getDotModel(op.a, op.d, k, false);
  // Other forms, such as .sp, have other operands.
  if (!modifiers.allTaken())
    return d.failInstruction();
  if (!d.needOperands(4, 4))
    return false;
  unsigned bytes = isDouble ? 8 : 4;
  op.countD = countMatrixRegisters(op.d, m, n);
  op.countA = countMatrixRegisters(op.a, m, k);
  op.countB = countMatrixRegisters(op.b, k, n);
  if (!takeMatrixRegisters(d, d.operand(1), op.countA, bytes, false,
                           op.firstA) ||
      !takeMatrixRegisters(d, d.operand(2), op.countB, bytes, false,
                           op.firstB) ||
      !takeMatrixRegisters(d, d.operand(3), op.countD, bytes, false,
                           op.firstC) ||
      !takeMatrixRegisters(d, d.operand(0), op.countD, bytes, true, op.firstD))
    return false;
  Instruction I = d.make(handlers.mma(isDouble));
  I.aux = uint32_t(kernel.mmas.size());
  kernel.mmas.push_back(op);
  return d.emitAll(I);
}

void fusionemu::addMatrixDecoders(DecodeTable &table) {
  table.insert({
      {"ldmatrix", decodeMatrixMove},
      {"movmatrix", decodeMatrixMove},
      {"stmatrix", decodeMatrixMove},
      {"mma", decodeMma},
  });
}
