//===- SetTarget.cpp - Writes down the chip -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that writes down which chip a module is
// compiled for, for all passes after it to read.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Pipelines/Passes.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_SETTARGETPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct SetTargetPass : public fusion::impl::SetTargetPassBase<SetTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetInfo> chip = resolveTarget(getOperation(), target);
    if (failed(chip))
      return signalPassFailure();
    setTarget(getOperation(), *chip,
              getDeclaredConstants(getOperation(), chip->name));
  }
};
} // namespace
