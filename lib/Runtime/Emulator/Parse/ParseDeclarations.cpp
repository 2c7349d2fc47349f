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

#include "Parse/DeclarationParser.h"

#include <cstring>
#include <utility>

using namespace fusionemu;

/// More of anything than this is an attack or a mistake.
static constexpr uint64_t maxVariableBytes = uint64_t(1) << 32;
static constexpr uint64_t maxInitialBytes = uint64_t(256) << 20;
static constexpr unsigned maxDimensions = 16;
static constexpr uint32_t maxAlignment = 4096;

/// Turns the pattern of a literal of `from` bytes (0: a decimal, kept as a
/// double) into the value as a float of `to` bytes.
static bool convertFloat(uint64_t &bits, unsigned from, unsigned to) {
  if (from == to || (from == 0 && to == 8))
    return true;
  double value;
  if (from == 4) {
    float narrow;
    uint32_t pattern = uint32_t(bits);
    std::memcpy(&narrow, &pattern, 4);
    value = narrow;
  } else {
    std::memcpy(&value, &bits, 8);
  }
  if (to == 8) {
    std::memcpy(&bits, &value, 8);
    return true;
  }
  float narrow = float(value);
  bits = 0;
  std::memcpy(&bits, &narrow, 4);
  return to == 4;
}

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

bool DeclarationParser::parseArraySizes(VariableSyntax &variable,
                                        std::vector<uint64_t> *dimensions) {
  uint64_t count = 1;
  unsigned rank = 0;
  for (; accept('['); ++rank) {
    if (rank == maxDimensions)
      return fail("the array has too many dimensions");
    uint64_t dimension = 0;
    if (accept(']')) {
      if (rank != 0)
        return fail("only the first dimension may be left open");
      variable.unsizedArray = true;
    } else {
      if (!expectInteger(dimension, "an array size") || !expect(']'))
        return false;
      if (dimension != 0 && count > maxVariableBytes / dimension)
        return failAt(variable.line, "the array is too large");
      count *= dimension;
    }
    if (dimensions)
      dimensions->push_back(dimension);
  }
  if (count > maxVariableBytes / variable.elementSize)
    return failAt(variable.line, "the array is too large");
  variable.size = variable.unsizedArray ? 0 : count * variable.elementSize;
  return true;
}

/// The initialiser of one variable: where the next value goes.
struct DeclarationParser::Initializer {
  VariableSyntax &variable;
  std::string_view type;
  uint32_t scalarSize;
  /// Values in one element of each dimension; the last is a scalar.
  std::vector<uint64_t> dimensions, strides;
};

/// Puts `size` bytes at `offset` of what the variable starts with.
bool DeclarationParser::setInitialBytes(Initializer &init, uint64_t offset,
                                        uint64_t bits, uint32_t size) {
  std::vector<uint8_t> &bytes = init.variable.init;
  uint64_t end = offset + size;
  if (end > bytes.size()) {
    initialBytes += end - bytes.size();
    if (initialBytes > maxInitialBytes)
      return fail("the initialisers of the module are too large");
    bytes.resize(end);
  }
  for (uint32_t i = 0; i < size; ++i)
    bytes[offset + i] = i < 8 ? uint8_t(bits >> (8 * i)) : 0;
  return true;
}

/// name, name + 4, generic(name) + 4, inside the parentheses of a mask or not.
bool DeclarationParser::parseInitialAddress(InitialAddress &address) {
  address.line = token.line;
  bool isGeneric = token.isWord("generic");
  if (!expectWord(address.symbol, "a variable"))
    return false;
  // The generic address of global and constant memory is the address itself.
  if (isGeneric && (!expect('(') || !expectWord(address.symbol, "a variable") ||
                    !expect(')')))
    return false;
  return parseAddend(address.addend);
}

bool DeclarationParser::parseInitialValue(Initializer &init, uint64_t offset) {
  bool isFloat = init.type[1] == 'f';
  Lexer savedLexer = lexer;
  Token saved = token;
  bool minus = accept('-');
  if (token.kind == Token::Kind::Float) {
    // Untyped bits take a pattern of their own size, not a number.
    bool fits = isFloat || token.floatSize == init.scalarSize;
    uint64_t bits = token.bits;
    if (!fits || !convertFloat(bits, token.floatSize, init.scalarSize))
      return fail("a float literal where none fits");
    if (minus)
      bits ^= uint64_t(1) << (8 * init.scalarSize - 1);
    advance();
    return setInitialBytes(init, offset, bits, init.scalarSize);
  }
  lexer = savedLexer;
  token = saved;
  InitialAddress address;
  address.offset = offset;
  if (token.kind == Token::Kind::Word && token.text != "WARP_SZ") {
    if (init.scalarSize < 4)
      return fail("an address does not fit the element");
    address.size = uint8_t(init.scalarSize < 8 ? init.scalarSize : 8);
    if (!parseInitialAddress(address))
      return false;
    init.variable.initAddresses.push_back(address);
    return setInitialBytes(init, offset, 0, init.scalarSize);
  }
  uint64_t bits = token.bits;
  if (token.kind == Token::Kind::Integer) {
    advance();
    if (token.is('(')) {
      // A mask takes one byte of an address.
      while (address.shift < 64 && bits != uint64_t(0xff) << address.shift)
        address.shift = uint8_t(address.shift + 8);
      if (address.shift == 64)
        return fail("expected a mask of one byte, such as 0xff00");
      advance();
      if (!parseInitialAddress(address) || !expect(')'))
        return false;
      address.size = 1;
      init.variable.initAddresses.push_back(address);
      return setInitialBytes(init, offset, 0, init.scalarSize);
    }
    lexer = savedLexer;
    token = saved;
  }
  if (!parseExpression(bits))
    return false;
  if (isFloat && bits != 0)
    return fail("an integer initialises a float");
  return setInitialBytes(init, offset, bits, init.scalarSize);
}

/// The values of one dimension, from element `first` of the whole on.
bool DeclarationParser::parseInitialList(Initializer &init, size_t level,
                                         uint64_t first) {
  if (level == init.dimensions.size())
    return parseInitialValue(init, first * init.scalarSize);
  if (!expect('{'))
    return false;
  uint64_t limit = init.dimensions[level], count = 0;
  bool isOpen = level == 0 && init.variable.unsizedArray;
  if (!token.is('}')) {
    do {
      if (!isOpen && count == limit)
        return fail("more initial values than elements");
      if (!parseInitialList(init, level + 1,
                            first + count * init.strides[level]))
        return false;
      ++count;
    } while (accept(','));
  }
  if (isOpen)
    init.dimensions[0] = count;
  return expect('}');
}

bool DeclarationParser::parseInitializer(VariableSyntax &variable,
                                         std::string_view type, uint32_t vector,
                                         std::vector<uint64_t> dimensions) {
  Initializer init = {variable, type, variable.elementSize / vector, {}, {}};
  init.dimensions = std::move(dimensions);
  if (vector > 1)
    init.dimensions.push_back(vector);
  init.strides.resize(init.dimensions.size());
  uint64_t stride = 1;
  for (size_t i = init.dimensions.size(); i-- > 0;) {
    init.strides[i] = stride;
    stride *= init.dimensions[i];
  }
  if (!parseInitialList(init, 0, 0))
    return false;
  if (variable.unsizedArray) {
    variable.size =
        init.dimensions[0] * init.strides[0] * uint64_t(init.scalarSize);
    variable.unsizedArray = false;
  }
  return true;
}

/// .attribute(.managed), .attribute(.unified(1, 2)): who else sees the symbol,
/// which is nobody here.
bool DeclarationParser::skipAttributes() {
  advance();
  if (!expect('('))
    return false;
  do {
    if (!atDirective(".managed") && !atDirective(".unified"))
      return fail("unknown attribute");
    bool hasNumbers = token.text == ".unified";
    advance();
    uint64_t ignored;
    if (hasNumbers &&
        (!expect('(') || !expectInteger(ignored, "a number") || !expect(',') ||
         !expectInteger(ignored, "a number") || !expect(')')))
      return false;
  } while (accept(','));
  return expect(')');
}

bool DeclarationParser::parseAlignment(uint32_t &align) {
  advance();
  if (token.kind != Token::Kind::Integer || token.bits == 0 ||
      (token.bits & (token.bits - 1)) || token.bits > maxAlignment)
    return fail("expected a power of two up to " +
                std::to_string(maxAlignment) + " after .align");
  align = uint32_t(token.bits);
  advance();
  return true;
}

/// .ptr .global .align 16, behind the type of a parameter: what it points to
/// says nothing about the parameter.
bool DeclarationParser::skipPointerAttributes() {
  advance();
  if (token.kind == Token::Kind::Directive &&
      parseSpace(token.text) != Space::None)
    advance();
  uint32_t ignored;
  return !atDirective(".align") || parseAlignment(ignored);
}

bool DeclarationParser::parseVariable(VariableSyntax &variable,
                                      std::string_view &type,
                                      uint32_t &vector) {
  variable.line = token.line;
  vector = 1;
  type = {};
  uint32_t align = 0;
  while (token.kind == Token::Kind::Directive) {
    if (token.text == ".align") {
      if (!parseAlignment(align))
        return false;
    } else if (token.text == ".attribute") {
      if (!skipAttributes())
        return false;
    } else if (token.text == ".ptr" && !type.empty()) {
      if (!skipPointerAttributes())
        return false;
      break;
    } else if (token.text == ".texref" || token.text == ".samplerref" ||
               token.text == ".surfref") {
      return fail("textures, samplers and surfaces are not supported");
    } else if (token.text == ".v2" || token.text == ".v4") {
      vector = uint32_t(token.text[2] - '0');
      advance();
    } else if (type.empty() && getTypeSize(token.text)) {
      type = token.text;
      advance();
    } else {
      return fail("expected a type");
    }
  }
  if (type.empty())
    return fail("expected a type");
  variable.elementSize = getTypeSize(type) * vector;
  variable.align = align ? align : variable.elementSize;
  return true;
}

bool DeclarationParser::parseVariables(std::vector<VariableSyntax> &variables,
                                       bool isExtern) {
  VariableSyntax common;
  common.space = parseSpace(token.text);
  common.isExtern = isExtern;
  advance();
  std::string_view type;
  uint32_t vector = 1;
  if (!parseVariable(common, type, vector))
    return false;
  do {
    VariableSyntax variable = common;
    variable.line = token.line;
    if (!expectWord(variable.name, "the name of a variable"))
      return false;
    if (token.is('<'))
      return fail("a range of variables is not supported");
    std::vector<uint64_t> dimensions;
    if (!parseArraySizes(variable, &dimensions) || !countItem())
      return false;
    if (accept('=')) {
      if (variable.space != Space::Global && variable.space != Space::Const)
        return failAt(variable.line,
                      "only .global and .const variables have initial values");
      if (!parseInitializer(variable, type, vector, std::move(dimensions)))
        return false;
    } else if (variable.unsizedArray && !isExtern) {
      return failAt(variable.line, "the array has no size");
    }
    variables.push_back(std::move(variable));
  } while (accept(','));
  return expect(';');
}

bool DeclarationParser::parseRegisters(FunctionSyntax &function) {
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
    if (!countItem())
      return false;
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
