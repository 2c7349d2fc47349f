//===- ParseBody.cpp - Statements and operands ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the parsing of function bodies: scopes, labels,
// instructions and their operands.
//
//===----------------------------------------------------------------------===//

#include "Parse/Parser.h"

#include <utility>

using namespace fusionemu;

/// More of anything than this is an attack or a mistake.
static constexpr unsigned maxScopeDepth = 64;
static constexpr unsigned maxOperandDepth = 4;
static constexpr size_t maxOperands = 512;
static constexpr size_t maxModuleOperands = size_t(1) << 23;

bool Parser::parseLoc(SourceLoc &loc) {
  advance();
  uint64_t file, line, column, ignored;
  if (!expectInteger(file, "the file number of .loc") ||
      !expectInteger(line, "the line number of .loc") ||
      !expectInteger(column, "the column number of .loc"))
    return false;
  loc.file = uint32_t(file);
  loc.line = uint32_t(line);
  while (accept(',')) {
    std::string_view word;
    if (!expectWord(word, "function_name or inlined_at"))
      return false;
    if (word == "function_name") {
      // A label of the debug sections, with an offset.
      if (!expectWord(word, "the label of the function's name") ||
          !parseAddend(ignored))
        return false;
    } else if (word == "inlined_at") {
      if (!expectInteger(ignored, "a file number") ||
          !expectInteger(ignored, "a line number") ||
          !expectInteger(ignored, "a column number"))
        return false;
    } else {
      return fail("expected function_name or inlined_at before this");
    }
  }
  return true;
}

/// .callprototype (results) _ (parameters), which only an indirect call needs.
bool Parser::parsePrototype() {
  advance();
  std::vector<VariableSyntax> ignored;
  std::string_view name;
  if (token.is('(') && !parseParameters(ignored))
    return false;
  if (!expectWord(name, "the name of the prototype") ||
      !parseParameters(ignored))
    return false;
  FunctionSyntax directives;
  return parseFunctionDirectives(directives) && expect(';');
}

/// What may stand behind a label of its own line.
bool Parser::parseLabelDirective(FunctionSyntax &function,
                                 std::string_view label) {
  if (token.text == ".branchtargets")
    return parseBranchTargets(function, label);
  if (token.text == ".callprototype")
    return parsePrototype();
  // .calltargets f, g;
  advance();
  do {
    std::string_view name;
    if (!expectWord(name, "a function"))
      return false;
  } while (accept(','));
  return expect(';');
}

bool Parser::parseBranchTargets(FunctionSyntax &function,
                                std::string_view label) {
  advance();
  std::vector<std::string_view> targets;
  do {
    std::string_view name;
    if (!expectWord(name, "a label"))
      return false;
    targets.push_back(name);
    if (!countItem())
      return false;
  } while (accept(','));
  function.body.push_back({BodyItem::Kind::BranchTargets,
                           uint32_t(function.branchTargets.size()), label});
  function.branchTargets.push_back(std::move(targets));
  return expect(';');
}

bool Parser::parseBody(FunctionSyntax &function) {
  uint32_t opened = token.line;
  advance();
  unsigned depth = 1;
  SourceLoc loc;
  usedBytes = ~uint32_t(0);
  while (true) {
    if (token.kind == Token::Kind::End)
      return failAt(opened, "the body of '" + std::string(function.name) +
                                "' is never closed");
    if (accept('{')) {
      if (!countItem())
        return false;
      if (++depth > maxScopeDepth)
        return fail("scopes are nested too deeply");
      function.body.push_back({BodyItem::Kind::OpenScope, 0, {}});
      continue;
    }
    if (token.is('}')) {
      advance();
      if (--depth == 0)
        return true;
      function.body.push_back({BodyItem::Kind::CloseScope, 0, {}});
      continue;
    }
    if (accept(';'))
      continue;
    if (token.kind == Token::Kind::Directive) {
      if (token.text == ".loc") {
        if (!parseLoc(loc))
          return false;
      } else if (token.text == ".file") {
        if (!parseFile())
          return false;
      } else if (token.text == ".reg") {
        if (!parseRegisters(function))
          return false;
      } else if (token.text == ".pragma") {
        if (!parsePragma())
          return false;
      } else {
        bool isExtern = atDirective(".extern");
        if (isExtern)
          advance();
        if (parseSpace(token.text) == Space::None)
          return fail("unknown directive");
        size_t first = function.variables.size();
        if (!parseVariables(function.variables, isExtern))
          return false;
        for (; first < function.variables.size(); ++first)
          function.body.push_back(
              {BodyItem::Kind::Variable, uint32_t(first), {}});
      }
      continue;
    }
    std::string_view guard;
    bool negated = false;
    if (accept('@')) {
      negated = accept('!');
      if (!expectWord(guard, "a predicate"))
        return false;
    }
    if (!parseInstruction(function, loc, guard, negated))
      return false;
  }
}

bool Parser::parseInstruction(FunctionSyntax &function, SourceLoc loc,
                              std::string_view guard, bool negated) {
  if (token.kind != Token::Kind::Word)
    return fail("expected an instruction");
  std::string_view word = token.text;
  uint32_t line = token.line;
  advance();
  if (token.is(':') && guard.empty()) {
    advance();
    if (!countItem())
      return false;
    if (atDirective(".branchtargets") || atDirective(".callprototype") ||
        atDirective(".calltargets"))
      return parseLabelDirective(function, word);
    function.body.push_back({BodyItem::Kind::Label, 0, word});
    return true;
  }
  InstructionSyntax instruction;
  instruction.line = line;
  instruction.loc = loc;
  instruction.guard = guard;
  instruction.guardNegated = negated;
  instruction.usedBytes = std::exchange(usedBytes, ~uint32_t(0));
  instruction.spelling = word;
  size_t dot = word.find('.');
  instruction.name = word.substr(0, dot);
  while (dot != std::string_view::npos) {
    size_t end = word.find('.', dot + 1);
    instruction.modifiers.push_back(word.substr(dot + 1, end - dot - 1));
    dot = end;
  }
  isCall = instruction.name == "call";
  if (!countItem())
    return false;
  if (!token.is(';') &&
      !parseOperandList(instruction.operands, ';', maxOperandDepth))
    return false;
  if (!expect(';'))
    return false;
  function.body.push_back({BodyItem::Kind::Instruction,
                           uint32_t(function.instructions.size()),
                           {}});
  function.instructions.push_back(std::move(instruction));
  return true;
}

bool Parser::parseOperandList(std::vector<Operand> &operands, char close,
                              unsigned depth) {
  if (token.is(close))
    return true;
  do {
    operands.emplace_back();
    if (operands.size() > maxOperands || ++moduleOperands > maxModuleOperands)
      return fail("too many operands");
    if (!parseOperand(operands.back(), depth))
      return false;
  } while (accept(','));
  return true;
}

bool Parser::parseAddress(Operand &operand, unsigned depth) {
  operand.kind = Operand::Kind::Address;
  if (token.kind == Token::Kind::Word && token.text != "WARP_SZ") {
    operand.name = token.text;
    advance();
    // [a+8], [a+-8], [a-8] and [a+4*8] all occur.
    if (!parseAddend(operand.bits))
      return false;
  } else if (!parseExpression(operand.bits)) {
    return false;
  }
  if (accept(',') && !parseOperandList(operand.elements, ']', depth - 1))
    return false;
  return expect(']');
}

bool Parser::parseName(Operand &operand, unsigned depth) {
  operand.kind = token.text == "_" ? Operand::Kind::Sink : Operand::Kind::Name;
  operand.name = token.text;
  advance();
  if (!parseAddend(operand.bits))
    return false;
  if (!accept('|'))
    return true;
  operand.second.emplace_back();
  return parseOperand(operand.second.back(), depth - 1);
}

/// A float literal with its sign, or an expression of integers.
bool Parser::parseConstant(Operand &operand) {
  Lexer savedLexer = lexer;
  Token saved = token;
  bool minus = accept('-');
  if (token.kind != Token::Kind::Float) {
    lexer = savedLexer;
    token = saved;
    operand.kind = Operand::Kind::Integer;
    return parseExpression(operand.bits);
  }
  operand.kind = Operand::Kind::Float;
  operand.floatSize = token.floatSize;
  operand.bits = token.bits;
  if (minus)
    operand.bits ^= uint64_t(1) << (token.floatSize == 4 ? 31 : 63);
  advance();
  return true;
}

bool Parser::parseOperand(Operand &operand, unsigned depth) {
  if (depth == 0)
    return fail("operands are nested too deeply");
  if (accept('['))
    return parseAddress(operand, depth);
  if (accept('{')) {
    operand.kind = Operand::Kind::Vector;
    return parseOperandList(operand.elements, '}', depth - 1) && expect('}');
  }
  if (isCall && accept('(')) {
    operand.kind = Operand::Kind::List;
    return parseOperandList(operand.elements, ')', depth - 1) && expect(')');
  }
  Lexer savedLexer = lexer;
  Token saved = token;
  operand.negated = accept('!');
  if (token.kind == Token::Kind::Word && token.text != "WARP_SZ")
    return parseName(operand, depth);
  if (operand.negated) {
    // The operator of an expression, not of a predicate.
    operand.negated = false;
    lexer = savedLexer;
    token = saved;
  }
  if (token.kind != Token::Kind::Integer && token.kind != Token::Kind::Float &&
      token.kind != Token::Kind::Word && !token.is('-') && !token.is('+') &&
      !token.is('~') && !token.is('!') && !token.is('('))
    return fail("expected an operand");
  return parseConstant(operand);
}
