//===- BoundedBuilder.cpp - Bounded numbers as IR -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the building of operations on bounded numbers.
//
//===----------------------------------------------------------------------===//

#include "Bounder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

BoundedBuilder::BoundedBuilder(ModuleOp module)
    : module(module),
      complex(ComplexType::get(Float64Type::get(module.getContext()))) {}

Type BoundedBuilder::getBoundedType(Type type) const {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(complex);
  return complex;
}

Value BoundedBuilder::f64(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
}

Value BoundedBuilder::constant(OpBuilder &b, Location loc, double value,
                               double error) {
  return complex::ConstantOp::create(
      b, loc, complex,
      b.getArrayAttr({b.getF64FloatAttr(value), b.getF64FloatAttr(error)}));
}

Value BoundedBuilder::create(OpBuilder &b, Location loc, Value value,
                             Value error) {
  return complex::CreateOp::create(b, loc, complex, value, error);
}

Value BoundedBuilder::getValue(OpBuilder &b, Location loc, Value bounded) {
  return complex::ReOp::create(b, loc, bounded);
}

Value BoundedBuilder::getError(OpBuilder &b, Location loc, Value bounded) {
  return complex::ImOp::create(b, loc, bounded);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

func::FuncOp BoundedBuilder::declare(StringRef name, TypeRange arguments,
                                     TypeRange results) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  OpBuilder b(module.getBodyRegion());
  auto function = func::FuncOp::create(
      b, module.getLoc(), name,
      FunctionType::get(b.getContext(), arguments, results));
  function.setPrivate();
  // Functions of their arguments alone, but for the one that takes a note.
  if (!results.empty())
    function->setAttr("llvm.readnone", b.getUnitAttr());
  return function;
}

Value BoundedBuilder::call(OpBuilder &b, Location loc, StringRef name,
                           ValueRange arguments) {
  Type f64 = b.getF64Type();
  func::FuncOp callee = declare(name, arguments.getTypes(), {f64, f64});
  auto call = func::CallOp::create(b, loc, callee, arguments);
  return create(b, loc, call.getResult(0), call.getResult(1));
}

Value BoundedBuilder::compute(OpBuilder &b, Location loc, BoundedOp op,
                              ValueRange operands, int32_t format,
                              int32_t flags) {
  auto i32 = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  };
  SmallVector<Value> arguments{i32(static_cast<int32_t>(op))};
  for (Value operand : operands) {
    arguments.push_back(getValue(b, loc, operand));
    arguments.push_back(getError(b, loc, operand));
  }
  while (arguments.size() < 7)
    arguments.push_back(f64(b, loc, 0));
  arguments.push_back(i32(format));
  arguments.push_back(i32(flags));
  return call(b, loc, kBoundedCall, arguments);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value BoundedBuilder::fromInteger(OpBuilder &b, Location loc, Value integer) {
  Type type = integer.getType(), i64 = b.getI64Type();
  APInt known;
  if (matchPattern(integer, m_ConstantInt(&known)) && known.getBitWidth() < 54)
    return constant(b, loc,
                    type.isInteger(1)
                        ? static_cast<double>(known.getZExtValue())
                        : static_cast<double>(known.getSExtValue()));
  if (type.isIndex())
    integer = arith::IndexCastOp::create(b, loc, i64, integer);
  else if (type.isInteger(1))
    integer = arith::ExtUIOp::create(b, loc, i64, integer);
  else if (!type.isInteger(64))
    integer = arith::ExtSIOp::create(b, loc, i64, integer);
  return call(b, loc, kFromIntegerCall, integer);
}

Value BoundedBuilder::toInteger(OpBuilder &b, Location loc, Value bounded,
                                Type type) {
  Value value = getValue(b, loc, bounded);
  if (type.isInteger(1))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value,
                                 f64(b, loc, 0));
  Value integer = arith::FPToSIOp::create(b, loc, b.getI64Type(), value);
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, type, integer);
  if (type.isInteger(64))
    return integer;
  return arith::TruncIOp::create(b, loc, type, integer);
}

Value BoundedBuilder::decide(OpBuilder &b, Location loc, Value bounded,
                             Type type) {
  Value error = getError(b, loc, bounded);
  func::CallOp::create(b, loc, declare(kNoteOpenCall, error.getType(), {}),
                       error);
  return toInteger(b, loc, bounded, type);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value BoundedBuilder::map(OpBuilder &b, Location loc, ValueRange inputs,
                          Type element,
                          function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(inputs.front().getType()).clone(element);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, inputs.front());
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  // The sizes may be constants where the type does not say so.
  if (empty.getType() != type)
    empty = tensor::CastOp::create(b, loc, type, empty);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps(inputs.size() + 1, identity);
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, type, inputs, empty, maps, kinds,
             [&](OpBuilder &inner, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(inner, loc,
                                       body(inner, arguments.drop_back()));
             })
      .getResult(0);
}

Value BoundedBuilder::fromTensor(OpBuilder &b, Location loc, Value tensor) {
  return map(b, loc, tensor, complex, [&](OpBuilder &inner, ValueRange inputs) {
    Value element = inputs.front();
    if (element.getType().isF64())
      return create(inner, loc, element, f64(inner, loc, 0));
    return fromInteger(inner, loc, element);
  });
}
