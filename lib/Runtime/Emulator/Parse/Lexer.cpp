//===- Lexer.cpp - Tokens of PTX text -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the lexer of the PTX front end.
//
//===----------------------------------------------------------------------===//

#include "Parse/Lexer.h"

#include <charconv>
#include <cstring>
#include <system_error>

using namespace fusionemu;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isWordChar(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_' || c == '$';
}
/// Whether a name starts here. A '%' that stands alone is an operator.
static bool startsWord(std::string_view text) {
  if (text[0] == '%')
    return text.size() > 1 && isWordChar(text[1]);
  return isWordChar(text[0]);
}
/// The value of a digit in any base up to 16, or 16 for no digit.
static unsigned digitValue(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 16;
}

void Lexer::skipBlanks() {
  while (at < text.size()) {
    char c = text[at];
    if (c == '\n')
      ++line;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
      continue;
    }
    if (text.substr(at, 2) == "//") {
      while (at < text.size() && text[at] != '\n')
        ++at;
      continue;
    }
    if (text.substr(at, 2) == "/*") {
      at += 2;
      while (at < text.size() && text.substr(at, 2) != "*/")
        if (text[at++] == '\n')
          ++line;
      at = at + 2 < text.size() ? at + 2 : text.size();
      continue;
    }
    return;
  }
}

Token Lexer::lexWord(Token::Kind kind) {
  Token token;
  token.kind = kind;
  token.line = line;
  size_t begin = at++; // It may be a '.' or a '%'.
  while (at < text.size()) {
    if (isWordChar(text[at])) {
      ++at;
      continue;
    }
    // "shared::cta" is one word, "label:" is not.
    if (text.substr(at, 2) == "::" && at + 2 < text.size() &&
        isWordChar(text[at + 2])) {
      at += 2;
      continue;
    }
    // A directive such as ".b32" ends here, an opcode goes on.
    if (text[at] == '.' && kind == Token::Kind::Word && at + 1 < text.size() &&
        isWordChar(text[at + 1])) {
      ++at;
      continue;
    }
    break;
  }
  token.text = text.substr(begin, at - begin);
  return token;
}

Token Lexer::lexNumber() {
  Token token;
  token.kind = Token::Kind::Integer;
  token.line = line;
  size_t begin = at;
  char second = at + 1 < text.size() ? text[at + 1] : 0;
  if (text[at] == '0' &&
      (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    token.kind = Token::Kind::Float;
    token.floatSize = second == 'f' || second == 'F' ? 4 : 8;
    at += 2;
    unsigned digits = 0;
    for (; at < text.size() && digitValue(text[at]) < 16; ++at, ++digits)
      token.bits = token.bits << 4 | digitValue(text[at]);
    if (digits != token.floatSize * 2u)
      token.kind = Token::Kind::Bad;
    token.text = text.substr(begin, at - begin);
    return token;
  }
  unsigned base = 10;
  if (text[at] == '0' && (second == 'x' || second == 'X')) {
    base = 16;
    at += 2;
  } else if (text[at] == '0' && (second == 'b' || second == 'B')) {
    base = 2;
    at += 2;
  } else if (text[at] == '0' && isDigit(second)) {
    base = 8;
  }
  size_t digits = at;
  bool overflow = false;
  for (; at < text.size() && digitValue(text[at]) < base; ++at) {
    uint64_t digit = digitValue(text[at]);
    overflow |= token.bits > (~uint64_t(0) - digit) / base;
    token.bits = token.bits * base + digit;
  }
  char next = at < text.size() ? text[at] : 0;
  bool isDecimalFloat =
      (next == 'e' || next == 'E' || next == '.') && (base == 10 || base == 8);
  if (isDecimalFloat) {
    while (at < text.size() && (isDigit(text[at]) || text[at] == '.' ||
                                text[at] == 'e' || text[at] == 'E' ||
                                ((text[at] == '-' || text[at] == '+') &&
                                 (text[at - 1] == 'e' || text[at - 1] == 'E'))))
      ++at;
    // Unlike strtod, this does not depend on the language of the process.
    double value = 0;
    const char *end = text.data() + at;
    auto result = std::from_chars(text.data() + begin, end, value);
    std::memcpy(&token.bits, &value, 8);
    token.kind = result.ec == std::errc() && result.ptr == end
                     ? Token::Kind::Float
                     : Token::Kind::Bad;
  } else {
    if (at == digits || overflow)
      token.kind = Token::Kind::Bad;
    token.isUnsigned = int64_t(token.bits) < 0;
    if (next == 'U' || next == 'u') {
      token.isUnsigned = true;
      ++at;
    }
  }
  if (at < text.size() && isWordChar(text[at])) {
    token.kind = Token::Kind::Bad;
    while (at < text.size() && isWordChar(text[at]))
      ++at;
  }
  token.text = text.substr(begin, at - begin);
  return token;
}

Token Lexer::lexString() {
  Token token;
  token.line = line;
  size_t begin = ++at;
  // A backslash keeps the quote behind it from ending the string.
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    at += text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n' ? 2
                                                                           : 1;
  bool closed = at < text.size() && text[at] == '"';
  token.kind = closed ? Token::Kind::String : Token::Kind::Bad;
  token.text = text.substr(begin, at - begin);
  at += closed;
  return token;
}

Token Lexer::next() {
  skipBlanks();
  Token token;
  token.line = line;
  if (at >= text.size())
    return token;
  char c = text[at];
  if (isDigit(c))
    return lexNumber();
  if (startsWord(text.substr(at)))
    return lexWord(Token::Kind::Word);
  if (c == '.' && at + 1 < text.size() && isWordChar(text[at + 1]))
    return lexWord(Token::Kind::Directive);
  if (c == '"')
    return lexString();
  token.kind = Token::Kind::Punct;
  token.text = text.substr(at++, 1);
  return token;
}
