//===- SymbolTable.cpp - What names mean ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the scopes of a kernel. Registers take a place when they
// are first named.
//
//===----------------------------------------------------------------------===//

#include "Decode/SymbolTable.h"
#include "Parse/Parser.h"

using namespace fusionemu;

/// Splits "%r12" into "%r" and 12. False when there is no plain number.
static bool splitRange(std::string_view name, std::string_view &prefix,
                       uint64_t &index) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  if (digits == name.size() || name.size() - digits > 10)
    return false;
  // Leading zeros would give one register two names.
  if (name[digits] == '0' && name.size() - digits > 1)
    return false;
  index = 0;
  for (char c : name.substr(digits))
    index = index * 10 + unsigned(c - '0');
  prefix = name.substr(0, digits);
  return true;
}

Symbol *SymbolTable::lookUp(std::string_view name) {
  std::string_view prefix;
  uint64_t index = 0;
  bool inRange = splitRange(name, prefix, index);
  for (size_t s = scopes.size(); s-- > firstVisibleScope;) {
    auto exact = scopes[s].find(name);
    if (exact != scopes[s].end() && exact->second.kind != Symbol::Kind::Range)
      return &exact->second;
    if (!inRange)
      continue;
    auto range = scopes[s].find(prefix);
    if (range == scopes[s].end() || range->second.kind != Symbol::Kind::Range ||
        index >= range->second.count)
      continue;
    // A register takes a place when it is first named.
    Symbol symbol = range->second;
    symbol.kind = Symbol::Kind::Register;
    symbol.where = symbol.isPredicate ? int64_t(kernel.predicates++)
                                      : slots.allocateRegister(symbol.bytes);
    return &(scopes[s][name] = symbol);
  }
  return placeInModule(name);
}

Symbol *SymbolTable::placeInModule(std::string_view name) {
  auto placed = moduleShared.find(name);
  if (placed != moduleShared.end())
    return &placed->second;
  auto variable = program.variableIndex.find(name);
  if (variable != program.variableIndex.end()) {
    // Module variables become symbols of the outermost scope when named.
    const ModuleVariable &v = program.variables[variable->second];
    Symbol symbol;
    symbol.kind = Symbol::Kind::Variable;
    symbol.space = v.space;
    symbol.where = variable->second;
    symbol.size = v.size;
    return &(scopes[firstVisibleScope][name] = symbol);
  }
  // A shared variable of the module belongs to the kernels that name it.
  auto shared = program.sharedIndex.find(name);
  if (shared == program.sharedIndex.end())
    return nullptr;
  const VariableSyntax &v = program.syntax.variables[shared->second];
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.space = Space::Shared;
  symbol.size = v.size;
  if (!slots.placeShared(v, symbol.where))
    return nullptr;
  return &(moduleShared[name] = symbol);
}

bool SymbolTable::add(std::string_view name, const Symbol &symbol,
                      const std::string &refusal) {
  return scopes.back().emplace(name, symbol).second ||
         errors.failSyntax(refusal);
}

bool SymbolTable::openScope(const FunctionSyntax &f, size_t firstItem) {
  scopes.emplace_back();
  // Labels are visible in their whole scope, also before they come.
  unsigned depth = 0;
  for (size_t i = firstItem; i < f.body.size(); ++i) {
    const BodyItem &item = f.body[i];
    if (item.kind == BodyItem::Kind::OpenScope)
      ++depth;
    if (item.kind == BodyItem::Kind::CloseScope && depth-- == 0)
      break;
    if (depth != 0 || (item.kind != BodyItem::Kind::Label &&
                       item.kind != BodyItem::Kind::BranchTargets))
      continue;
    Symbol symbol;
    if (item.kind == BodyItem::Kind::Label) {
      symbol.kind = Symbol::Kind::Label;
      symbol.where = addLabel();
    } else {
      symbol.kind = Symbol::Kind::Targets;
      symbol.where = item.index;
    }
    if (!scopes.back().emplace(item.name, symbol).second)
      return errors.failSyntax("label '" + std::string(item.name) +
                               "' is defined twice");
  }
  return true;
}

bool SymbolTable::declareParameter(const VariableSyntax &parameter,
                                   uint64_t offset) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.space = Space::Param;
  symbol.where = int64_t(offset);
  symbol.size = parameter.size;
  return add(parameter.name, symbol,
             "parameter '" + std::string(parameter.name) +
                 "' is declared twice");
}

bool SymbolTable::declareRegister(const RegisterSyntax &reg) {
  Symbol symbol;
  symbol.kind = reg.isRange ? Symbol::Kind::Range : Symbol::Kind::Register;
  symbol.isPredicate = reg.type == ".pred";
  symbol.bytes = uint8_t(getTypeSize(reg.type));
  symbol.count = reg.count;
  if (!reg.isRange)
    symbol.where = symbol.isPredicate ? int64_t(kernel.predicates++)
                                      : slots.allocateRegister(symbol.bytes);
  return add(reg.name, symbol,
             "register '" + std::string(reg.name) +
                 "' is declared twice (PTX line " + std::to_string(reg.line) +
                 ")") &&
         !errors.hasFailed();
}

bool SymbolTable::declareVariable(const VariableSyntax &v) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.space = v.space;
  symbol.size = v.size;
  switch (v.space) {
  case Space::Shared:
    if (!slots.placeShared(v, symbol.where))
      return false;
    break;
  case Space::Local:
  case Space::Param: // Of a call: a place in the caller's frame.
    symbol.space = Space::Local;
    if (!slots.placeLocal(v, symbol.where))
      return false;
    break;
  default: {
    // A variable of the module, declared inside a function.
    auto known = program.variableIndex.find(v.name);
    if (known == program.variableIndex.end())
      return errors.failSyntax("variable '" + std::string(v.name) +
                               "' is not allowed here");
    symbol.where = known->second;
    break;
  }
  }
  return add(v.name, symbol,
             "variable '" + std::string(v.name) + "' is declared twice");
}

uint32_t SymbolTable::addLabel() {
  labelPlaces.push_back(noTarget);
  return uint32_t(labelPlaces.size() - 1);
}

uint32_t SymbolTable::findLabel(std::string_view name) {
  Symbol *symbol = lookUp(name);
  return symbol && symbol->kind == Symbol::Kind::Label ? uint32_t(symbol->where)
                                                       : noTarget;
}

void SymbolTable::placeLabel(uint32_t number) {
  labelPlaces[number] = uint32_t(kernel.code.size());
}

void SymbolTable::placeLabel(std::string_view name) {
  placeLabel(uint32_t(scopes.back()[name].where));
}

size_t SymbolTable::enterCall(Scope parameters) {
  size_t entered = firstVisibleScope;
  firstVisibleScope = scopes.size();
  scopes.push_back(std::move(parameters));
  ++callDepth;
  return entered;
}

void SymbolTable::leaveCall(size_t entered) {
  --callDepth;
  scopes.resize(firstVisibleScope);
  firstVisibleScope = entered;
}
