//===- PtxStatements.cpp - Statements of PTX text -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of PTX as far as mutation operators need it.
//
//===----------------------------------------------------------------------===//

#include "PtxStatements.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::ptx;

/// Splits at commas that are in no bracket.
static SmallVector<StringRef> splitOperands(StringRef text) {
  SmallVector<StringRef> operands;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      StringRef operand = text.slice(begin, i).trim();
      if (!operand.empty())
        operands.push_back(operand);
      begin = i + 1;
      continue;
    }
    depth += text[i] == '{' || text[i] == '[';
    depth -= text[i] == '}' || text[i] == ']';
  }
  return operands;
}

std::optional<Statement> ptx::parseStatement(StringRef text) {
  Statement statement;
  statement.text = text;
  StringRef rest = text;
  if (rest.starts_with("@")) {
    statement.guard =
        rest.take_until([](char c) { return c == ' ' || c == '\t'; });
    rest = rest.drop_front(statement.guard.size()).ltrim();
  }
  if (rest.empty() || !llvm::isAlpha(rest.front()))
    return std::nullopt;
  statement.opcode =
      rest.take_until([](char c) { return c == ' ' || c == '\t'; });
  statement.opcode.split(statement.parts, '.');
  statement.operands =
      splitOperands(rest.drop_front(statement.opcode.size()).trim());
  return statement;
}

std::vector<Statement> ptx::findStatements(StringRef ptx) {
  std::vector<Statement> statements;
  unsigned line = 1;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < ptx.size(); ++i) {
    char c = ptx[i];
    if (c == '/' && ptx.substr(i).starts_with("//")) {
      // A comment ends what stands before it: none stands inside a statement.
      size_t end = ptx.find('\n', i);
      i = end == StringRef::npos ? ptx.size() - 1 : end;
      begin = i + 1;
      ++line;
      continue;
    }
    bool endsLabel = c == ':' && !ptx.substr(i).starts_with("::") &&
                     !ptx.take_front(i).ends_with(":");
    if (c == '\n' || endsLabel) {
      // What goes on over a line keeps its beginning.
      if (endsLabel || ptx.slice(begin, i).trim().empty())
        begin = i + 1;
      line += c == '\n';
      continue;
    }
    bool opensBody = c == '{' && ptx.slice(begin, i).trim().empty();
    bool endsHead = c == '{' && ptx.slice(begin, i).ltrim().starts_with(".");
    if (opensBody || endsHead || c == '}') {
      bool closes = c == '}' && ptx.slice(begin, i).trim().empty();
      depth += opensBody || endsHead ? 1 : closes ? -1 : 0;
      if (opensBody || endsHead || closes)
        begin = i + 1;
      continue;
    }
    if (c != ';')
      continue;
    StringRef text = ptx.slice(begin, i).trim();
    begin = i + 1;
    if (depth == 0)
      continue;
    if (std::optional<Statement> statement = parseStatement(text)) {
      statement->line = line - text.count('\n');
      statement->offset = text.data() - ptx.data();
      statements.push_back(*statement);
    }
  }
  return statements;
}

SmallVector<StringRef> ptx::getRegisters(StringRef operand) {
  SmallVector<StringRef> names;
  if (operand.consume_front("{"))
    operand.consume_back("}");
  for (StringRef name : splitOperands(operand)) {
    bool isName = llvm::all_of(name.drop_front(), [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '$';
    });
    if (!isName || llvm::isDigit(name.front()) || name.front() == '-')
      return {};
    names.push_back(name);
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

RegisterTypes::RegisterTypes(StringRef text) {
  for (size_t at = text.find(".reg "); at != StringRef::npos;
       at = text.find(".reg ", at + 1)) {
    StringRef declaration =
        text.drop_front(at).take_until([](char c) { return c == ';'; });
    StringRef rest = declaration.drop_front(4).ltrim();
    if (!rest.consume_front("."))
      continue;
    StringRef type = rest.take_while(llvm::isAlnum);
    for (StringRef name : splitOperands(rest.drop_front(type.size())))
      add(name.take_until([](char c) { return c == '<'; }).size() == name.size()
              ? name
              : name.take_front(name.find('<') + 1),
          type);
  }
}

void RegisterTypes::add(StringRef name, StringRef type) {
  auto [known, isNew] = types.try_emplace(name, type);
  if (!isNew && known->second != type)
    known->second = "";
}

StringRef RegisterTypes::lookup(StringRef name) const {
  auto known = types.find(name);
  if (known != types.end())
    return known->second;
  StringRef family = name.rtrim("0123456789");
  return types.lookup((family + "<").str());
}

/// Whether `statement` computes with floats: all of its operands are some.
static bool isFloatArithmetic(const Statement &statement) {
  StringRef name = statement.name();
  return name != "cvt" && llvm::any_of(statement.parts, [](StringRef part) {
           return part == "f32" || part == "f64" || part == "f16" ||
                  part == "bf16" || part == "f16x2" || part == "bf16x2" ||
                  part == "tf32";
         });
}

llvm::StringSet<> ptx::findFloatRegisters(ArrayRef<Statement> statements) {
  // Registers that hold the same values, and floats beside "".
  llvm::EquivalenceClasses<StringRef> classes;
  classes.insert("");
  for (const Statement &statement : statements) {
    bool isFloat = isFloatArithmetic(statement);
    bool isMove = statement.name() == "mov" || statement.name() == "selp" ||
                  statement.name() == "shfl";
    if (statement.operands.empty() || !(isFloat || isMove))
      continue;
    SmallVector<StringRef> first = getRegisters(statement.operands.front());
    // A comparison's result and a selection's condition are predicates, the
    // last operands of a shuffle are lanes.
    bool isCompare = statement.name() == "setp";
    size_t begin = isCompare ? 1 : 0;
    size_t end = isFloat ? statement.operands.size()
                         : std::min<size_t>(statement.operands.size(),
                                            statement.name() == "selp" ? 3 : 2);
    for (size_t i = begin; i < end; ++i)
      for (StringRef name : getRegisters(statement.operands[i]))
        if (isFloat)
          classes.unionSets("", name);
        else if (!first.empty())
          classes.unionSets(first.front(), name);
  }
  llvm::StringSet<> result;
  for (auto member = classes.findLeader(""); member != classes.member_end();
       ++member)
    result.insert(*member);
  return result;
}
