//===- NestingDepth.cpp - Depth of brackets in a text ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the check of nesting before a text is parsed.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/NestingDepth.h"

using namespace mlir::fusion;

namespace {
/// Walks a text once, keeping the place.
class Scanner {
public:
  explicit Scanner(llvm::StringRef text) : text(text) {}

  bool atEnd() const { return offset >= text.size(); }
  char peek(size_t ahead = 0) const {
    return offset + ahead < text.size() ? text[offset + ahead] : '\0';
  }
  TextPosition getPosition() const { return position; }
  void advance() {
    if (text[offset++] == '\n')
      position = {position.line + 1, 1};
    else
      ++position.column;
  }
  /// Moves behind a comment, up to the end of the line.
  void skipComment() {
    while (!atEnd() && peek() != '\n')
      advance();
  }
  /// Moves behind a string, which a line break ends too: it is an error then,
  /// and the parser says so.
  void skipString() {
    advance();
    while (!atEnd() && peek() != '"' && peek() != '\n') {
      if (peek() == '\\')
        advance();
      if (!atEnd())
        advance();
    }
    if (!atEnd())
      advance();
  }

private:
  llvm::StringRef text;
  size_t offset = 0;
  TextPosition position = {1, 1};
};
} // namespace

std::optional<TextPosition> mlir::fusion::findDeepNesting(llvm::StringRef text,
                                                          unsigned limit) {
  Scanner scanner(text);
  unsigned depth = 0;
  while (!scanner.atEnd()) {
    char c = scanner.peek();
    if (c == '"') {
      scanner.skipString();
      continue;
    }
    if (c == '/' && scanner.peek(1) == '/') {
      scanner.skipComment();
      continue;
    }
    // Arrows and comparisons hold no brackets.
    char next = scanner.peek(1);
    if ((c == '-' && next == '>') || ((c == '<' || c == '>') && next == '=')) {
      scanner.advance();
      scanner.advance();
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > limit)
        return scanner.getPosition();
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      // A bracket too many is the parser's to report.
      depth -= depth > 0;
    }
    scanner.advance();
  }
  return std::nullopt;
}
