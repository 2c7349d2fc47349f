//===- ReadExplanation.h - Explanations as C++ ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines those parts of an explanation that questions about it and
// comparisons need (docs/schema/explanation.schema.json). A ledger is an
// explanation without the graph.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REPORT_READEXPLANATION_H
#define FUSION_REPORT_READEXPLANATION_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::fusion {

/// One operation of the graph.
struct ExplainedOperation {
  std::string label;
  /// "model.mlir:17" and what front doors called it; may be empty.
  std::vector<std::string> sources, names;
};

struct ExplainedKernel {
  std::string name, kind, bound;
  std::vector<std::string> labels;
  std::vector<int64_t> operations;
  /// Empty in a ledger.
  std::vector<int64_t> reads, stores;
  bool computes(int64_t op) const { return llvm::is_contained(operations, op); }

  int64_t line = 0, bytes = 0;
  /// 0 where there is none, as for a kernel that does not fit the chip.
  int64_t timeNs = 0;
};

struct ExplainedCandidate {
  std::string producer, consumer, reason, explanation, detail;
  bool accepted = false;
  int64_t producerOp = 0, consumerOp = 0, producerLine = 0, consumerLine = 0;
  int64_t timeBeforeNs = 0, timeAfterNs = 0, savedBytes = 0;

  bool isPriced() const { return timeBeforeNs != 0; }
};

struct ExplainedFunction {
  std::string name, target;
  int64_t kernelsBefore = 0, kernelsAfter = 0, bytesBefore = 0, bytesAfter = 0;
  int64_t timeBeforeNs = 0, timeAfterNs = 0;
  /// What figures take dynamic sizes for; 0 if there are none.
  int64_t representativeSize = 0;
  std::vector<ExplainedOperation> operations;
  std::vector<ExplainedKernel> kernels;
  std::vector<ExplainedCandidate> candidates;
};

using Explanation = std::vector<ExplainedFunction>;

/// Reads an explanation or a ledger. Members that it does not know count for
/// nothing; an error says what is no explanation.
llvm::Expected<Explanation> readExplanation(const llvm::json::Object &json);

} // namespace mlir::fusion

#endif // FUSION_REPORT_READEXPLANATION_H
