//===- Parser.cpp - PTX text to syntax ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recursive-descent parser of the PTX front end.
// Every recursion is bounded and every size is checked, since the text may
// come from anyone.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <cstdlib>
#include <utility>

using namespace fusionemu;

/// More of anything than this is an attack or a mistake.
static constexpr uint64_t maxVariableBytes = uint64_t(1) << 32;
static constexpr unsigned maxScopeDepth = 64;
static constexpr unsigned maxOperandDepth = 4;
static constexpr size_t maxOperands = 512;

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

Parser::Parser(ModuleSyntax &module) : module(module), lexer(*module.text) {
  advance();
}

bool Parser::failAt(uint32_t line, std::string reason) {
  if (error.ok())
    error = Status(ErrorKind::Syntax,
                   "PTX line " + std::to_string(line) + ": " + reason, line);
  return false;
}

bool Parser::fail(std::string reason) {
  if (token.kind == Token::Kind::End)
    reason += ", but the text ends";
  else
    reason += ", found '" + std::string(token.text.substr(0, 40)) + "'";
  return failAt(token.line, std::move(reason));
}

bool Parser::accept(char c) {
  if (!token.is(c))
    return false;
  advance();
  return true;
}

bool Parser::expect(char c) {
  return accept(c) || fail(std::string("expected '") + c + "'");
}

bool Parser::expectWord(std::string_view &word, const char *what) {
  if (token.kind != Token::Kind::Word)
    return fail(std::string("expected ") + what);
  word = token.text;
  advance();
  return true;
}

bool Parser::expectInteger(uint64_t &value, const char *what) {
  if (token.kind != Token::Kind::Integer)
    return fail(std::string("expected ") + what);
  value = token.bits;
  advance();
  return true;
}

bool Parser::atDirective(std::string_view name) const {
  return token.kind == Token::Kind::Directive && token.text == name;
}

Status Parser::run() {
  while (token.kind != Token::Kind::End)
    if (!parseModuleItem())
      return error;
  if (module.version == 0)
    failAt(1, "expected a .version directive");
  return error;
}

bool Parser::skipBraces() {
  uint32_t opened = token.line;
  if (!expect('{'))
    return false;
  for (unsigned depth = 1; depth != 0; advance()) {
    if (token.kind == Token::Kind::End)
      return failAt(opened, "this '{' is never closed");
    depth += token.is('{');
    depth -= token.is('}');
  }
  return true;
}

bool Parser::skipPragma() {
  advance();
  if (token.kind != Token::Kind::String)
    return fail("expected a string after .pragma");
  while (token.kind == Token::Kind::String) {
    advance();
    accept(',');
  }
  return expect(';');
}

bool Parser::parseFile() {
  advance();
  uint64_t index;
  if (!expectInteger(index, "the number of the file"))
    return false;
  if (token.kind != Token::Kind::String)
    return fail("expected the name of the file");
  if (module.files.size() < 65536)
    module.files[uint32_t(index)] = std::string(token.text);
  advance();
  uint64_t ignored;
  while (accept(','))
    if (!expectInteger(ignored, "a number"))
      return false;
  return true;
}

bool Parser::parseTarget() {
  advance();
  std::string_view word;
  if (!expectWord(word, "a target"))
    return false;
  module.target = std::string(word);
  while (accept(','))
    if (!expectWord(word, "a target option"))
      return false;
  return true;
}

bool Parser::parseModuleItem() {
  if (token.kind != Token::Kind::Directive)
    return fail("expected a directive");
  if (token.text == ".version") {
    advance();
    // "9.0" is lexed as a decimal number.
    std::string text(token.text);
    size_t dot = text.find('.');
    if (token.kind != Token::Kind::Float || dot == std::string::npos)
      return fail("expected a version such as 8.5");
    unsigned major = unsigned(std::atoi(text.c_str()));
    module.version = 10 * major + unsigned(std::atoi(text.c_str() + dot + 1));
    if (major < 3 || major > 9)
      return fail("expected a PTX version from 3.0 to 9.x");
    advance();
    return true;
  }
  if (token.text == ".target")
    return parseTarget();
  if (token.text == ".address_size") {
    advance();
    if (token.kind != Token::Kind::Integer || token.bits != 64)
      return fail("only .address_size 64 is supported");
    advance();
    return true;
  }
  if (token.text == ".file")
    return parseFile();
  if (token.text == ".section") {
    advance();
    if (token.kind != Token::Kind::Directive && token.kind != Token::Kind::Word)
      return fail("expected the name of the section");
    advance();
    return skipBraces();
  }
  if (token.text == ".pragma")
    return skipPragma();
  bool isExtern = false;
  while (atDirective(".visible") || atDirective(".extern") ||
         atDirective(".weak") || atDirective(".common")) {
    isExtern |= token.text == ".extern";
    advance();
  }
  if (atDirective(".entry") || atDirective(".func"))
    return parseFunction(token.text == ".entry");
  Space space = parseSpace(token.text);
  if (token.kind == Token::Kind::Directive && space != Space::None &&
      space != Space::Reg && space != Space::Param && space != Space::Local)
    return parseVariables(module.variables, isExtern);
  return fail("unknown directive");
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
      if (++depth > maxScopeDepth)
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

bool Parser::parseParameters(std::vector<VariableSyntax> &parameters) {
  if (!expect('('))
    return false;
  if (accept(')'))
    return true;
  do {
    if (token.kind != Token::Kind::Directive ||
        (token.text != ".param" && token.text != ".reg"))
      return fail("expected .param");
    VariableSyntax parameter;
    parameter.space = parseSpace(token.text);
    advance();
    if (!parseVariable(parameter) ||
        !expectWord(parameter.name, "the name of the parameter") ||
        !parseArraySizes(parameter))
      return false;
    if (parameter.size > 65536)
      return failAt(parameter.line, "the parameter is larger than 64 KiB");
    parameters.push_back(std::move(parameter));
    if (parameters.size() > 16384)
      return fail("too many parameters");
  } while (accept(','));
  return expect(')');
}

bool Parser::parseTriple(uint32_t (&values)[3]) {
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t value = 1;
    if ((i == 0 || accept(',')) && !expectInteger(value, "a size"))
      return false;
    if (value > 0x7fffffff)
      return fail("the size is too large");
    values[i] = uint32_t(value);
  }
  return true;
}

bool Parser::parseFunctionDirectives(FunctionSyntax &function) {
  while (token.kind == Token::Kind::Directive) {
    std::string_view name = token.text;
    uint32_t line = token.line;
    uint32_t triple[3];
    if (name == ".pragma") {
      if (!skipPragma())
        return false;
      continue;
    }
    advance();
    if (name == ".noreturn" || name == ".explicitcluster" ||
        name == ".blocksareclusters") {
      if (name != ".noreturn" && function.unsupported.empty())
        function.unsupported = std::string(name) +
                               " is not supported (PTX line " +
                               std::to_string(line) + ")";
      continue;
    }
    if (name != ".maxntid" && name != ".reqntid" && name != ".minnctapersm" &&
        name != ".maxnctapersm" && name != ".maxnreg" &&
        name != ".reqnctapercluster" && name != ".maxclusterrank")
      return failAt(line, "unknown directive '" + std::string(name) + "'");
    if (!parseTriple(triple))
      return false;
    for (unsigned i = 0; i < 3; ++i) {
      if (name == ".maxntid")
        function.maxntid[i] = triple[i];
      if (name == ".reqntid")
        function.reqntid[i] = triple[i];
      if (name == ".reqnctapercluster" && triple[i] != 1 &&
          function.unsupported.empty())
        function.unsupported = "clusters of blocks are not supported (PTX "
                               "line " +
                               std::to_string(line) + ")";
    }
  }
  return true;
}

bool Parser::parseFunction(bool isKernel) {
  FunctionSyntax function;
  function.isKernel = isKernel;
  function.line = token.line;
  advance();
  if (token.is('(')) {
    if (isKernel)
      return fail("an entry returns nothing");
    if (!parseParameters(function.results))
      return false;
  }
  if (!expectWord(function.name, "the name of the function"))
    return false;
  if (token.is('(') && !parseParameters(function.parameters))
    return false;
  if (!parseFunctionDirectives(function))
    return false;
  if (!accept(';')) {
    if (!token.is('{'))
      return fail("expected '{' or ';'");
    function.hasBody = true;
    if (!parseBody(function))
      return false;
  }
  module.functions.push_back(std::move(function));
  return true;
}

bool Parser::parseLoc(SourceLoc &loc) {
  advance();
  uint64_t file, line, column;
  if (!expectInteger(file, "the file number of .loc") ||
      !expectInteger(line, "the line number of .loc") ||
      !expectInteger(column, "the column number of .loc"))
    return false;
  loc.file = uint32_t(file);
  loc.line = uint32_t(line);
  // LLVM and nvcc add ", function_name L, inlined_at f l c".
  while (accept(',')) {
    std::string_view word;
    if (!expectWord(word, "a .loc attribute"))
      return false;
    while (token.kind == Token::Kind::Integer || token.is('+') ||
           (word == "function_name" && token.kind == Token::Kind::Word))
      advance();
  }
  return true;
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

bool Parser::parseBranchTargets(FunctionSyntax &function,
                                std::string_view label) {
  advance();
  std::vector<std::string_view> targets;
  do {
    std::string_view name;
    if (!expectWord(name, "a label"))
      return false;
    targets.push_back(name);
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
  while (true) {
    if (token.kind == Token::Kind::End)
      return failAt(opened, "the body of '" + std::string(function.name) +
                                "' is never closed");
    if (accept('{')) {
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
        if (!skipPragma())
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
    if (atDirective(".branchtargets"))
      return parseBranchTargets(function, word);
    function.body.push_back({BodyItem::Kind::Label, 0, word});
    return true;
  }
  InstructionSyntax instruction;
  instruction.line = line;
  instruction.loc = loc;
  instruction.guard = guard;
  instruction.guardNegated = negated;
  instruction.spelling = word;
  size_t dot = word.find('.');
  instruction.name = word.substr(0, dot);
  while (dot != std::string_view::npos) {
    size_t end = word.find('.', dot + 1);
    instruction.modifiers.push_back(word.substr(dot + 1, end - dot - 1));
    dot = end;
  }
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
    if (operands.size() > maxOperands)
      return fail("too many operands");
    if (!parseOperand(operands.back(), depth))
      return false;
  } while (accept(','));
  return true;
}

bool Parser::parseAddress(Operand &operand, unsigned depth) {
  operand.kind = Operand::Kind::Address;
  if (token.kind == Token::Kind::Word) {
    operand.name = token.text;
    advance();
    // [a+8], [a+-8] and [a-8] all occur.
    if (accept('+')) {
      if (!parseSignedInteger(operand.bits))
        return false;
    } else if (token.is('-')) {
      if (!parseSignedInteger(operand.bits))
        return false;
    }
  } else if (!parseSignedInteger(operand.bits)) {
    return false;
  }
  if (accept(',') && !parseOperandList(operand.elements, ']', depth - 1))
    return false;
  return expect(']');
}

bool Parser::parseOperand(Operand &operand, unsigned depth) {
  if (depth == 0)
    return fail("operands are nested too deeply");
  if (accept('!'))
    operand.negated = true;
  if (accept('[')) {
    return parseAddress(operand, depth);
  }
  if (accept('{')) {
    operand.kind = Operand::Kind::Vector;
    return parseOperandList(operand.elements, '}', depth - 1) && expect('}');
  }
  if (accept('(')) {
    operand.kind = Operand::Kind::List;
    return parseOperandList(operand.elements, ')', depth - 1) && expect(')');
  }
  bool minus = accept('-');
  if (token.kind == Token::Kind::Integer) {
    operand.kind = Operand::Kind::Integer;
    operand.bits = minus ? 0 - token.bits : token.bits;
    advance();
  } else if (token.kind == Token::Kind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.floatSize = token.floatSize;
    operand.bits = token.bits;
    if (minus)
      operand.bits ^=
          token.floatSize == 4 ? uint64_t(1) << 31 : uint64_t(1) << 63;
    advance();
  } else if (token.kind == Token::Kind::Word && !minus) {
    operand.kind =
        token.text == "_" ? Operand::Kind::Sink : Operand::Kind::Name;
    operand.name = token.text;
    advance();
    if (token.is('+') || token.is('-')) {
      if (!parseSignedInteger(operand.bits))
        return false;
    }
  } else {
    return fail("expected an operand");
  }
  if (accept('|')) {
    operand.second.emplace_back();
    return parseOperand(operand.second.back(), depth - 1);
  }
  return true;
}
