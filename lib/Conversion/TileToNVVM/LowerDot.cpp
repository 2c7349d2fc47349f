//===- LowerDot.cpp - Products by single threads --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements products of which each thread makes those of its own
// elements of the accumulator.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

namespace {
struct DotLowering : public TileOpLowering<tile::DotOp> {
  LogicalResult lower(tile::DotOp op, ProgramLowering &lowering) const override;
};
} // namespace

LogicalResult DotLowering::lower(tile::DotOp op,
                                 ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  const LinearLayout &acc = tile::getLayout(op.getType()).getLinear();
  if (acc.rank() != 2)
    return op.emitOpError("FUS-3323: no instruction makes products of which "
                          "warps have parts");
  const LinearLayout &a = tile::getLayout(op.getA().getType()).getLinear();
  const LinearLayout &b = tile::getLayout(op.getB().getType()).getLinear();
  int64_t depth = a.dimSize(1);
  // The operands hold, in registers, the rows and columns of the accumulator
  // that the thread holds: look them up by coordinates.
  auto registersOf = [](const LinearLayout &layout) {
    DenseMap<std::pair<int32_t, int32_t>, unsigned> registers;
    for (unsigned reg = 0; reg < layout.numRegs(); ++reg) {
      tile::Coords at = layout.elementOf(reg, 0, 0);
      registers.try_emplace({at[0], at[1]}, reg);
    }
    return registers;
  };
  auto aRegisters = registersOf(a), bRegisters = registersOf(b);
  const Scalars &as = lowering.get(op.getA()), &bs = lowering.get(op.getB());
  Scalars results = lowering.get(op.getAcc());
  Type type = results.front().getType();
  bool isFloat = isa<FloatType>(type);
  // Operands may be narrower than the accumulator: exact in its type.
  DenseMap<Value, Value> widened;
  auto widen = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    Value &wide = widened[value];
    if (!wide)
      wide = isFloat ? arith::ExtFOp::create(builder, type, value).getResult()
                     : arith::ExtSIOp::create(builder, type, value).getResult();
    return wide;
  };
  for (int32_t k = 0; k < depth; ++k)
    for (unsigned reg = 0; reg < acc.numRegs(); ++reg) {
      tile::Coords at = acc.elementOf(reg, 0, 0);
      auto aReg = aRegisters.find({at[0], k});
      auto bReg = bRegisters.find({at[1], k});
      if (aReg == aRegisters.end() || bReg == bRegisters.end())
        return op.emitOpError("FUS-3304: operands do not hold the rows and "
                              "columns of the accumulator");
      Value x = widen(as[aReg->second]), y = widen(bs[bReg->second]);
      if (isFloat) {
        results[reg] = math::FmaOp::create(builder, x, y, results[reg]);
        continue;
      }
      Value product = arith::MulIOp::create(builder, x, y);
      results[reg] = arith::AddIOp::create(builder, product, results[reg]);
    }
  lowering.set(op.getResult(), results);
  return success();
}

void mlir::fusion::populateDotLowerings(LoweringSet &lowerings) {
  lowerings.add<DotLowering>();
}
