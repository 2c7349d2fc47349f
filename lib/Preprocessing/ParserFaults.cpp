//===- ParserFaults.cpp - What upstream's parser dies of ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the check of a text before it is parsed.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/ParserFaults.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir::fusion;
using llvm::StringRef;

/// `text` behind blanks, line breaks and comments.
static StringRef skipBlanks(StringRef text) {
  while (true) {
    text = text.ltrim();
    if (!text.starts_with("//"))
      return text;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
}

/// Moves `text` behind a list of integers that 64 bits hold; false, and `text`
/// at the place, if there is none.
static bool consumeDims(StringRef &text) {
  text = skipBlanks(text);
  if (!text.consume_front("["))
    return false;
  text = skipBlanks(text);
  if (text.consume_front("]"))
    return true;
  while (true) {
    StringRef rest = text;
    int64_t number;
    bool isHex = rest.ltrim('-').starts_with_insensitive("0x");
    if (rest.consumeInteger(isHex ? 0 : 10, number))
      return false;
    text = skipBlanks(rest);
    if (text.consume_front("]"))
      return true;
    if (!text.consume_front(","))
      return false;
    text = skipBlanks(text);
  }
}

static TextPosition getPosition(StringRef text, size_t offset) {
  StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
  return {static_cast<unsigned>(before.count('\n') + 1),
          static_cast<unsigned>(offset - lineStart + 1)};
}

/// The offset behind `) KEYWORD =` where no list of integers stands, if any.
static std::optional<size_t> findMalformedDims(StringRef text,
                                               StringRef keyword) {
  for (size_t at = text.find(keyword); at != StringRef::npos;
       at = text.find(keyword, at + 1)) {
    // Behind the operands: in a dictionary it may be anything.
    if (!text.take_front(at).rtrim().ends_with(")"))
      continue;
    StringRef rest = skipBlanks(text.drop_front(at + keyword.size()));
    if (rest.consume_front("=") && !consumeDims(rest))
      return text.size() - rest.size();
  }
  return std::nullopt;
}

/// The elements of the type that `text` begins with, "tensor<2x3xf32>"; nothing
/// if it is none or they are beyond counting.
static std::optional<uint64_t> countElements(StringRef text) {
  if (!text.consume_front("tensor"))
    return std::nullopt;
  text = skipBlanks(text);
  if (!text.consume_front("<"))
    return std::nullopt;
  uint64_t count = 1, size;
  for (text = skipBlanks(text); !text.consumeInteger(10, size);) {
    if (!text.consume_front("x"))
      return std::nullopt;
    std::optional<uint64_t> product = llvm::checkedMulUnsigned(count, size);
    count = product ? *product : UINT64_MAX;
  }
  // A size that 64 bits do not hold is not consumed.
  return !text.empty() && llvm::isDigit(text.front()) ? UINT64_MAX : count;
}

/// The offset of a tensor.from_elements whose type has more elements than there
/// are characters before it, if any. A value may be called like the operation.
static std::optional<size_t> findMissingElements(StringRef text) {
  constexpr StringRef name = "tensor.from_elements";
  for (size_t at = text.find(name); at != StringRef::npos;
       at = text.find(name, at + 1)) {
    if (at > 0 && StringRef("%._-$").contains(text[at - 1]))
      continue;
    size_t colon = text.find(':', at);
    if (colon == StringRef::npos)
      return std::nullopt;
    std::optional<uint64_t> count =
        countElements(skipBlanks(text.drop_front(colon + 1)));
    if (count && *count > colon - at)
      return at;
  }
  return std::nullopt;
}

/// The offset of the type in an `array<index: ...>`, if any.
static std::optional<size_t> findArrayOfIndex(StringRef text) {
  for (size_t at = text.find("array"); at != StringRef::npos;
       at = text.find("array", at + 1)) {
    StringRef rest =
        skipBlanks(text.drop_front(at + StringRef("array").size()));
    if (!rest.consume_front("<"))
      continue;
    rest = skipBlanks(rest);
    StringRef type = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
    if (type == "index")
      return text.size() - rest.size();
  }
  return std::nullopt;
}

std::optional<ParserFault> mlir::fusion::findParserFault(StringRef text) {
  std::optional<size_t> dims = findMalformedDims(text, "dimensions");
  if (!dims)
    dims = findMalformedDims(text, "permutation");
  if (dims)
    return ParserFault{getPosition(text, *dims),
                       "expected a list of integers, such as [0, 1]"};
  if (std::optional<size_t> elements = findMissingElements(text))
    return ParserFault{getPosition(text, *elements),
                       "the type has more elements than are given"};
  if (std::optional<size_t> type = findArrayOfIndex(text))
    return ParserFault{getPosition(text, *type),
                       "expected integers or floats of a number of bits"};
  return std::nullopt;
}
