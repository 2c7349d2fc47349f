//===- OpaqueFloats.cpp - Floats that nothing is known about --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements a pass that hides from LLVM where floats come from, so
// that no operation is simplified by what is known about its operands.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_OPAQUEFLOATSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-ptx-opaque-floats"

using namespace mlir;

/// The constraint of inline assembly for a register of `type`; empty for one
/// that holds no float, or several.
static StringRef getConstraint(Type type) {
  if (type.isF32())
    return "=f,0";
  if (type.isF64())
    return "=d,0";
  if (type.isF16() || type.isBF16())
    return "=h,0";
  return "";
}

/// `value` behind an empty piece of assembly; LLVM takes it for another number.
static Value hide(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType(), held = type;
  StringRef constraint = getConstraint(type);
  // Registers of 16 bits are those of integers.
  if (type.isF16() || type.isBF16()) {
    held = builder.getI16Type();
    value = LLVM::BitcastOp::create(builder, loc, held, value);
  }
  Value hidden = LLVM::InlineAsmOp::create(
                     builder, loc, held, value, /*asm_string=*/"", constraint,
                     /*has_side_effects=*/false, /*is_align_stack=*/false,
                     LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
                     /*operand_attrs=*/nullptr)
                     .getResult(0);
  return held == type
             ? hidden
             : LLVM::BitcastOp::create(builder, loc, type, hidden).getResult();
}

/// A constant of 16 bits as the rounding of one of 32: PTX has literals of
/// floats for these alone.
static void widenConstant(LLVM::ConstantOp constant) {
  Type type = constant.getType();
  auto value = dyn_cast<FloatAttr>(constant.getValue());
  if (!value || !(type.isF16() || type.isBF16()))
    return;
  OpBuilder builder(constant);
  Location loc = constant.getLoc();
  Value wide = LLVM::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(value.getValueAsDouble()));
  constant.replaceAllUsesWith(
      LLVM::FPTruncOp::create(builder, loc, type, wide).getResult());
  constant.erase();
}

namespace {
class OpaqueFloatsPass
    : public fusion::impl::OpaqueFloatsPassBase<OpaqueFloatsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](LLVM::ConstantOp op) { widenConstant(op); });
    SmallVector<Value> floats;
    getOperation().walk([&](Operation *op) {
      if (!op->getParentOfType<LLVM::LLVMFuncOp>() ||
          isa<LLVM::InlineAsmOp, LLVM::BitcastOp>(op))
        return;
      for (Value result : op->getResults())
        if (!getConstraint(result.getType()).empty())
          floats.push_back(result);
    });
    for (Value value : floats) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(value);
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : value.getUses())
        uses.push_back(&use);
      Value hidden = hide(builder, value.getLoc(), value);
      for (OpOperand *use : uses)
        use->set(hidden);
    }
  }
};
} // namespace
