//===- DivisorGuard.cpp - Divisions that are always defined ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the divisors of the program's divisions of integers. A
// tile goes past the end of its tensors, where elements are zeros, and a
// division by zero is undefined: LLVM would conclude that no tile goes past the
// end and drop the conditions of loads and stores.
//
//===----------------------------------------------------------------------===//

#include "DivisorGuard.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// Whether `op` divides integers, and whether they are signed.
static std::optional<bool> getDivisionSign(Operation *op) {
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
          arith::FloorDivSIOp>(op))
    return true;
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    return false;
  return std::nullopt;
}

/// True for a constant by which every number can be divided.
static bool isHarmless(Value divisor) {
  APInt value;
  return matchPattern(divisor, m_ConstantInt(&value)) && !value.isZero() &&
         !value.isAllOnes();
}

void mlir::fusion::guardDivisor(Operation *op, MutableArrayRef<Tile> tiles,
                                TileBuilder &builder) {
  std::optional<bool> isSigned = getDivisionSign(op);
  if (!isSigned || isHarmless(op->getOperand(1)))
    return;
  Type type = op->getResult(0).getType();
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  auto number = [&](const APInt &value) -> Tile {
    return {builder.createConstant(builder.getIntegerAttr(type, value)), {}};
  };
  auto equals = [&](Tile tile, const APInt &value) -> Tile {
    std::array<Tile, 2> operands{tile, number(value)};
    SmallVector<unsigned> all = builder.unify(operands);
    return {arith::CmpIOp::create(builder, builder.getLoc(),
                                  arith::CmpIPredicate::eq, operands[0].value,
                                  operands[1].value),
            all};
  };
  const Tile dividend = tiles[0], divisor = tiles[1];
  Tile one = number(APInt(width, 1));
  Tile guarded =
      builder.select(equals(divisor, APInt::getZero(width)), one, divisor);
  // The quotient of the least number by -1 is too large.
  if (*isSigned)
    guarded = builder.select(
        builder.conjunction(equals(dividend, APInt::getSignedMinValue(width)),
                            equals(divisor, APInt::getAllOnes(width))),
        one, guarded);
  tiles[1] = guarded;
}
