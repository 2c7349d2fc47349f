//===- SharedMemory.h - Addresses in shared memory --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares where buffers and barriers lie in the block's shared
// memory, whether they stand still or belong to a stage of a ring.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_TILETONVVM_SHAREDMEMORY_H
#define FUSION_CONVERSION_TILETONVVM_SHAREDMEMORY_H

#include "fusion/Conversion/TileToNVVM/ThreadBuilder.h"

namespace mlir::fusion {

/// Bytes of a barrier.
constexpr int64_t kBarrierBytes = 8;

/// Where a buffer or barrier lies: `offset` bytes from the start of the block's
/// shared memory and, in a ring, `stage` times `stageBytes` further. The buffer
/// of a group in a stage is `group` times `groupBytes` further.
struct SharedPlace {
  int64_t offset = 0;
  Value stage;
  int64_t stageBytes = 0;
  Value group = nullptr;
  int64_t groupBytes = 0;

  static SharedPlace at(int64_t offset) { return {offset, nullptr, 0}; }
  SharedPlace plus(int64_t bytes) const {
    SharedPlace place = *this;
    place.offset += bytes;
    return place;
  }
  /// The largest power of two, up to 1024, that divides every such offset.
  int64_t alignment() const;
};

/// The places of a program's buffers and their addresses.
class SharedMemory {
public:
  /// `global` stands for the block's dynamic shared memory.
  SharedMemory(ThreadBuilder &builder, LLVM::GlobalOp global)
      : builder(builder), global(global) {}

  /// The place of `buffer`: an allocation's own, or what has been set.
  SharedPlace getPlace(Value buffer) const;
  void setPlace(Value buffer, const SharedPlace &place) {
    places[buffer] = place;
  }
  /// Pointer to the byte `threadOffset ^ xorPart` (none when null), and
  /// `immediate` more, of what lies at `place`.
  Value getAddress(const SharedPlace &place, Value threadOffset = nullptr,
                   uint64_t xorPart = 0, uint64_t immediate = 0);
  /// The same in 32 bits.
  Value getAddress32(const SharedPlace &place);

private:
  Value getBase();

  ThreadBuilder &builder;
  LLVM::GlobalOp global;
  Value base;
  DenseMap<Value, SharedPlace> places;
};

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_TILETONVVM_SHAREDMEMORY_H
