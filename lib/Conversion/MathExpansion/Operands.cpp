//===- Operands.cpp - From operations to numbers and back -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the passage between an operation's values and the
// numbers that kernels compute with.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::fusion;

bool mlir::fusion::isExpandableFloat(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.isScalable())
      return false;
    type = vector.getElementType();
  }
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         isFloat8(type);
}

Num mlir::fusion::flatNum(ImplicitLocOpBuilder &b, Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector || vector.getRank() == 1)
    return Num(b, value);
  auto flat =
      VectorType::get({vector.getNumElements()}, vector.getElementType());
  return Num(b, vector::ShapeCastOp::create(b, flat, value));
}

Num mlir::fusion::computeNum(ImplicitLocOpBuilder &b, Value value) {
  Num x = flatNum(b, value);
  if (isFloat8(x.element()))
    return extendFloat8(
        Num(b, arith::BitcastOp::create(b, x.shaped(b.getI8Type()), Value(x))),
        x.element(), b.getF32Type());
  return x.isF64() ? x : x.extendTo(b.getF32Type());
}

Value mlir::fusion::restore(Num result, Type type) {
  ImplicitLocOpBuilder &b = result.b();
  Type element = getElementTypeOrSelf(type);
  if (isFloat8(element))
    result = Num(
        b, arith::BitcastOp::create(b, result.shaped(element),
                                    Value(truncateToFloat8(result, element))));
  else if (isa<FloatType>(element))
    result = result.truncateTo(element);
  if (result.type() == type)
    return result;
  return vector::ShapeCastOp::create(b, type, Value(result));
}

KernelOptions mlir::fusion::kernelOptions(const MathOptions &options, Type type,
                                          arith::FastMathFlags flags) {
  KernelOptions result;
  result.fast =
      options.fast || bitEnumContainsAll(flags, arith::FastMathFlags::afn);
  Type element = getElementTypeOrSelf(type);
  result.roundedToHalf = element.getIntOrFloatBitWidth() <= 16;
  if (element.isF16() || isFloat8(element))
    result.largestOperand = 65504.0;
  return result;
}
