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
#include "fusion/Analysis/TargetConstants.h"
#include "fusion/Dialect/Fusion/FusionAttrs.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Support/DefaultChip.h"
#include "fusion/Support/ErrorCodes.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

/// The `fusion.target` of the innermost module around `op` that has one.
static TargetAttr getDeclaredTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target =
            op->getAttrOfType<TargetAttr>(FusionDialect::kTargetAttrName))
      return target;
  return nullptr;
}

DictionaryAttr mlir::fusion::getDeclaredConstants(Operation *op,
                                                  StringRef name) {
  TargetAttr declared = getDeclaredTarget(op);
  return declared && declared.getChip() == name ? declared.getFitted()
                                                : DictionaryAttr();
}

/// The number that `attr` is, or none.
static double getNumber(Attribute attr) {
  if (auto value = dyn_cast<FloatAttr>(attr))
    return value.getValueAsDouble();
  if (auto value = dyn_cast<IntegerAttr>(attr))
    return value.getValue().signedRoundToDouble();
  return std::numeric_limits<double>::quiet_NaN();
}

/// Replaces constants of `target` by those in `groups`.
static llvm::Error replaceConstants(DictionaryAttr groups, TargetInfo &target) {
  for (NamedAttribute group : groups) {
    auto constants = dyn_cast<DictionaryAttr>(group.getValue());
    if (!constants)
      return llvm::createStringError("'" + group.getName().strref() +
                                     "' is no group of constants");
    for (NamedAttribute constant : constants)
      if (llvm::Error error =
              setConstant(target, group.getName(), constant.getName(),
                          getNumber(constant.getValue())))
        return error;
  }
  return llvm::Error::success();
}

FailureOr<TargetInfo> mlir::fusion::resolveTarget(Operation *op,
                                                  StringRef option,
                                                  StringRef fallback) {
  StringRef name = option;
  if (TargetAttr declared = getDeclaredTarget(op); declared && name.empty())
    name = declared.getChip();
  if (name.empty())
    name = fallback;
  if (name.empty())
    name = kDefaultChip;
  llvm::Expected<const TargetInfo *> known = getTarget(name);
  if (!known) {
    emitError(op->getLoc()) << llvm::toString(known.takeError());
    return failure();
  }
  TargetInfo target = **known;
  if (DictionaryAttr constants = getDeclaredConstants(op, name))
    if (llvm::Error error = replaceConstants(constants, target)) {
      emitCodedError(op->getLoc(), ErrorCode::BadTargetConstants,
                     llvm::toString(std::move(error)));
      return failure();
    }
  return target;
}

std::optional<int64_t> mlir::fusion::getSharedLimit(Operation *op,
                                                    int64_t option) {
  if (option != 0)
    return option;
  FailureOr<TargetInfo> target = resolveTarget(op);
  if (failed(target))
    return std::nullopt;
  return target->maxSharedPerBlock;
}

void mlir::fusion::setTarget(ModuleOp module, const TargetInfo &target,
                             DictionaryAttr fitted) {
  MLIRContext *context = module.getContext();
  context->loadDialect<FusionDialect>();
  module->setAttr(FusionDialect::kTargetAttrName,
                  TargetAttr::get(context, target.name, fitted));
}
