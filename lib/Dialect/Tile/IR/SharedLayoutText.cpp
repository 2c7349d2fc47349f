//===- SharedLayoutText.cpp - The textual form of shared layouts ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements printing and parsing of layouts in shared memory.
//
//===----------------------------------------------------------------------===//

#include "LayoutText.h"
#include "fusion/Dialect/Tile/IR/SharedLayout.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

/// More than any shared memory has, and well within 64-bit offsets.
static constexpr unsigned kMaxSizeBits = 30;
static constexpr int64_t kMaxAlignment = 1024;

static std::optional<SharedLayout> fail(std::string *error,
                                        const Twine &reason) {
  if (error)
    *error = reason.str();
  return std::nullopt;
}

std::optional<SharedLayout>
SharedLayout::fromOffsets(int64_t elementBytes, int64_t alignment,
                          ArrayRef<SmallVector<int64_t, 8>> offsets,
                          std::string *error) {
  if (elementBytes <= 0 || elementBytes > kMaxAccessBytes ||
      !llvm::isPowerOf2_64(elementBytes))
    return fail(error, "elements of " + Twine(elementBytes) +
                           " bytes: expected 1, 2, 4, 8 or 16");
  if (alignment < kMaxAccessBytes || alignment > kMaxAlignment ||
      !llvm::isPowerOf2_64(alignment))
    return fail(error, "alignment " + Twine(alignment) +
                           " is not a power of two from 16 to 1024");
  unsigned log2Bytes = llvm::Log2_64(elementBytes);
  size_t elementBits = 0;
  for (const SmallVector<int64_t, 8> &dim : offsets)
    elementBits += dim.size();
  if (elementBits + log2Bytes > kMaxSizeBits)
    return fail(error, "the tile exceeds 2^30 bytes");

  SmallVector<int64_t, 4> shape;
  SmallVector<uint64_t, 16> columns;
  for (const SmallVector<int64_t, 8> &dim : offsets)
    shape.push_back(int64_t(1) << dim.size());
  for (const SmallVector<int64_t, 8> &dim : llvm::reverse(offsets))
    for (int64_t offset : dim) {
      if (offset < 0 || offset % elementBytes ||
          offset >> (elementBits + log2Bytes))
        return fail(error, "offset " + Twine(offset) +
                               " is not that of an element of the tile");
      columns.push_back(uint64_t(offset) >> log2Bytes);
    }
  BitMatrix slots(columns, elementBits);
  if (!slots.isInjective())
    return fail(error, "two elements of the tile share an offset");
  SharedLayout result(shape, elementBytes, slots);
  result.baseAlignment = alignment;
  return result;
}

void SharedLayout::print(llvm::raw_ostream &os) const {
  os << "{bytes=" << elementBytes() << ", align=" << baseAlignment
     << ", offsets=[";
  for (unsigned dim = 0; dim != rank(); ++dim) {
    os << (dim ? ",[" : "[");
    for (unsigned bit = 0; bit != log2Shape[dim]; ++bit)
      os << (bit ? "," : "") << offsetBasis(dim, bit);
    os << ']';
  }
  os << "]}";
}

std::string SharedLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

std::optional<SharedLayout> SharedLayout::parse(StringRef text,
                                                std::string *error) {
  LayoutTextCursor cursor(text, error);
  int64_t bytes, alignment;
  SmallVector<SmallVector<int64_t, 8>, 4> offsets;
  if (!cursor.expect("{") || !cursor.expectKey("bytes") ||
      !cursor.parseInteger(bytes) || !cursor.expect(",") ||
      !cursor.expectKey("align") || !cursor.parseInteger(alignment) ||
      !cursor.expect(",") || !cursor.expectKey("offsets") ||
      !cursor.parseList(
          [&] { return cursor.parseIntegers(offsets.emplace_back()); }) ||
      !cursor.expect("}") || !cursor.expectEnd())
    return std::nullopt;
  return fromOffsets(bytes, alignment, offsets, error);
}
