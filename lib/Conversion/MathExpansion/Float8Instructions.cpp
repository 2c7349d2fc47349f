//===- Float8Instructions.cpp - 8-bit floats by instructions ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements operations on 8-bit floats in f32, with conversions that
// are one instruction each. They saturate, and not every chip has them: they
// are for payload mode, in which a conversion has a meaning that its expansion
// by integer arithmetic has not.
//
// Extensions saturate nothing. Of a pair, as memory has it side by side, they
// are one instruction for both where the chip has it, nine for each else.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

static StringRef getName(Type type) {
  return isa<Float8E4M3FNType>(type) ? "e4m3x2" : "e5m2x2";
}

static Value emitAsm(ImplicitLocOpBuilder &b, Type type, ValueRange operands,
                     const Twine &text, StringRef constraints) {
  return LLVM::InlineAsmOp::create(
             b, type, operands, text.str(), constraints,
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
             /*operand_attrs=*/nullptr)
      .getResult(0);
}

/// An 8-bit float in f32: the lower of a pair.
static Value extend(ImplicitLocOpBuilder &b, Value value) {
  Type i16 = b.getI16Type();
  Value bits = arith::BitcastOp::create(b, b.getI8Type(), value);
  Value pair = arith::ExtUIOp::create(b, i16, bits);
  Value halves =
      emitAsm(b, b.getI32Type(), pair,
              "cvt.rn.f16x2." + getName(value.getType()) + " $0, $1;", "=r,h");
  Value half = arith::BitcastOp::create(
      b, b.getF16Type(), arith::TruncIOp::create(b, i16, halves));
  return arith::ExtFOp::create(b, b.getF32Type(), half);
}

/// A float of 32 or 64 bits, or fewer, as an 8-bit float.
static Value truncate(ImplicitLocOpBuilder &b, Value value, Type type) {
  Type f32 = b.getF32Type();
  if (value.getType().isF64())
    value = arith::TruncFOp::create(b, f32, value);
  else if (!value.getType().isF32())
    value = arith::ExtFOp::create(b, f32, value);
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  Value pair = emitAsm(b, b.getI16Type(), {zero, value},
                       "cvt.rn.satfinite." + getName(type) + ".f32 $0, $1, $2;",
                       "=h,f,f");
  return arith::BitcastOp::create(
      b, type, arith::TruncIOp::create(b, b.getI8Type(), pair));
}

namespace {
struct ComputeFloat8 final : RewritePattern {
  ComputeFloat8(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto isSmall = [](Type type) { return isFloat8(type); };
    // What moves or reinterprets bits needs no arithmetic.
    if (!isa_and_present<arith::ArithDialect, math::MathDialect>(
            op->getDialect()) ||
        isa<arith::BitcastOp, arith::SelectOp>(op) ||
        op->getNumResults() != 1 ||
        (llvm::none_of(op->getOperandTypes(), isSmall) &&
         llvm::none_of(op->getResultTypes(), isSmall)))
      return rewriter.notifyMatchFailure(op, "no arithmetic on 8-bit floats");
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    Type type = op->getResult(0).getType();
    Value result = compute(b, op);
    rewriter.replaceOp(op, isSmall(type) ? truncate(b, result, type) : result);
    return success();
  }

private:
  /// The result of `op`, in f32 or wider where it is an 8-bit float.
  static Value compute(ImplicitLocOpBuilder &b, Operation *op) {
    Type type = op->getResult(0).getType();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return arith::ConstantOp::create(
          b, b.getF32FloatAttr(
                 cast<FloatAttr>(constant.getValue()).getValueAsDouble()));
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isFloat8(operand.getType()) ? extend(b, operand)
                                                     : operand);
    Value first = operands.front();
    if (isa<arith::TruncFOp>(op))
      return first;
    if (isa<arith::ExtFOp>(op)) {
      if (type.isF64())
        return arith::ExtFOp::create(b, type, first);
      return type.isF32() ? first
                          : arith::TruncFOp::create(b, type, first).getResult();
    }
    OperationState state(op->getLoc(), op->getName(), operands,
                         isFloat8(type) ? Type(b.getF32Type()) : type,
                         op->getAttrs());
    return b.create(state)->getResult(0);
  }
};
} // namespace

namespace {
/// An extension of one of several 8-bit floats in a register: with its
/// neighbour, whose extension is then the same instruction.
struct ExtendOneOfPair final : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto bits = op.getIn().getDefiningOp<arith::BitcastOp>();
    auto element =
        bits ? bits.getIn().getDefiningOp<LLVM::ExtractElementOp>() : nullptr;
    APInt index;
    if (!isFloat8(op.getIn().getType()) || !element ||
        !element.getType().isInteger(8) ||
        !matchPattern(element.getPosition(), m_ConstantInt(&index)))
      return rewriter.notifyMatchFailure(op, "no 8-bit float beside another");
    auto vector = cast<VectorType>(element.getVector().getType());
    int64_t number = index.getSExtValue();
    if (vector.isScalable() || vector.getNumElements() % 2 != 0)
      return rewriter.notifyMatchFailure(op, "no pairs");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto pick = [&](Value from, int64_t place) -> Value {
      return LLVM::ExtractElementOp::create(
          b, from,
          LLVM::ConstantOp::create(b, b.getI32Type(),
                                   b.getI32IntegerAttr(place)));
    };
    auto pairs = VectorType::get(vector.getNumElements() / 2, b.getI16Type());
    Value pair = pick(LLVM::BitcastOp::create(b, pairs, element.getVector()),
                      number / 2);
    StringRef name = isa<Float8E4M3FNType>(op.getIn().getType())
                         ? "llvm.nvvm.e4m3x2.to.f16x2.rn"
                         : "llvm.nvvm.e5m2x2.to.f16x2.rn";
    auto halves = LLVM::CallIntrinsicOp::create(
        b, VectorType::get(2, b.getF16Type()), b.getStringAttr(name), pair);
    Value half = pick(halves.getResult(0), number % 2);
    if (op.getType().isF16()) {
      rewriter.replaceOp(op, half);
      return success();
    }
    Value wide = half;
    if (op.getType().isBF16())
      wide = arith::ExtFOp::create(b, b.getF32Type(), half);
    if (op.getType().isBF16())
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    else
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), wide);
    return success();
  }
};
} // namespace

void mlir::fusion::populateFloat8PairPatterns(RewritePatternSet &patterns) {
  patterns.add<ExtendOneOfPair>(patterns.getContext(), /*benefit=*/2);
}

void mlir::fusion::populateFloat8InstructionPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ComputeFloat8>(patterns.getContext());
}
