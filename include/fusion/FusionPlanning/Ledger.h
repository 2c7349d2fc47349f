//===- Ledger.h - Every candidate fusion and what became of it --*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the ledger of a plan: plain data, no IR.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_LEDGER_H
#define FUSION_FUSIONPLANNING_LEDGER_H

#include "fusion/FusionPlanning/FusionDecision.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::fusion {

/// One candidate fusion of two or more kernels. The numbers of a refused
/// candidate are 0 when it was refused before it was priced.
struct LedgerEntry {
  /// What the parts compute, e.g. `matmul` and `add_relu`.
  std::string producer;
  std::string consumer;
  bool accepted = false;
  ReasonCode reason = ReasonCode::IntoConsumer;
  /// What the reason is about, beyond its code.
  std::string detail;
  /// Times in microseconds, of the parts and of the fused kernel.
  double timeBeforeUs = 0;
  double timeAfterUs = 0;
  /// Memory traffic saved, in bytes; negative when fusion adds to it.
  int64_t savedBytes = 0;
  int64_t savedLaunches = 0;
  /// Of the fused kernel.
  int64_t registers = 0;
  int64_t sharedBytes = 0;
  /// Graph nodes that stand for the two parts: where to show the entry.
  unsigned producerNode = 0;
  unsigned consumerNode = 0;
  /// Lines of the program that they come from; 0 is unknown.
  unsigned producerLine = 0;
  unsigned consumerLine = 0;

  double gainUs() const { return timeBeforeUs - timeAfterUs; }
};

/// Facts of one kernel of the plan.
struct LedgerKernel {
  std::string name;
  std::vector<std::string> ops;
  /// Nodes of the graph, as those of candidates.
  std::vector<unsigned> nodes;
  /// What it fuses: a code of FusionKinds.def, and XLA's word if it has one.
  std::string kind;
  std::string xlaKind;
  double timeUs = 0;
  std::string bound;
  int64_t dramBytes = 0;
  int64_t flops = 0;
  int64_t registers = 0;
  int64_t sharedBytes = 0;
  /// What makes the products of a kernel around contractions, `wgmma`,
  /// `mma_sync` or `other`, and the code of what stands in the way of `wgmma`
  /// (docs/Remarks.md). Empty for other kernels.
  std::string products;
  std::string obstacle;
  /// The node of the first contraction: where to show the obstacle.
  unsigned contraction = 0;
  /// The line of the program that its first op comes from; 0 is unknown.
  unsigned line = 0;
};

/// What planning did to one function.
struct Ledger {
  std::string function;
  std::string target;
  /// Operations that were planned, each a kernel where nothing is fused; of a
  /// function, those that it has before anything is rewritten.
  int64_t kernelsBefore = 0;
  int64_t kernelsAfter = 0;
  int64_t bytesBefore = 0;
  int64_t bytesAfter = 0;
  double timeBeforeUs = 0;
  double timeAfterUs = 0;
  /// What the figures take dynamic sizes for; 0 if there are none.
  int64_t representativeSize = 0;
  std::vector<LedgerKernel> kernels;
  /// Accepted fusions in the order taken, then refused ones.
  std::vector<LedgerEntry> entries;

  llvm::json::Value toJson() const;
};

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_LEDGER_H
