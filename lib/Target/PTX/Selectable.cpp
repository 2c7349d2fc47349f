//===- Selectable.cpp - What NVPTX can select -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the check that guards LLVM's NVPTX backend.
//
//===----------------------------------------------------------------------===//

#include "Selectable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fusion;

/// The widest integer that converts from and to a float without a library.
static constexpr unsigned widestConvertibleInteger = 64;

/// Intrinsics of the LLVM dialect without an NVPTX instruction, by the part of
/// their name after "llvm.". Found by giving each to the backend of LLVM 22.
static const llvm::StringSet<> &unselectableIntrinsics() {
  static const llvm::StringSet<> names = {
      "acos",     "asin",   "atan",   "atan2",   "cos",  "cosh",  "exp",
      "exp10",    "frexp",  "llrint", "llround", "log",  "log10", "log2",
      "lrint",    "lround", "modf",   "pow",     "powi", "sin",   "sincos",
      "sincospi", "sinh",   "tan",    "tanh"};
  return names;
}

/// Functions that the driver defines for device code.
static bool isDeviceRuntimeFunction(StringRef name) {
  return name == "vprintf" || name == "__assertfail" || name == "malloc" ||
         name == "free";
}

/// The name of the intrinsic that `op` stands for, without "llvm." and without
/// type suffixes, or an empty string.
static StringRef intrinsicName(Operation *op) {
  StringRef name;
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    name = call.getIntrin();
    if (!name.consume_front("llvm."))
      return {};
  } else {
    name = op->getName().getStringRef();
    if (!name.consume_front("llvm.intr."))
      return {};
  }
  // "nvvm.ex2.approx.f" must keep its name; "sin.f32" loses its suffix.
  return name.starts_with("nvvm.") ? name : name.split('.').first;
}

/// True when `op` allows approximation and NVPTX has an approximate
/// instruction for it.
static bool hasApproximation(Operation *op, StringRef name) {
  auto flags = dyn_cast<LLVM::FastmathFlagsInterface>(op);
  if (!flags || !bitEnumContainsAll(flags.getFastmathAttr().getValue(),
                                    LLVM::FastmathFlags::afn))
    return false;
  return (name == "sin" || name == "cos" || name == "tanh") &&
         getElementTypeOrSelf(op->getResultTypes().front()).isF32();
}

static LogicalResult checkTypes(Operation *op) {
  auto unsupported = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<Float80Type, Float128Type, LLVM::LLVMPPCFP128Type>(element);
  };
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (unsupported(type))
        return op->emitOpError()
               << "FUS-0706: uses " << type
               << ", a format that no NVIDIA GPU computes in; use f64 or "
                  "narrower";
  if (isa<LLVM::FPToSIOp, LLVM::FPToUIOp, LLVM::SIToFPOp, LLVM::UIToFPOp>(op))
    for (Type type :
         {op->getOperand(0).getType(), op->getResult(0).getType()}) {
      auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
      if (integer && integer.getWidth() > widestConvertibleInteger)
        return op->emitOpError()
               << "FUS-0706: converts " << type
               << ", wider than the 64 bits that PTX converts; narrow the "
                  "integer first";
    }
  return success();
}

static LogicalResult checkCall(LLVM::CallOp call, SymbolTableCollection &tables,
                               Operation *module) {
  FlatSymbolRefAttr callee = call.getCalleeAttr();
  if (!callee || isDeviceRuntimeFunction(callee.getValue()))
    return success();
  auto func =
      dyn_cast_or_null<LLVM::LLVMFuncOp>(tables.lookupSymbolIn(module, callee));
  if (!func || !func.isExternal() || func.getName().starts_with("llvm."))
    return success();
  return call.emitOpError()
         << "FUS-0707: calls '" << callee.getValue()
         << "', which this module does not define and PTX has no library to "
            "take it from; expand the operation that it came from";
}

LogicalResult mlir::fusion::checkSelectable(Operation *module) {
  SymbolTableCollection tables;
  WalkResult result = module->walk([&](Operation *op) -> WalkResult {
    if (op == module)
      return WalkResult::advance();
    if (!isa_and_present<LLVM::LLVMDialect, NVVM::NVVMDialect>(
            op->getDialect()))
      return op->emitOpError()
             << "FUS-0705: is outside the LLVM and NVVM dialects, which alone "
                "translate to PTX; lower it first";
    StringRef name = intrinsicName(op);
    bool doubleExp2 =
        name == "exp2" &&
        getElementTypeOrSelf(op->getResultTypes().front()).isF64();
    if (doubleExp2 || (unselectableIntrinsics().contains(name) &&
                       !hasApproximation(op, name)))
      return op->emitOpError()
             << "FUS-0708: has no PTX instruction; run fusion-expand-math "
                "before the lowering to the LLVM dialect";
    if (auto call = dyn_cast<LLVM::CallOp>(op))
      if (failed(checkCall(call, tables, module)))
        return WalkResult::interrupt();
    return checkTypes(op);
  });
  return failure(result.wasInterrupted());
}
