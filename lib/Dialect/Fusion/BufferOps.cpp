//===- BufferOps.cpp - Kernels on memory ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what kernels become where tensors have become memory.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "fusion/Dialect/Fusion/FusionBufferOps.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

std::optional<unsigned> fusion::getOverwrittenArgument(Value yielded) {
  auto insert = yielded.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || !insert->hasAttr(FusionDialect::kInPlaceAttrName))
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(insert.getDest());
  if (!argument)
    return std::nullopt;
  return argument.getArgNumber();
}

LogicalResult BufferKernelOp::verify() {
  if (getKernelName().empty())
    return emitOpError("has an empty name");
  if (getOutputs().empty())
    return emitOpError("must have at least one output");
  for (Type type : getOperandTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (memref && !memref.getLayout().isIdentity())
      return emitOpError() << formatError(ErrorCode::KernelMemory,
                                          "'" + getKernelName() +
                                              "' is given a memref with gaps "
                                              "or an offset")
                           << ": " << type;
  }
  return success();
}

LogicalResult BufferKernelOp::verifyRegions() {
  Block &block = getBlock();
  if (failed(verifyKernelInputs(*this, getInputs(), block)))
    return failure();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getOutputs().size())
    return emitOpError() << "must end in a 'fusion.yield' of "
                         << getOutputs().size() << " values";
  for (auto [index, value, output] :
       llvm::enumerate(yield.getValues(), getOutputs())) {
    if (value.getType() != getBodyType(output.getType()))
      return emitOpError() << "output #" << index << " has type "
                           << output.getType() << " but the body yields "
                           << value.getType();
    std::optional<unsigned> overwritten = getOverwrittenArgument(value);
    if (overwritten && getInputs()[*overwritten] != output)
      return emitOpError() << "output #" << index << " is written in place of "
                           << "input #" << *overwritten
                           << ", and must be the same memref";
  }
  return success();
}

void BufferKernelOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<MemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input);
  for (OpOperand &output : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &output);
}

#define GET_OP_CLASSES
#include "fusion/Dialect/Fusion/FusionBufferOps.cpp.inc"
