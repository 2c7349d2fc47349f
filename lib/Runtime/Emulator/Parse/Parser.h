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

#include "Parse/DeclarationParser.h"

namespace fusionemu {

/// Parses one module.
class Parser : private DeclarationParser {
public:
  explicit Parser(ModuleSyntax &module) : DeclarationParser(module) {}
  Status run();

private:
  bool parseModuleItem();
  bool parseVersion();
  bool parseTarget();
  bool parseAddressSize();
  bool parseFile();
  bool parseAlias();
  bool skipBraces();
  bool parsePragma();
  bool parseFunction(bool isKernel);
  bool parseParameters(std::vector<VariableSyntax> &parameters);
  bool parseFunctionDirectives(FunctionSyntax &function);
  bool parseFunctionDirective(FunctionSyntax &function);
  bool parseTriple(uint32_t (&values)[3]);
  bool parseCount(uint32_t &count);
  bool parseBody(FunctionSyntax &function);
  bool parseLoc(SourceLoc &loc);
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

  /// Of the whole module, to bound the memory that a text of many tiny parts
  /// can take.
  size_t moduleOperands = 0;
  bool has64BitAddresses = false;
  bool isCall = false; ///< The instruction takes (lists).
  uint32_t usedBytes;  ///< Of the next instruction, see InstructionSyntax.
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_PARSER_H
