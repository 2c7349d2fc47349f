//===- Sizes.cpp - Programs of smaller tensors ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the shrinking of sizes. It works on the text: a size
// stands in types, in slices and in shapes, and all of them change together.
// Whether the result is a program is for the verifier to say.
//
//===----------------------------------------------------------------------===//

#include "Edits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A whole number of the text that may be a size.
struct Number {
  size_t begin, end;
  int64_t value;
};
} // namespace

/// Whether the digits from `begin` on are part of a name (%v12, i32, d0,
/// vector<2xi64>), of a float or of an exponent.
static bool isInsideWord(StringRef text, size_t begin, size_t end) {
  char before = begin ? text[begin - 1] : ' ';
  bool behindSize = before == 'x' && begin > 1 &&
                    (llvm::isDigit(text[begin - 2]) || text[begin - 2] == '?');
  if (!behindSize &&
      (llvm::isAlnum(before) || StringRef("_.%#$-+").contains(before)))
    return true;
  char after = end < text.size() ? text[end] : ' ';
  if (after == '.' || after == 'e')
    return true;
  StringRef head = text.take_front(begin);
  return head.ends_with("vector<");
}

static SmallVector<Number> findNumbers(StringRef text) {
  SmallVector<Number> numbers;
  for (size_t at = 0; at < text.size();) {
    if (!llvm::isDigit(text[at])) {
      ++at;
      continue;
    }
    size_t end = text.find_first_not_of("0123456789", at);
    end = end == StringRef::npos ? text.size() : end;
    int64_t value = 0;
    if (!isInsideWord(text, at, end) &&
        !text.slice(at, end).getAsInteger(10, value))
      numbers.push_back({at, end, value});
    at = end;
  }
  return numbers;
}

/// The text with `from` as `to`; with `multiples`, multiples of it in
/// proportion.
static std::string replaceSize(StringRef text, ArrayRef<Number> numbers,
                               int64_t from, int64_t to, bool multiples) {
  std::string result;
  size_t at = 0;
  for (const Number &number : numbers) {
    bool changes = number.value == from ||
                   (multiples && number.value && number.value % from == 0);
    if (!changes)
      continue;
    result += text.slice(at, number.begin);
    result += std::to_string(number.value / from * to);
    at = number.end;
  }
  return result + text.substr(at).str();
}

std::vector<std::string> fusion::shrinkSizes(StringRef text) {
  SmallVector<Number> numbers = findNumbers(text);
  std::set<int64_t, std::greater<>> values;
  for (const Number &number : numbers)
    if (number.value > 1)
      values.insert(number.value);
  std::vector<std::string> texts;
  for (int64_t value : values) {
    std::set<int64_t> smaller = {1, 2, 4, 16, value / 2, value - 1};
    for (int64_t size : smaller)
      if (size >= 1 && size < value)
        for (bool multiples : {false, true})
          texts.push_back(replaceSize(text, numbers, value, size, multiples));
  }
  return texts;
}
