//===- DeclarationParser.h - Variables and registers ---------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the parser of variables and registers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_DECLARATIONPARSER_H
#define FUSION_LIB_RUNTIME_EMULATOR_DECLARATIONPARSER_H

#include "Parse/ExpressionParser.h"

namespace fusionemu {

/// Parses declarations.
class DeclarationParser : protected ExpressionParser {
protected:
  using ExpressionParser::ExpressionParser;

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

private:
  /// Of the whole module.
  uint64_t initialBytes = 0;
};

/// The state space that a directive such as ".shared" names, or None.
Space parseSpace(std::string_view directive);
/// The size in bytes of a value of type ".b32" or "b32"; 0 for .pred and for
/// what is not a type.
uint32_t getTypeSize(std::string_view type);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_DECLARATIONPARSER_H
