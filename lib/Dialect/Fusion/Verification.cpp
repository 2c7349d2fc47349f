//===- Verification.cpp - Checks that several ops share -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements checks of axes and sizes.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult fusion::verifyInferredTypes(Operation *op) {
  SmallVector<Type> types(op->getResultTypes());
  return cast<InferTypeOpInterface>(op).refineReturnTypes(
      op->getContext(), op->getLoc(), op->getOperands(),
      op->getRawDictionaryAttrs(), op->getPropertiesStorage(), op->getRegions(),
      types);
}

int64_t fusion::mergeSizes(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) ? b : a;
}

bool fusion::sizesDiffer(int64_t a, int64_t b) {
  return ShapedType::isStatic(a) && ShapedType::isStatic(b) && a != b;
}

LogicalResult fusion::verifyAxis(Operation *op, StringRef attribute,
                                 int64_t axis, RankedTensorType type) {
  if (axis >= 0 && axis < type.getRank())
    return success();
  return op->emitOpError() << "'" << attribute << "' is " << axis
                           << ", not a dimension of " << type;
}

LogicalResult fusion::verifySizes(Operation *op, StringRef name,
                                  RankedTensorType type,
                                  ArrayRef<int64_t> expected, StringRef what) {
  if (type.getRank() != static_cast<int64_t>(expected.size()))
    return op->emitOpError()
           << "'" << name << "' must have rank " << expected.size() << " ("
           << what << "), got " << type;
  for (auto [dim, size] : llvm::enumerate(expected))
    if (sizesDiffer(type.getDimSize(dim), size))
      return op->emitOpError()
             << "'" << name << "' must have size " << size << " in dimension "
             << dim << " (" << what << "), got " << type;
  return success();
}

LogicalResult fusion::verifyOptionalSizes(Operation *op, StringRef name,
                                          Value operand,
                                          ArrayRef<int64_t> expected,
                                          StringRef what) {
  if (!operand)
    return success();
  return verifySizes(op, name, cast<RankedTensorType>(operand.getType()),
                     expected, what);
}

Type fusion::getBodyType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref
             ? RankedTensorType::get(memref.getShape(), memref.getElementType())
             : type;
}

LogicalResult fusion::verifyKernelInputs(Operation *op, ValueRange inputs,
                                         Block &body) {
  if (body.getNumArguments() != inputs.size())
    return op->emitOpError()
           << "has " << inputs.size() << " inputs but its body takes "
           << body.getNumArguments() << " arguments";
  for (auto [index, input, argument] :
       llvm::enumerate(inputs, body.getArguments()))
    if (getBodyType(input.getType()) != argument.getType())
      return op->emitOpError()
             << "input #" << index << " has type " << input.getType()
             << " but the body takes " << argument.getType();
  return success();
}
