//===- LowerImports.cpp - Ops that importers write ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that replaces ops which importers write by ops
// of the normal form, and the part of it on affine maps of sizes.
//
//===----------------------------------------------------------------------===//

#include "LowerImports.h"
#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_LOWERIMPORTSPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// `expr` on `operands` where its value is known to be a size: quotients and
/// remainders stay single ops, which later analyses read. Those of numbers that
/// may be negative are what the quotient leaves.
static Value expandSize(OpBuilder &builder, Location loc, AffineExpr expr,
                        ValueRange dims, ValueRange symbols,
                        SymbolicShapes &shapes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expandSize(builder, loc, binary.getLHS(), dims, symbols, shapes);
  Value rhs = expandSize(builder, loc, binary.getRHS(), dims, symbols, shapes);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mod: {
    FailureOr<AffineExpr> size = shapes.getIndex(lhs);
    if (succeeded(size) && shapes.isNonNegative(*size))
      return arith::RemSIOp::create(builder, loc, lhs, rhs);
    Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    Value whole = arith::MulIOp::create(builder, loc, quotient, rhs);
    return arith::SubIOp::create(builder, loc, lhs, whole);
  }
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  default:
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  }
}

/// The results of `map` on `operands`; a remainder of what may be negative is
/// not, as affine maps have it.
static SmallVector<Value> expandMap(OpBuilder &builder, Location loc,
                                    AffineMap map, ValueRange operands,
                                    bool isOfSizes, SymbolicShapes &shapes) {
  ValueRange dims = operands.take_front(map.getNumDims());
  ValueRange symbols = operands.drop_front(map.getNumDims());
  SmallVector<Value> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(
        isOfSizes
            ? expandSize(builder, loc, expr, dims, symbols, shapes)
            : affine::expandAffineExpr(builder, loc, expr, dims, symbols));
  return results;
}

static Value lowerAffine(Operation *op, SymbolicShapes &shapes,
                         OpBuilder &builder) {
  Location loc = op->getLoc();
  bool isOfSizes = llvm::all_of(op->getOperands(), [&](Value operand) {
    return succeeded(shapes.getIndex(operand));
  });
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return expandMap(builder, loc, apply.getAffineMap(), op->getOperands(),
                     isOfSizes, shapes)
        .front();
  auto least = dyn_cast<affine::AffineMinOp>(op);
  AffineMap map =
      least ? least.getMap() : cast<affine::AffineMaxOp>(op).getMap();
  SmallVector<Value> values =
      expandMap(builder, loc, map, op->getOperands(), isOfSizes, shapes);
  Value result = values.front();
  for (Value value : llvm::drop_begin(values))
    result =
        least ? arith::MinSIOp::create(builder, loc, result, value).getResult()
              : arith::MaxSIOp::create(builder, loc, result, value).getResult();
  return result;
}

/// What `op` is replaced by; null if it is left alone.
static FailureOr<Value> lowerImport(Operation *op, SymbolicShapes &shapes,
                                    OpBuilder &builder) {
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op))
    return lowerAffine(op, shapes, builder);
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
    return lowerReshape(reshape, shapes, builder);
  if (auto scatter = dyn_cast<tensor::ScatterOp>(op))
    return lowerScatter(scatter, builder);
  return Value();
}

/// Puts scalars in the place of reads of tensors that are made of them. What
/// was made for these reads alone goes.
static void readStatedElements(func::FuncOp func) {
  SmallVector<tensor::ExtractOp> reads;
  func.walk([&](tensor::ExtractOp op) { reads.push_back(op); });
  llvm::SmallSetVector<Operation *, 8> replaced, unused;
  for (tensor::ExtractOp op : reads) {
    OpBuilder builder(op);
    if (Value element = findStatedElement(op, builder)) {
      op.replaceAllUsesWith(element);
      replaced.insert(op);
    }
  }
  auto eraseAndAsk = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        if (!replaced.contains(definition))
          unused.insert(definition);
    op->erase();
  };
  for (Operation *op : replaced)
    eraseAndAsk(op);
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val();
    if (isOpTriviallyDead(op))
      eraseAndAsk(op);
  }
}

namespace {
struct LowerImportsPass
    : public fusion::impl::LowerImportsPassBase<LowerImportsPass> {
  using Base::Base;

  void runOnOperation() override {
    readStatedElements(getOperation());
    SmallVector<Operation *> ops, replaced;
    getOperation().walk([&](Operation *op) {
      if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp,
              tensor::ReshapeOp, tensor::ScatterOp>(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    SymbolicShapes shapes(getOperation());
    for (Operation *op : ops) {
      OpBuilder builder(op);
      FailureOr<Value> value = lowerImport(op, shapes, builder);
      if (failed(value))
        return signalPassFailure();
      op->getResult(0).replaceAllUsesWith(*value);
      // Erased at last: `shapes` knows values by where they are.
      replaced.push_back(op);
    }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
  }
};
} // namespace
