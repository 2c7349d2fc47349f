//===- PTXChips.cpp - Chips and their PTX versions --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the table of chips that the PTX writer knows.
//
//===----------------------------------------------------------------------===//

#include "fusion/Target/PTX/TranslateToPTX.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fusion;

// Minimum versions: PTX ISA 9.0 manual, release notes table and ".target"
// (read 2026-11). Defaults: 7.8 covers cp.async, ldmatrix, mma.sync, bf16
// arithmetic, by-value tensor maps and the cluster instructions; fp8
// conversions and mma on sm_89 need 8.4; wgmma, TMA and setmaxnreg on sm_90a
// need 8.0; each Blackwell chip starts at the version that introduced it.
static constexpr PTXChip chips[] = {
    {"sm_80", 70, 78},  {"sm_86", 71, 78},   {"sm_87", 74, 78},
    {"sm_89", 78, 84},  {"sm_90", 78, 80},   {"sm_90a", 80, 80},
    {"sm_100", 86, 86}, {"sm_100a", 86, 86}, {"sm_100f", 88, 88},
    {"sm_103", 88, 88}, {"sm_103a", 88, 88}, {"sm_103f", 88, 88},
    {"sm_110", 90, 90}, {"sm_110a", 90, 90}, {"sm_110f", 90, 90},
    {"sm_120", 87, 87}, {"sm_120a", 87, 87}, {"sm_120f", 88, 88},
    {"sm_121", 88, 88}, {"sm_121a", 88, 88}, {"sm_121f", 88, 88},
};

ArrayRef<PTXChip> mlir::fusion::getPTXChips() { return chips; }

const PTXChip *mlir::fusion::lookupPTXChip(StringRef chip) {
  const auto *it = llvm::find_if(
      chips, [&](const PTXChip &entry) { return entry.name == chip; });
  return it == std::end(chips) ? nullptr : it;
}
