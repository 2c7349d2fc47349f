//===- Lexer.h - Tokens of PTX text -----------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the lexer of the PTX front end.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_LEXER_H
#define FUSION_LIB_RUNTIME_EMULATOR_LEXER_H

#include <cstdint>
#include <string_view>

namespace fusionemu {

struct Token {
  enum class Kind : uint8_t {
    End,
    Word,      ///< ld.global.f32, %tid.x, $L__BB0_2
    Directive, ///< .reg
    Integer,
    Float,  ///< 0f..., 0d... or decimal
    String, ///< without its quotes
    Punct,  ///< one character
    Bad,
  };
  Kind kind = Kind::End;
  uint8_t floatSize = 0;   ///< 4 or 8; 0 for a decimal, kept as a double.
  bool isUnsigned = false; ///< 12U, or an integer that needs all 64 bits.
  uint32_t line = 1;
  std::string_view text;
  uint64_t bits = 0;

  bool is(char c) const { return kind == Kind::Punct && text[0] == c; }
  bool isWord(std::string_view s) const {
    return kind == Kind::Word && text == s;
  }
};

/// Splits PTX text into tokens; never reads beyond it.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}
  Token next();
  /// The text from the beginning of `token` to the end.
  std::string_view textFrom(const Token &token) const {
    return text.substr(size_t(token.text.data() - text.data()));
  }

private:
  void skipBlanks();
  Token lexNumber();
  Token lexString();
  Token lexWord(Token::Kind kind);

  std::string_view text;
  size_t at = 0;
  uint32_t line = 1;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_LEXER_H
