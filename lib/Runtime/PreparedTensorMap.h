//===- PreparedTensorMap.h - Tensor maps of an entry --------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a package's tensor map with numbers instead of expressions,
// and the memory of the maps that were encoded from it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_PREPAREDTENSORMAP_H
#define FUSION_LIB_RUNTIME_PREPAREDTENSORMAP_H

#include "Device.h"
#include "fusion/Executable/Expr.h"

#include <array>

namespace fusionrt {

/// The last maps that were encoded from one description, by address. Any number
/// of threads may use it; none ever waits or allocates.
class TensorMapCache {
public:
  /// Copies the map for `address` to `map` if it is here.
  bool find(Address address, uint8_t *map) const;
  /// Remembers a map in place of the one remembered longest, or does nothing
  /// while another thread does so.
  void insert(Address address, const uint8_t *map);

private:
  static constexpr size_t kWords = fusionemu::tensorMapBytes / 8;
  /// `version` is odd while the slot is written and 0 until it first is; a
  /// reader that sees it change has read nothing.
  struct Slot {
    std::atomic<uint64_t> version{0};
    std::atomic<Address> address{0};
    std::array<std::atomic<uint64_t>, kWords> words{};
  };
  static constexpr unsigned kSlots = 4;
  std::array<Slot, kSlots> slots;
  std::atomic<unsigned> next{0};
};

struct PreparedTensorMap {
  /// All but the address.
  fusionemu::TensorMapInfo info;
  uint32_t buffer = 0;
  int64_t byteOffset = 0;
  /// The tensor has no elements: no map describes that, so `info` is of one
  /// element and the address may be any.
  bool isEmpty = false;
  std::unique_ptr<TensorMapCache> cache;
};

/// Evaluates `map`, whose buffer has `bufferBytes` bytes. Fails when a size has
/// no value, when the tensor leaves its buffer, and when the tensor copy engine
/// cannot address it or, in an output, could write beside it.
Error prepareTensorMap(const fusionpkg::TensorMap &map,
                       const fusionpkg::ExprValues &values, int64_t bufferBytes,
                       bool isOutput, PreparedTensorMap &prepared);

} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_PREPAREDTENSORMAP_H
