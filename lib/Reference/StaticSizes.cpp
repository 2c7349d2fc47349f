//===- StaticSizes.cpp - Tensors that cannot exist ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the check for tensors of a fixed size that overflows.
//
//===----------------------------------------------------------------------===//

#include "StaticSizes.h"

#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::fusion;

/// True if a value of type `type` has too many bytes. Dynamic extents count as
/// 1: programs that are run have elements.
static bool overflows(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return false;
  Type element = shaped.getElementType();
  int64_t bytes =
      element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
  bool isTooLarge = false;
  for (int64_t extent : shaped.getShape()) {
    if (extent == 0)
      return false;
    if (!ShapedType::isDynamic(extent))
      isTooLarge |= __builtin_mul_overflow(bytes, extent, &bytes);
  }
  return isTooLarge;
}

static LogicalResult verify(Location loc, TypeRange types) {
  for (Type type : types) {
    if (!overflows(type))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return emitCodedError(loc, ErrorCode::SizeOverflow,
                          "a value of type " + text +
                              " has more bytes than 63 bits can count");
  }
  return success();
}

LogicalResult fusion::verifyStaticSizes(ModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) {
    if (failed(verify(op->getLoc(), op->getResultTypes())))
      return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(verify(op->getLoc(), block.getArgumentTypes())))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
