//===- TokenReader.h - Tokens of a text ----------------------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the part of the parser that reads tokens and keeps the
// first error.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_TOKENREADER_H
#define FUSION_LIB_RUNTIME_EMULATOR_TOKENREADER_H

#include "Parse/Lexer.h"
#include "Parse/Syntax.h"
#include "fusion-rt/Emulator/Emulator.h"

namespace fusionemu {

/// Reads the tokens of one module. The first error wins; its line is kept.
class TokenReader {
protected:
  explicit TokenReader(ModuleSyntax &module);

  /// Records an error at the current token; returns false for the caller.
  bool fail(std::string reason);
  bool failAt(uint32_t line, std::string reason);
  void advance() { token = lexer.next(); }
  bool accept(char c);
  bool expect(char c);
  /// Counts a declaration, a label or an instruction; false beyond the limit
  /// of a module.
  bool countItem();
  bool expectWord(std::string_view &word, const char *what);
  bool expectInteger(uint64_t &value, const char *what);
  bool atDirective(std::string_view name) const;

  ModuleSyntax &module;
  Lexer lexer;
  Token token;
  Status error;

private:
  /// Of the whole module, to bound the memory that a text of many tiny parts
  /// can take.
  size_t items = 0;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_TOKENREADER_H
