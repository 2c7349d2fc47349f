//===- WriteInPlace.cpp - Results that overwrite arguments ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decision which insertions of slices write the slice
// alone, into the memory of an argument that a result overwrites.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/FusionDecision.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when nothing but `insert`, as its destination, reads elements of
/// `argument` or of a view of it.
static bool isReadByAlone(BlockArgument argument,
                          tensor::InsertSliceOp insert) {
  SmallVector<Value> views{argument};
  while (!views.empty())
    for (OpOperand &use : views.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isViewOp(user))
        views.push_back(user->getResult(0));
      else if (!isa<tensor::DimOp>(user) && &use != &insert.getDestMutable())
        return false;
    }
  return true;
}

static void emitDecision(FunctionOpInterface func, Operation *op,
                         unsigned argument, unsigned result, ReasonCode code) {
  auto opts = remark::RemarkOpts::name(stringifyReason(code))
                  .category("fusion-plan")
                  .function(func.getName());
  auto remark = code == ReasonCode::InPlace
                    ? remark::passed(op->getLoc(), opts)
                    : remark::missed(op->getLoc(), opts);
  if (remark)
    remark << "result #" + std::to_string(result) + " -> argument #" +
                  std::to_string(argument) + ": " + describeReason(code).str();
}

void mlir::fusion::writeInPlace(FunctionOpInterface func) {
  Operation *terminator = func.getFunctionBody().front().getTerminator();
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto overwritten = func.getArgAttrOfType<IntegerAttr>(
        number, FusionDialect::kOverwrittenByAttrName);
    if (!overwritten)
      continue;
    Value base = stripViews(terminator->getOperand(overwritten.getInt()));
    // An argument that stays as it is needs no step at all.
    if (base == argument)
      continue;
    auto insert = base.getDefiningOp<tensor::InsertSliceOp>();
    ReasonCode code = ReasonCode::InPlace;
    if (!insert || stripViews(insert.getDest()) != argument)
      code = ReasonCode::NoInsertion;
    else if (!isReadByAlone(argument, insert))
      code = ReasonCode::ArgumentRead;
    else
      insert->setAttr(FusionDialect::kInPlaceAttrName,
                      UnitAttr::get(func.getContext()));
    emitDecision(func, insert ? insert.getOperation() : terminator, number,
                 overwritten.getInt(), code);
  }
}
