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

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir::tile;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using llvm::Twine;

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

namespace {
/// A cursor over the text with the first error found.
class LayoutParser {
public:
  LayoutParser(StringRef text, std::string *error)
      : text(text), rest(text), error(error) {}

  std::optional<LinearLayout> parse();

private:
  bool fail(const Twine &reason) {
    if (error)
      *error =
          ("column " + Twine(text.size() - rest.size() + 1) + ": " + reason)
              .str();
    return false;
  }

  bool consumeIf(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  bool expect(StringRef token) {
    return consumeIf(token) || fail("expected '" + token + "'");
  }

  bool parseInteger(int64_t &value) {
    rest = rest.ltrim();
    // consumeInteger stops at the first character that is no digit and fails on
    // overflow without consuming.
    if (rest.empty() || !llvm::isDigit(rest.front()) ||
        rest.consumeInteger(10, value))
      return fail("expected a non-negative 64-bit integer");
    return true;
  }

  /// Parses `[` element (`,` element)* `]`, the list possibly empty.
  template <typename Fn>
  bool parseList(Fn parseElement) {
    if (!expect("["))
      return false;
    if (consumeIf("]"))
      return true;
    do {
      if (!parseElement())
        return false;
    } while (consumeIf(","));
    return expect("]");
  }

  bool parseBases(SmallVectorImpl<Coords> &bases) {
    return parseList([&] {
      Coords coords;
      if (!parseList([&] {
            int64_t value;
            if (!parseInteger(value))
              return false;
            if (value > INT32_MAX)
              return fail("coordinate exceeds 32 bits");
            coords.push_back(value);
            return true;
          }))
        return false;
      bases.push_back(coords);
      return true;
    });
  }

  bool parseKey(StringRef key) { return expect(key) && expect("="); }

  StringRef text;
  StringRef rest;
  std::string *error;
};
} // namespace

std::optional<LinearLayout> LayoutParser::parse() {
  SmallVector<Coords, 8> groups[kNumHwDims];
  SmallVector<int64_t, 4> shape;
  if (!expect("{"))
    return std::nullopt;
  for (HwDim dim : kHwDims) {
    if (dim == HwDim::Block && !rest.ltrim().starts_with("block"))
      continue;
    if (!parseKey(stringifyHwDim(dim)) || !parseBases(groups[unsigned(dim)]) ||
        !expect(","))
      return std::nullopt;
  }
  if (!parseKey("shape") || !parseList([&] {
        int64_t size;
        if (!parseInteger(size))
          return false;
        shape.push_back(size);
        return true;
      }) ||
      !expect("}"))
    return std::nullopt;
  rest = rest.ltrim();
  if (!rest.empty()) {
    fail("unexpected text after the layout");
    return std::nullopt;
  }
  return LinearLayout::fromBases(shape, groups[0], groups[1], groups[2],
                                 groups[3], error);
}

std::optional<LinearLayout> LinearLayout::parse(StringRef text,
                                                std::string *error) {
  return LayoutParser(text, error).parse();
}
