//===- LayoutText.h - Tokens of the textual forms of layouts ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the cursor that the parsers of register and shared-memory
// layouts share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_IR_LAYOUTTEXT_H
#define FUSION_LIB_DIALECT_TILE_IR_LAYOUTTEXT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <string>

namespace mlir::fusion::tile {

/// A cursor over text. Each function returns whether it succeeded; the reason
/// of a failure goes to `error`, if given, with its column.
class LayoutTextCursor {
public:
  LayoutTextCursor(llvm::StringRef text, std::string *error)
      : text(text), rest(text), error(error) {}

  bool fail(const llvm::Twine &reason) {
    if (error)
      *error = ("column " + llvm::Twine(text.size() - rest.size() + 1) + ": " +
                reason)
                   .str();
    return false;
  }

  bool startsWith(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.starts_with(token);
  }

  bool consumeIf(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  bool expect(llvm::StringRef token) {
    return consumeIf(token) || fail("expected '" + token + "'");
  }

  /// Parses `key` `=`.
  bool expectKey(llvm::StringRef key) { return expect(key) && expect("="); }

  bool expectEnd() {
    rest = rest.ltrim();
    return rest.empty() || fail("unexpected text after the layout");
  }

  bool parseInteger(int64_t &value) {
    rest = rest.ltrim();
    // consumeInteger fails on overflow without consuming.
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

  bool parseIntegers(llvm::SmallVectorImpl<int64_t> &values) {
    return parseList([&] { return parseInteger(values.emplace_back()); });
  }

private:
  llvm::StringRef text;
  llvm::StringRef rest;
  std::string *error;
};

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_IR_LAYOUTTEXT_H
