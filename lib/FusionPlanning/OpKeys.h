//===- OpKeys.h - What tells operations from each other ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the keys by which planning finds again what it knows of
// operations: they hold for all that one context has, clones among it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_OPKEYS_H
#define FUSION_LIB_FUSIONPLANNING_OPKEYS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/Hashing.h"
#include <unordered_map>

namespace mlir::fusion::planning {

/// Numbers, and addresses of what the context has once.
using OpKey = std::vector<uintptr_t>;

struct OpKeyHash {
  size_t operator()(const OpKey &key) const {
    return llvm::hash_combine_range(key.begin(), key.end());
  }
};

template <typename T>
using OpKeyMap = std::unordered_map<OpKey, T, OpKeyHash>;

/// The key of `op` with all that is in it. Two have the same exactly if they
/// differ in their places and in where what they read of others comes from
/// alone; what they read are equal constants, or values of one type.
OpKey getKey(Operation *op);

} // namespace mlir::fusion::planning

#endif // FUSION_LIB_FUSIONPLANNING_OPKEYS_H
