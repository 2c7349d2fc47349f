//===- LinearLayout.h - Where each element of a tensor lives ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the one layout class of the tile dialect: a linear map over
// GF(2) from hardware index bits (register, lane, warp, block of a cluster) to
// the coordinates of the tensor element held there. See
// docs/Rationale/LinearLayout.md for the algebra with worked examples.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_LINEARLAYOUT_H
#define FUSION_DIALECT_TILE_IR_LINEARLAYOUT_H

#include "fusion/Dialect/Tile/IR/BitMatrix.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <string>

namespace mlir::fusion::tile {

/// The hardware dimensions a layout maps from, from the fastest to the slowest
/// way to reach a neighbour.
enum class HwDim : uint8_t { Register, Lane, Warp, Block };
constexpr unsigned kNumHwDims = 4;
constexpr std::array<HwDim, kNumHwDims> kHwDims = {HwDim::Register, HwDim::Lane,
                                                   HwDim::Warp, HwDim::Block};

/// The name of a hardware dimension in the textual form: reg, lane, warp,
/// block.
llvm::StringRef stringifyHwDim(HwDim dim);

/// One coordinate per tensor dimension.
using Coords = llvm::SmallVector<int32_t, 4>;

/// A place in the hardware.
struct HwIndex {
  unsigned reg = 0;
  unsigned lane = 0;
  unsigned warp = 0;
  unsigned block = 0;

  bool operator==(const HwIndex &other) const {
    return reg == other.reg && lane == other.lane && warp == other.warp &&
           block == other.block;
  }
};

/// One bit of a hardware index.
struct HwBit {
  HwDim dim;
  unsigned bit;

  bool operator==(const HwBit &other) const {
    return dim == other.dim && bit == other.bit;
  }
};

/// What a hardware bit maps to: step 2^log2 along tensor dimension `dim`, or
/// nothing (the element is replicated over the bit).
struct BitTarget {
  int dim;
  unsigned log2;

  static constexpr BitTarget replicated() { return {-1, 0}; }
};

struct LayoutProjection;

/// A linear layout. A small value: copy it freely.
///
/// Invariants: every extent is a power of two; every basis vector lies inside
/// the shape; at most 20 register, 5 lane, 5 warp and 4 block bits; at most 62
/// bits of elements, 30 per dimension.
class LinearLayout {
public:
  /// The layout of a rank-0 tensor held by one register of one thread.
  LinearLayout() = default;

  //===--------------------------------------------------------------------===//
  // Construction
  //===--------------------------------------------------------------------===//

  /// Builds a layout from one coordinate list per hardware bit. Returns none,
  /// with the reason in `error` if given, when an invariant does not hold; so
  /// it is safe on user input.
  static std::optional<LinearLayout>
  fromBases(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Coords> regs,
            llvm::ArrayRef<Coords> lanes, llvm::ArrayRef<Coords> warps,
            llvm::ArrayRef<Coords> blocks = {}, std::string *error = nullptr);

  /// Builds a layout whose every hardware bit steps along one dimension.
  /// Precondition: the invariants of the class.
  static LinearLayout fromBits(llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<BitTarget> regs,
                               llvm::ArrayRef<BitTarget> lanes,
                               llvm::ArrayRef<BitTarget> warps,
                               llvm::ArrayRef<BitTarget> blocks = {});

  /// Repeats this layout over a larger tensor: first over warps
  /// (`warpsPerDim`, one extent per dimension, fastest dimension of `order`
  /// first; an extent beyond the shape replicates), then over registers.
  /// Precondition: `newShape` has the same rank and no smaller extents.
  LinearLayout extendTo(llvm::ArrayRef<int64_t> newShape,
                        llvm::ArrayRef<unsigned> order,
                        llvm::ArrayRef<int64_t> warpsPerDim = {}) const;

  //===--------------------------------------------------------------------===//
  // Queries
  //===--------------------------------------------------------------------===//

  unsigned rank() const { return log2Shape.size(); }
  llvm::SmallVector<int64_t, 4> shape() const;
  int64_t dimSize(unsigned dim) const { return int64_t(1) << log2Shape[dim]; }
  unsigned dimLog2(unsigned dim) const { return log2Shape[dim]; }
  /// log2 of the number of elements.
  unsigned numElementBits() const;
  int64_t numElements() const { return int64_t(1) << numElementBits(); }

  unsigned numBits(HwDim dim) const { return bits[unsigned(dim)]; }
  unsigned size(HwDim dim) const { return 1u << numBits(dim); }
  unsigned numRegs() const { return size(HwDim::Register); }
  unsigned numLanes() const { return size(HwDim::Lane); }
  unsigned numWarps() const { return size(HwDim::Warp); }

  /// The coordinates that bit `bit` of `dim` adds (by XOR).
  Coords basis(HwDim dim, unsigned bit) const {
    return delinearize(linearBasis(dim, bit));
  }
  /// The same as a row-major element number.
  uint64_t linearBasis(HwDim dim, unsigned bit) const {
    return linearBases(dim)[bit];
  }
  llvm::ArrayRef<uint64_t> linearBases(HwDim dim) const;

  /// The element held at a place in the hardware.
  Coords elementOf(unsigned reg, unsigned lane, unsigned warp,
                   unsigned block = 0) const {
    return delinearize(linearElementOf({reg, lane, warp, block}));
  }
  /// The same as a row-major element number.
  uint64_t linearElementOf(HwIndex index) const;

  /// Row-major element number of coordinates, and back. Both are linear.
  uint64_t linearize(llvm::ArrayRef<int32_t> coords) const;
  Coords delinearize(uint64_t element) const;
  /// The bit of the row-major element number where dimension `dim` begins.
  unsigned dimOffset(unsigned dim) const;
  /// The bits of the row-major element number that belong to `dim`.
  uint64_t dimMask(unsigned dim) const;

  /// The map from packed hardware indices (register bits lowest, then lane,
  /// warp, block) to row-major element numbers. Its right inverse is the map to
  /// the holder whose free bits are zero.
  BitMatrix matrix() const { return BitMatrix(bases, numElementBits()); }

  /// Every element is held somewhere.
  bool isSurjective() const { return matrix().isSurjective(); }
  /// No element is held twice, except over bits that replicate outright (zero
  /// bases).
  bool isInjective() const;
  /// The bits of `dim` that reach no new element: a zero basis, or one that the
  /// bits before it (registers first, then lanes, warps, blocks) already span.
  /// Among all holders of an element exactly one has every free bit zero; it is
  /// the one to store it.
  unsigned freeMask(HwDim dim) const;

  //===--------------------------------------------------------------------===//
  // Transforms
  //===--------------------------------------------------------------------===//

  /// Keeps only the coordinates of `dims`, in that order, and every register,
  /// those that then hold the same element included. Precondition: distinct.
  LinearLayout selectDims(llvm::ArrayRef<unsigned> dims) const;

  /// The layout of a value that has only `keptDims` of this tensor (in that
  /// order): coordinates are projected and registers of a thread that would
  /// hold the same element are merged.
  LayoutProjection project(llvm::ArrayRef<unsigned> keptDims) const;

  /// The layout of a reduction's result over `dim`.
  LinearLayout sliceDim(unsigned dim) const;

  /// The layout of an aligned part of `partShape`, when every thread holds the
  /// same elements of each part: registers alone choose between parts. None
  /// otherwise. Precondition: same rank, no larger extents.
  std::optional<LinearLayout> getPart(llvm::ArrayRef<int64_t> partShape) const;

  /// Inserts a dimension of extent `size` before dimension `dim`; further
  /// registers run along it.
  LinearLayout expandDim(unsigned dim, int64_t size = 1) const;

  /// Dimension i of the result is dimension `perm[i]` of this.
  LinearLayout permuteDims(llvm::ArrayRef<unsigned> perm) const;

  /// Row-major flattening or unflattening. Precondition: same element count.
  LinearLayout reshape(llvm::ArrayRef<int64_t> newShape) const;

  /// Renames registers: register bit i of the result is bit `perm[i]` of this.
  LinearLayout permuteRegisterBits(llvm::ArrayRef<unsigned> perm) const;

  /// Drops register bits that reach no element which earlier register bits do
  /// not reach.
  LinearLayout mergeRegisters() const;

  //===--------------------------------------------------------------------===//
  // Value semantics and text
  //===--------------------------------------------------------------------===//

  bool operator==(const LinearLayout &other) const {
    return log2Shape == other.log2Shape && bits == other.bits &&
           bases == other.bases;
  }
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const LinearLayout &layout);

  /// Prints `{reg=[[0,1]], lane=[[0,2],[1,0]], warp=[], shape=[2,4]}`; a key
  /// `block` stands before `shape` when there are block bits.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  /// Takes row-major bases in packed order.
  LinearLayout(llvm::ArrayRef<uint8_t> log2Shape,
               std::array<uint8_t, kNumHwDims> bits,
               llvm::ArrayRef<uint64_t> bases)
      : log2Shape(log2Shape.begin(), log2Shape.end()), bits(bits),
        bases(bases.begin(), bases.end()) {}

  /// Applies `map` to every basis and gives the result `newLog2Shape`.
  template <typename Fn>
  LinearLayout mapBases(llvm::ArrayRef<uint8_t> newLog2Shape, Fn map) const {
    LinearLayout result(newLog2Shape, bits, {});
    for (uint64_t basis : bases)
      result.bases.push_back(map(basis));
    return result;
  }

  llvm::SmallVector<uint8_t, 4> log2Shape;
  std::array<uint8_t, kNumHwDims> bits = {0, 0, 0, 0};
  /// One row-major element number per hardware bit, in packed order. Since all
  /// extents are powers of two, XOR of element numbers is XOR of coordinates.
  llvm::SmallVector<uint64_t, 16> bases;
};

/// The coordinates that each bit of `dim` adds (by XOR).
inline llvm::SmallVector<Coords> getBases(const LinearLayout &layout,
                                          HwDim dim) {
  llvm::SmallVector<Coords> bases;
  for (unsigned bit = 0; bit < layout.numBits(dim); ++bit)
    bases.push_back(layout.basis(dim, bit));
  return bases;
}

/// A layout with some dimensions projected out, and the register of it that
/// holds the projection of each register of the original (same thread).
struct LayoutProjection {
  LinearLayout layout;
  llvm::SmallVector<unsigned, 16> regMap;
};

//===----------------------------------------------------------------------===//
// Layouts of matrix instructions, and blocked ones
//===----------------------------------------------------------------------===//

/// The blocked layout: along `order[0]` (the fastest dimension) each thread
/// holds `vec` consecutive elements, then lanes follow, then warps, and what
/// is left of the tensor becomes further registers, fastest dimension first.
/// `lanesPerDim` and `warpsPerDim` (one extent per tensor dimension, product
/// `numLanes`, `numWarps`) spread the threads; left empty, threads fill the
/// dimensions in `order`. Threads beyond the end of a dimension replicate.
/// Precondition: all sizes are powers of two, `order` is a permutation.
LinearLayout getBlockedLayout(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<unsigned> order, int64_t vec,
                              unsigned numLanes, unsigned numWarps,
                              llvm::ArrayRef<int64_t> lanesPerDim = {},
                              llvm::ArrayRef<int64_t> warpsPerDim = {});

/// The same with `perThread` elements in each thread's own tile (one extent
/// per dimension, fastest dimension of `order` first) before lanes follow.
/// Square tiles let both sides of a transpose move whole vectors.
LinearLayout getBlockedTileLayout(llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<unsigned> order,
                                  llvm::ArrayRef<int64_t> perThread,
                                  unsigned numLanes, unsigned numWarps,
                                  llvm::ArrayRef<int64_t> lanesPerDim = {},
                                  llvm::ArrayRef<int64_t> warpsPerDim = {});

/// The f32 accumulator of wgmma m64nNk*: [64, n] over four warps. Register
/// 4*j + 2*h + i of a thread is row 16*warp + lane/4 + 8*h, column
/// 8*j + 2*(lane%4) + i. Precondition: n is a power of two in [8, 256].
LinearLayout getMmaM64NAccumulatorLayout(int64_t n);

/// The accumulator of a wgmma product [rows, columns] of `numWarps` warps.
/// The instruction's rows (dimension 0, or 1 when `swapped`) go to warpgroups
/// in blocks of 64; warpgroups beyond them share the columns out in equal
/// contiguous parts. One instruction has up to 256 columns of a warpgroup's
/// part; further blocks of rows, then of columns, are further registers.
/// None if warps make no whole warpgroups or the tile is too small for them.
std::optional<LinearLayout>
getWgmmaAccumulatorLayout(llvm::ArrayRef<int64_t> shape, unsigned numWarps,
                          bool swapped = false);

/// The operand [rows, depth] of such a product whose rows are the
/// instruction's, when it is in registers: those of one instruction (32 bytes
/// of depth), then further depth, then further blocks of rows. Warpgroups
/// that share columns hold the same. None as above, or if the depth is less
/// than one instruction's. Precondition: elements of 1, 2 or 4 bytes.
std::optional<LinearLayout>
getWgmmaOperandALayout(llvm::ArrayRef<int64_t> shape, unsigned elementBytes,
                       unsigned numWarps);

/// The fragments of mma.sync m16n8k16 with 16-bit operands, for one warp:
/// the accumulator [16, 8], operand A [16 (m), 16 (k)], operand B [16 (k),
/// 8 (n)].
LinearLayout getMma16816AccumulatorLayout();
LinearLayout getMma16816OperandALayout();
LinearLayout getMma16816OperandBLayout();

//===----------------------------------------------------------------------===//
// Bits of a layout
//===----------------------------------------------------------------------===//

/// Every element is held exactly once.
inline bool isBijective(const LinearLayout &layout) {
  BitMatrix matrix = layout.matrix();
  return matrix.isSurjective() &&
         matrix.numColumns() == layout.numElementBits();
}

/// The hardware indices as one number, register bits lowest, then lane, warp
/// and block, and back.
uint64_t packHwIndex(const LinearLayout &layout, HwIndex index);
HwIndex unpackHwIndex(const LinearLayout &layout, uint64_t packed);

/// The number of consecutive registers, from 0, that hold consecutive
/// elements along `dim`, with the first at a multiple of that number, in
/// every thread.
unsigned getRegisterVectorWidth(const LinearLayout &layout, unsigned dim);

/// The register bits that make up the widest such vector when registers may
/// be taken in any order: entry i steps 2^i along `dim`.
llvm::SmallVector<unsigned, 4> getVectorRegisterBits(const LinearLayout &layout,
                                                     unsigned dim);

/// The register bits that move along `dim` (possibly among others), by
/// increasing step along it.
llvm::SmallVector<unsigned, 8> getRegisterBitsAlong(const LinearLayout &layout,
                                                    unsigned dim);

/// The hardware bit that steps 2^i along `dim` and nowhere else, for each i;
/// none if some step is made by no bit or only together with another.
std::optional<llvm::SmallVector<HwBit, 16>>
getBitsAlong(const LinearLayout &layout, unsigned dim);

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Parses what print() prints, blanks anywhere between tokens. Returns none,
/// with the reason and the column in `error` if given, on anything else.
std::optional<LinearLayout> parseLinearLayout(llvm::StringRef text,
                                              std::string *error = nullptr);

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const LinearLayout &layout) {
  layout.print(os);
  return os;
}

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_LINEARLAYOUT_H
