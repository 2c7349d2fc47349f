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

#include "Parse/Lexer.h"
#include "Parse/Syntax.h"
#include "fusion-rt/Emulator/Emulator.h"

namespace fusionemu {

/// The value of a constant expression.
struct ConstantValue {
  uint64_t bits = 0;
  bool isUnsigned = false;
};

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
  /// Counts a declaration, a label or an instruction; false beyond the limit
  /// of a module.
  bool countItem();
  bool expectWord(std::string_view &word, const char *what);
  bool expectInteger(uint64_t &value, const char *what);
  bool atDirective(std::string_view name) const;

  bool parseModuleItem();
  bool parseVersion();
  bool parseTarget();
  bool parseAddressSize();
  bool parseFile();
  bool parseAlias();
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
  bool skipAttributes();
  bool parseAlignment(uint32_t &align);
  bool skipPointerAttributes();
  /// Type, alignment and attributes of a variable, up to its name.
  bool parseVariable(VariableSyntax &variable, std::string_view &type,
                     uint32_t &vector);
  bool parseArraySizes(VariableSyntax &variable,
                       std::vector<uint64_t> *dimensions);
  struct Initializer;
  bool setInitialBytes(Initializer &init, uint64_t offset, uint64_t bits,
                       uint32_t size);
  bool parseInitialAddress(InitialAddress &address);
  bool parseInitialValue(Initializer &init, uint64_t offset);
  bool parseInitialList(Initializer &init, size_t level, uint64_t first);
  bool parseInitializer(VariableSyntax &variable, std::string_view type,
                        uint32_t vector, std::vector<uint64_t> dimensions);
  bool parseInstruction(FunctionSyntax &function, SourceLoc loc,
                        std::string_view guard, bool negated);
  bool parseLabelDirective(FunctionSyntax &function, std::string_view label);
  bool parseBranchTargets(FunctionSyntax &function, std::string_view label);
  bool parsePrototype();
  bool parseOperand(Operand &operand, unsigned depth);
  bool parseOperandList(std::vector<Operand> &operands, char close,
                        unsigned depth);
  bool parseAddress(Operand &operand, unsigned depth);
  bool parseName(Operand &operand, unsigned depth);
  bool parseConstant(Operand &operand);

  // Constant expressions, in ParseExpression.cpp.
  bool parsePrimary(ConstantValue &value, unsigned depth);
  /// Goes on behind `value` with operators of at least this precedence.
  bool parseBinary(ConstantValue &value, unsigned precedence, unsigned depth);
  bool parseConditional(ConstantValue &value, unsigned depth);
  bool parseExpression(uint64_t &value);
  /// What is added to a name that was just read: nothing, or terms that start
  /// with a sign.
  bool parseAddend(uint64_t &value);

  ModuleSyntax &module;
  Lexer lexer;
  Token token;
  /// Of the whole module, to bound the memory that a text of many tiny parts
  /// can take.
  size_t items = 0, moduleOperands = 0;
  uint64_t initialBytes = 0;
  bool has64BitAddresses = false;
  bool isCall = false; ///< The instruction takes (lists).
  Status error;
};

/// The state space that a directive such as ".shared" names, or None.
Space parseSpace(std::string_view directive);
/// The size in bytes of a value of type ".b32" or "b32"; 0 for .pred and for
/// what is not a type.
uint32_t getTypeSize(std::string_view type);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_PARSER_H
