//===- ModuleTarget.cpp - The chip a module is for ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of the chip that a module is compiled for.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Fusion/FusionAttrs.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"

using namespace mlir;
using namespace mlir::fusion;

/// The `fusion.target` of the innermost module around `op` that has one.
static StringRef getDeclaredTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target =
            op->getAttrOfType<TargetAttr>(FusionDialect::kTargetAttrName))
      return target.getChip();
  return "";
}

const TargetInfo *mlir::fusion::resolveTarget(Operation *op, StringRef option,
                                              StringRef fallback) {
  StringRef name = option;
  if (name.empty())
    name = getDeclaredTarget(op);
  if (name.empty())
    name = fallback;
  if (name.empty())
    return &getDefaultTarget();
  llvm::Expected<const TargetInfo *> known = getTarget(name);
  if (known)
    return *known;
  emitError(op->getLoc()) << llvm::toString(known.takeError());
  return nullptr;
}

std::optional<int64_t> mlir::fusion::getSharedLimit(Operation *op,
                                                    int64_t option) {
  if (option != 0)
    return option;
  if (const TargetInfo *target = resolveTarget(op))
    return target->maxSharedPerBlock;
  return std::nullopt;
}

void mlir::fusion::setTarget(ModuleOp module, const TargetInfo &target) {
  MLIRContext *context = module.getContext();
  context->loadDialect<FusionDialect>();
  module->setAttr(FusionDialect::kTargetAttrName,
                  TargetAttr::get(context, target.name));
}
