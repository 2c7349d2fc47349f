//===- ParseProgram.h - Programs as text ------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the parsing of programs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_PARSEPROGRAM_H
#define FUSION_PREPROCESSING_PARSEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir::fusion {

/// Parses the main file of `sources` and verifies it; null after an error.
/// Where the text has ops or types of a dialect that is converted to linalg
/// before (StableHLO, CHLO, Torch, ...), the error says how, instead of the
/// parser's complaint.
OwningOpRef<ModuleOp> parseProgram(llvm::SourceMgr &sources,
                                   MLIRContext *context);

} // namespace mlir::fusion

#endif // FUSION_PREPROCESSING_PARSEPROGRAM_H
