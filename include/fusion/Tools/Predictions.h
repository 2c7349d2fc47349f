//===- Predictions.h - What the ledger says of a run ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the predictions of a package's ledger get beside the
// counts of a profile.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_PREDICTIONS_H
#define FUSION_TOOLS_PREDICTIONS_H

#include "fusion-rt/Emulator/Profile.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::fusion {

/// Sets the DRAM traffic that the ledger `ledgerJson` of a package predicts for
/// each kernel of `entry` in `report`. Kernels that the ledger does not know
/// stay without.
void setPredictions(llvm::StringRef ledgerJson, llvm::StringRef entry,
                    fusionemu::ProfileReport &report);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_PREDICTIONS_H
