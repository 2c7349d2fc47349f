//===- FloatConstants.cpp - Float constants of bodies ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatConstants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

Value mlir::fusion::buildNumber(OpBuilder &builder, Location loc, Value like,
                                double number) {
  Type type = like.getType();
  TypedAttr attr = FloatAttr::get(getElementTypeOrSelf(type), number);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, ArrayRef<Attribute>(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

bool mlir::fusion::isNumber(Value value, double number) {
  FloatAttr constant;
  return matchPattern(value, m_Constant(&constant)) &&
         constant.getValue().convertToDouble() == number;
}
