//===- TensorMap.cpp - Checks and encoding of tensor maps -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the checks of tensor maps that the CUDA driver
// documents, and the 128 bytes that the emulator keeps a map in.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/TensorMap.h"

#include <cstring>

using namespace fusionemu;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct TypeInfo {
  const char *name;
  uint32_t bits;
  bool isFloat;
};
} // namespace

static const TypeInfo types[] = {
    {"u8", 8, false},        {"u16", 16, false},      {"u32", 32, false},
    {"s32", 32, false},      {"u64", 64, false},      {"s64", 64, false},
    {"f16", 16, true},       {"f32", 32, true},       {"f64", 64, true},
    {"bf16", 16, true},      {"f32.ftz", 32, true},   {"tf32", 32, true},
    {"tf32.ftz", 32, true},  {"u4.align8", 4, false}, {"u4.align16", 4, false},
    {"u6.align16", 6, false}};
static constexpr uint32_t numTypes = sizeof(types) / sizeof(types[0]);

uint32_t fusionemu::getElementBits(TensorMapType type) {
  return uint32_t(type) < numTypes ? types[uint32_t(type)].bits : 0;
}

const char *fusionemu::getTypeName(TensorMapType type) {
  return uint32_t(type) < numTypes ? types[uint32_t(type)].name : nullptr;
}

bool fusionemu::parseTypeName(std::string_view name, TensorMapType &type) {
  for (uint32_t i = 0; i < numTypes; ++i)
    if (name == types[i].name) {
      type = TensorMapType(i);
      return true;
    }
  return false;
}

/// Whether 16 elements share a container of 16 bytes in shared memory.
static bool isPadded(TensorMapType type) {
  return type == TensorMapType::U4Align16 || type == TensorMapType::U6Align16;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Status refuse(const std::string &text) {
  return Status(ErrorKind::BadTensorMap, "tensor map: " + text);
}

static std::string element(const char *name, uint32_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

static Status refuseValue(const std::string &name, uint64_t value,
                          const std::string &limit) {
  return refuse(name + " is " + std::to_string(value) + ", it must be " +
                limit);
}

static Status checkRange(const std::string &name, uint64_t value,
                         uint64_t least, uint64_t most) {
  if (value >= least && value <= most)
    return {};
  return refuseValue(name, value,
                     std::to_string(least) + " to " + std::to_string(most));
}

static Status checkMultiple(const std::string &name, uint64_t value,
                            uint64_t of, const char *why = "") {
  if (value % of == 0)
    return {};
  return refuseValue(name, value, "a multiple of " + std::to_string(of) + why);
}

/// Enumerators, rank, and what they demand of each other.
static Status checkModes(const TensorMapInfo &info) {
  if (Status s = checkRange("kind", uint32_t(info.kind), 0, 1); !s.ok())
    return s;
  if (Status s =
          checkRange("tensorDataType", uint32_t(info.type), 0, numTypes - 1);
      !s.ok())
    return s;
  if (Status s = checkRange("interleave", uint32_t(info.interleave), 0, 2);
      !s.ok())
    return s;
  if (Status s = checkRange("swizzle", uint32_t(info.swizzle), 0, 6); !s.ok())
    return s;
  if (Status s = checkRange("l2Promotion", uint32_t(info.l2Promotion), 0, 3);
      !s.ok())
    return s;
  if (Status s = checkRange("oobFill", uint32_t(info.fill), 0, 1); !s.ok())
    return s;

  bool isInterleaved = info.interleave != TensorMapInterleave::None;
  uint32_t leastRank =
      isInterleaved || info.kind == TensorMapKind::Im2col ? 3 : 1;
  if (Status s = checkRange("tensorRank", info.rank, leastRank, 5); !s.ok())
    return s;
  if (info.interleave == TensorMapInterleave::B32 &&
      info.swizzle != TensorMapSwizzle::B32)
    return refuseValue("swizzle", uint32_t(info.swizzle),
                       "1 (32 bytes) with an interleave of 32 bytes");
  const TypeInfo &type = types[uint32_t(info.type)];
  if (info.fill == TensorMapFill::NaN && !type.isFloat)
    return refuse(std::string("oobFill is 1 (NaN), which elements of type ") +
                  type.name + " do not have");
  if (!isPadded(info.type))
    return {};
  if (info.type == TensorMapType::U6Align16 && isInterleaved)
    return refuseValue("interleave", uint32_t(info.interleave),
                       "0 for elements of type u6.align16");
  bool allowed = info.swizzle == TensorMapSwizzle::None ||
                 info.swizzle == TensorMapSwizzle::B128 ||
                 info.swizzle == TensorMapSwizzle::B128Atom32 ||
                 (info.swizzle == TensorMapSwizzle::B128Atom64 &&
                  info.type == TensorMapType::U6Align16);
  if (!allowed)
    return refuse("swizzle is " + std::to_string(uint32_t(info.swizzle)) +
                  ", which elements of type " + type.name + " do not allow");
  return {};
}

/// Address, sizes and strides of the tensor.
static Status checkTensor(const TensorMapInfo &info) {
  bool is32 =
      info.interleave == TensorMapInterleave::B32 || isPadded(info.type);
  uint64_t align = is32 ? 32 : 16;
  if (Status s = checkMultiple("globalAddress", info.globalAddress, align);
      !s.ok())
    return s;
  for (uint32_t i = 0; i < info.rank; ++i)
    if (Status s = checkRange(element("globalDim", i), info.dims[i], 1,
                              uint64_t(1) << 32);
        !s.ok())
      return s;
  uint64_t packed = isPadded(info.type)                    ? 128
                    : info.type == TensorMapType::U4Align8 ? 2
                                                           : 1;
  if (Status s = checkMultiple("globalDim[0]", info.dims[0], packed,
                               " for elements of this type");
      !s.ok())
    return s;
  for (uint32_t i = 0; i + 1 < info.rank; ++i) {
    std::string name = element("globalStrides", i);
    if (Status s = checkMultiple(name, info.strides[i], align); !s.ok())
      return s;
    if (info.strides[i] >= uint64_t(1) << 40)
      return refuseValue(name, info.strides[i],
                         "less than " + std::to_string(uint64_t(1) << 40));
  }
  for (uint32_t i = 0; i < info.rank; ++i)
    if (Status s = checkRange(element("elementStrides", i),
                              info.elementStrides[i], 1, 8);
        !s.ok())
      return s;
  return {};
}

/// Bytes that the swizzle spreads a row over; 0 without one.
static uint32_t getSwizzleSpan(TensorMapSwizzle swizzle) {
  switch (swizzle) {
  case TensorMapSwizzle::None:
    return 0;
  case TensorMapSwizzle::B32:
    return 32;
  case TensorMapSwizzle::B64:
    return 64;
  default:
    return 128;
  }
}

/// The innermost extent of the box: `count` elements under the name `name`.
static Status checkInnerBytes(const TensorMapInfo &info, const char *name,
                              uint32_t count) {
  if (isPadded(info.type))
    return count == 128
               ? Status()
               : refuseValue(name, count, "128 for elements of this type");
  if (info.interleave != TensorMapInterleave::None)
    return {};
  uint32_t bits = count * getElementBits(info.type);
  std::string bytes = std::string(name) + " makes rows of " +
                      std::to_string(bits / 8) + " bytes, ";
  // An im2col copy moves whole pieces of 16 bytes as well: a box must have a
  // multiple of 16 bytes in PTX.
  if (bits % 128 != 0)
    return refuse(bytes + "they must be a multiple of 16");
  uint32_t span = getSwizzleSpan(info.swizzle);
  if (span && bits / 8 > span)
    return refuse(bytes + "the swizzle allows " + std::to_string(span));
  return {};
}

static Status checkTiled(const TensorMapInfo &info) {
  for (uint32_t i = 0; i < info.rank; ++i)
    if (Status s = checkRange(element("boxDim", i), info.box[i], 1, 256);
        !s.ok())
      return s;
  return checkInnerBytes(info, "boxDim[0]", info.box[0]);
}

static Status checkIm2col(const TensorMapInfo &info) {
  // Half of the range of corners, by the number of spatial dimensions.
  static const int32_t limits[] = {32768, 128, 16};
  uint32_t spatial = info.rank - 2;
  int32_t limit = limits[spatial - 1];
  auto checkCorner = [&](const char *name, uint32_t i, int32_t value) {
    if (value >= -limit && value < limit)
      return Status();
    return refuse(element(name, i) + " is " + std::to_string(value) +
                  ", it must be " + std::to_string(-limit) + " to " +
                  std::to_string(limit - 1) + " in a map of rank " +
                  std::to_string(info.rank));
  };
  for (uint32_t i = 0; i < spatial; ++i) {
    int32_t lower = info.lowerCorner[i], upper = info.upperCorner[i];
    if (Status s = checkCorner("pixelBoxLowerCorner", i, lower); !s.ok())
      return s;
    if (Status s = checkCorner("pixelBoxUpperCorner", i, upper); !s.ok())
      return s;
    if (int64_t(info.dims[i + 1]) + upper - lower < 1)
      return refuse("the bounding box from pixelBoxLowerCorner[" +
                    std::to_string(i) + "] = " + std::to_string(lower) +
                    " to pixelBoxUpperCorner = " + std::to_string(upper) +
                    " is empty in " + std::to_string(info.dims[i + 1]) +
                    " elements");
  }
  if (Status s = checkRange("channelsPerPixel", info.channelsPerPixel, 1, 256);
      !s.ok())
    return s;
  if (Status s = checkRange("pixelsPerColumn", info.pixelsPerColumn, 1, 1024);
      !s.ok())
    return s;
  return checkInnerBytes(info, "channelsPerPixel", info.channelsPerPixel);
}

Status fusionemu::checkTensorMap(const TensorMapInfo &info) {
  if (Status s = checkModes(info); !s.ok())
    return s;
  if (Status s = checkTensor(info); !s.ok())
    return s;
  return info.kind == TensorMapKind::Tiled ? checkTiled(info)
                                           : checkIm2col(info);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

// Where the fields lie, little-endian; what lies between them is zero.
enum : uint32_t {
  magicAt = 0,     // 8 bytes
  addressAt = 8,   // 8
  dimsAt = 16,     // 5 x 4, less one
  stridesAt = 36,  // 4 x 5
  boxAt = 56,      // 5 x 1, less one
  elementsAt = 61, // 5 x 1
  modesAt = 66,    // 7 x 1
  lowerAt = 74,    // 3 x 2
  upperAt = 80,    // 3 x 2
  channelsAt = 86, // 1, less one
  pixelsAt = 88,   // 2
  reservedAt = 90,
  checkAt = 120, // 8
};
static const char magic[9] = "FUSNTMAP";

static void put(uint8_t *map, uint32_t at, uint32_t bytes, uint64_t value) {
  for (uint32_t i = 0; i < bytes; ++i)
    map[at + i] = uint8_t(value >> (8 * i));
}

static uint64_t get(const uint8_t *map, uint32_t at, uint32_t bytes) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i)
    value |= uint64_t(map[at + i]) << (8 * i);
  return value;
}

/// FNV-1a of all bytes before the check word. Every step is invertible, so any
/// change of a single byte changes the result.
static uint64_t getCheckWord(const uint8_t *map) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint32_t i = 0; i < checkAt; ++i)
    hash = (hash ^ map[i]) * 0x100000001b3u;
  return hash;
}

static void writeMap(const TensorMapInfo &info, uint8_t *map) {
  std::memset(map, 0, tensorMapBytes);
  std::memcpy(map + magicAt, magic, 8);
  put(map, addressAt, 8, info.globalAddress);
  const uint32_t modes[] = {uint32_t(info.kind),
                            uint32_t(info.type),
                            info.rank,
                            uint32_t(info.interleave),
                            uint32_t(info.swizzle),
                            uint32_t(info.l2Promotion),
                            uint32_t(info.fill)};
  for (uint32_t i = 0; i < 7; ++i)
    put(map, modesAt + i, 1, modes[i]);
  bool isIm2col = info.kind == TensorMapKind::Im2col;
  for (uint32_t i = 0; i < info.rank; ++i) {
    put(map, dimsAt + 4 * i, 4, info.dims[i] - 1);
    put(map, elementsAt + i, 1, info.elementStrides[i]);
    if (i + 1 < info.rank)
      put(map, stridesAt + 5 * i, 5, info.strides[i]);
    if (!isIm2col)
      put(map, boxAt + i, 1, info.box[i] - 1);
  }
  if (isIm2col) {
    for (uint32_t i = 0; i + 2 < info.rank; ++i) {
      put(map, lowerAt + 2 * i, 2, uint64_t(info.lowerCorner[i]));
      put(map, upperAt + 2 * i, 2, uint64_t(info.upperCorner[i]));
    }
    put(map, channelsAt, 1, info.channelsPerPixel - 1);
    put(map, pixelsAt, 2, info.pixelsPerColumn);
  }
  put(map, checkAt, 8, getCheckWord(map));
}

Status fusionemu::encodeTensorMap(const TensorMapInfo &info,
                                  uint8_t (&map)[tensorMapBytes]) {
  if (Status s = checkTensorMap(info); !s.ok())
    return s;
  writeMap(info, map);
  return {};
}

static TensorMapInfo readMap(const uint8_t *map) {
  TensorMapInfo info;
  info.globalAddress = get(map, addressAt, 8);
  uint32_t modes[7];
  for (uint32_t i = 0; i < 7; ++i)
    modes[i] = uint32_t(get(map, modesAt + i, 1));
  info.kind = TensorMapKind(modes[0]);
  info.type = TensorMapType(modes[1]);
  info.rank = modes[2];
  info.interleave = TensorMapInterleave(modes[3]);
  info.swizzle = TensorMapSwizzle(modes[4]);
  info.l2Promotion = TensorMapL2Promotion(modes[5]);
  info.fill = TensorMapFill(modes[6]);
  bool isIm2col = info.kind == TensorMapKind::Im2col;
  for (uint32_t i = 0; i < 5 && i < info.rank; ++i) {
    info.dims[i] = get(map, dimsAt + 4 * i, 4) + 1;
    info.elementStrides[i] = uint32_t(get(map, elementsAt + i, 1));
    if (i + 1 < info.rank && i < 4)
      info.strides[i] = get(map, stridesAt + 5 * i, 5);
    if (!isIm2col)
      info.box[i] = uint32_t(get(map, boxAt + i, 1)) + 1;
  }
  if (isIm2col) {
    for (uint32_t i = 0; i < 3 && i + 2 < info.rank; ++i) {
      info.lowerCorner[i] = int16_t(get(map, lowerAt + 2 * i, 2));
      info.upperCorner[i] = int16_t(get(map, upperAt + 2 * i, 2));
    }
    info.channelsPerPixel = uint32_t(get(map, channelsAt, 1)) + 1;
    info.pixelsPerColumn = uint32_t(get(map, pixelsAt, 2));
  }
  return info;
}

Status fusionemu::decodeTensorMap(const uint8_t *bytes, TensorMapInfo &info) {
  if (std::memcmp(bytes + magicAt, magic, 8) != 0)
    return refuse("the 128 bytes are not a tensor map made by "
                  "encodeTensorMap");
  if (get(bytes, checkAt, 8) != getCheckWord(bytes))
    return refuse("the 128 bytes are not a tensor map made by "
                  "encodeTensorMap: its check word is wrong, so that "
                  "something has changed it");
  TensorMapInfo read = readMap(bytes);
  if (Status s = checkTensorMap(read); !s.ok())
    return s;
  // Whoever computes the check word could still hide something between the
  // fields: only the one encoding of a map is accepted.
  uint8_t again[tensorMapBytes];
  writeMap(read, again);
  if (std::memcmp(again, bytes, tensorMapBytes) != 0)
    return refuse("the 128 bytes are not a tensor map made by "
                  "encodeTensorMap: fields that it leaves zero are set");
  info = read;
  return {};
}
