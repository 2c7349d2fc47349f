//===- ReadExplanation.cpp - Explanations as C++ --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of explanations.
//
//===----------------------------------------------------------------------===//

#include "fusion/Report/ReadExplanation.h"

using namespace mlir::fusion;
using llvm::json::ObjectMapper;
using llvm::json::Path;

/// Reads a time, which is null where there is none.
static bool mapTime(ObjectMapper &map, llvm::StringLiteral name, int64_t &ns) {
  std::optional<int64_t> time;
  if (!map.map(name, time))
    return false;
  ns = time.value_or(0);
  return true;
}

namespace mlir::fusion {

static bool fromJSON(const llvm::json::Value &json, ExplainedOperation &op,
                     Path path) {
  ObjectMapper map(json, path);
  return map && map.map("label", op.label) &&
         map.mapOptional("source", op.sources) &&
         map.mapOptional("names", op.names);
}

static bool fromJSON(const llvm::json::Value &json, ExplainedKernel &kernel,
                     Path path) {
  ObjectMapper map(json, path);
  return map && map.map("name", kernel.name) && map.map("ops", kernel.labels) &&
         map.map("bound", kernel.bound) &&
         map.mapOptional("kind", kernel.kind) &&
         map.mapOptional("operations", kernel.operations) &&
         map.mapOptional("reads", kernel.reads) &&
         map.mapOptional("stores", kernel.stores) &&
         map.mapOptional("line", kernel.line) &&
         mapTime(map, "time_ns", kernel.timeNs) &&
         map.map("dram_bytes", kernel.bytes);
}

static bool fromJSON(const llvm::json::Value &json, ExplainedCandidate &entry,
                     Path path) {
  ObjectMapper map(json, path);
  return map && map.map("producer", entry.producer) &&
         map.map("consumer", entry.consumer) &&
         map.map("accepted", entry.accepted) &&
         map.map("reason", entry.reason) &&
         map.map("explanation", entry.explanation) &&
         map.map("detail", entry.detail) &&
         map.mapOptional("producer_op", entry.producerOp) &&
         map.mapOptional("consumer_op", entry.consumerOp) &&
         map.mapOptional("producer_line", entry.producerLine) &&
         map.mapOptional("consumer_line", entry.consumerLine) &&
         mapTime(map, "time_before_ns", entry.timeBeforeNs) &&
         mapTime(map, "time_after_ns", entry.timeAfterNs) &&
         map.map("saved_bytes", entry.savedBytes);
}

static bool fromJSON(const llvm::json::Value &json, ExplainedFunction &function,
                     Path path) {
  ObjectMapper map(json, path);
  return map && map.map("function", function.name) &&
         map.map("target", function.target) &&
         map.map("kernels_before", function.kernelsBefore) &&
         map.map("kernels_after", function.kernelsAfter) &&
         map.map("bytes_before", function.bytesBefore) &&
         map.map("bytes_after", function.bytesAfter) &&
         mapTime(map, "time_before_ns", function.timeBeforeNs) &&
         mapTime(map, "time_after_ns", function.timeAfterNs) &&
         map.mapOptional("representative_size", function.representativeSize) &&
         map.mapOptional("operations", function.operations) &&
         map.map("kernels", function.kernels) &&
         map.map("candidates", function.candidates);
}

} // namespace mlir::fusion

llvm::Expected<Explanation>
mlir::fusion::readExplanation(const llvm::json::Object &json) {
  const llvm::json::Value *functions = json.get("functions");
  if (!functions)
    return llvm::createStringError("there is no list of functions");
  Explanation explanation;
  Path::Root root("functions");
  if (!fromJSON(*functions, explanation, root))
    return root.getError();
  return explanation;
}
