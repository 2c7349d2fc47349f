//===- LinearLayoutText.cpp - The textual form of linear layouts ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements printing and parsing of linear layouts.
//
//===----------------------------------------------------------------------===//

#include "LayoutText.h"
#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::fusion::tile;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;

template <typename Range>
static void printList(llvm::raw_ostream &os, const Range &values) {
  os << '[';
  llvm::interleave(values, os, ",");
  os << ']';
}

void LinearLayout::print(llvm::raw_ostream &os) const {
  os << '{';
  for (HwDim dim : kHwDims) {
    if (dim == HwDim::Block && numBits(dim) == 0)
      continue;
    os << stringifyHwDim(dim) << "=[";
    for (unsigned bit = 0; bit != numBits(dim); ++bit) {
      if (bit)
        os << ',';
      printList(os, basis(dim, bit));
    }
    os << "], ";
  }
  os << "shape=";
  printList(os, shape());
  os << '}';
}

std::string LinearLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

/// Parses a list of coordinate lists.
static bool parseBases(LayoutTextCursor &cursor,
                       SmallVectorImpl<Coords> &bases) {
  return cursor.parseList([&] {
    Coords coords;
    bool parsed = cursor.parseList([&] {
      int64_t value;
      if (!cursor.parseInteger(value))
        return false;
      if (value > INT32_MAX)
        return cursor.fail("coordinate exceeds 32 bits");
      coords.push_back(value);
      return true;
    });
    bases.push_back(coords);
    return parsed;
  });
}

std::optional<LinearLayout>
mlir::fusion::tile::parseLinearLayout(StringRef text, std::string *error) {
  LayoutTextCursor cursor(text, error);
  SmallVector<Coords, 8> groups[kNumHwDims];
  SmallVector<int64_t, 4> shape;
  if (!cursor.expect("{"))
    return std::nullopt;
  for (HwDim dim : kHwDims) {
    if (dim == HwDim::Block && !cursor.startsWith("block"))
      continue;
    if (!cursor.expectKey(stringifyHwDim(dim)) ||
        !parseBases(cursor, groups[unsigned(dim)]) || !cursor.expect(","))
      return std::nullopt;
  }
  if (!cursor.expectKey("shape") || !cursor.parseIntegers(shape) ||
      !cursor.expect("}") || !cursor.expectEnd())
    return std::nullopt;
  return LinearLayout::fromBases(shape, groups[0], groups[1], groups[2],
                                 groups[3], error);
}
