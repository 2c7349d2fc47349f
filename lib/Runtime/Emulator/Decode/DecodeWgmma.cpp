//===- DecodeWgmma.cpp - Matrices of a warpgroup --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of wgmma.
//
//===----------------------------------------------------------------------===//

#include "Decode/Families.h"
#include "Matrix/Wgmma.h"

#include <algorithm>

using namespace fusionemu;

static bool decodeWgmmaMultiply(InstructionDecoder &d);

/// Whether wgmma exists for these types with this depth and width.
static bool isWgmmaShape(const WgmmaOp &op) {
  unsigned bits = getBits(op.a);
  if (op.a == MatrixType::None || op.b == MatrixType::None ||
      bits != getBits(op.b) || bits > 32 || op.k * bits != 256 || op.n < 8 ||
      op.n > 256 || op.n % 8 != 0)
    return false;
  bool wide = op.d == MatrixType::F32;
  switch (op.a) {
  case MatrixType::F16:
    return op.b == op.a && (wide || op.d == MatrixType::F16);
  case MatrixType::BF16:
  case MatrixType::TF32:
    return op.b == op.a && wide;
  case MatrixType::E4M3:
  case MatrixType::E5M2:
    return isFloat(op.b) && (wide || op.d == MatrixType::F16);
  case MatrixType::S8:
  case MatrixType::U8:
    // Beyond 32 columns only every other width exists.
    return !isFloat(op.b) && op.d == MatrixType::S32 &&
           (op.n <= 24 || op.n % 16 == 0);
  default:
    return false;
  }
}

static bool decodeWgmma(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  Kernel &kernel = d.getKernel();
  bool isMultiply = modifiers.take("mma_async");
  int other =
      isMultiply ? -1
                 : modifiers.takeOneOf({"fence", "commit_group", "wait_group"});
  bool aligned = modifiers.take("sync");
  aligned &= modifiers.take("aligned");
  if (!aligned || (!isMultiply && other < 0))
    return d.failInstruction();
  kernel.usesWgmma = true;
  kernel.usesAsync = true;
  if (isMultiply)
    return decodeWgmmaMultiply(d);
  static const Handler handlers[] = {wgmmaFence, wgmmaCommit, wgmmaWait};
  Instruction I = d.make(handlers[other]);
  if (other != 2)
    return d.needOperands(0, 0) && d.emit(I);
  uint64_t left = 0;
  if (!d.needOperands(1, 1) || !d.readImmediate(d.operand(0), left))
    return false;
  // More than can be in flight is no wait.
  I.aux = uint32_t(std::min<uint64_t>(left, 0xffff));
  return d.emit(I);
}

static bool decodeWgmmaMultiply(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  Kernel &kernel = d.getKernel();
  const InstructionSyntax &syntax = d.getSyntax();
  WgmmaOp op;
  op.payload = handlers.payload;
  unsigned m = 0, n = 0, k = 0;
  if (!modifiers.takeMatrixShape(m, n, k) || m != 64)
    return d.failInstruction();
  op.n = uint16_t(n);
  op.k = uint16_t(k);
  op.d = modifiers.takeMatrixType();
  op.a = modifiers.takeMatrixType();
  op.b = modifiers.takeMatrixType();
  if (!isWgmmaShape(op))
    return d.failInstruction();
  bool isInteger = !isFloat(op.a);
  op.payload = handlers.payload && !isInteger;
  if (isInteger)
    op.saturate = modifiers.take("satfinite");
  else
    op.model = getDotModel(op.a, op.d, k, true);
  // Other forms, such as .sp, have other operands.
  if (!modifiers.allTaken())
    return d.failInstruction();
  if (syntax.operands.size() < 4)
    return d.needOperands(4, 8);
  bool inRegisters = d.operand(1).kind == Operand::Kind::Vector;
  // 16-bit operands in shared memory may lie transposed there.
  size_t transposes = getBits(op.a) != 16 ? 0 : inRegisters ? 1 : 2;
  size_t operands = 4 + (isInteger ? 0 : 2 + transposes);
  if (!d.needOperands(operands, operands))
    return false;
  uint64_t values[4] = {1, 1, 0, 0};
  for (size_t i = 4; i < operands; ++i)
    if (!d.readImmediate(d.operand(i), values[i - 4]))
      return false;
  for (size_t i = 0; i < 2; ++i)
    if (values[i] != 1 && values[i] != ~uint64_t(0))
      return d.failSyntax("expected 1 or -1 to scale a matrix");
  for (size_t i = 2; i < 4; ++i)
    if (values[i] > 1)
      return d.failSyntax("expected 0 or 1 to transpose a matrix");
  op.negate = values[0] != values[1];
  op.transposeA = !inRegisters && values[2] == 1;
  op.transposeB = values[inRegisters ? 2 : 3] == 1;

  // Registers in flight are named where they are: nothing may be converted
  // before or after the instruction.
  auto hasWidth = [&](const Operand &o, unsigned bytes) {
    Symbol *symbol = d.registerOf(o);
    return symbol && !symbol->isPredicate && symbol->bytes == bytes;
  };
  auto take = [&](const Operand &o, unsigned count, uint32_t &first) {
    for (const Operand &element : o.elements)
      if (!hasWidth(element, 4))
        return d.failSyntax("expected registers of 32 bits");
    return takeMatrixRegisters(d, o, count, 4, false, first);
  };
  op.countD = countMatrixRegisters(op.d, 16, n);
  if (!take(d.operand(0), op.countD, op.firstD))
    return false;
  auto takeDescriptor = [&](const Operand &o, uint32_t &first) {
    int32_t slot = 0;
    if (!d.readSized(o, 8, false, false, slot))
      return false;
    first = uint32_t(kernel.extraOperands.size());
    kernel.extraOperands.push_back(slot);
    return true;
  };
  if (inRegisters) {
    op.countA = countMatrixRegisters(op.a, 16, k);
    if (!take(d.operand(1), op.countA, op.firstA))
      return false;
  } else if (!takeDescriptor(d.operand(1), op.descriptorA)) {
    return false;
  }
  if (!takeDescriptor(d.operand(2), op.descriptorB) ||
      !d.readPredicate(d.operand(3), op.scaleD, op.scaleDNegated))
    return false;
  Instruction I = d.make(wgmmaIssue);
  I.aux = uint32_t(kernel.wgmmas.size());
  kernel.wgmmas.push_back(op);
  return d.emit(I);
}

void fusionemu::addWgmmaDecoders(DecodeTable &table) {
  table.insert({
      {"wgmma", decodeWgmma},
  });
}
