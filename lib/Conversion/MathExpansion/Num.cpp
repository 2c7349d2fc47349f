//===- Num.cpp - Numbers under construction ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the value class in which the kernels of the math
// expansion are written.
//
//===----------------------------------------------------------------------===//

#include "Num.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

static Type withElement(Type shape, Type element) {
  if (auto vector = dyn_cast<VectorType>(shape))
    return VectorType::get(vector.getShape(), element);
  return element;
}

static Num splat(const Num &like, Type element, Attribute scalar) {
  Type type = like.shaped(element);
  if (auto vector = dyn_cast<VectorType>(type))
    return Num(like.b(), arith::ConstantOp::create(
                             like.b(), DenseElementsAttr::get(vector, scalar)));
  return Num(like.b(),
             arith::ConstantOp::create(like.b(), cast<TypedAttr>(scalar)));
}

Type Num::shaped(Type element) const { return withElement(type(), element); }

Num Num::c(double constant) const {
  return splat(*this, element(), FloatAttr::get(element(), constant));
}

Num Num::i(int64_t constant) const {
  APInt bits(element().getIntOrFloatBitWidth(), constant, /*isSigned=*/true,
             /*implicitTrunc=*/true);
  return splat(*this, element(), IntegerAttr::get(element(), bits));
}

Num Num::bits(uint64_t pattern) const {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(element()).getFloatSemantics();
  APInt raw(llvm::APFloat::getSizeInBits(semantics), pattern);
  return splat(*this, element(),
               FloatAttr::get(element(), APFloat(semantics, raw)));
}

Num Num::nan() const {
  return bits(isF64() ? 0x7ff8000000000000ull : 0x7fc00000ull);
}

Num Num::inf() const {
  return bits(isF64() ? 0x7ff0000000000000ull : 0x7f800000ull);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename OpTy>
static Num unary(Num a) {
  return Num(a.b(), OpTy::create(a.b(), a));
}

template <typename OpTy>
static Num binary(Num a, Num b) {
  return Num(a.b(), OpTy::create(a.b(), a, b));
}

template <typename FloatOp, typename IntOp>
static Num arithmetic(Num a, Num b) {
  if (isa<FloatType>(a.element()))
    return binary<FloatOp>(a, b);
  return binary<IntOp>(a, b);
}

namespace mlir::fusion {
Num operator+(Num a, Num b) {
  return arithmetic<arith::AddFOp, arith::AddIOp>(a, b);
}
Num operator-(Num a, Num b) {
  return arithmetic<arith::SubFOp, arith::SubIOp>(a, b);
}
Num operator*(Num a, Num b) {
  return arithmetic<arith::MulFOp, arith::MulIOp>(a, b);
}
Num operator/(Num a, Num b) { return binary<arith::DivFOp>(a, b); }
Num operator&(Num a, Num b) { return binary<arith::AndIOp>(a, b); }
Num operator|(Num a, Num b) { return binary<arith::OrIOp>(a, b); }
Num operator^(Num a, Num b) { return binary<arith::XOrIOp>(a, b); }

static Num compare(arith::CmpFPredicate predicate, Num a, Num b) {
  return Num(a.b(), arith::CmpFOp::create(a.b(), predicate, a, b));
}
Num operator<(Num a, Num b) { return compare(arith::CmpFPredicate::OLT, a, b); }
Num operator<=(Num a, Num b) {
  return compare(arith::CmpFPredicate::OLE, a, b);
}
Num operator>(Num a, Num b) { return compare(arith::CmpFPredicate::OGT, a, b); }
Num operator>=(Num a, Num b) {
  return compare(arith::CmpFPredicate::OGE, a, b);
}
} // namespace mlir::fusion

Num Num::operator-() const { return unary<arith::NegFOp>(*this); }
Num Num::operator!() const { return *this ^ i(1); }

Num Num::shl(int64_t amount) const { return shl(i(amount)); }
Num Num::shr(int64_t amount) const { return shr(i(amount)); }
Num Num::sar(int64_t amount) const {
  return binary<arith::ShRSIOp>(*this, i(amount));
}
Num Num::shl(Num amount) const { return binary<arith::ShLIOp>(*this, amount); }
Num Num::shr(Num amount) const { return binary<arith::ShRUIOp>(*this, amount); }

Num Num::eq(Num other) const {
  return compare(arith::CmpFPredicate::OEQ, *this, other);
}
Num Num::isNaN() const {
  return compare(arith::CmpFPredicate::UNO, *this, *this);
}
Num Num::icmp(arith::CmpIPredicate predicate, Num other) const {
  return Num(*builder,
             arith::CmpIOp::create(*builder, predicate, *this, other));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

template <typename OpTy>
static Num convert(Num x, Type element) {
  if (x.element() == element)
    return x;
  return Num(x.b(), OpTy::create(x.b(), x.shaped(element), Value(x)));
}

Num Num::asInt() const {
  return convert<arith::BitcastOp>(
      *this, builder->getIntegerType(element().getIntOrFloatBitWidth()));
}
Num Num::asFloat() const {
  Type type = element().getIntOrFloatBitWidth() == 64
                  ? Type(builder->getF64Type())
                  : Type(builder->getF32Type());
  return convert<arith::BitcastOp>(*this, type);
}
Num Num::toInt(unsigned width) const {
  return convert<arith::FPToSIOp>(*this, builder->getIntegerType(width));
}
Num Num::toFloat(Type element) const {
  return convert<arith::SIToFPOp>(*this, element);
}
Num Num::extendTo(Type element) const {
  if (this->element() == element)
    return *this;
  return Num(*builder, arith::ExtFOp::create(*builder, shaped(element), value,
                                             arith::FastMathFlagsAttr()));
}
Num Num::truncateTo(Type element) const {
  return convert<arith::TruncFOp>(*this, element);
}
Num Num::resize(unsigned width) const {
  Type type = builder->getIntegerType(width);
  if (element().getIntOrFloatBitWidth() < width)
    return convert<arith::ExtUIOp>(*this, type);
  return convert<arith::TruncIOp>(*this, type);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace mlir::fusion {
Num select(Num condition, Num yes, Num no) {
  return Num(yes.b(), arith::SelectOp::create(yes.b(), condition, yes, no));
}
Num callIntrinsic(StringRef name, ArrayRef<Num> operands) {
  ImplicitLocOpBuilder &b = operands.front().b();
  SmallVector<Value> values(operands.begin(), operands.end());
  auto call = LLVM::CallIntrinsicOp::create(b, operands.front().type(),
                                            b.getStringAttr(name), values);
  return Num(b, call.getResult(0));
}

Num fma(Num a, Num b, Num c) {
  return Num(a.b(), LLVM::FMAOp::create(a.b(), a, b, c));
}
Num fabs(Num x) { return callIntrinsic("llvm.fabs", x); }
Num copysign(Num magnitude, Num sign) {
  return callIntrinsic("llvm.copysign", {magnitude, sign});
}
Num sqrt(Num x) { return callIntrinsic("llvm.sqrt", x); }
Num trunc(Num x) { return callIntrinsic("llvm.trunc", x); }
Num minNum(Num a, Num b) { return binary<LLVM::MinNumOp>(a, b); }
Num maxNum(Num a, Num b) { return binary<LLVM::MaxNumOp>(a, b); }
Num minNaN(Num a, Num b) { return binary<LLVM::MinimumOp>(a, b); }
Num maxNaN(Num a, Num b) { return binary<LLVM::MaximumOp>(a, b); }

template <typename T>
static Num horner(Num x, ArrayRef<T> coefficients) {
  Num result = x.c(coefficients.back());
  for (T coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, x.c(coefficient));
  return result;
}
Num poly(Num x, llvm::ArrayRef<float> coefficients) {
  return horner(x, coefficients);
}
Num poly(Num x, llvm::ArrayRef<double> coefficients) {
  return horner(x, coefficients);
}

Num mapElements(ArrayRef<Num> operands,
                llvm::function_ref<Num(ArrayRef<Num>)> kernel) {
  ImplicitLocOpBuilder &b = operands.front().b();
  auto vector = dyn_cast<VectorType>(operands.front().type());
  if (!vector)
    return kernel(operands);
  SmallVector<Value> results;
  for (int64_t index = 0, count = vector.getNumElements(); index < count;
       ++index) {
    SmallVector<Num> elements;
    for (const Num &operand : operands)
      elements.push_back(
          Num(b, vector::ExtractOp::create(b, Value(operand), index)));
    results.push_back(kernel(elements));
  }
  auto type = VectorType::get(vector.getShape(), results.front().getType());
  return Num(b, vector::FromElementsOp::create(b, type, results));
}

/// Calls a scalar intrinsic on every element.
static Num intrinsic(StringRef name, ArrayRef<Num> operands) {
  return mapElements(operands, [&](ArrayRef<Num> scalars) {
    return callIntrinsic(name, scalars);
  });
}

Num ex2ApproxFtz(Num x) { return intrinsic("llvm.nvvm.ex2.approx.ftz", x); }
Num ex2Approx(Num x) { return intrinsic("llvm.nvvm.ex2.approx", x); }
Num lg2Approx(Num x) { return intrinsic("llvm.nvvm.lg2.approx.f", x); }
Num rcpApproxFtz(Num x) { return intrinsic("llvm.nvvm.rcp.approx.ftz.f", x); }
Num rsqrtApprox(Num x) { return intrinsic("llvm.nvvm.rsqrt.approx.f", x); }
Num sqrtApprox(Num x) { return intrinsic("llvm.nvvm.sqrt.approx.f", x); }
Num sinApprox(Num x) { return intrinsic("llvm.nvvm.sin.approx.f", x); }
Num cosApprox(Num x) { return intrinsic("llvm.nvvm.cos.approx.f", x); }
Num divFull(Num a, Num b) { return intrinsic("llvm.nvvm.div.full", {a, b}); }
Num tanhApprox(Num x) {
  // The backend's one name for tanh.approx is the intrinsic with leave to
  // approximate.
  return Num(x.b(), LLVM::TanhOp::create(
                        x.b(), x.type(), x,
                        LLVM::FastmathFlagsAttr::get(
                            x.b().getContext(), LLVM::FastmathFlags::afn)));
}
} // namespace mlir::fusion
