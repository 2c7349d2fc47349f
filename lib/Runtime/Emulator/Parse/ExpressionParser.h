//===- ExpressionParser.h - Constant expressions -------------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the parser of constant expressions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_EXPRESSIONPARSER_H
#define FUSION_LIB_RUNTIME_EMULATOR_EXPRESSIONPARSER_H

#include "Parse/TokenReader.h"

namespace fusionemu {

/// The value of a constant expression.
struct ConstantValue {
  uint64_t bits = 0;
  bool isUnsigned = false;
};

/// Parses constant expressions.
class ExpressionParser : protected TokenReader {
protected:
  using TokenReader::TokenReader;

  bool parseExpression(uint64_t &value);
  /// What is added to a name that was just read: nothing, or terms that start
  /// with a sign.
  bool parseAddend(uint64_t &value);

private:
  bool parsePrimary(ConstantValue &value, unsigned depth);
  /// Goes on behind `value` with operators of at least this precedence.
  bool parseBinary(ConstantValue &value, unsigned precedence, unsigned depth);
  bool parseConditional(ConstantValue &value, unsigned depth);
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_EXPRESSIONPARSER_H
