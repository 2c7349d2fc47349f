//===- ResolveAsserts.cpp - Assertions as requirements --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that keeps the assertions that a launch can
// check, each at the level of its function, and settles all others.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/SizeConditions.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_RESOLVEASSERTSPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Settles the assertions of one function.
class AssertResolver {
public:
  explicit AssertResolver(func::FuncOp func)
      : func(func), shapes(func), builder(func.getContext()) {}

  LogicalResult resolve(cf::AssertOp op);

private:
  /// True when `op` may not be reached, whatever its condition says.
  bool isInEmptyLoop(cf::AssertOp op);
  /// `value`, computed at the builder's place from what is in front of it.
  Value hoist(Value value, Block *block, IRMapping &map);
  void moveToFunction(cf::AssertOp op);

  func::FuncOp func;
  SymbolicShapes shapes;
  OpBuilder builder;
  fusionpkg::ExprPool pool;
};
} // namespace

/// Tells that `op` will not be checked.
static void emitDropped(func::FuncOp func, cf::AssertOp op) {
  auto remark =
      remark::missed(op.getLoc(), remark::RemarkOpts::name("assertion-dropped")
                                      .category("fusion-input")
                                      .function(func.getName()));
  if (remark)
    remark << "the assertion \"" + op.getMsg().str() +
                  "\" is on elements of tensors, which no launch reads: it is "
                  "not checked";
}

/// True when `type` has no elements for some sizes.
static bool mayBeEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::any_of(tensor.getShape(), [](int64_t size) {
           return size == 0 || ShapedType::isDynamic(size);
         });
}

bool AssertResolver::isInEmptyLoop(cf::AssertOp op) {
  auto isEmpty = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && llvm::is_contained(tensor.getShape(), 0);
  };
  for (Operation *parent = op->getParentOp(); parent != func;
       parent = parent->getParentOp())
    if (llvm::any_of(parent->getOperandTypes(), isEmpty))
      return true;
  return false;
}

Value AssertResolver::hoist(Value value, Block *block, IRMapping &map) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() == block)
    return value;
  for (Value operand : op->getOperands())
    map.map(operand, hoist(operand, block, map));
  return builder.clone(*op, map)->getResult(
      cast<OpResult>(value).getResultNumber());
}

/// Rebuilds an assertion on sizes in front of the operation that it is in. It
/// need not hold where that operation has nothing to do.
void AssertResolver::moveToFunction(cf::AssertOp op) {
  Block *block = &func.getBody().front();
  Operation *top = block->findAncestorOpInBlock(*op);
  builder.setInsertionPoint(top);
  Location loc = op.getLoc();
  IRMapping map;
  Value condition = hoist(op.getArg(), block, map);
  for (Value operand : top->getOperands()) {
    if (!mayBeEmpty(operand.getType()))
      continue;
    auto type = cast<RankedTensorType>(operand.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value size = tensor::DimOp::create(builder, loc, operand, dim);
      Value isEmpty = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, size, zero);
      condition = arith::OrIOp::create(builder, loc, condition, isEmpty);
    }
  }
  cf::AssertOp::create(builder, loc, condition, op.getMsg());
  op.erase();
}

LogicalResult AssertResolver::resolve(cf::AssertOp op) {
  FailureOr<fusionpkg::ExprId> condition =
      convertCondition(op.getArg(), shapes, pool);
  if (failed(condition)) {
    emitDropped(func, op);
    op.erase();
    return success();
  }
  std::optional<int64_t> known = pool.getConstant(*condition);
  bool isNested = op->getParentOp() != func;
  if ((known && *known != 0) || (isNested && isInEmptyLoop(op))) {
    op.erase();
    return success();
  }
  bool mayBeSkipped =
      isNested &&
      llvm::any_of(
          func.getBody().front().findAncestorOpInBlock(*op)->getOperandTypes(),
          mayBeEmpty);
  if (known && !mayBeSkipped)
    return emitCodedError(op.getLoc(), ErrorCode::AssertionFails,
                          "the assertion \"" + op.getMsg() +
                              "\" fails for all inputs");
  if (isNested)
    moveToFunction(op);
  return success();
}

namespace {
struct ResolveAssertsPass
    : public fusion::impl::ResolveAssertsPassBase<ResolveAssertsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<cf::AssertOp> asserts;
    getOperation().walk([&](cf::AssertOp op) { asserts.push_back(op); });
    if (asserts.empty())
      return markAllAnalysesPreserved();
    AssertResolver resolver(getOperation());
    for (cf::AssertOp op : asserts)
      if (failed(resolver.resolve(op)))
        signalPassFailure();
  }
};
} // namespace
