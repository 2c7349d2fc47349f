//===- LegalizeFloats.cpp - f8 and f16 by calls ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that expresses conversions of f8 and f16 by
// calls of functions that the reference registers with its JIT.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_LEGALIZEFLOATSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;

/// The name that JIT functions have for a float type, empty if LLVM converts
/// the type by itself.
static StringRef getCallName(Type type, bool nativeF16) {
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  if (isa<Float16Type>(type) && !nativeF16)
    return "f16";
  return "";
}

/// Declares `name` as a private function of the module, once.
static func::FuncOp declare(ModuleOp module, StringRef name, Type in,
                            Type out) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  OpBuilder b(module.getBodyRegion());
  auto function =
      func::FuncOp::create(b, module.getLoc(), name,
                           FunctionType::get(module.getContext(), {in}, {out}));
  function.setPrivate();
  return function;
}

/// Extends by `fusion_reference_extend_<type>(iN) -> f32`.
static void convertExtend(ModuleOp module, arith::ExtFOp op, StringRef name) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type from = op.getIn().getType();
  Type bits = b.getIntegerType(from.getIntOrFloatBitWidth());
  auto callee = declare(module, ("fusion_reference_extend_" + name).str(), bits,
                        b.getF32Type());
  Value value = arith::BitcastOp::create(b, loc, bits, op.getIn());
  value = func::CallOp::create(b, loc, callee, value).getResult(0);
  if (op.getType() != b.getF32Type())
    value = arith::ExtFOp::create(b, loc, op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
}

/// Rounds by `fusion_reference_truncate_<type>(f64) -> iN`; the argument is an
/// f64 so that the value is rounded once only.
static void convertTruncate(ModuleOp module, arith::TruncFOp op,
                            StringRef name) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type bits = b.getIntegerType(op.getType().getIntOrFloatBitWidth());
  auto callee = declare(module, ("fusion_reference_truncate_" + name).str(),
                        b.getF64Type(), bits);
  Value value = op.getIn();
  if (value.getType() != b.getF64Type())
    value = arith::ExtFOp::create(b, loc, b.getF64Type(), value);
  value = func::CallOp::create(b, loc, callee, value).getResult(0);
  value = arith::BitcastOp::create(b, loc, op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
}

namespace {
struct LegalizeFloatsPass
    : fusion::impl::LegalizeFloatsPassBase<LegalizeFloatsPass> {
  using LegalizeFloatsPassBase::LegalizeFloatsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> conversions;
    module.walk([&](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        conversions.push_back(op);
    });
    for (Operation *op : conversions) {
      // A conversion between two such types goes through both functions:
      // the truncation creates an extension of its own.
      if (auto trunc = dyn_cast<arith::TruncFOp>(op)) {
        splitOperand(trunc);
        StringRef name = getCallName(trunc.getType(), nativeF16);
        if (!name.empty())
          convertTruncate(module, trunc, name);
      } else if (auto ext = dyn_cast<arith::ExtFOp>(op)) {
        StringRef result = getCallName(ext.getType(), nativeF16);
        StringRef name = getCallName(ext.getIn().getType(), nativeF16);
        if (!result.empty())
          convertThroughF32(module, ext, name, result);
        else if (!name.empty())
          convertExtend(module, ext, name);
      }
    }
  }

private:
  /// Makes the operand of a truncation of f8 or f16 an f32.
  void splitOperand(arith::TruncFOp op) {
    StringRef name = getCallName(op.getIn().getType(), nativeF16);
    if (name.empty())
      return;
    OpBuilder b(op);
    auto ext =
        arith::ExtFOp::create(b, op.getLoc(), b.getF32Type(), op.getIn());
    op.getInMutable().assign(ext);
    convertExtend(getOperation(), ext, name);
  }

  /// Extends f8 to f16: exact in f32, and exact again in f16.
  void convertThroughF32(ModuleOp module, arith::ExtFOp op, StringRef from,
                         StringRef to) {
    OpBuilder b(op);
    auto wide =
        arith::ExtFOp::create(b, op.getLoc(), b.getF32Type(), op.getIn());
    auto narrow =
        arith::TruncFOp::create(b, op.getLoc(), op.getType(), wide.getOut());
    op.replaceAllUsesWith(narrow.getOut());
    op.erase();
    if (!from.empty())
      convertExtend(module, wide, from);
    convertTruncate(module, narrow, to);
  }
};
} // namespace
