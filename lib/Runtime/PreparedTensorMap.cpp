//===- PreparedTensorMap.cpp - Tensor maps of an entry --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements evaluating a package's tensor map for one set of sizes,
// and remembering what was encoded from it.
//
//===----------------------------------------------------------------------===//

#include "PreparedTensorMap.h"

#include <algorithm>
#include <cstring>

namespace fusionrt {

using namespace fusionpkg;

//===----------------------------------------------------------------------===//
// TensorMapCache
//===----------------------------------------------------------------------===//

bool TensorMapCache::find(Address address, uint8_t *map) const {
  for (const Slot &slot : slots) {
    uint64_t version = slot.version.load(std::memory_order_acquire);
    if (version == 0 || version % 2 != 0 ||
        slot.address.load(std::memory_order_relaxed) != address)
      continue;
    uint64_t words[kWords];
    for (size_t i = 0; i < kWords; ++i)
      words[i] = slot.words[i].load(std::memory_order_relaxed);
    // The words, and the address with them, are those of `version` if it is
    // still the same after them.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot.version.load(std::memory_order_relaxed) != version)
      continue;
    std::memcpy(map, words, sizeof(words));
    return true;
  }
  return false;
}

void TensorMapCache::insert(Address address, const uint8_t *map) {
  Slot &slot = slots[next.fetch_add(1, std::memory_order_relaxed) % kSlots];
  uint64_t version = slot.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 || !slot.version.compare_exchange_strong(
                              version, version + 1, std::memory_order_acquire,
                              std::memory_order_relaxed))
    return;
  std::atomic_thread_fence(std::memory_order_release);
  uint64_t words[kWords];
  std::memcpy(words, map, sizeof(words));
  slot.address.store(address, std::memory_order_relaxed);
  for (size_t i = 0; i < kWords; ++i)
    slot.words[i].store(words[i], std::memory_order_relaxed);
  slot.version.store(version + 2, std::memory_order_release);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static fusionemu::TensorMapType getType(DType dtype, bool tf32) {
  using Type = fusionemu::TensorMapType;
  switch (dtype) {
  case DType::F64:
    return Type::F64;
  case DType::F32:
    return tf32 ? Type::TF32 : Type::F32;
  case DType::F16:
    return Type::F16;
  case DType::BF16:
    return Type::BF16;
  case DType::I64:
    return Type::S64;
  case DType::I32:
    return Type::S32;
  case DType::I16:
    return Type::U16;
  case DType::F8E4M3:
  case DType::F8E5M2:
  case DType::I8:
  case DType::I4: // refused by verifyPackage
  case DType::I1:
    return Type::U8;
  }
  return Type::U8;
}

/// "3x77 bf16".
static std::string describe(const TensorMap &map,
                            const std::vector<int64_t> &sizes) {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i ? "x" : "") + std::to_string(sizes[i]);
  return text + " " + getDTypeName(map.dtype);
}

static Error overflows(const char *what) {
  return Error(ErrorCode::SizeOverflow,
               std::string(what) + " of a tensor map does not fit 64 bits");
}

/// Evaluates `ids`; nothing may be negative.
static Error evaluate(const std::vector<ExprId> &ids, const ExprValues &values,
                      const char *what, std::vector<int64_t> &numbers) {
  for (ExprId id : ids) {
    std::optional<int64_t> value = values.get(id);
    if (!value)
      return overflows(what);
    if (*value < 0)
      return Error(ErrorCode::TensorMapSizes, std::string(what) +
                                                  " of a tensor map is " +
                                                  std::to_string(*value));
    numbers.push_back(*value);
  }
  return {};
}

/// Fills in the row-major strides of `sizes` in bytes.
static Error addStrides(const std::vector<int64_t> &sizes, int64_t elementBytes,
                        std::vector<int64_t> &strides) {
  strides.assign(sizes.size() - 1, 0);
  int64_t stride = elementBytes;
  for (size_t i = sizes.size() - 1; i > 0; --i) {
    std::optional<int64_t> next = applyExprOp(ExprOp::Mul, stride, sizes[i]);
    if (!next)
      return overflows("a stride");
    strides[i - 1] = stride = *next;
  }
  return {};
}

/// The bytes from the first to the end of the last element, which the copy
/// engine does not compare with anything.
static std::optional<int64_t> getExtent(const std::vector<int64_t> &sizes,
                                        const std::vector<int64_t> &strides,
                                        int64_t elementBytes) {
  std::optional<int64_t> bytes =
      applyExprOp(ExprOp::Mul, sizes.back(), elementBytes);
  for (size_t i = 0; i < strides.size() && bytes; ++i) {
    std::optional<int64_t> span =
        applyExprOp(ExprOp::Mul, sizes[i] - 1, strides[i]);
    bytes = span ? applyExprOp(ExprOp::Add, *bytes, *span) : std::nullopt;
  }
  return bytes;
}

/// What of `map` does not depend on sizes, in the order of the driver: the
/// innermost dimension first.
static fusionemu::TensorMapInfo getFixedInfo(const TensorMap &map) {
  fusionemu::TensorMapInfo info;
  info.kind = fusionemu::TensorMapKind(static_cast<uint32_t>(map.kind));
  info.type = getType(map.dtype, map.tf32);
  info.rank = static_cast<uint32_t>(map.sizes.size());
  info.swizzle =
      fusionemu::TensorMapSwizzle(static_cast<uint32_t>(map.swizzle));
  // A copy reads whole rows of tiles, and its neighbours soon read the rest.
  info.l2Promotion = fusionemu::TensorMapL2Promotion::B256;
  std::copy(map.box.rbegin(), map.box.rend(), info.box);
  std::copy(map.elementStrides.rbegin(), map.elementStrides.rend(),
            info.elementStrides);
  std::copy(map.lowerCorner.rbegin(), map.lowerCorner.rend(), info.lowerCorner);
  std::copy(map.upperCorner.rbegin(), map.upperCorner.rend(), info.upperCorner);
  info.channelsPerPixel = map.channelsPerPixel;
  info.pixelsPerColumn = map.pixelsPerColumn;
  return info;
}

/// Makes `info` a map of one element for a tensor that has none: kernels get a
/// parameter that they can prefetch, and have nothing to copy.
static void describeEmptyTensor(fusionemu::TensorMapInfo &info) {
  info.kind = fusionemu::TensorMapKind::Tiled;
  constexpr uint64_t kLeastStride = 16;
  for (uint32_t i = 0; i < info.rank; ++i) {
    info.dims[i] = 1;
    // An im2col map has no box; rows of 16 bytes suit every swizzle.
    if (info.box[i] == 0)
      info.box[i] = i == 0 ? 128 / fusionemu::getElementBits(info.type) : 1;
    if (i + 1 < info.rank)
      info.strides[i] = kLeastStride;
  }
}

Error prepareTensorMap(const TensorMap &map, const ExprValues &values,
                       int64_t bufferBytes, bool isOutput,
                       PreparedTensorMap &prepared) {
  std::vector<int64_t> sizes, strides;
  if (Error error = evaluate(map.sizes, values, "a size", sizes))
    return error;
  if (map.offset != kNoExpr) {
    std::vector<int64_t> offset;
    if (Error error = evaluate({map.offset}, values, "the offset", offset))
      return error;
    prepared.byteOffset = offset[0];
  }
  prepared.buffer = map.buffer;
  prepared.info = getFixedInfo(map);
  prepared.cache = std::make_unique<TensorMapCache>();
  fusionemu::TensorMapInfo &info = prepared.info;
  prepared.isEmpty = std::count(sizes.begin(), sizes.end(), 0) != 0;
  if (prepared.isEmpty) {
    describeEmptyTensor(info);
    return {};
  }

  int64_t elementBytes = getStorageBits(map.dtype) / 8;
  Error error = map.strides.empty()
                    ? addStrides(sizes, elementBytes, strides)
                    : evaluate(map.strides, values, "a stride", strides);
  if (error)
    return error;
  std::copy(sizes.rbegin(), sizes.rend(), info.dims);
  std::copy(strides.rbegin(), strides.rend(), info.strides);
  std::string place = "a tensor of " + describe(map, sizes);
  std::optional<int64_t> extent = getExtent(sizes, strides, elementBytes);
  if (!extent || prepared.byteOffset > bufferBytes ||
      *extent > bufferBytes - prepared.byteOffset)
    return Error(ErrorCode::OutOfBounds,
                 place + " at byte " + std::to_string(prepared.byteOffset) +
                     " leaves its buffer of " + std::to_string(bufferBytes) +
                     " bytes");
  // A store fills up the last 16 bytes of a row: in an output these may be
  // someone else's.
  if (isOutput && sizes.back() * elementBytes % 16 != 0)
    return Error(ErrorCode::TensorMapSizes,
                 place +
                     " is an output whose rows are no multiple of 16 bytes");
  // Buffers are aligned more strictly than any map demands.
  info.globalAddress = static_cast<uint64_t>(prepared.byteOffset);
  fusionemu::Status status = fusionemu::checkTensorMap(info);
  info.globalAddress = 0;
  if (status.ok())
    return {};
  // The text without the emulator's code.
  std::string text = status.message();
  size_t begin = text.find("tensor map: ");
  return Error(ErrorCode::TensorMapSizes,
               place + ": " +
                   (begin == std::string::npos ? text : text.substr(begin)));
}

} // namespace fusionrt
