//===- Parser.cpp - PTX text to syntax ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recursive-descent parser of the PTX front end: its
// tokens and errors, the directives of a module and the heads of functions.
// Every recursion is bounded and every size is checked, since the text may
// come from anyone.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <cstdlib>
#include <utility>

using namespace fusionemu;

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
    if (value == 0 || value > 0x7fffffff)
      return fail("expected a size from 1 to 2147483647");
    values[i] = uint32_t(value);
  }
  return true;
}

bool Parser::parseCount(uint32_t &count) {
  uint64_t value = 0;
  if (!expectInteger(value, "a count"))
    return false;
  if (value == 0 || value > 0x7fffffff)
    return fail("expected a count from 1 to 2147483647");
  count = uint32_t(value);
  return true;
}

/// Parses one directive between the head of a function and its body.
bool Parser::parseFunctionDirective(FunctionSyntax &function) {
  std::string_view name = token.text;
  uint32_t line = token.line;
  if (name == ".pragma")
    return skipPragma();
  advance();
  if (name == ".noreturn") {
    function.noReturn = true;
    return true;
  }
  bool isFlag = name == ".explicitcluster" || name == ".blocksareclusters";
  // Hints that change neither results nor what a launch may ask for.
  uint32_t ignored = 0;
  if (name == ".maxnctapersm")
    return parseCount(ignored);
  if (!isFlag && name != ".maxntid" && name != ".reqntid" &&
      name != ".minnctapersm" && name != ".maxnreg" &&
      name != ".reqnctapercluster" && name != ".maxclusterrank")
    return failAt(line, "unknown directive '" + std::string(name) + "'");
  if (!function.isKernel)
    return failAt(line,
                  "'" + std::string(name) + "' is only allowed for an entry");
  if (name == ".explicitcluster")
    function.explicitCluster = true;
  if (name == ".blocksareclusters")
    function.blocksAreClusters = true;
  if (isFlag)
    return true;
  if (name == ".maxntid")
    return parseTriple(function.maxntid);
  if (name == ".reqntid")
    return parseTriple(function.reqntid);
  if (name == ".reqnctapercluster")
    return parseTriple(function.reqnctapercluster);
  if (name == ".maxclusterrank")
    return parseCount(function.maxClusterRank);
  return parseCount(name == ".maxnreg" ? function.maxnreg
                                       : function.minnctapersm);
}

bool Parser::parseFunctionDirectives(FunctionSyntax &function) {
  while (token.kind == Token::Kind::Directive)
    if (!parseFunctionDirective(function))
      return false;
  const uint32_t (&cluster)[3] = function.reqnctapercluster;
  if (function.blocksAreClusters &&
      (function.reqntid[0] == 0 || cluster[0] == 0))
    return failAt(function.line, ".blocksareclusters needs .reqntid and "
                                 ".reqnctapercluster");
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
