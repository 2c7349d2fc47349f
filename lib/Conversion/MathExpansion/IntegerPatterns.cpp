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
#include "mlir/IR/Matchers.h"

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

/// A byte as a float. The instruction has an eighth of the throughput of
/// arithmetic, too little to dequantise what a product takes; but a byte is a
/// float at once as the low mantissa of 2^23, exactly.
template <typename OpTy>
struct ExpandByteToFloat final : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type source = op.getIn().getType();
    Type target = getElementTypeOrSelf(op.getType());
    if (!isExpandableInteger(source) ||
        !getElementTypeOrSelf(source).isInteger(8) ||
        !(target.isF32() || target.isF16() || target.isBF16()))
      return rewriter.notifyMatchFailure(op, "not a byte");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num x = flatNum(b, op.getIn());
    constexpr bool isSigned = std::is_same_v<OpTy, arith::SIToFPOp>;
    // Signed ones are biased, to lie from 0 to 255.
    Num word = x.resize(32);
    Num sum = (word ^ word.i(isSigned ? 0x4b000080 : 0x4b000000)).asFloat();
    Num result = sum - sum.c(8388608.0 + (isSigned ? 128.0 : 0.0));
    rewriter.replaceOp(op, restore(result, op.getType()));
    return success();
  }
};

/// The same for an i32 that a shift has left few bits, as numbers of 4 bits
/// come from a byte.
struct ExpandShiftedToFloat final : OpRewritePattern<arith::SIToFPOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SIToFPOp op,
                                PatternRewriter &rewriter) const override {
    auto shift = op.getIn().getDefiningOp<arith::ShRSIOp>();
    APInt amount;
    // 23 bits, signed, are what lies above and below 3 * 2^22.
    if (!op.getIn().getType().isInteger(32) || !op.getType().isF32() ||
        !shift || !matchPattern(shift.getRhs(), m_ConstantInt(&amount)) ||
        amount.ult(9) || amount.uge(32))
      return rewriter.notifyMatchFailure(op, "may have more than 23 bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Num x = flatNum(b, op.getIn());
    Num sum = (x + x.i(0x4b400000)).asFloat();
    rewriter.replaceOp(op, restore(sum - sum.c(12582912.0), op.getType()));
    return success();
  }
};

/// The halves of a product of 32-bit numbers, by one instruction. LLVM would
/// compute with both in 64 bits, and ptxas joins two instructions only where
/// they happen to be close.
struct ExpandWideProduct final : OpRewritePattern<arith::MulIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulIOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isInteger(64) || !isUsedInHalves(op))
      return rewriter.notifyMatchFailure(op, "not used in halves");
    Value x = getWord(op.getLhs(), rewriter);
    Value y = getWord(op.getRhs(), rewriter);
    if (!x || !y)
      return rewriter.notifyMatchFailure(op, "factors of more than 32 bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type i32 = b.getI32Type();
    auto halves = LLVM::InlineAsmOp::create(
        b, LLVM::LLVMStructType::getLiteral(op.getContext(), {i32, i32}),
        ValueRange{x, y},
        "{ .reg .b64 wide; mul.wide.u32 wide, $2, $3; "
        "mov.b64 {$0, $1}, wide; }",
        "=r,=r,r,r", /*has_side_effects=*/false, /*is_align_stack=*/false,
        LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
        /*operand_attrs=*/nullptr);
    // What takes a half of this takes the register.
    auto get = [&](int64_t half) {
      return Num(b, LLVM::ExtractValueOp::create(b, halves.getResult(0), half))
          .resize(64);
    };
    Num product = get(1).shl(32) | get(0);
    rewriter.replaceOp(op, Value(product));
    return success();
  }

private:
  /// True if all users take 32 bits of `op`, one of them the high ones.
  static bool isUsedInHalves(arith::MulIOp op) {
    bool takesHigh = false;
    bool areHalves = llvm::all_of(op->getUsers(), [&](Operation *user) {
      if (auto narrow = dyn_cast<arith::TruncIOp>(user))
        return narrow.getType().getIntOrFloatBitWidth() <= 32;
      auto shift = dyn_cast<arith::ShRUIOp>(user);
      APInt amount;
      bool isHigh = shift && shift.getLhs() == op.getResult() &&
                    matchPattern(shift.getRhs(), m_ConstantInt(&amount)) &&
                    amount == 32;
      takesHigh |= isHigh;
      return isHigh;
    });
    return areHalves && takesHigh;
  }

  /// `value` in 32 bits where it is a number of so many, else null.
  static Value getWord(Value value, PatternRewriter &rewriter) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number))) {
      if (!number.isIntN(32))
        return nullptr;
      return arith::ConstantOp::create(
          rewriter, value.getLoc(),
          rewriter.getIntegerAttr(rewriter.getI32Type(), number.trunc(32)));
    }
    auto extension = value.getDefiningOp<arith::ExtUIOp>();
    bool isWord = extension && extension.getIn().getType().isInteger(32);
    return isWord ? extension.getIn() : nullptr;
  }
};
} // namespace

void mlir::fusion::populateIntegerPatterns(RewritePatternSet &patterns,
                                           const MathOptions &options) {
  patterns.add<
      ToIntrinsic<math::AbsIOp, LLVM::AbsOp, /*hasFlag=*/true>,
      ToIntrinsic<math::CountLeadingZerosOp, LLVM::CountLeadingZerosOp, true>,
      ToIntrinsic<math::CountTrailingZerosOp, LLVM::CountTrailingZerosOp, true>,
      ToIntrinsic<math::CtPopOp, LLVM::CtPopOp, false>, ExpandIPowI,
      ExpandWideProduct>(patterns.getContext());
  if (!options.alone)
    patterns.add<ExpandShiftedToFloat, ExpandByteToFloat<arith::SIToFPOp>,
                 ExpandByteToFloat<arith::UIToFPOp>>(patterns.getContext());
}
