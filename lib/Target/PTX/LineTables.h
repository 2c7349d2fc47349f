//===- LineTables.h - Debug scopes for PTX line tables ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the preparation of a module's locations for .loc
// directives.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TARGET_PTX_LINETABLES_H
#define FUSION_LIB_TARGET_PTX_LINETABLES_H

#include "mlir/IR/Operation.h"

namespace mlir::fusion {

/// Gives every llvm.func with a body in `module` a subprogram scope and
/// reduces each operation's location to one file position, so that the export
/// to LLVM IR carries them to .loc directives. Changes `module`.
void attachLineTables(Operation *module);

/// Removes every location below `module`, so that no .loc is emitted.
void stripLineTables(Operation *module);

} // namespace mlir::fusion

#endif // FUSION_LIB_TARGET_PTX_LINETABLES_H
