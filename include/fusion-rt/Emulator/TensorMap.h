//===- TensorMap.h - Descriptors of tensor copies ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines tensor maps, the 128-byte objects that cp.async.bulk.tensor
// takes: their description, the checks of the CUDA driver, the emulator's own
// encoding, and what bytes of a tensor a copy moves where.
//
// A map of the emulator is no map of a GPU and the other way round: both are
// opaque to programs. The bytes can come from anywhere, so decoding trusts
// nothing. All functions are pure.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RT_EMULATOR_TENSORMAP_H
#define FUSION_RT_EMULATOR_TENSORMAP_H

#include "fusion-rt/Emulator/Emulator.h"

namespace fusionemu {

/// The enumerators below have the values of the CUDA driver's.
enum class TensorMapType : uint32_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
  U4Align8,  ///< 16 values of 4 bits in 8 bytes.
  U4Align16, ///< 16 values of 4 bits in 8 bytes, 16 apart in shared memory.
  U6Align16, ///< 16 values of 6 bits in 12 bytes, 16 apart in shared memory.
};
enum class TensorMapInterleave : uint32_t { None, B16, B32 };
enum class TensorMapSwizzle : uint32_t {
  None,
  B32,
  B64,
  B128,
  B128Atom32,      ///< Moves pieces of 32 bytes instead of 16.
  B128Atom32Flip8, ///< And swaps the halves of every 16 bytes in odd rows.
  B128Atom64,      ///< Moves pieces of 64 bytes.
};
enum class TensorMapL2Promotion : uint32_t { None, B64, B128, B256 };
enum class TensorMapFill : uint32_t { Zero, NaN };
enum class TensorMapKind : uint32_t { Tiled, Im2col };

/// The parameters of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
/// Dimension 0 is the innermost; its elements lie next to each other.
struct TensorMapInfo {
  TensorMapKind kind = TensorMapKind::Tiled;
  TensorMapType type = TensorMapType::U8;
  uint32_t rank = 0;
  uint64_t globalAddress = 0;
  uint64_t dims[5] = {};    ///< In elements.
  uint64_t strides[4] = {}; ///< In bytes, of dimensions 1 and up.
  /// Elements that a tiled copy spans; with element strides it takes fewer.
  uint32_t box[5] = {};
  uint32_t elementStrides[5] = {1, 1, 1, 1, 1};
  TensorMapInterleave interleave = TensorMapInterleave::None;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  TensorMapL2Promotion l2Promotion = TensorMapL2Promotion::None;
  TensorMapFill fill = TensorMapFill::Zero;
  /// Im2col only: corners of the bounding box in the order W, H, D; the upper
  /// one counts from the last element.
  int32_t lowerCorner[3] = {};
  int32_t upperCorner[3] = {};
  uint32_t channelsPerPixel = 0; ///< Im2col only.
  uint32_t pixelsPerColumn = 0;  ///< Im2col only.
};

constexpr uint32_t tensorMapBytes = 128;
constexpr uint32_t tensorMapAlign = 64;
/// What the shared address of a tensor copy has to be a multiple of.
constexpr uint32_t tensorCopySharedAlign = 128;

/// The size of one element in bits.
uint32_t getElementBits(TensorMapType type);
/// "f16", "bf16", "u32", ...; null for a value that is no enumerator.
const char *getTypeName(TensorMapType type);
bool parseTypeName(std::string_view name, TensorMapType &type);

/// Reads the description of a map as tools take it:
///
///   TYPE:DIMS:BOX[:OPTION=VALUE]...
///
/// for example "bf16:4096,512:64,128:swizzle=128". DIMS and BOX are lists with
/// the innermost dimension first; BOX is "im2col" for an im2col map. Options:
/// strides (bytes, of dimensions 1 and up; rows follow each other without),
/// element-strides, swizzle (32, 64, 128, 128.atom32, 128.atom32.flip8,
/// 128.atom64), interleave (16, 32), fill (nan), l2 (64, 128, 256), offset
/// (bytes, becomes the address) and, for im2col, lower, upper, channels and
/// pixels. Only the text is checked, not the rules of checkTensorMap().
Status parseTensorMap(std::string_view text, TensorMapInfo &info);

/// Checks what the CUDA driver documents for the two encoding functions. The
/// error names parameter, value and limit.
Status checkTensorMap(const TensorMapInfo &info);

/// Writes the emulator's map of `info`, or fails as checkTensorMap() does.
Status encodeTensorMap(const TensorMapInfo &info,
                       uint8_t (&map)[tensorMapBytes]);

/// Reads a map that encodeTensorMap() wrote; any other 128 bytes are refused.
Status decodeTensorMap(const uint8_t *bytes, TensorMapInfo &info);

/// The bytes that one copy moves or fills, which is what it adds to the
/// transaction count of an mbarrier. `info` must have passed the checks.
uint64_t getBoxBytes(const TensorMapInfo &info);
/// The shared memory that a box takes: with a swizzle rows that are narrower
/// than it leave gaps.
uint64_t getBoxExtent(const TensorMapInfo &info);

/// Bytes that lie next to each other in global and in shared memory.
struct CopyRun {
  uint64_t globalAddress; ///< 0 in a fill.
  uint32_t sharedOffset;  ///< An address of shared memory, swizzled.
  uint32_t bytes;
  bool fill; ///< Outside of the tensor: fills on a load, no store.
};

/// The runs of a tiled copy whose box starts at `coordinates`, which may lie
/// outside of the tensor, in the order of their shared offsets. Neighbours are
/// merged; a swizzle is undone only as far as it moves bytes. A store takes
/// whole 16 bytes, as the hardware does. Fails for a map of another kind or
/// rank, a misaligned shared address, a box that no shared memory holds, and
/// layouts that are not implemented. `info` must have passed the checks.
Status expandTile(const TensorMapInfo &info, const int32_t *coordinates,
                  uint32_t rank, bool isStore, uint32_t sharedBase,
                  std::vector<CopyRun> &runs);

/// The same for an im2col copy: `coordinates` are C, then W, H and D as far as
/// there are, then N; `offsets` are rank - 2 in the order W, H, D.
Status expandIm2col(const TensorMapInfo &info, const int32_t *coordinates,
                    uint32_t rank, const uint16_t *offsets, bool isStore,
                    uint32_t sharedBase, std::vector<CopyRun> &runs);

/// What PTX demands of a store or reduction beyond a load: a box that starts
/// inside of the tensor and an im2col bounding box within it.
Status checkTensorStore(const TensorMapInfo &info, const int32_t *coordinates,
                        uint32_t rank);

/// Writes what a load puts in place of elements outside of the tensor. `bytes`
/// is that of a run.
void fillElements(const TensorMapInfo &info, uint8_t *destination,
                  uint32_t bytes);

/// Whether a load changes the elements on their way, and the change: maps of
/// type tf32 round f32 elements. Not for fills.
bool convertsOnLoad(const TensorMapInfo &info);
void convertLoaded(const TensorMapInfo &info, uint8_t *elements,
                   uint32_t bytes);

} // namespace fusionemu

#endif // FUSION_RT_EMULATOR_TENSORMAP_H
