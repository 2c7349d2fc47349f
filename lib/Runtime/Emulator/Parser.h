//===- Parser.h - PTX text to syntax ----------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the recursive-descent parser of the PTX front end.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_PARSER_H
#define FUSION_LIB_RUNTIME_EMULATOR_PARSER_H

#include "Lexer.h"
#include "Syntax.h"
#include "fusion-rt/Emulator/Emulator.h"

namespace fusionemu {

/// Parses one module. The first error wins; its line is kept.
class Parser {
public:
  explicit Parser(ModuleSyntax &module);
  Status run();

private:
  /// Records an error at the current token; returns false for the caller.
  bool fail(std::string reason);
  bool failAt(uint32_t line, std::string reason);
  void advance() { token = lexer.next(); }
  bool accept(char c);
  bool expect(char c);
  bool expectWord(std::string_view &word, const char *what);
  bool expectInteger(uint64_t &value, const char *what);
  bool atDirective(std::string_view name) const;

  bool parseModuleItem();
  bool parseFile();
  bool parseTarget();
  bool skipBraces();
  bool skipPragma();
  bool parseFunction(bool isKernel);
  bool parseParameters(std::vector<VariableSyntax> &parameters);
  bool parseFunctionDirectives(FunctionSyntax &function);
  bool parseFunctionDirective(FunctionSyntax &function);
  bool parseTriple(uint32_t (&values)[3]);
  bool parseCount(uint32_t &count);
  bool parseBody(FunctionSyntax &function);
  bool parseLoc(SourceLoc &loc);
  bool parseRegisters(FunctionSyntax &function);
  bool parseVariables(std::vector<VariableSyntax> &variables, bool isExtern);
  bool parseVariable(VariableSyntax &variable);
  bool parseArraySizes(VariableSyntax &variable);
  bool parseInitializer(VariableSyntax &variable);
  bool parseInstruction(FunctionSyntax &function, SourceLoc loc,
                        std::string_view guard, bool negated);
  bool parseBranchTargets(FunctionSyntax &function, std::string_view label);
  bool parseOperand(Operand &operand, unsigned depth);
  bool parseOperandList(std::vector<Operand> &operands, char close,
                        unsigned depth);
  bool parseAddress(Operand &operand, unsigned depth);
  bool parseSignedInteger(uint64_t &value);

  ModuleSyntax &module;
  Lexer lexer;
  Token token;
  Status error;
};

/// The state space that a directive such as ".shared" names, or None.
Space parseSpace(std::string_view directive);
/// The size in bytes of a value of type ".b32" or "b32"; 0 for .pred and for
/// what is not a type.
uint32_t getTypeSize(std::string_view type);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_PARSER_H
