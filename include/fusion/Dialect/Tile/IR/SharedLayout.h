//===- SharedLayout.h - Where each element of a buffer lives ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the layouts of tiles in shared memory: linear maps over
// GF(2) from element coordinates to byte offsets, the accesses that a register
// layout makes to them, and the count of bank conflicts.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_SHAREDLAYOUT_H
#define FUSION_DIALECT_TILE_IR_SHAREDLAYOUT_H

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Support/Hardware.h"

namespace mlir::fusion::tile {

using fusion::kBankRowBytes;
using fusion::kBankWordBytes;
using fusion::kMaxAccessBytes;

/// The swizzle modes of the tensor memory accelerator: 16-byte chunks are
/// permuted within spans of this many bytes.
enum class TmaSwizzle { None, B32, B64, B128 };

/// A tile in shared memory: a bijection from its elements to the slots of a
/// buffer of exactly its size. A small value: copy it freely.
class SharedLayout {
public:
  /// The buffer of one byte that holds one element.
  SharedLayout() = default;

  /// `offsets` maps row-major element numbers to slot numbers (byte offsets
  /// over `elementBytes`). Precondition: the extents and `elementBytes` (16 at
  /// most) are powers of two, `offsets` is a bijection on the element numbers.
  SharedLayout(llvm::ArrayRef<int64_t> shape, unsigned elementBytes,
               const BitMatrix &slots);

  /// Builds a layout from the byte offsets that each coordinate bit of each
  /// dimension, lowest first, contributes by XOR. `alignment` is a power of
  /// two from 16 to 1024. Returns none, with the reason in `error` if given,
  /// when this is no bijection or exceeds the limits of a tile; so it is safe
  /// on user input.
  static std::optional<SharedLayout>
  fromOffsets(int64_t elementBytes, int64_t alignment,
              llvm::ArrayRef<llvm::SmallVector<int64_t, 8>> offsets,
              std::string *error = nullptr);

  /// The tile without gaps, `order[0]` the fastest dimension; without `order`,
  /// row-major.
  static SharedLayout linear(llvm::ArrayRef<int64_t> shape,
                             unsigned elementBytes,
                             llvm::ArrayRef<unsigned> order = {});

  /// A [rows, columns] tile as the tensor memory accelerator writes it. A row
  /// longer than the span is split into panels of one span, each a box of its
  /// own, one after the other. The offsets hold relative to a base aligned to
  /// alignment(). Precondition: a row is at least one span of bytes.
  static SharedLayout tma(int64_t rows, int64_t columns, unsigned elementBytes,
                          TmaSwizzle swizzle);

  /// A tile of any rank as the tensor memory accelerator writes it, `fastDim`
  /// being the dimension that is contiguous in global memory: its panels lie
  /// one after the other, and in a panel the other dimensions are row-major.
  /// Precondition: `fastDim` is at least one span of bytes.
  static SharedLayout tmaTile(llvm::ArrayRef<int64_t> shape, unsigned fastDim,
                              unsigned elementBytes, TmaSwizzle swizzle);

  unsigned rank() const { return log2Shape.size(); }
  llvm::SmallVector<int64_t, 4> shape() const;
  unsigned elementBytes() const { return 1u << log2Bytes; }
  unsigned log2ElementBytes() const { return log2Bytes; }
  int64_t sizeInBytes() const {
    return int64_t(1) << (slots.numColumns() + log2Bytes);
  }
  /// The alignment of the base for 16-byte accesses to be aligned, and for a
  /// swizzle of the tensor memory accelerator to start at its first row.
  unsigned alignment() const { return baseAlignment; }

  /// The byte offset of an element, by coordinates or row-major number.
  uint64_t offsetOf(llvm::ArrayRef<int32_t> coords) const;
  uint64_t offsetOf(uint64_t element) const {
    return slots.apply(element) << log2Bytes;
  }

  /// The map from row-major element numbers to byte offsets.
  BitMatrix matrix() const;
  /// The bits of the byte offset that bit `bit` of coordinate `dim` flips.
  uint64_t offsetBasis(unsigned dim, unsigned bit) const;

  /// True when element (i, j) lies where element (j, i) of `other` does, both
  /// of rank 2.
  bool isTransposed(const SharedLayout &other) const;

  bool operator==(const SharedLayout &other) const {
    return log2Shape == other.log2Shape && log2Bytes == other.log2Bytes &&
           baseAlignment == other.baseAlignment && slots == other.slots;
  }
  bool operator!=(const SharedLayout &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const SharedLayout &layout);

  /// Prints `{bytes=4, align=16, offsets=[[16,32],[4,8]]}`: per dimension the
  /// byte offset that each coordinate bit, lowest first, contributes by XOR.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  /// Parses what print() prints, blanks anywhere between tokens. Returns none,
  /// with the reason in `error` if given, on anything else.
  static std::optional<SharedLayout> parse(llvm::StringRef text,
                                           std::string *error = nullptr);

private:
  llvm::SmallVector<uint8_t, 4> log2Shape;
  uint8_t log2Bytes = 0;
  unsigned baseAlignment = kMaxAccessBytes;
  BitMatrix slots;
};

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// How the threads of a register layout access a tile in shared memory. The
/// byte offset of access `group` in (lane, warp) is
///   laneOffset(lane) ^ warpOffset(warp) ^ group.offset,
/// so a program computes the part of the thread once, and per access one XOR
/// with a constant; see xorPart and immediatePart.
struct SharedAccess {
  struct Group {
    /// The registers that hold the elements, by increasing address.
    RegisterMap regs;
    /// The part of the byte offset that the registers contribute.
    uint64_t offset;
  };

  unsigned vecElements = 1;
  llvm::SmallVector<Group, 8> groups;
  /// For each register of the layout the accessed register that holds the same
  /// element: itself, unless registers of a thread replicate.
  RegisterMap holder;
  BitMatrix laneOffset;
  BitMatrix warpOffset;
  /// The bits of the offset that depend on the thread.
  uint64_t threadMask = 0;

  uint64_t offsetOf(const Group &group, unsigned lane, unsigned warp) const {
    return laneOffset.apply(lane) ^ warpOffset.apply(warp) ^ group.offset;
  }
  /// The constant to XOR with the thread's offset. Few groups differ in it.
  uint64_t xorPart(const Group &group) const {
    return group.offset & threadMask;
  }
  /// The constant to add after the XOR: an immediate of the instruction.
  uint64_t immediatePart(const Group &group) const {
    return group.offset & ~threadMask;
  }
};

/// The accesses by vectors of `vecElements` (a power of two): none if some
/// thread's vectors are not in the same registers, in order and aligned, as
/// every other's. Precondition: same shape, vectors of at most 16 bytes.
std::optional<SharedAccess> getSharedAccess(const LinearLayout &layout,
                                            const SharedLayout &shared,
                                            unsigned vecElements);

/// The widest vectors that getSharedAccess allows.
unsigned getWidestSharedVector(const LinearLayout &layout,
                               const SharedLayout &shared);

/// What one warp pays for a layout's accesses.
struct SharedAccessCost {
  /// Instructions.
  unsigned accesses;
  /// Wavefronts (passes over the banks) of one instruction, and what they would
  /// be without bank conflicts.
  unsigned wavefronts;
  unsigned minWavefronts;

  bool isConflictFree() const { return wavefronts == minWavefronts; }
  unsigned totalWavefronts() const { return accesses * wavefronts; }
};

/// Counts bank conflicts. The model: accesses of up to 4 bytes are served for
/// the whole warp at once, of 8 bytes for each half, of 16 bytes for each
/// quarter; each such phase takes as many wavefronts as the most distinct
/// words wanted from one bank. Precondition: getSharedAccess succeeds.
SharedAccessCost getSharedAccessCost(const LinearLayout &layout,
                                     const SharedLayout &shared,
                                     unsigned vecElements);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_SHAREDLAYOUT_H
