//===- LowerGlobals.cpp - Globals as constants ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that replaces ml_program globals by their
// values.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/Passes.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_LOWERGLOBALSPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;
using ml_program::GlobalOp;

/// The global that `op` reads or writes, and whether it only reads.
static std::pair<SymbolRefAttr, bool> getAccess(Operation *op) {
  if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op))
    return {load.getGlobal(), true};
  if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op))
    return {load.getGlobal(), true};
  if (auto load = dyn_cast<ml_program::GlobalLoadGraphOp>(op))
    return {load.getGlobal(), false};
  if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op))
    return {store.getGlobal(), false};
  if (auto store = dyn_cast<ml_program::GlobalStoreGraphOp>(op))
    return {store.getGlobal(), false};
  return {};
}

static LogicalResult refuse(Operation *op, GlobalOp global, const Twine &why,
                            StringRef remedy) {
  return emitCodedError(op->getLoc(), ErrorCode::UnsupportedOp,
                        "the global '" + global.getSymName() + "' " + why,
                        remedy);
}

/// Replaces `op`, which reads or writes `global`, by the global's value.
static LogicalResult replaceAccess(Operation *op, GlobalOp global, bool reads) {
  if (global.getIsMutable() || !reads)
    return refuse(op, global, "is mutable: kernels keep no state",
                  "pass its value as an argument and return its new value");
  auto value = dyn_cast_if_present<TypedAttr>(global.getValueAttr());
  Type type = op->getResult(0).getType();
  bool isTensor = value && isa<RankedTensorType>(value.getType()) &&
                  isa<ElementsAttr>(Attribute(value)) &&
                  isa<RankedTensorType>(type);
  if (!value || (!isTensor && value.getType() != type))
    return refuse(op, global, "has no value in the program",
                  "give it a dense value, or pass the tensor as an argument");
  OpBuilder builder(op);
  Value constant = arith::ConstantOp::create(builder, op->getLoc(), value);
  // The type of the global may leave sizes open that its value has.
  if (constant.getType() != type)
    constant = tensor::CastOp::create(builder, op->getLoc(), type, constant);
  op->getResult(0).replaceAllUsesWith(constant);
  op->erase();
  return success();
}

namespace {
struct LowerGlobalsPass
    : public fusion::impl::LowerGlobalsPassBase<LowerGlobalsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<GlobalOp>().empty())
      return markAllAnalysesPreserved();
    SmallVector<Operation *> accesses;
    module.walk([&](Operation *op) {
      if (getAccess(op).first)
        accesses.push_back(op);
    });
    SymbolTable symbols(module);
    bool hasFailed = false;
    for (Operation *op : accesses) {
      auto [name, reads] = getAccess(op);
      // The verifier has found every global that is named.
      auto global = symbols.lookup<GlobalOp>(name.getLeafReference());
      hasFailed |= failed(replaceAccess(op, global, reads));
    }
    if (hasFailed)
      return signalPassFailure();
    for (GlobalOp global :
         llvm::make_early_inc_range(module.getOps<GlobalOp>()))
      global.erase();
  }
};
} // namespace
