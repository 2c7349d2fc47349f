//===- Decomposition.cpp - Building blocks of decompositions --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the decompositions of fusion ops to linalg are
// written with.
//
//===----------------------------------------------------------------------===//

#include "Decomposition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Scalar fusion::makeConstant(ImplicitLocOpBuilder &b, Type type, double number) {
  TypedAttr value;
  if (auto floatType = dyn_cast<FloatType>(type))
    value = b.getFloatAttr(floatType, number);
  else
    value = b.getIntegerAttr(type, static_cast<int64_t>(number));
  return {b, arith::ConstantOp::create(b, value)};
}

Scalar fusion::makeInteger(ImplicitLocOpBuilder &b, Type type, int64_t number) {
  return {b, arith::ConstantOp::create(b, b.getIntegerAttr(type, number))};
}

Scalar Scalar::constant(double number) const {
  return makeConstant(*builder, getType(), number);
}

TypedAttr fusion::getLowest(Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat::getInf(floatType.getFloatSemantics(),
                                                /*Negative=*/true));
  return IntegerAttr::get(
      type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth()));
}

/// Builds the float op or the integer op, by the type of the operands.
template <typename FloatOp, typename IntOp>
static Scalar buildBinary(Scalar a, Scalar b) {
  ImplicitLocOpBuilder &builder = a.getBuilder();
  if (a.isFloat())
    return {builder, FloatOp::create(builder, a, b)};
  return {builder, IntOp::create(builder, a, b)};
}

template <typename Op>
static Scalar buildUnary(Scalar x) {
  return {x.getBuilder(), Op::create(x.getBuilder(), Value(x))};
}

Scalar fusion::operator+(Scalar a, Scalar b) {
  return buildBinary<arith::AddFOp, arith::AddIOp>(a, b);
}
Scalar fusion::operator-(Scalar a, Scalar b) {
  return buildBinary<arith::SubFOp, arith::SubIOp>(a, b);
}
Scalar fusion::operator*(Scalar a, Scalar b) {
  return buildBinary<arith::MulFOp, arith::MulIOp>(a, b);
}
Scalar fusion::operator/(Scalar a, Scalar b) {
  return buildBinary<arith::DivFOp, arith::DivUIOp>(a, b);
}
Scalar fusion::operator%(Scalar a, Scalar b) {
  return buildBinary<arith::RemFOp, arith::RemUIOp>(a, b);
}
Scalar fusion::operator-(Scalar a) { return buildUnary<arith::NegFOp>(a); }
Scalar fusion::max(Scalar a, Scalar b) {
  return buildBinary<arith::MaximumFOp, arith::MaxSIOp>(a, b);
}
Scalar fusion::min(Scalar a, Scalar b) {
  return buildBinary<arith::MinimumFOp, arith::MinSIOp>(a, b);
}
Scalar fusion::exp(Scalar x) { return buildUnary<math::ExpOp>(x); }
Scalar fusion::expm1(Scalar x) { return buildUnary<math::ExpM1Op>(x); }
Scalar fusion::log(Scalar x) { return buildUnary<math::LogOp>(x); }
Scalar fusion::log1p(Scalar x) { return buildUnary<math::Log1pOp>(x); }
Scalar fusion::tanh(Scalar x) { return buildUnary<math::TanhOp>(x); }
Scalar fusion::erf(Scalar x) { return buildUnary<math::ErfOp>(x); }
Scalar fusion::rsqrt(Scalar x) { return buildUnary<math::RsqrtOp>(x); }
Scalar fusion::abs(Scalar x) { return buildUnary<math::AbsFOp>(x); }

static Scalar buildCompare(Scalar a, Scalar b, arith::CmpFPredicate forFloats,
                           arith::CmpIPredicate forIntegers) {
  ImplicitLocOpBuilder &builder = a.getBuilder();
  if (a.isFloat())
    return {builder, arith::CmpFOp::create(builder, forFloats, a, b)};
  return {builder, arith::CmpIOp::create(builder, forIntegers, a, b)};
}

Scalar fusion::lt(Scalar a, Scalar b) {
  return buildCompare(a, b, arith::CmpFPredicate::OLT,
                      arith::CmpIPredicate::slt);
}
Scalar fusion::gt(Scalar a, Scalar b) {
  return buildCompare(a, b, arith::CmpFPredicate::OGT,
                      arith::CmpIPredicate::sgt);
}
Scalar fusion::ge(Scalar a, Scalar b) {
  return buildCompare(a, b, arith::CmpFPredicate::OGE,
                      arith::CmpIPredicate::sge);
}
Scalar fusion::eq(Scalar a, Scalar b) {
  return buildCompare(a, b, arith::CmpFPredicate::OEQ,
                      arith::CmpIPredicate::eq);
}
Scalar fusion::logicalAnd(Scalar a, Scalar b) {
  return {a.getBuilder(), arith::AndIOp::create(a.getBuilder(), a, b)};
}
Scalar fusion::select(Scalar condition, Scalar a, Scalar b) {
  return {a.getBuilder(),
          arith::SelectOp::create(a.getBuilder(), condition, a, b)};
}

Scalar fusion::convertFloat(Scalar x, Type type) {
  ImplicitLocOpBuilder &b = x.getBuilder();
  if (x.getType() == type)
    return x;
  if (!x.isFloat()) {
    Scalar wide = convertInteger(x, b.getI64Type());
    return {b, arith::SIToFPOp::create(b, type, wide)};
  }
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  // Floats of one width (f16 and bf16) have no direct conversion.
  if (from == to)
    return convertFloat(convertFloat(x, b.getF32Type()), type);
  if (from < to)
    return {b, arith::ExtFOp::create(b, type, Value(x))};
  return {b, arith::TruncFOp::create(b, type, Value(x))};
}

Scalar fusion::convertInteger(Scalar x, Type type) {
  ImplicitLocOpBuilder &b = x.getBuilder();
  if (x.getType() == type)
    return x;
  if (isa<IndexType>(type) || isa<IndexType>(x.getType()))
    return {b, arith::IndexCastOp::create(b, type, x)};
  if (x.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return {b, arith::ExtSIOp::create(b, type, x)};
  return {b, arith::TruncIOp::create(b, type, x)};
}

Type fusion::getComputeType(Type elementType) {
  if (isa<FloatType>(elementType) && elementType.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(elementType.getContext());
  return elementType;
}

Type fusion::getComputeType(ValueRange values) {
  Type widest;
  for (Value value : values) {
    if (!value)
      continue;
    Type type = getComputeType(getElementTypeOrSelf(value.getType()));
    if (!isa<FloatType>(type))
      continue;
    if (!widest ||
        widest.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
      widest = type;
  }
  return widest;
}

Scalar fusion::getLoopIndex(ImplicitLocOpBuilder &body, int64_t loop) {
  return {body, linalg::IndexOp::create(body, static_cast<uint64_t>(loop))};
}

Scalar fusion::extract(ImplicitLocOpBuilder &body, Value tensor,
                       ArrayRef<Value> indices) {
  return {body, tensor::ExtractOp::create(body, tensor, ValueRange(indices))};
}

//===----------------------------------------------------------------------===//
// Decomposer
//===----------------------------------------------------------------------===//

LoopOperand Decomposer::along(Value tensor, ArrayRef<int64_t> loops,
                              int64_t numLoops) {
  SmallVector<AffineExpr> exprs;
  for (int64_t loop : loops)
    exprs.push_back(b.getAffineDimExpr(loop));
  return {tensor, AffineMap::get(numLoops, 0, exprs, b.getContext())};
}

LoopOperand Decomposer::along(Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return {tensor, b.getMultiDimIdentityMap(rank)};
}

Value Decomposer::build(
    ArrayRef<LoopOperand> operands, Value init, AffineMap outMap,
    function_ref<Scalar(ImplicitLocOpBuilder &, ArrayRef<Scalar>, Scalar)>
        body) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const LoopOperand &operand : operands) {
    inputs.push_back(operand.tensor);
    maps.push_back(operand.map);
  }
  maps.push_back(outMap);
  SmallVector<utils::IteratorType> iterators(outMap.getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : outMap.getResults())
    iterators[cast<AffineDimExpr>(expr).getPosition()] =
        utils::IteratorType::parallel;

  auto buildBody = [&](OpBuilder &nested, Location loc, ValueRange args) {
    ImplicitLocOpBuilder inner(loc, nested);
    SmallVector<Scalar> scalars;
    for (Value arg : args.drop_back()) {
      Scalar scalar(inner, arg);
      bool narrow = scalar.isFloat() && isa<FloatType>(computeType) &&
                    arg.getType().getIntOrFloatBitWidth() <
                        computeType.getIntOrFloatBitWidth();
      scalars.push_back(narrow ? convertFloat(scalar, computeType) : scalar);
    }
    Scalar result = body(inner, scalars, Scalar(inner, args.back()));
    Type elementType = args.back().getType();
    if (result.isFloat())
      result = convertFloat(result, elementType);
    linalg::YieldOp::create(inner, ValueRange{Value(result)});
  };
  auto generic = linalg::GenericOp::create(b, init.getType(), inputs, init,
                                           maps, iterators, buildBody);
  return generic.getResult(0);
}

Value Decomposer::elementwise(ArrayRef<LoopOperand> operands,
                              ArrayRef<OpFoldResult> shape, Type elementType,
                              BodyFn body) {
  Value init = createEmpty(shape, elementType);
  return build(operands, init, b.getMultiDimIdentityMap(shape.size()),
               [&](ImplicitLocOpBuilder &inner, ArrayRef<Scalar> args, Scalar) {
                 return body(inner, args);
               });
}

Value Decomposer::reduce(ArrayRef<LoopOperand> operands, int64_t numLoops,
                         ArrayRef<int64_t> kept, ArrayRef<OpFoldResult> shape,
                         Accumulation accumulation, BodyFn body,
                         Type accumulatorType) {
  Type type = accumulatorType ? accumulatorType : computeType;
  TypedAttr start =
      accumulation == Accumulation::Max ? getLowest(type) : b.getZeroAttr(type);
  Value init = createFilled(shape, start);
  return build(operands, init, along(init, kept, numLoops).map,
               [&](ImplicitLocOpBuilder &inner, ArrayRef<Scalar> args,
                   Scalar accumulator) {
                 Scalar element = body(inner, args);
                 return accumulation == Accumulation::Max
                            ? max(accumulator, element)
                            : accumulator + element;
               });
}

OpFoldResult Decomposer::getSize(Value tensor, int64_t dim) {
  return tensor::getMixedSize(b, b.getLoc(), tensor, dim);
}

SmallVector<OpFoldResult> Decomposer::getSizes(Value tensor) {
  return tensor::getMixedSizes(b, b.getLoc(), tensor);
}

Value Decomposer::getIndex(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
}

OpFoldResult Decomposer::multiply(ArrayRef<OpFoldResult> sizes) {
  int64_t known = 1;
  Value product;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> number = getConstantIntValue(size)) {
      known *= *number;
      continue;
    }
    Value value = cast<Value>(size);
    product =
        product ? arith::MulIOp::create(b, product, value).getResult() : value;
  }
  if (!product)
    return b.getIndexAttr(known);
  if (known == 1)
    return product;
  Value factor = arith::ConstantIndexOp::create(b, known);
  return arith::MulIOp::create(b, product, factor).getResult();
}

Scalar Decomposer::getIndex(ImplicitLocOpBuilder &body, OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return makeInteger(body, body.getIndexType(), *number);
  return {body, cast<Value>(size)};
}

Scalar Decomposer::getCount(ImplicitLocOpBuilder &body, OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return makeConstant(body, computeType, static_cast<double>(*number));
  return convertFloat(Scalar(body, cast<Value>(size)), computeType);
}

Value Decomposer::createEmpty(ArrayRef<OpFoldResult> shape, Type elementType) {
  return tensor::EmptyOp::create(b, shape, elementType);
}

Value Decomposer::createFilled(ArrayRef<OpFoldResult> shape, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b, value);
  Value empty = createEmpty(shape, value.getType());
  return linalg::FillOp::create(b, scalar, empty).getResult(0);
}

Value Decomposer::castTo(Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  return tensor::CastOp::create(b, type, tensor);
}
