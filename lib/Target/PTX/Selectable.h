//===- Selectable.h - What NVPTX can select ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the check that guards LLVM's NVPTX backend.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_PTX_SELECTABLE_H
#define FUSION_LIB_TARGET_PTX_SELECTABLE_H

#include "mlir/IR/Operation.h"

namespace mlir::fusion {

/// Emits an error at the first operation below `module` that cannot become PTX:
/// one of another dialect, or one for which the NVPTX backend has no
/// instruction and would end the process: a math intrinsic that needs
/// libdevice, a call of a function that nothing defines, a number format that
/// the hardware lacks.
LogicalResult checkSelectable(Operation *module);

} // namespace mlir::fusion

#endif // FUSION_LIB_TARGET_PTX_SELECTABLE_H
