//===- IntegerPatterns.cpp - Integers ---------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the patterns for the math dialect's integer operations.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;

/// Scalars and fixed-size vectors of integers up to 64 bits.
static bool isExpandableInteger(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (vector && vector.isScalable())
    return false;
  if (!vector && !type.isIntOrIndexOrFloat())
    return false;
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.getWidth() <= 64;
}

namespace {
/// One intrinsic; `flag` is the immediate that some take, false for "defined
/// for every operand".
template <typename OpTy, typename IntrinsicOp, bool hasFlag>
struct ToIntrinsic final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableInteger(op.getType()))
      return rewriter.notifyMatchFailure(op, "no such integer in PTX");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num x = flatNum(b, op.getOperand());
    Value result;
    if constexpr (hasFlag)
      result = IntrinsicOp::create(b, x.type(), x, false);
    else
      result = IntrinsicOp::create(b, x.type(), x);
    rewriter.replaceOp(op, restore(Num(b, result), op.getType()));
    return success();
  }
};

/// Integer powers by squaring, one turn a bit of the exponent. A negative power
/// of 1 or -1 is that or its negative; of anything else it is 0.
struct ExpandIPowI final : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandableInteger(op.getType()))
      return rewriter.notifyMatchFailure(op, "no such integer in PTX");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num base = flatNum(b, op.getLhs()), exponent = flatNum(b, op.getRhs());
    unsigned width = base.element().getIntOrFloatBitWidth();
    auto constant = [&](int64_t value) {
      return arith::ConstantIndexOp::create(b, value);
    };
    auto loop = scf::ForOp::create(
        b, constant(0), constant(width), constant(1),
        ValueRange{base.i(1), base, exponent},
        [](OpBuilder &nested, Location loc, Value, ValueRange carried) {
          ImplicitLocOpBuilder b(loc, nested);
          Num result(b, carried[0]), square(b, carried[1]), rest(b, carried[2]);
          Num odd =
              (rest & rest.i(1)).icmp(arith::CmpIPredicate::ne, rest.i(0));
          Num next = select(odd, result * square, result);
          scf::YieldOp::create(b,
                               ValueRange{next, square * square, rest.shr(1)});
        });
    Num power(b, loop.getResult(0));

    Num negative = exponent.icmp(arith::CmpIPredicate::slt, exponent.i(0));
    Num one = base.i(1), minusOne = base.i(-1), zero = base.i(0);
    Num odd = (exponent & exponent.i(1)).icmp(arith::CmpIPredicate::ne, zero);
    Num reciprocal = select(base.icmp(arith::CmpIPredicate::eq, minusOne),
                            select(odd, minusOne, one), zero);
    reciprocal =
        select(base.icmp(arith::CmpIPredicate::eq, one), one, reciprocal);
    rewriter.replaceOp(
        op, restore(select(negative, reciprocal, power), op.getType()));
    return success();
  }
};
} // namespace

void mlir::fusion::populateIntegerPatterns(RewritePatternSet &patterns) {
  patterns.add<
      ToIntrinsic<math::AbsIOp, LLVM::AbsOp, /*hasFlag=*/true>,
      ToIntrinsic<math::CountLeadingZerosOp, LLVM::CountLeadingZerosOp, true>,
      ToIntrinsic<math::CountTrailingZerosOp, LLVM::CountTrailingZerosOp, true>,
      ToIntrinsic<math::CtPopOp, LLVM::CtPopOp, false>, ExpandIPowI>(
      patterns.getContext());
}
