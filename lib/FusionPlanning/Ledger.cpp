//===- Ledger.cpp - Every candidate fusion and what became of it ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the JSON form of the ledger. Times are whole
// nanoseconds, so that the text does not depend on the last bits of a sum.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/Ledger.h"
#include <cmath>

using namespace mlir::fusion;

/// Whole nanoseconds.
static llvm::json::Value toNanoseconds(double microseconds) {
  if (!std::isfinite(microseconds))
    return nullptr;
  return static_cast<int64_t>(std::llround(microseconds * 1000));
}

static llvm::json::Object toJson(const LedgerEntry &entry) {
  llvm::json::Object object{
      {"producer", entry.producer},
      {"consumer", entry.consumer},
      {"accepted", entry.accepted},
      {"reason", stringifyReason(entry.reason)},
      {"explanation", describeReason(entry.reason)},
      {"detail", entry.detail},
      {"time_before_ns", toNanoseconds(entry.timeBeforeUs)},
      {"time_after_ns", toNanoseconds(entry.timeAfterUs)},
      {"saved_bytes", entry.savedBytes},
      {"saved_launches", entry.savedLaunches},
      {"registers", entry.registers},
      {"shared_bytes", entry.sharedBytes}};
  object["producer_op"] = entry.producerNode;
  object["consumer_op"] = entry.consumerNode;
  if (entry.producerLine)
    object["producer_line"] = entry.producerLine;
  if (entry.consumerLine)
    object["consumer_line"] = entry.consumerLine;
  return object;
}

static llvm::json::Object toJson(const LedgerKernel &kernel) {
  llvm::json::Object object{{"name", kernel.name},
                            {"ops", llvm::json::Array(kernel.ops)},
                            {"time_ns", toNanoseconds(kernel.timeUs)},
                            {"bound", kernel.bound},
                            {"dram_bytes", kernel.dramBytes},
                            {"flops", kernel.flops},
                            {"registers", kernel.registers},
                            {"shared_bytes", kernel.sharedBytes}};
  if (!kernel.nodes.empty())
    object["operations"] = llvm::json::Array(kernel.nodes);
  if (!kernel.kind.empty())
    object["kind"] = kernel.kind;
  if (!kernel.xlaKind.empty())
    object["xla_kind"] = kernel.xlaKind;
  if (!kernel.products.empty())
    object["products"] = kernel.products;
  if (!kernel.obstacle.empty())
    object["obstacle"] = kernel.obstacle;
  if (kernel.line)
    object["line"] = kernel.line;
  return object;
}

llvm::json::Value Ledger::toJson() const {
  llvm::json::Array kernelArray, entryArray;
  for (const LedgerKernel &kernel : kernels)
    kernelArray.push_back(::toJson(kernel));
  for (const LedgerEntry &entry : entries)
    entryArray.push_back(::toJson(entry));
  // A name of MLIR is any bytes.
  llvm::json::Object object{{"function", llvm::json::fixUTF8(function)},
                            {"target", target},
                            {"kernels_before", kernelsBefore},
                            {"kernels_after", kernelsAfter},
                            {"bytes_before", bytesBefore},
                            {"bytes_after", bytesAfter},
                            {"time_before_ns", toNanoseconds(timeBeforeUs)},
                            {"time_after_ns", toNanoseconds(timeAfterUs)},
                            {"kernels", std::move(kernelArray)},
                            {"candidates", std::move(entryArray)}};
  if (representativeSize)
    object["representative_size"] = representativeSize;
  return object;
}
