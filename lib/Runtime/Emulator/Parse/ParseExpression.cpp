//===- ParseExpression.cpp - Constant expressions -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the constant expressions of PTX. They are computed in
// 64 bits, signed unless an operand is unsigned, with the operators and the
// precedence of C.
//
//===----------------------------------------------------------------------===//

#include "Parse/ExpressionParser.h"

#include <climits>

using namespace fusionemu;

/// Parentheses, unary operators and conditionals inside each other.
static constexpr unsigned maxExpressionDepth = 64;

namespace {
enum class Operator : uint8_t {
  None,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Left,
  Right,
  Add,
  Sub,
  Mul,
  Div,
  Rem,
};

struct OperatorInfo {
  std::string_view text;
  Operator op;
  unsigned precedence;
};
} // namespace

static constexpr unsigned additivePrecedence = 9;

/// Longer spellings come before those that they begin with.
static const OperatorInfo operators[] = {
    {"||", Operator::Or, 1},
    {"&&", Operator::And, 2},
    {"==", Operator::Equal, 6},
    {"!=", Operator::NotEqual, 6},
    {"<<", Operator::Left, 8},
    {">>", Operator::Right, 8},
    {"<=", Operator::LessEqual, 7},
    {">=", Operator::GreaterEqual, 7},
    {"<", Operator::Less, 7},
    {">", Operator::Greater, 7},
    {"|", Operator::BitOr, 3},
    {"^", Operator::BitXor, 4},
    {"&", Operator::BitAnd, 5},
    {"+", Operator::Add, additivePrecedence},
    {"-", Operator::Sub, additivePrecedence},
    {"*", Operator::Mul, 10},
    {"/", Operator::Div, 10},
    {"%", Operator::Rem, 10},
};

/// The operator that the text starts with, or null.
static const OperatorInfo *findOperator(std::string_view text) {
  for (const OperatorInfo &info : operators)
    if (text.substr(0, info.text.size()) == info.text)
      return &info;
  return nullptr;
}

static uint64_t shiftRight(ConstantValue a, uint64_t by) {
  if (a.isUnsigned)
    return by > 63 ? 0 : a.bits >> by;
  return uint64_t(int64_t(a.bits) >> (by > 63 ? 63 : by));
}

/// a / b or a % b; `b` is not 0. The one quotient that does not fit wraps.
static uint64_t divide(ConstantValue a, ConstantValue b, bool isUnsigned,
                       bool remainder) {
  if (isUnsigned)
    return remainder ? a.bits % b.bits : a.bits / b.bits;
  if (int64_t(b.bits) == -1)
    return remainder ? 0 : 0 - a.bits;
  int64_t x = int64_t(a.bits), y = int64_t(b.bits);
  return uint64_t(remainder ? x % y : x / y);
}

static bool less(ConstantValue a, ConstantValue b, bool isUnsigned) {
  return isUnsigned ? a.bits < b.bits : int64_t(a.bits) < int64_t(b.bits);
}

/// `a op b`; a division by zero was refused before.
static ConstantValue combine(Operator op, ConstantValue a, ConstantValue b) {
  bool isUnsigned = a.isUnsigned || b.isUnsigned;
  auto truth = [](bool value) { return ConstantValue{value, false}; };
  switch (op) {
  case Operator::None:
    break;
  case Operator::Or:
    return truth(a.bits || b.bits);
  case Operator::And:
    return truth(a.bits && b.bits);
  case Operator::Equal:
    return truth(a.bits == b.bits);
  case Operator::NotEqual:
    return truth(a.bits != b.bits);
  case Operator::Less:
    return truth(less(a, b, isUnsigned));
  case Operator::LessEqual:
    return truth(!less(b, a, isUnsigned));
  case Operator::Greater:
    return truth(less(b, a, isUnsigned));
  case Operator::GreaterEqual:
    return truth(!less(a, b, isUnsigned));
  case Operator::Left:
    return {b.bits > 63 ? 0 : a.bits << b.bits, a.isUnsigned};
  case Operator::Right:
    return {shiftRight(a, b.bits), a.isUnsigned};
  case Operator::BitOr:
    return {a.bits | b.bits, isUnsigned};
  case Operator::BitXor:
    return {a.bits ^ b.bits, isUnsigned};
  case Operator::BitAnd:
    return {a.bits & b.bits, isUnsigned};
  case Operator::Add:
    return {a.bits + b.bits, isUnsigned};
  case Operator::Sub:
    return {a.bits - b.bits, isUnsigned};
  case Operator::Mul:
    return {a.bits * b.bits, isUnsigned};
  case Operator::Div:
  case Operator::Rem:
    return {divide(a, b, isUnsigned, op == Operator::Rem), isUnsigned};
  }
  return a;
}

bool ExpressionParser::parsePrimary(ConstantValue &value, unsigned depth) {
  if (depth == 0)
    return fail("the expression is nested too deeply");
  if (token.kind == Token::Kind::Integer) {
    value = {token.bits, token.isUnsigned};
    advance();
    return true;
  }
  if (token.isWord("WARP_SZ")) {
    value = {32, false};
    advance();
    return true;
  }
  if (accept('-')) {
    if (!parsePrimary(value, depth - 1))
      return false;
    value.bits = 0 - value.bits;
    return true;
  }
  if (accept('+'))
    return parsePrimary(value, depth - 1);
  if (accept('~')) {
    if (!parsePrimary(value, depth - 1))
      return false;
    value.bits = ~value.bits;
    return true;
  }
  if (accept('!')) {
    if (!parsePrimary(value, depth - 1))
      return false;
    value = {value.bits == 0, false};
    return true;
  }
  if (!accept('('))
    return fail("expected an integer");
  if (atDirective(".s64") || atDirective(".u64")) {
    bool isUnsigned = token.text == ".u64";
    advance();
    if (!expect(')') || !parsePrimary(value, depth - 1))
      return false;
    value.isUnsigned = isUnsigned;
    return true;
  }
  return parseConditional(value, depth - 1) && expect(')');
}

bool ExpressionParser::parseBinary(ConstantValue &value, unsigned precedence,
                                   unsigned depth) {
  while (token.kind == Token::Kind::Punct) {
    const OperatorInfo *info = findOperator(lexer.textFrom(token));
    if (!info || info->precedence < precedence)
      return true;
    uint32_t line = token.line;
    for (size_t i = 0; i < info->text.size(); ++i)
      advance();
    ConstantValue right;
    if (!parsePrimary(right, depth) ||
        !parseBinary(right, info->precedence + 1, depth))
      return false;
    if ((info->op == Operator::Div || info->op == Operator::Rem) &&
        right.bits == 0)
      return failAt(line, "a division by zero");
    value = combine(info->op, value, right);
  }
  return true;
}

bool ExpressionParser::parseConditional(ConstantValue &value, unsigned depth) {
  if (depth == 0)
    return fail("the expression is nested too deeply");
  if (!parsePrimary(value, depth) || !parseBinary(value, 1, depth))
    return false;
  if (!accept('?'))
    return true;
  ConstantValue yes, no;
  if (!parseConditional(yes, depth - 1) || !expect(':') ||
      !parseConditional(no, depth - 1))
    return false;
  bool isUnsigned = yes.isUnsigned || no.isUnsigned;
  value = value.bits ? yes : no;
  value.isUnsigned = isUnsigned;
  return true;
}

bool ExpressionParser::parseExpression(uint64_t &value) {
  ConstantValue result;
  if (!parseConditional(result, maxExpressionDepth))
    return false;
  value = result.bits;
  return true;
}

bool ExpressionParser::parseAddend(uint64_t &value) {
  ConstantValue sum;
  if (!parseBinary(sum, additivePrecedence, maxExpressionDepth))
    return false;
  value = sum.bits;
  return true;
}
