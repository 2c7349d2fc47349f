//===- PromoteFloats.cpp - Every float becomes an f64 ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that makes a program compute in f64.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_PROMOTEFLOATSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;

/// The type to use for `type`: f64 in place of every float. Null if `type`
/// holds a float in a place that is not known.
static Type promoteType(Type type) {
  Type f64 = Float64Type::get(type.getContext());
  if (isa<FloatType>(type))
    return f64;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!isa<FloatType>(tensor.getElementType()))
      return isa<ComplexType>(tensor.getElementType()) ? Type() : type;
    return tensor.clone(f64);
  }
  if (auto function = dyn_cast<FunctionType>(type)) {
    SmallVector<Type> inputs, results;
    for (Type input : function.getInputs())
      inputs.push_back(promoteType(input));
    for (Type result : function.getResults())
      results.push_back(promoteType(result));
    if (llvm::is_contained(inputs, Type()) ||
        llvm::is_contained(results, Type()))
      return Type();
    return FunctionType::get(type.getContext(), inputs, results);
  }
  if (isa<IntegerType, IndexType, NoneType>(type))
    return type;
  return Type();
}

static APFloat toF64(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

/// The f64 form of a constant of type `promoted`, null if it is not known how.
static Attribute promoteConstant(Attribute value, Type promoted) {
  if (auto scalar = dyn_cast<FloatAttr>(value))
    return FloatAttr::get(promoted, toF64(scalar.getValue()));
  if (auto dense = dyn_cast<DenseFPElementsAttr>(value))
    return dense.mapValues(
        Float64Type::get(value.getContext()),
        [](const APFloat &element) { return toF64(element).bitcastToAPInt(); });
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    ShapedType type = resource.getType();
    bool isSplat = false;
    if (!blob ||
        !DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
      return {};
    auto raw = DenseElementsAttr::getFromRawBuffer(type, blob->getData());
    return promoteConstant(raw, promoted);
  }
  return {};
}

/// Rounds the float operand of a bitcast to the declared type before its bits
/// are looked at, and widens the result of one that makes a float.
static void keepBitsOfDeclaredType(arith::BitcastOp op, Type declaredIn,
                                   Type declaredOut) {
  OpBuilder b(op);
  if (isa<FloatType>(getElementTypeOrSelf(declaredIn)))
    op.getInMutable().assign(
        arith::TruncFOp::create(b, op.getLoc(), declaredIn, op.getIn()));
  if (isa<FloatType>(getElementTypeOrSelf(declaredOut))) {
    op.getResult().setType(declaredOut);
    b.setInsertionPointAfter(op);
    auto wide = arith::ExtFOp::create(b, op.getLoc(), promoteType(declaredOut),
                                      op.getResult());
    op.getResult().replaceAllUsesExcept(wide, wide);
  }
}

/// Converts one operation in place: result types, block arguments, constants.
static LogicalResult promoteOperation(Operation *op) {
  for (OpResult result : op->getResults()) {
    Type promoted = promoteType(result.getType());
    if (!promoted)
      return op->emitOpError("has a result of type ")
             << result.getType() << ", which the f64 reference does not know";
    result.setType(promoted);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument arg : block.getArguments()) {
        Type promoted = promoteType(arg.getType());
        if (!promoted)
          return op->emitOpError("has a block argument of type ")
                 << arg.getType() << ", which the f64 reference does not know";
        arg.setType(promoted);
      }
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    Type promoted = promoteType(function.getFunctionType());
    if (!promoted)
      return op->emitOpError("has a type that the f64 reference does not know");
    function.setFunctionTypeAttr(TypeAttr::get(promoted));
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<FloatType>(getElementTypeOrSelf(constant.getValue().getType()))) {
      Attribute promoted =
          promoteConstant(constant.getValue(), constant.getType());
      if (!promoted)
        return op->emitOpError("has a value that the f64 reference cannot "
                               "convert");
      constant.setValueAttr(cast<TypedAttr>(promoted));
    }
  }
  return success();
}

LogicalResult fusion::promoteFloats(ModuleOp module) {
  struct Bitcast {
    arith::BitcastOp op;
    Type in, out;
  };
  SmallVector<Bitcast> bitcasts;
  SmallVector<Operation *> roundings;
  module.walk([&](Operation *op) {
    if (auto bitcast = dyn_cast<arith::BitcastOp>(op))
      bitcasts.push_back(
          {bitcast, bitcast.getIn().getType(), bitcast.getType()});
    else if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      roundings.push_back(op);
  });

  WalkResult walk = module.walk([&](Operation *op) {
    if (op == module)
      return WalkResult::advance();
    return failed(promoteOperation(op)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  for (Operation *op : roundings) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  for (Bitcast &bitcast : bitcasts)
    keepBitsOfDeclaredType(bitcast.op, bitcast.in, bitcast.out);
  return success();
}

namespace {
struct PromoteFloatsPass
    : fusion::impl::PromoteFloatsPassBase<PromoteFloatsPass> {
  void runOnOperation() override {
    if (failed(fusion::promoteFloats(getOperation())))
      signalPassFailure();
  }
};
} // namespace
