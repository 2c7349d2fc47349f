//===- TokenReader.cpp - Tokens of a text ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of tokens, and the errors of a text.
//
//===----------------------------------------------------------------------===//

#include "Parse/TokenReader.h"

#include <utility>

using namespace fusionemu;

/// Declarations, labels and instructions of a module.
static constexpr size_t maxItems = size_t(1) << 21;

TokenReader::TokenReader(ModuleSyntax &module)
    : module(module), lexer(*module.text) {
  advance();
}

bool TokenReader::failAt(uint32_t line, std::string reason) {
  if (error.ok())
    error = Status(ErrorKind::Syntax,
                   "PTX line " + std::to_string(line) + ": " + reason, line);
  return false;
}

bool TokenReader::fail(std::string reason) {
  if (token.kind == Token::Kind::End)
    reason += ", but the text ends";
  else if (token.kind == Token::Kind::Bad)
    reason += ", found the malformed literal '" +
              std::string(token.text.substr(0, 40)) + "'";
  else
    reason += ", found '" + std::string(token.text.substr(0, 40)) + "'";
  return failAt(token.line, std::move(reason));
}

bool TokenReader::accept(char c) {
  if (!token.is(c))
    return false;
  advance();
  return true;
}

bool TokenReader::expect(char c) {
  return accept(c) || fail(std::string("expected '") + c + "'");
}

bool TokenReader::countItem() {
  return ++items <= maxItems || fail("more than " + std::to_string(maxItems) +
                                     " declarations, labels and instructions");
}

bool TokenReader::expectWord(std::string_view &word, const char *what) {
  if (token.kind != Token::Kind::Word)
    return fail(std::string("expected ") + what);
  word = token.text;
  advance();
  return true;
}

bool TokenReader::expectInteger(uint64_t &value, const char *what) {
  if (token.kind != Token::Kind::Integer)
    return fail(std::string("expected ") + what);
  value = token.bits;
  advance();
  return true;
}

bool TokenReader::atDirective(std::string_view name) const {
  return token.kind == Token::Kind::Directive && token.text == name;
}
