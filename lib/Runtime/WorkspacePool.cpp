//===- WorkspacePool.cpp - Workspaces that the runtime owns ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pool of workspaces.
//
//===----------------------------------------------------------------------===//

#include "WorkspacePool.h"

#include <vector>

namespace fusionrt {

/// A node of a list that only grows; its fields but `isHeld` and `next` belong
/// to whoever holds it.
struct WorkspacePool::Block {
  std::atomic<bool> isHeld{false};
  Block *next = nullptr;
  Address address = 0; // 0: no memory behind it
  uint64_t bytes = 0;
  bool isBound = false; // has been used on a stream
  Stream stream = nullptr;
  uint64_t capture = 0; // the capture that refers to it, 0 for none

  bool tryHold() {
    bool expected = false;
    return isHeld.compare_exchange_strong(expected, true,
                                          std::memory_order_acquire);
  }
  void release() { isHeld.store(false, std::memory_order_release); }
};

WorkspacePool::Lease &WorkspacePool::Lease::operator=(Lease &&other) noexcept {
  std::swap(block, other.block);
  return *this;
}

WorkspacePool::Lease::~Lease() {
  if (block)
    block->release();
}

Address WorkspacePool::Lease::getAddress() const {
  return block ? block->address : 0;
}

WorkspacePool::~WorkspacePool() {
  for (Block *block = head.load(); block;) {
    Block *next = block->next;
    if (block->address)
      (void)static_cast<bool>(device.free(block->address));
    delete block;
    block = next;
  }
}

/// The first block that fits, held; null when there is none.
WorkspacePool::Block *
WorkspacePool::findFree(bool (*fits)(const Block &, uint64_t bytes,
                                     Stream stream, uint64_t capture),
                        uint64_t bytes, Stream stream, uint64_t capture) {
  for (Block *block = head.load(std::memory_order_acquire); block;
       block = block->next) {
    if (!block->tryHold())
      continue;
    if (fits(*block, bytes, stream, capture))
      return block;
    block->release();
  }
  return nullptr;
}

/// A new block without memory, held.
WorkspacePool::Block *WorkspacePool::append() {
  auto *block = new Block;
  block->isHeld.store(true, std::memory_order_relaxed);
  block->next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(
      block->next, block, std::memory_order_release, std::memory_order_relaxed))
    ;
  return block;
}

/// Gives a held block memory of `bytes`, replacing what it has.
Error WorkspacePool::allocateInto(Block &block, uint64_t bytes) {
  Error error;
  if (block.address) {
    // Waits for the work that still uses it; only happens on growth.
    error = device.free(block.address);
    block.address = 0;
    block.bytes = 0;
  }
  if (!error)
    error = device.allocate(bytes, "workspace", block.address);
  if (error && error.getCode() == ErrorCode::OutOfMemory) {
    trim();
    error = device.allocate(bytes, "workspace", block.address);
  }
  if (error) {
    block.address = 0;
    return error;
  }
  if (zeroed) {
    // Done when the call returns, so that any stream may use the block.
    std::vector<uint8_t> zeros(bytes);
    if ((error = device.upload(block.address, zeros.data(), bytes))) {
      (void)static_cast<bool>(device.free(block.address));
      block.address = 0;
      return error;
    }
  }
  block.bytes = bytes;
  block.isBound = false;
  block.capture = 0;
  return {};
}

Result<WorkspacePool::Lease> WorkspacePool::acquire(uint64_t bytes,
                                                    Stream stream) {
  uint64_t capture = 0;
  if (Error error = device.getCapture(stream, capture))
    return error;

  Block *block = findFree(
      [](const Block &b, uint64_t bytes, Stream stream, uint64_t capture) {
        return b.address && b.bytes >= bytes && b.isBound &&
               b.capture == capture && (capture != 0 || b.stream == stream);
      },
      bytes, stream, capture);
  if (!block)
    block = findFree(
        [](const Block &b, uint64_t bytes, Stream, uint64_t) {
          return b.address && b.bytes >= bytes && !b.isBound;
        },
        bytes, stream, capture);
  if (!block && capture != 0)
    return Error(ErrorCode::CaptureWithoutWorkspace,
                 "a launch inside a stream capture needs a workspace of " +
                     std::to_string(bytes) +
                     " bytes, and memory cannot be allocated there");
  if (!block) {
    // Grow this stream's block rather than keep two.
    block = findFree(
        [](const Block &b, uint64_t, Stream stream, uint64_t) {
          return !b.address ||
                 (b.isBound && b.capture == 0 && b.stream == stream);
        },
        bytes, stream, capture);
    if (!block)
      block = append();
    if (Error error = allocateInto(*block, bytes)) {
      block->release();
      return error;
    }
  }
  block->isBound = true;
  block->stream = stream;
  block->capture = capture;
  return Lease(block);
}

Error WorkspacePool::reserve(uint64_t bytes) {
  Block *block = findFree(
      [](const Block &b, uint64_t bytes, Stream, uint64_t) {
        return b.address && !b.isBound && b.bytes >= bytes;
      },
      bytes, nullptr, 0);
  Error error;
  if (!block) {
    block = findFree(
        [](const Block &b, uint64_t, Stream, uint64_t) { return !b.address; },
        bytes, nullptr, 0);
    if (!block)
      block = append();
    error = allocateInto(*block, bytes);
  }
  block->release();
  return error;
}

void WorkspacePool::trim() {
  for (Block *block = head.load(std::memory_order_acquire); block;
       block = block->next) {
    if (!block->tryHold())
      continue;
    if (block->address && block->capture == 0 && !device.free(block->address)) {
      block->address = 0;
      block->bytes = 0;
    }
    block->release();
  }
}

} // namespace fusionrt
