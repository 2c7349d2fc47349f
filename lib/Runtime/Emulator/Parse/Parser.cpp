//===- Parser.cpp - PTX text to syntax ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recursive-descent parser of the PTX front end: the
// directives of a module and the heads of functions.
// Every recursion is bounded and every size is checked, since the text may
// come from anyone.
//
//===----------------------------------------------------------------------===//

#include "Parse/Parser.h"

#include <utility>

using namespace fusionemu;

static constexpr size_t maxFiles = 65536;
/// The versions and the architectures whose PTX is understood.
static constexpr unsigned minVersion = 60, maxVersion = 99;
static constexpr unsigned minArchitecture = 50, maxArchitecture = 129;

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

/// Whatever is no mask of the bytes of a load is a hint and does nothing.
bool Parser::parsePragma() {
  advance();
  if (token.kind != Token::Kind::String)
    return fail("expected a string after .pragma");
  while (token.kind == Token::Kind::String) {
    Lexer words(token.text);
    if (words.next().isWord("used_bytes_mask")) {
      Token mask = words.next();
      if (mask.kind != Token::Kind::Integer || mask.bits > 0xffffffffu ||
          words.next().kind != Token::Kind::End)
        return fail("expected an integer of 32 bits after used_bytes_mask");
      usedBytes = uint32_t(mask.bits);
    }
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
  if (index > 0xffffffffu)
    return fail("the number of the file is too large");
  if (token.kind != Token::Kind::String)
    return fail("expected the name of the file");
  if (module.files.size() < maxFiles)
    module.files[uint32_t(index)] = std::string(token.text);
  advance();
  uint64_t ignored;
  while (accept(','))
    if (!expectInteger(ignored, "a number"))
      return false;
  return true;
}

/// The value of the digits that `text` starts with, which are taken off it;
/// anything beyond 9999 counts as 9999.
static unsigned takeNumber(std::string_view &text) {
  unsigned value = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    value = value > 999 ? 9999 : value * 10 + unsigned(text[0] - '0');
    text.remove_prefix(1);
  }
  return value;
}

bool Parser::parseVersion() {
  advance();
  // "9.0" is lexed as a decimal number.
  std::string_view text = token.text;
  unsigned major = takeNumber(text);
  bool wellFormed = token.kind == Token::Kind::Float && text.size() == 2 &&
                    text[0] == '.' && text[1] >= '0' && text[1] <= '9';
  if (!wellFormed)
    return fail("expected a version such as 8.5");
  unsigned version = 10 * major + unsigned(text[1] - '0');
  if (version < minVersion || version > maxVersion)
    return fail("only PTX versions 6.0 to 9.9 are supported");
  if (module.version != 0)
    return fail("a second .version directive");
  module.version = version;
  advance();
  return true;
}

bool Parser::parseTarget() {
  advance();
  std::string_view word = token.text;
  std::string_view number = word.substr(0, 3) == "sm_" ? word.substr(3) : "";
  unsigned architecture = takeNumber(number);
  if (token.kind != Token::Kind::Word || architecture == 0 ||
      (number != "" && number != "a" && number != "f"))
    return fail("expected a target such as sm_90a");
  if (architecture < minArchitecture || architecture > maxArchitecture)
    return fail("only targets from sm_50 to sm_12x are supported");
  module.target = std::string(word);
  module.architecture = architecture;
  advance();
  while (accept(',')) {
    if (!token.isWord("texmode_unified") &&
        !token.isWord("texmode_independent") && !token.isWord("debug") &&
        !token.isWord("map_f64_to_f32"))
      return fail("unknown target option");
    if (token.text == "map_f64_to_f32")
      return fail("doubles computed as floats are not supported");
    advance();
  }
  return true;
}

bool Parser::parseAddressSize() {
  advance();
  if (token.kind != Token::Kind::Integer || token.bits != 64)
    return fail("only .address_size 64 is supported");
  has64BitAddresses = true;
  advance();
  return true;
}

/// .alias name, function;
bool Parser::parseAlias() {
  advance();
  uint32_t line = token.line;
  std::string_view name, function;
  if (!expectWord(name, "the alias") || !expect(',') ||
      !expectWord(function, "the name of a function") || !expect(';') ||
      !countItem())
    return false;
  if (!module.aliases.emplace(name, function).second)
    return failAt(line, "alias '" + std::string(name) + "' is defined twice");
  return true;
}

bool Parser::parseModuleItem() {
  if (token.kind != Token::Kind::Directive)
    return fail("expected a directive");
  if (token.text == ".version")
    return parseVersion();
  if (module.version == 0)
    return fail("expected a .version directive first");
  if (token.text == ".target")
    return parseTarget();
  if (token.text == ".address_size")
    return parseAddressSize();
  if (token.text == ".file")
    return parseFile();
  if (token.text == ".alias")
    return parseAlias();
  if (token.text == ".section") {
    advance();
    if (token.kind != Token::Kind::Directive && token.kind != Token::Kind::Word)
      return fail("expected the name of the section");
    advance();
    return skipBraces();
  }
  if (token.text == ".pragma")
    return parsePragma();
  bool isExtern = false;
  while (atDirective(".visible") || atDirective(".extern") ||
         atDirective(".weak") || atDirective(".common")) {
    isExtern |= token.text == ".extern";
    advance();
  }
  Space space = token.kind == Token::Kind::Directive ? parseSpace(token.text)
                                                     : Space::None;
  bool isFunction = atDirective(".entry") || atDirective(".func");
  bool isVariable =
      space == Space::Global || space == Space::Const || space == Space::Shared;
  if (!isFunction && !isVariable)
    return fail("unknown directive");
  if (module.target.empty())
    return fail("expected a .target directive first");
  if (!has64BitAddresses)
    return fail("expected .address_size 64 first: without it addresses have "
                "32 bits, which is not supported");
  return isFunction ? parseFunction(token.text == ".entry")
                    : parseVariables(module.variables, isExtern);
}

bool Parser::parseParameters(std::vector<VariableSyntax> &parameters) {
  if (!expect('('))
    return false;
  if (accept(')'))
    return true;
  do {
    if (!atDirective(".param") && !atDirective(".reg"))
      return fail("expected .param");
    VariableSyntax parameter;
    parameter.space = parseSpace(token.text);
    advance();
    std::string_view type;
    uint32_t vector;
    if (parameter.space == Space::Reg && atDirective(".pred"))
      return fail("a predicate as parameter is not supported");
    if (!parseVariable(parameter, type, vector) ||
        !expectWord(parameter.name, "the name of the parameter") ||
        !parseArraySizes(parameter, nullptr))
      return false;
    if (parameter.size > 65536)
      return failAt(parameter.line, "the parameter is larger than 64 KiB");
    if (!countItem())
      return false;
    parameters.push_back(std::move(parameter));
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
    return parsePragma();
  advance();
  if (name == ".noreturn") {
    function.noReturn = true;
    return true;
  }
  bool isFlag = name == ".explicitcluster" || name == ".blocksareclusters";
  // Hints that change neither results nor what a launch may ask for.
  if (name == ".maxnctapersm" || name == ".abi_preserve" ||
      name == ".abi_preserve_control") {
    uint64_t ignored;
    return expectInteger(ignored, "a count");
  }
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
  if (!countItem() || (atDirective(".attribute") && !skipAttributes()))
    return false;
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
