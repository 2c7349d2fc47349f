//===- TensorTile.cpp - What a tensor copy moves --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the expansion of the box of a tensor copy into runs of
// bytes: which are outside of the tensor, and where the swizzle puts them.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/TensorMap.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

/// No multiprocessor has more shared memory than this.
static constexpr uint64_t maxBoxBytes = 228 * 1024;

static Status refuse(const std::string &text) {
  return Status(ErrorKind::BadTensorMap, "tensor map: " + text);
}

/// Elements that a tiled copy takes along dimension `i`. Without interleave
/// the stride of dimension 0 has no effect.
static uint32_t getCount(const TensorMapInfo &info, uint32_t i) {
  uint32_t step = i == 0 ? 1 : info.elementStrides[i];
  return (info.box[i] + step - 1) / step;
}

uint64_t fusionemu::getBoxBytes(const TensorMapInfo &info) {
  uint64_t elements =
      info.kind == TensorMapKind::Tiled
          ? getCount(info, 0)
          : uint64_t(info.channelsPerPixel) * info.pixelsPerColumn;
  if (info.kind == TensorMapKind::Tiled)
    for (uint32_t i = 1; i < info.rank; ++i)
      elements *= getCount(info, i);
  return elements * getElementBits(info.type) / 8;
}

/// The bytes from one row of a swizzled box to the next: a row that is
/// narrower than the swizzle leaves a gap.
static uint32_t getRowPitch(const TensorMapInfo &info, uint32_t rowBytes) {
  switch (info.swizzle) {
  case TensorMapSwizzle::None:
    return rowBytes;
  case TensorMapSwizzle::B32:
    return std::max(rowBytes, 32u);
  case TensorMapSwizzle::B64:
    return std::max(rowBytes, 64u);
  default:
    return std::max(rowBytes, 128u);
  }
}

uint64_t fusionemu::getBoxExtent(const TensorMapInfo &info) {
  bool isTiled = info.kind == TensorMapKind::Tiled;
  uint64_t rowBytes =
      uint64_t(isTiled ? getCount(info, 0) : info.channelsPerPixel) *
      getElementBits(info.type) / 8;
  if (rowBytes == 0)
    return 0;
  return getBoxBytes(info) / rowBytes * getRowPitch(info, uint32_t(rowBytes));
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

namespace {
/// How a swizzle moves the bytes of the 128-byte line at an address: the bits
/// of `mask` in the number of the line are moved to `shift` and flip those of
/// the address.
struct Swizzle {
  uint32_t mask = 0, shift = 4;

  uint32_t getFlip(uint32_t address) const {
    return ((address >> 7) & mask) << shift;
  }
};

/// Collects the runs of a box, which arrive in the order of their unswizzled
/// offsets and leave in that of the swizzled ones.
class RunBuilder {
public:
  RunBuilder(Swizzle swizzle, uint32_t sharedBase, std::vector<CopyRun> &runs)
      : swizzle(swizzle), next(sharedBase), runs(runs) {
    runs.clear();
  }

  void add(uint64_t globalAddress, uint32_t bytes, bool fill);
  /// Leaves out bytes of shared memory.
  void skip(uint32_t bytes) { next += bytes; }
  void finish();

private:
  void insert(const CopyRun &run);
  static bool merge(CopyRun &run, const CopyRun &after);

  Swizzle swizzle;
  uint32_t next; ///< Where the next byte would lie without a swizzle.
  std::vector<CopyRun> &runs;
};
} // namespace

bool RunBuilder::merge(CopyRun &run, const CopyRun &after) {
  if (run.fill != after.fill ||
      run.sharedOffset + run.bytes != after.sharedOffset ||
      (!run.fill && run.globalAddress + run.bytes != after.globalAddress))
    return false;
  run.bytes += after.bytes;
  return true;
}

/// Puts the run in its place, which is within the last line: the swizzle moves
/// nothing further.
void RunBuilder::insert(const CopyRun &run) {
  size_t at = runs.size();
  while (at > 0 && runs[at - 1].sharedOffset > run.sharedOffset)
    --at;
  if (at > 0 && merge(runs[at - 1], run))
    return;
  runs.insert(runs.begin() + ptrdiff_t(at), run);
}

void RunBuilder::add(uint64_t globalAddress, uint32_t bytes, bool fill) {
  while (bytes > 0) {
    uint32_t flip = swizzle.getFlip(next);
    uint32_t piece = bytes;
    if (swizzle.mask != 0) {
      // Bytes stay together up to the lowest bit that is flipped, and at the
      // most up to the next line.
      uint32_t block = flip == 0 ? 128 : flip & -flip;
      piece = std::min(bytes, block - next % block);
    }
    insert({fill ? 0 : globalAddress, next ^ flip, piece, fill});
    next += piece;
    globalAddress += piece;
    bytes -= piece;
  }
}

/// Merges neighbours that arrived in another order.
void RunBuilder::finish() {
  size_t kept = 0;
  for (size_t i = 1; i < runs.size(); ++i)
    if (!merge(runs[kept], runs[i]))
      runs[++kept] = runs[i];
  if (!runs.empty())
    runs.resize(kept + 1);
}

static Status getSwizzle(TensorMapSwizzle mode, Swizzle &swizzle) {
  switch (mode) {
  case TensorMapSwizzle::None:
    return {};
  case TensorMapSwizzle::B32:
    swizzle = {1, 4};
    return {};
  case TensorMapSwizzle::B64:
    swizzle = {3, 4};
    return {};
  case TensorMapSwizzle::B128:
    swizzle = {7, 4};
    return {};
  case TensorMapSwizzle::B128Atom32:
    swizzle = {3, 5};
    return {};
  case TensorMapSwizzle::B128Atom64:
    swizzle = {1, 6};
    return {};
  case TensorMapSwizzle::B128Atom32Flip8:
    break;
  }
  return refuse("the swizzle of 128 bytes that flips 8 bytes (128b.atom32."
                "flip8) is not implemented in the emulator");
}

/// What tiled and im2col copies have in common.
static Status checkCopy(const TensorMapInfo &info, TensorMapKind kind,
                        uint32_t rank) {
  if (info.kind != kind)
    return refuse(kind == TensorMapKind::Tiled
                      ? "the instruction is tiled, the map was made for im2col"
                      : "the instruction is im2col, the map was made for "
                        "tiled copies");
  if (rank != info.rank)
    return refuse("the instruction is for rank " + std::to_string(rank) +
                  ", the map has rank " + std::to_string(info.rank));
  if (getElementBits(info.type) < 8)
    return refuse(std::string("elements of type ") + getTypeName(info.type) +
                  " are not implemented in the emulator");
  if (info.interleave != TensorMapInterleave::None)
    return refuse("interleaved layouts are not implemented in the emulator");
  return {};
}

static Status prepareRuns(const TensorMapInfo &info, uint32_t sharedBase,
                          Swizzle &swizzle) {
  if (Status s = getSwizzle(info.swizzle, swizzle); !s.ok())
    return s;
  if (sharedBase % tensorCopySharedAlign != 0)
    return Status(ErrorKind::Misaligned,
                  "the shared address " + std::to_string(sharedBase) +
                      " of a tensor copy is not a multiple of " +
                      std::to_string(tensorCopySharedAlign));
  uint64_t bytes = getBoxExtent(info);
  if (bytes > maxBoxBytes || sharedBase > UINT32_MAX - 2 * maxBoxBytes)
    return refuse("the box has " + std::to_string(bytes) +
                  " bytes at shared address " + std::to_string(sharedBase) +
                  ", there are at most " + std::to_string(maxBoxBytes) +
                  " bytes of shared memory");
  return {};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// What a copy moves at a time along dimension 0.
static constexpr uint32_t granuleBytes = 16;

/// A box starts at a multiple of 16 bytes along dimension 0; others stop the
/// hardware.
static Status checkStart(const TensorMapInfo &info, int32_t inner) {
  int64_t bytes = int64_t(inner) * (getElementBits(info.type) / 8);
  if (bytes % granuleBytes == 0)
    return {};
  return refuse("the coordinate " + std::to_string(inner) +
                " of dimension 0 is " + std::to_string(bytes) +
                " bytes, which is no multiple of 16");
}

/// Adds one row of `count` elements along dimension 0. `outer` are the
/// coordinates of dimensions 1 and up. A store brings whole 16 bytes to global
/// memory, also where only the first of them belong to the tensor. False when
/// an address has more than 64 bits.
static bool addRow(const TensorMapInfo &info, int64_t inner,
                   const int64_t *outer, uint32_t count, bool isStore,
                   RunBuilder &builder) {
  uint32_t size = getElementBits(info.type) / 8;
  uint32_t gap = getRowPitch(info, count * size) - count * size;
  uint64_t address = info.globalAddress;
  bool inside = true;
  for (uint32_t i = 1; i < info.rank && inside; ++i)
    inside = outer[i - 1] >= 0 && uint64_t(outer[i - 1]) < info.dims[i];
  int64_t end = std::min(int64_t(info.dims[0]), inner + int64_t(count));
  int64_t begin = std::max<int64_t>(0, inner);
  if (!inside || begin >= end) {
    builder.add(0, count * size, true);
    builder.skip(gap);
    return true;
  }
  if (isStore) {
    int64_t perGranule = granuleBytes / size;
    end = std::min((end + perGranule - 1) / perGranule * perGranule,
                   inner + int64_t(count));
  }
  for (uint32_t i = 1; i < info.rank; ++i) {
    uint64_t offset;
    if (__builtin_mul_overflow(uint64_t(outer[i - 1]), info.strides[i - 1],
                               &offset) ||
        __builtin_add_overflow(address, offset, &address))
      return false;
  }
  uint64_t last;
  if (__builtin_add_overflow(address, uint64_t(end) * size, &last))
    return false;
  builder.add(0, uint32_t(begin - inner) * size, true);
  builder.add(address + uint64_t(begin) * size, uint32_t(end - begin) * size,
              false);
  builder.add(0, uint32_t(inner + count - end) * size, true);
  builder.skip(gap);
  return true;
}

static Status refuseOverflow() {
  return refuse("an address of the box has more than 64 bits");
}

Status fusionemu::expandTile(const TensorMapInfo &info,
                             const int32_t *coordinates, uint32_t rank,
                             bool isStore, uint32_t sharedBase,
                             std::vector<CopyRun> &runs) {
  runs.clear();
  if (Status s = checkCopy(info, TensorMapKind::Tiled, rank); !s.ok())
    return s;
  if (Status s = checkStart(info, coordinates[0]); !s.ok())
    return s;
  Swizzle swizzle;
  if (Status s = prepareRuns(info, sharedBase, swizzle); !s.ok())
    return s;
  RunBuilder builder(swizzle, sharedBase, runs);
  uint32_t index[4] = {};
  int64_t outer[4];
  for (uint32_t i = 1; i < rank; ++i)
    outer[i - 1] = coordinates[i];
  while (true) {
    if (!addRow(info, coordinates[0], outer, info.box[0], isStore, builder))
      return refuseOverflow();
    uint32_t i = 1;
    for (; i < rank; ++i) {
      outer[i - 1] += info.elementStrides[i];
      if (++index[i - 1] < getCount(info, i))
        break;
      index[i - 1] = 0;
      outer[i - 1] = coordinates[i];
    }
    if (i >= rank)
      break;
  }
  builder.finish();
  return {};
}

//===----------------------------------------------------------------------===//
// Im2col
//===----------------------------------------------------------------------===//

static std::string spatialName(uint32_t i) { return std::string(1, "WHD"[i]); }

/// Refuses what PTX leaves undefined: a start outside of the bounding box, or
/// offsets that the instruction cannot express; and a start between the steps
/// of the traversal or a stride over images, whose meaning is not documented.
static Status checkIm2colStart(const TensorMapInfo &info,
                               const int32_t *coordinates,
                               const uint16_t *offsets) {
  static const uint32_t offsetLimits[] = {65535, 255, 31};
  uint32_t spatial = info.rank - 2;
  for (uint32_t i = 0; i < spatial; ++i) {
    int64_t low = info.lowerCorner[i];
    int64_t high = int64_t(info.dims[i + 1]) - 1 + info.upperCorner[i];
    int64_t at = coordinates[i + 1];
    if (at < low || at > high)
      return refuse("the coordinate " + std::to_string(at) + " of dimension " +
                    spatialName(i) + " is outside of the bounding box, " +
                    std::to_string(low) + " to " + std::to_string(high));
    if ((at - low) % info.elementStrides[i + 1] != 0)
      return refuse("the coordinate " + std::to_string(at) + " of dimension " +
                    spatialName(i) + " is no multiple of the stride " +
                    std::to_string(info.elementStrides[i + 1]) +
                    " away from the lower corner " + std::to_string(low));
    if (offsets[i] > offsetLimits[spatial - 1])
      return refuse("the im2col offset " + std::to_string(offsets[i]) +
                    " of dimension " + spatialName(i) + " is larger than " +
                    std::to_string(offsetLimits[spatial - 1]));
  }
  if (info.elementStrides[info.rank - 1] != 1)
    return refuse("elementStrides[" + std::to_string(info.rank - 1) +
                  "], which strides over the images of an im2col map, must "
                  "be 1 in the emulator");
  return {};
}

Status fusionemu::expandIm2col(const TensorMapInfo &info,
                               const int32_t *coordinates, uint32_t rank,
                               const uint16_t *offsets, bool isStore,
                               uint32_t sharedBase,
                               std::vector<CopyRun> &runs) {
  runs.clear();
  if (Status s = checkCopy(info, TensorMapKind::Im2col, rank); !s.ok())
    return s;
  if (Status s = checkStart(info, coordinates[0]); !s.ok())
    return s;
  if (Status s = checkIm2colStart(info, coordinates, offsets); !s.ok())
    return s;
  Swizzle swizzle;
  if (Status s = prepareRuns(info, sharedBase, swizzle); !s.ok())
    return s;
  RunBuilder builder(swizzle, sharedBase, runs);
  uint32_t spatial = rank - 2;
  int64_t base[4], pixel[4];
  for (uint32_t i = 0; i <= spatial; ++i)
    base[i] = coordinates[i + 1];
  for (uint32_t n = 0; n < info.pixelsPerColumn; ++n) {
    // The bounding box limits the base of the filter; the offsets lead from
    // there to the element that is copied.
    for (uint32_t i = 0; i < spatial; ++i)
      pixel[i] = base[i] + offsets[i];
    pixel[spatial] = base[spatial];
    if (!addRow(info, coordinates[0], pixel, info.channelsPerPixel, isStore,
                builder))
      return refuseOverflow();
    uint32_t i = 0;
    for (; i < spatial; ++i) {
      base[i] += info.elementStrides[i + 1];
      if (base[i] <= int64_t(info.dims[i + 1]) - 1 + info.upperCorner[i])
        break;
      base[i] = info.lowerCorner[i];
    }
    if (i == spatial)
      ++base[spatial];
  }
  builder.finish();
  return {};
}

Status fusionemu::checkTensorStore(const TensorMapInfo &info,
                                   const int32_t *coordinates, uint32_t rank) {
  for (uint32_t i = 0; i < rank; ++i)
    if (coordinates[i] < 0)
      return refuse("a store cannot start at coordinate " +
                    std::to_string(coordinates[i]) + " of dimension " +
                    std::to_string(i) + ", it must not be negative");
  if (info.kind == TensorMapKind::Tiled)
    return {};
  for (uint32_t i = 0; i + 2 < info.rank; ++i)
    if (info.lowerCorner[i] < 0 || info.upperCorner[i] > 0)
      return refuse("the bounding box of a store must lie within the tensor, "
                    "in dimension " +
                    spatialName(i) + " it has the corners " +
                    std::to_string(info.lowerCorner[i]) + " and " +
                    std::to_string(info.upperCorner[i]));
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void fusionemu::fillElements(const TensorMapInfo &info, uint8_t *destination,
                             uint32_t bytes) {
  if (info.fill == TensorMapFill::Zero) {
    std::memset(destination, 0, bytes);
    return;
  }
  // The special NaN is this half-word in elements of any size.
  for (uint32_t i = 0; i < bytes; ++i)
    destination[i] = i % 2 == 0 ? 0xf7 : 0x7f;
}

bool fusionemu::convertsOnLoad(const TensorMapInfo &info) {
  return info.type == TensorMapType::TF32 ||
         info.type == TensorMapType::TF32Ftz;
}

void fusionemu::convertLoaded(const TensorMapInfo &info, uint8_t *elements,
                              uint32_t bytes) {
  if (!convertsOnLoad(info))
    return;
  for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
    uint32_t value;
    std::memcpy(&value, elements + i, 4);
    // Nearest with ties to even; a NaN becomes the one of tf32.
    if ((value & 0x7fffffff) > 0x7f800000)
      value = 0x7fffe000;
    else
      value = (value + 0xfff + ((value >> 13) & 1)) & 0xffffe000;
    std::memcpy(elements + i, &value, 4);
  }
}
