//===- MmaOperands.cpp - Operands of matrix instructions ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the registers that matrix instructions read.
//
//===----------------------------------------------------------------------===//

#include "MmaOperands.h"
#include "PackPairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

Value mlir::fusion::packOperand(ThreadBuilder &builder,
                                ArrayRef<Value> elements, bool plainFactors) {
  Type type = elements.front().getType();
  if (type.isF64())
    return elements.front();
  Type i32 = builder.getI32Type();
  if (type.isF32()) // The instruction would cut the mantissa off, not round it.
    return LLVM::CallIntrinsicOp::create(
               builder, i32, builder.getStringAttr("llvm.nvvm.f2tf32.rna"),
               elements.front())
        .getResult(0);
  Value vector;
  if (elements.size() == 2 && !plainFactors)
    vector = packPair(builder, builder.getLoc(), elements[0], elements[1]);
  if (!vector) {
    SmallVector<Value> stored;
    for (Value element : elements)
      stored.push_back(builder.toMemory(element));
    vector = builder.buildVector(stored);
  }
  if (type.isF16())
    return vector;
  return LLVM::BitcastOp::create(builder, i32, vector);
}

Scalars mlir::fusion::packWords(ThreadBuilder &builder, const Scalars &scalars,
                                bool plainFactors) {
  Type i32 = builder.getI32Type();
  unsigned packed = 32 / scalars.front().getType().getIntOrFloatBitWidth();
  Scalars words;
  for (unsigned i = 0; i < scalars.size(); i += packed) {
    if (packed == 2 && !plainFactors)
      if (Value pair =
              packPair(builder, builder.getLoc(), scalars[i], scalars[i + 1])) {
        words.push_back(LLVM::BitcastOp::create(builder, i32, pair));
        continue;
      }
    SmallVector<Value> members;
    for (unsigned j = 0; j < packed; ++j)
      members.push_back(builder.toMemory(scalars[i + j]));
    if (scalars.front().getType().isF32())
      words.push_back(packOperand(builder, scalars[i], plainFactors));
    else if (packed == 1)
      words.push_back(
          members.front().getType() == i32
              ? members.front()
              : LLVM::BitcastOp::create(builder, i32, members.front()));
    else
      words.push_back(
          LLVM::BitcastOp::create(builder, i32, builder.buildVector(members)));
  }
  return words;
}
