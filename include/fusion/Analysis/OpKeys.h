//===- OpKeys.h - What tells operations from each other ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the keys by which the compiler finds again what it knows
// of operations: they hold for all that one context has, clones among it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_OPKEYS_H
#define FUSION_ANALYSIS_OPKEYS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace mlir::fusion {

class KernelOp;

/// Numbers, and addresses of what the context has once.
using OpKey = std::vector<uintptr_t>;

struct OpKeyHash {
  size_t operator()(const OpKey &key) const {
    return llvm::hash_combine_range(key.begin(), key.end());
  }
};

/// What is known by keys, for several threads at once.
template <typename T>
class OpKeyMemory {
public:
  /// What is known of `key`, which `compute` finds out the first time: several
  /// threads may, and find the same.
  T get(OpKey key, llvm::function_ref<T()> compute) {
    if (std::optional<T> known = find(key))
      return std::move(*known);
    T value = compute();
    std::lock_guard<std::mutex> lock(mutex);
    return values.try_emplace(std::move(key), std::move(value)).first->second;
  }
  std::optional<T> find(const OpKey &key) const {
    std::lock_guard<std::mutex> lock(mutex);
    auto known = values.find(key);
    if (known == values.end())
      return std::nullopt;
    return std::optional<T>(std::in_place, known->second);
  }

private:
  mutable std::mutex mutex;
  std::unordered_map<OpKey, T, OpKeyHash> values;
};

/// The key of `op` with all that is in it. Two have the same exactly if they
/// differ in their places and in where what they read of others comes from
/// alone; what they read are equal constants, or values of one type. The
/// attributes of `op` called `ignored` do not count.
OpKey getKey(Operation *op, ArrayRef<StringRef> ignored = {});

/// The key of a kernel whatever it is called; nothing where sizes, which it may
/// share with others, or scalars are known at run time alone.
std::optional<OpKey> getKernelKey(KernelOp kernel);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_OPKEYS_H
