//===- Int4Ops.cpp - Elements of four bits --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the views between elements of four bits and bytes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when `bytes` may be the bytes of `elements`.
static bool fits(RankedTensorType bytes, RankedTensorType elements) {
  if (!elements.hasStaticShape())
    return bytes.isDynamicDim(0);
  int64_t wanted = llvm::divideCeil(elements.getNumElements(), 2);
  return bytes.getDimSize(0) == wanted;
}

LogicalResult Int4BytesOp::verify() {
  auto elements = cast<RankedTensorType>(getInput().getType());
  auto bytes = cast<RankedTensorType>(getResult().getType());
  if (!fits(bytes, elements))
    return emitOpError("has ") << bytes << " for the bytes of " << elements;
  return success();
}

LogicalResult Int4ElementsOp::verify() {
  auto elements = cast<RankedTensorType>(getResult().getType());
  auto bytes = cast<RankedTensorType>(getBytes().getType());
  if (!fits(bytes, elements))
    return emitOpError("has ") << bytes << " for the bytes of " << elements;
  if (static_cast<int64_t>(getSizes().size()) != elements.getNumDynamicDims())
    return emitOpError("takes one size for each dynamic dimension of ")
           << elements;
  return success();
}
