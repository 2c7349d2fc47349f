//===- WorkspacePool.h - Workspaces that the runtime owns ---- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the pool that launches without a workspace of the caller's
// take theirs from.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_WORKSPACEPOOL_H
#define FUSION_LIB_RUNTIME_WORKSPACEPOOL_H

#include "Device.h"

namespace fusionrt {

/// Blocks of device memory, each bound to one stream: what one launch leaves
/// there, the next on that stream may overwrite, because the stream keeps them
/// in order. A block is held exclusively only while work is being enqueued, so
/// two threads that launch on one stream get two blocks. A block that a graph
/// was captured with stays with that capture for good, since the graph may be
/// replayed at any time. Taking and returning a block takes no lock.
class WorkspacePool {
public:
  /// With `zeroed` the blocks of the pool are zero when they are allocated.
  explicit WorkspacePool(Device &device, bool zeroed = false)
      : device(device), zeroed(zeroed) {}
  ~WorkspacePool();
  WorkspacePool(const WorkspacePool &) = delete;
  WorkspacePool &operator=(const WorkspacePool &) = delete;

  struct Block;

  /// Holds a block for as long as it lives.
  class Lease {
  public:
    Lease() = default;
    explicit Lease(Block *block) : block(block) {}
    Lease(Lease &&other) noexcept : block(other.block) {
      other.block = nullptr;
    }
    Lease &operator=(Lease &&other) noexcept;
    ~Lease();
    Address getAddress() const;

  private:
    Block *block = nullptr;
  };

  /// A block of at least `bytes` for work on `stream`. Inside a capture only
  /// blocks that are there already can serve.
  Result<Lease> acquire(uint64_t bytes, Stream stream);
  /// Adds a block that no stream has used, unless there is one large enough.
  Error reserve(uint64_t bytes);
  /// Gives back all blocks that nobody holds and no graph refers to.
  void trim();

private:
  Block *findFree(bool (*fits)(const Block &, uint64_t bytes, Stream stream,
                               uint64_t capture),
                  uint64_t bytes, Stream stream, uint64_t capture);
  Block *append();
  Error allocateInto(Block &block, uint64_t bytes);

  Device &device;
  bool zeroed;
  std::atomic<Block *> head{nullptr};
};

} // namespace fusionrt

#endif // FUSION_LIB_RUNTIME_WORKSPACEPOOL_H
