//===- TileGridOps.cpp - Exchange between blocks of a grid ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the verifiers of the operations by which blocks of a
// grid hand tiles to each other.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"

using namespace mlir;
using namespace mlir::tile;

LogicalResult ScratchOp::verify() {
  if (getBytes() == 0 || static_cast<int64_t>(getBytes()) < 0)
    return emitOpError("has no bytes");
  return success();
}

/// Checks what blocks exchange: whole bytes, and something at all.
static LogicalResult verifyExchange(Operation *op, ValueRange values) {
  if (values.empty())
    return op->emitOpError("has no tiles");
  for (Value value : values) {
    Type element = getTileElementType(value.getType());
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
      return op->emitOpError("elements of type ")
             << element << " cannot be exchanged";
  }
  return success();
}

LogicalResult PublishOp::verify() { return verifyExchange(*this, getValues()); }

LogicalResult CollectOp::verify() { return verifyExchange(*this, getValues()); }
