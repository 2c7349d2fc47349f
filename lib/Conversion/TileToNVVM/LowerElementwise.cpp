//===- LowerElementwise.cpp - Operations on each element by itself --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of operations of arith and math.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct ConstantLowering : public TileOpLowering<arith::ConstantOp> {
  LogicalResult lower(arith::ConstantOp op,
                      ProgramLowering &lowering) const override;
};

template <typename OpT>
struct IndexCastLowering : public TileOpLowering<OpT> {
  LogicalResult lower(OpT op, ProgramLowering &lowering) const override;
};

/// Applies an operation to the scalars one by one.
class ElementwiseLowering : public TileLowering {
public:
  ElementwiseLowering() : TileLowering(/*root=*/std::nullopt) {}

  bool matchesOperation(Operation *op) const override {
    return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
           isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
  }
  LogicalResult lowerOperation(Operation *op,
                               ProgramLowering &lowering) const override;
};
} // namespace

LogicalResult ConstantLowering::lower(arith::ConstantOp op,
                                      ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  TypedAttr value = op.getValue();
  // A tile that folded to a constant has one value throughout.
  int64_t count = 1;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    count = lowering.numScalars(dense.getType());
    value = dense.getSplatValue<TypedAttr>();
  }
  if (auto integer = dyn_cast<IntegerAttr>(value))
    if (integer.getType().isIndex())
      value = builder.getIntegerAttr(builder.getIndexType(), integer.getInt());
  lowering.set(op.getResult(),
               Scalars(count, arith::ConstantOp::create(builder, value)));
  return success();
}

template <typename OpT>
LogicalResult IndexCastLowering<OpT>::lower(OpT op,
                                            ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  constexpr bool isUnsigned = std::is_same_v<OpT, arith::IndexCastUIOp>;
  Type to = lowering.scalarType(op.getType());
  Scalars results;
  for (Value value : lowering.get(op.getIn())) {
    unsigned from = value.getType().getIntOrFloatBitWidth();
    unsigned width = to.getIntOrFloatBitWidth();
    if (from < width)
      value = isUnsigned ? builder.createOrFold<arith::ExtUIOp>(to, value)
                         : builder.createOrFold<arith::ExtSIOp>(to, value);
    else if (from > width)
      value = builder.createOrFold<arith::TruncIOp>(to, value);
    results.push_back(value);
  }
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult
ElementwiseLowering::lowerOperation(Operation *op,
                                    ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  Value result = op->getResult(0);
  unsigned count = lowering.numScalars(result.getType());
  Scalars results;
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      const Scalars &scalars = lowering.get(operand);
      operands.push_back(scalars.size() == 1 ? scalars.front() : scalars[i]);
    }
    OperationState state(builder.getLoc(), op->getName(), operands,
                         lowering.scalarType(result.getType()), op->getAttrs());
    Operation *scalar = builder.create(state);
    // What depends on registers' places alone is a constant.
    SmallVector<Value> folded;
    if (llvm::all_of(operands,
                     [](Value operand) {
                       return matchPattern(operand, m_Constant());
                     }) &&
        succeeded(builder.tryFold(scalar, folded)) && folded.size() == 1) {
      scalar->erase();
      results.push_back(folded.front());
      continue;
    }
    results.push_back(scalar->getResult(0));
  }
  lowering.set(result, results);
  return success();
}

void mlir::fusion::populateElementwiseLowerings(LoweringSet &lowerings) {
  lowerings.add<ElementwiseLowering, ConstantLowering,
                IndexCastLowering<arith::IndexCastOp>,
                IndexCastLowering<arith::IndexCastUIOp>>();
}
