//===- ParseDeclarations.cpp - Variables and registers --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the parsing of declarations: types, arrays, initialisers
// and registers.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <utility>

using namespace fusionemu;

/// More of anything than this is an attack or a mistake.
static constexpr uint64_t maxVariableBytes = uint64_t(1) << 32;
static constexpr unsigned maxInitializerDepth = 64;

Space fusionemu::parseSpace(std::string_view directive) {
  if (!directive.empty() && directive[0] == '.')
    directive.remove_prefix(1);
  directive = directive.substr(0, directive.find("::"));
  if (directive == "global")
    return Space::Global;
  if (directive == "shared")
    return Space::Shared;
  if (directive == "local")
    return Space::Local;
  if (directive == "const")
    return Space::Const;
  if (directive == "param")
    return Space::Param;
  if (directive == "reg")
    return Space::Reg;
  return Space::None;
}

uint32_t fusionemu::getTypeSize(std::string_view type) {
  if (!type.empty() && type[0] == '.')
    type.remove_prefix(1);
  if (type == "f16x2" || type == "bf16x2" || type == "u16x2" || type == "s16x2")
    return 4;
  if (type == "f32x2")
    return 8;
  if (type == "bf16")
    return 2;
  if (type == "tf32")
    return 4;
  if (type.size() < 2 ||
      std::string_view("bfsu").find(type[0]) == std::string_view::npos)
    return 0;
  std::string_view bits = type.substr(1);
  if (bits == "8")
    return type[0] == 'f' ? 0 : 1;
  if (bits == "16")
    return 2;
  if (bits == "32")
    return 4;
  if (bits == "64")
    return 8;
  if (bits == "128")
    return type[0] == 'b' ? 16 : 0;
  return 0;
}

bool Parser::parseArraySizes(VariableSyntax &variable) {
  uint64_t count = 1;
  while (accept('[')) {
    if (accept(']')) {
      if (variable.unsizedArray || count != 1)
        return fail("only the first dimension may be left open");
      variable.unsizedArray = true;
      continue;
    }
    uint64_t dimension;
    if (!expectInteger(dimension, "an array size") || !expect(']'))
      return false;
    if (dimension != 0 && count > maxVariableBytes / dimension)
      return failAt(variable.line, "the array is too large");
    count *= dimension;
  }
  if (count > maxVariableBytes / variable.elementSize)
    return failAt(variable.line, "the array is too large");
  variable.size = count * variable.elementSize;
  if (variable.unsizedArray)
    variable.size = 0;
  return true;
}

bool Parser::parseSignedInteger(uint64_t &value) {
  bool negative = accept('-');
  if (!negative)
    accept('+');
  if (!expectInteger(value, "an integer"))
    return false;
  if (negative)
    value = 0 - value;
  return true;
}

bool Parser::parseInitializer(VariableSyntax &variable) {
  unsigned depth = 0;
  do {
    while (accept('{'))
      if (++depth > maxInitializerDepth)
        return fail("the initialiser is nested too deeply");
    InitialValue value;
    if (token.kind == Token::Kind::Float) {
      value.bits = token.bits;
      if (token.floatSize == 0 && variable.elementSize == 4) {
        double wide;
        __builtin_memcpy(&wide, &token.bits, 8);
        float narrow = float(wide);
        uint32_t pattern;
        __builtin_memcpy(&pattern, &narrow, 4);
        value.bits = pattern;
      }
      advance();
    } else if (token.kind == Token::Kind::Word) {
      value.generic = token.text == "generic";
      value.symbol = token.text;
      advance();
      if (value.generic) {
        if (!expect('(') || !expectWord(value.symbol, "a variable") ||
            !expect(')'))
          return false;
      }
      if (token.is('+') || token.is('-')) {
        if (!parseSignedInteger(value.bits))
          return false;
      }
    } else if (!token.is('}')) {
      if (!parseSignedInteger(value.bits))
        return false;
    }
    variable.init.push_back(value);
    if (variable.init.size() > (size_t(1) << 26))
      return fail("the initialiser is too long");
    while (depth != 0 && accept('}'))
      --depth;
  } while (accept(','));
  if (depth != 0)
    return fail("expected '}'");
  if (!variable.unsizedArray &&
      variable.init.size() * variable.elementSize > variable.size &&
      variable.init.size() > 1)
    return failAt(variable.line, "more initial values than elements");
  if (variable.unsizedArray) {
    variable.size = variable.init.size() * variable.elementSize;
    variable.unsizedArray = false;
  }
  return true;
}

bool Parser::parseVariable(VariableSyntax &variable) {
  variable.line = token.line;
  uint32_t vector = 1;
  bool hasType = false;
  for (; token.kind == Token::Kind::Directive; advance()) {
    if (token.text == ".align") {
      advance();
      if (token.kind != Token::Kind::Integer || token.bits == 0 ||
          (token.bits & (token.bits - 1)) || token.bits > 4096)
        return fail("expected a power of two up to 4096 after .align");
      variable.align = uint32_t(token.bits);
    } else if (token.text == ".v2") {
      vector = 2;
    } else if (token.text == ".v4") {
      vector = 4;
    } else if (token.text == ".ptr" || token.text == ".attribute") {
      // What a pointer parameter points to says nothing about the parameter.
      bool isPointer = token.text == ".ptr";
      advance();
      if (!isPointer)
        return fail("attributes are not supported");
      if (parseSpace(token.text) != Space::None)
        advance();
      uint64_t align;
      if (atDirective(".align")) {
        advance();
        if (!expectInteger(align, "an alignment"))
          return false;
      }
      break;
    } else if (uint32_t size = getTypeSize(token.text)) {
      variable.elementSize = size;
      hasType = true;
    } else {
      return fail("expected a type");
    }
  }
  if (!hasType)
    return fail("expected a type");
  variable.elementSize *= vector;
  if (variable.align < variable.elementSize)
    variable.align = variable.elementSize;
  return true;
}

bool Parser::parseVariables(std::vector<VariableSyntax> &variables,
                            bool isExtern) {
  VariableSyntax common;
  common.space = parseSpace(token.text);
  common.isExtern = isExtern;
  advance();
  if (!parseVariable(common))
    return false;
  do {
    VariableSyntax variable = common;
    variable.line = token.line;
    if (!expectWord(variable.name, "the name of a variable"))
      return false;
    uint64_t range = 0;
    bool isRange = false;
    if (accept('<')) {
      isRange = true;
      if (!expectInteger(range, "a count") || !expect('>'))
        return false;
    }
    if (isRange)
      return failAt(variable.line, "a range of variables is not supported");
    if (!parseArraySizes(variable))
      return false;
    if (accept('=') && !parseInitializer(variable))
      return false;
    variables.push_back(std::move(variable));
  } while (accept(','));
  return expect(';');
}

bool Parser::parseRegisters(FunctionSyntax &function) {
  advance();
  if (token.kind != Token::Kind::Directive)
    return fail("expected a register type");
  if (token.text == ".v2" || token.text == ".v4")
    return fail("vector registers are not supported");
  std::string_view type = token.text;
  if (type != ".pred" && getTypeSize(type) == 0)
    return fail("expected a register type");
  advance();
  do {
    RegisterSyntax reg;
    reg.type = type;
    reg.line = token.line;
    if (!expectWord(reg.name, "the name of a register"))
      return false;
    if (accept('<')) {
      uint64_t count;
      if (!expectInteger(count, "a count") || !expect('>'))
        return false;
      if (count > 0xffffffffu)
        return failAt(reg.line, "too many registers");
      reg.isRange = true;
      reg.count = uint32_t(count);
    }
    function.body.push_back(
        {BodyItem::Kind::Register, uint32_t(function.registers.size()), {}});
    function.registers.push_back(reg);
  } while (accept(','));
  return expect(';');
}
