//===- Memory.cpp - Device memory -----------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the device memory as its owner, the host, sees it.
//
//===----------------------------------------------------------------------===//

#include "Machine/MemoryImpl.h"
#include "Program.h"
#include "Support.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace fusionemu;

/// Between allocations lies a gap, so that running off an end is noticed also
/// when it is not by one element.
static constexpr uint64_t gapBytes = uint64_t(1) << 20;
static constexpr uint64_t baseAlignment = 512;
static constexpr size_t maxTombstones = 4096;

uint8_t *fusionemu::mapPages(uint64_t bytes) {
  if (bytes > (uint64_t(1) << 46))
    return nullptr;
  void *pages =
      mmap(nullptr, std::max<uint64_t>(bytes, 1), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<uint8_t *>(pages);
}

void fusionemu::unmapPages(void *pages, uint64_t bytes) {
  if (pages)
    munmap(pages, std::max<uint64_t>(bytes, 1));
}

static uint64_t maskOf(uint64_t low, uint64_t count) {
  return count >= 64 ? ~uint64_t(0) : ((uint64_t(1) << count) - 1) << low;
}

void fusionemu::setBits(uint64_t *bits, uint64_t first, uint64_t count) {
  while (count != 0) {
    uint64_t low = first & 63, n = std::min<uint64_t>(count, 64 - low);
    uint64_t mask = maskOf(low, n);
    uint64_t *word = bits + (first >> 6);
    // Another host thread may be setting its neighbours.
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
    first += n;
    count -= n;
  }
}

bool fusionemu::testBits(const uint64_t *bits, uint64_t first, uint64_t count) {
  while (count != 0) {
    uint64_t low = first & 63, n = std::min<uint64_t>(count, 64 - low);
    uint64_t mask = maskOf(low, n);
    if ((__atomic_load_n(bits + (first >> 6), __ATOMIC_RELAXED) & mask) != mask)
      return false;
    first += n;
    count -= n;
  }
  return true;
}

static uint64_t bitmapBytes(uint64_t bits) { return (bits + 63) / 64 * 8; }

static void release(Allocation &a) {
  unmapPages(a.data, a.size);
  unmapPages(a.init, bitmapBytes(a.size));
  a.data = nullptr;
  a.init = nullptr;
  a.live = false;
}

Memory::Impl::~Impl() {
  for (Allocation *a : allocations) {
    release(*a);
    delete a;
  }
}

Status Memory::Impl::allocate(uint64_t bytes, std::string_view name,
                              uint64_t &address) {
  std::string quoted = "'" + std::string(name) + "'";
  if (bytes > limit || inUse > limit - bytes)
    return Status(ErrorKind::OutOfMemory,
                  "allocating " + std::to_string(bytes) + " bytes for " +
                      quoted + " exceeds the device's memory of " +
                      std::to_string(limit) + " bytes with " +
                      std::to_string(inUse) + " in use");
  if (nextBase == 0)
    nextBase = globalBase;
  if (bytes > sharedWindow - nextBase - gapBytes)
    return Status(ErrorKind::OutOfMemory,
                  "allocating " + std::to_string(bytes) + " bytes for " +
                      quoted + " exceeds the address space");
  auto *a = new Allocation;
  a->base = nextBase;
  a->size = bytes;
  a->name = std::string(name);
  a->data = mapPages(bytes);
  a->init = reinterpret_cast<uint64_t *>(mapPages(bitmapBytes(bytes)));
  if (!a->data || !a->init) {
    release(*a);
    delete a;
    return Status(ErrorKind::OutOfMemory, "the host cannot back " +
                                              std::to_string(bytes) +
                                              " bytes for " + quoted);
  }
  nextBase +=
      (bytes + gapBytes + baseAlignment - 1) / baseAlignment * baseAlignment;
  inUse += bytes;
  address = a->base;
  allocations.push_back(a);
  return Status();
}

Allocation *Memory::Impl::findAtOrBelow(uint64_t address) const {
  auto after = std::upper_bound(
      allocations.begin(), allocations.end(), address,
      [](uint64_t value, const Allocation *a) { return value < a->base; });
  return after == allocations.begin() ? nullptr : *std::prev(after);
}

Status Memory::Impl::findRange(uint64_t address, uint64_t bytes,
                               const char *verb, Allocation *&found) const {
  Allocation *a = findAtOrBelow(address);
  std::string range = std::string(verb) + " of " + std::to_string(bytes) +
                      " bytes at " + hex(address);
  if (!a)
    return Status(ErrorKind::InvalidAddress,
                  range + ": the address belongs to no allocation");
  uint64_t offset = address - a->base;
  std::string name = "'" + a->name + "' (" + std::to_string(a->size) +
                     " bytes at " + hex(a->base) + ")";
  if (!a->live)
    return Status(ErrorKind::UseAfterFree, range + ": " + name + " was freed");
  if (offset > a->size || bytes > a->size - offset)
    return Status(ErrorKind::OutOfBounds, range + " leaves " + name +
                                              " at offset " +
                                              std::to_string(offset));
  found = a;
  return Status();
}

void Memory::Impl::dropOldTombstones() {
  if (freed <= maxTombstones)
    return;
  // Dropping half of them at once keeps the cost per free() constant.
  size_t drop = freed / 2;
  freed -= drop;
  allocations.erase(std::remove_if(allocations.begin(), allocations.end(),
                                   [&](Allocation *a) {
                                     if (a->live || drop == 0)
                                       return false;
                                     --drop;
                                     delete a;
                                     return true;
                                   }),
                    allocations.end());
}

Memory::Memory() : impl(std::make_unique<Impl>()) {}
Memory::~Memory() = default;

Status Memory::allocate(uint64_t bytes, std::string_view name,
                        uint64_t &address) {
  return impl->allocate(bytes, name, address);
}

Status Memory::free(uint64_t address) {
  Allocation *a = impl->findAtOrBelow(address);
  if (!a || a->base != address)
    return Status(ErrorKind::BadFree,
                  "free of " + hex(address) +
                      ": no allocation starts at this address");
  if (!a->live)
    return Status(ErrorKind::BadFree, "free of " + hex(address) + ": '" +
                                          a->name + "' was freed before");
  release(*a);
  impl->inUse -= a->size;
  ++impl->freed;
  impl->dropOldTombstones();
  return Status();
}

Status Memory::read(uint64_t address, void *destination, uint64_t bytes) const {
  Allocation *a = nullptr;
  if (Status s = impl->findRange(address, bytes, "host read", a); !s.ok())
    return s;
  if (bytes)
    std::memcpy(destination, a->data + (address - a->base), bytes);
  return Status();
}

/// Notes that the host wrote a range.
static void markWritten(Allocation &a, uint64_t offset, uint64_t bytes) {
  if (!a.init)
    return;
  if (bytes == a.size) {
    // Nothing is left to check, so that launches can skip the bitmap.
    unmapPages(a.init, bitmapBytes(a.size));
    a.init = nullptr;
    return;
  }
  setBits(a.init, offset, bytes);
}

Status Memory::write(uint64_t address, const void *source, uint64_t bytes) {
  Allocation *a = nullptr;
  if (Status s = impl->findRange(address, bytes, "host write", a); !s.ok())
    return s;
  if (bytes)
    std::memcpy(a->data + (address - a->base), source, bytes);
  markWritten(*a, address - a->base, bytes);
  return Status();
}

Status Memory::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  Allocation *a = nullptr;
  if (Status s = impl->findRange(address, bytes, "host fill", a); !s.ok())
    return s;
  if (bytes)
    std::memset(a->data + (address - a->base), value, bytes);
  markWritten(*a, address - a->base, bytes);
  return Status();
}

Status Memory::copy(uint64_t destination, uint64_t source, uint64_t bytes) {
  Allocation *from = nullptr, *to = nullptr;
  if (Status s = impl->findRange(source, bytes, "host copy", from); !s.ok())
    return s;
  if (Status s = impl->findRange(destination, bytes, "host copy", to); !s.ok())
    return s;
  if (bytes)
    std::memmove(to->data + (destination - to->base),
                 from->data + (source - from->base), bytes);
  markWritten(*to, destination - to->base, bytes);
  return Status();
}

Status Memory::rename(uint64_t address, std::string_view name) {
  Allocation *a = nullptr;
  if (Status s = impl->findRange(address, 0, "rename", a); !s.ok())
    return s;
  a->name = std::string(name);
  return Status();
}

Status Memory::markUninitialized(uint64_t address) {
  Allocation *a = nullptr;
  if (Status s = impl->findRange(address, 0, "marking", a); !s.ok())
    return s;
  uint64_t bytes = bitmapBytes(a->size);
  auto *fresh = reinterpret_cast<uint64_t *>(mapPages(bytes));
  if (!fresh)
    return Status(ErrorKind::OutOfMemory,
                  "the host cannot back the shadow of '" + a->name + "'");
  unmapPages(a->init, bytes);
  a->init = fresh;
  return Status();
}

uint64_t Memory::getBytesInUse() const { return impl->inUse; }
void Memory::setLimit(uint64_t bytes) { impl->limit = bytes; }
