//===- MemoryImpl.h - Allocations and their shadow --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how device memory is kept: each allocation with its bytes,
// which of them were written, and what the running launch did to it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_MEMORYIMPL_H
#define FUSION_LIB_RUNTIME_EMULATOR_MEMORYIMPL_H

#include "fusion-rt/Emulator/Emulator.h"

#include <map>
#include <mutex>

namespace fusionemu {

/// One allocation, and its shadow. Handlers built for other instruction sets
/// read it, so it stays a plain structure.
struct Allocation {
  uint64_t base = 0, size = 0;
  uint8_t *data = nullptr;
  /// One bit for each byte that was written; null when all were.
  uint64_t *init = nullptr;
  bool live = true;
  bool readOnly = false;
  /// One bit for each 32-byte sector that the running launch touched; created
  /// when first needed.
  uint64_t *loadSectors = nullptr, *storeSectors = nullptr;
  /// The block, plus one, that last wrote or read each granule in the running
  /// launch; see Kernel::globalGranuleShift.
  uint32_t *writers = nullptr, *readers = nullptr;
  std::string name;
};

/// The reader entry of a granule that several blocks read.
constexpr uint32_t manyReaders = ~uint32_t(0);

class Memory::Impl {
public:
  ~Impl();

  /// Sorted by base; freed ones stay for a while, to be named in reports.
  std::vector<Allocation *> allocations;
  uint64_t nextBase = 0;
  uint64_t inUse = 0;
  uint64_t limit = ~uint64_t(0);
  size_t freed = 0;
  /// Protects the lazy creation of shadows during a launch.
  std::mutex shadowMutex;
  /// First variable of each module that is loaded here, by Program::id.
  std::map<uint64_t, std::vector<uint64_t>> moduleVariables;

  Status allocate(uint64_t bytes, std::string_view name, uint64_t &address);
  /// The allocation that contains `address`, live or not, or the nearest one
  /// below it; null when there is none.
  Allocation *findAtOrBelow(uint64_t address) const;
  /// The live allocation that contains the whole range, or an error.
  Status findRange(uint64_t address, uint64_t bytes, const char *verb,
                   Allocation *&found) const;
  void dropOldTombstones();
};

/// Zeroed memory that costs nothing until it is touched; null on failure.
uint8_t *mapPages(uint64_t bytes);
void unmapPages(void *pages, uint64_t bytes);

/// Sets the bits [first, first + count) of a shared bitmap.
void setBits(uint64_t *bits, uint64_t first, uint64_t count);
/// True when all of them are set.
bool testBits(const uint64_t *bits, uint64_t first, uint64_t count);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_MEMORYIMPL_H
