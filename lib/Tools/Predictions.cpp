//===- Predictions.cpp - What the ledger says of a run --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of a ledger's predictions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/Predictions.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir::fusion;

/// The objects of the array `name`; none if it is not there.
static std::vector<const llvm::json::Object *>
getObjects(const llvm::json::Object &parent, llvm::StringRef name) {
  std::vector<const llvm::json::Object *> objects;
  if (const llvm::json::Array *array = parent.getArray(name))
    for (const llvm::json::Value &value : *array)
      if (const llvm::json::Object *object = value.getAsObject())
        objects.push_back(object);
  return objects;
}

void mlir::fusion::setPredictions(llvm::StringRef ledgerJson,
                                  llvm::StringRef entry,
                                  fusionemu::ProfileReport &report) {
  llvm::Expected<llvm::json::Value> ledger = llvm::json::parse(ledgerJson);
  if (!ledger) {
    llvm::consumeError(ledger.takeError());
    return;
  }
  const llvm::json::Object *root = ledger->getAsObject();
  if (!root)
    return;
  // Equal kernels of the plan share one kernel of the package.
  llvm::StringMap<std::string> programs;
  for (const llvm::json::Object *kernel : getObjects(*root, "kernels"))
    if (auto name = kernel->getString("name"))
      if (auto program = kernel->getString("entry"))
        programs[*name] = program->str();
  llvm::StringMap<int64_t> bytes;
  for (const llvm::json::Object *function : getObjects(*root, "functions")) {
    if (function->getString("function") != entry)
      continue;
    for (const llvm::json::Object *kernel : getObjects(*function, "kernels")) {
      auto name = kernel->getString("name");
      auto predicted = kernel->getInteger("dram_bytes");
      if (!name || !predicted)
        continue;
      auto program = programs.find(*name);
      if (program != programs.end())
        bytes[program->second] += *predicted;
    }
  }
  for (const auto &kernel : bytes)
    report.setPrediction(kernel.getKey().str(), kernel.getValue());
}
