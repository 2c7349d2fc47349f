//===- Decoder.cpp - Syntax to instructions -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the structure of decoding: scopes, variables, and the
// layout of a kernel's registers and memory.
//
//===----------------------------------------------------------------------===//

#include "Decode/Decoder.h"
#include "Parse/Parser.h"
#include "ProfileImpl.h"
#include "Support.h"

#include <algorithm>

using namespace fusionemu;

static constexpr size_t maxInstructions = size_t(1) << 20;
static constexpr size_t maxModuleInstructions = size_t(1) << 21;
static constexpr uint64_t maxLocalBytes = 512 * 1024;
static constexpr uint64_t maxRegisterBytes = uint64_t(1) << 24;

bool Modifiers::take(std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!used[i] && list[i] == name) {
      used[i] = true;
      return true;
    }
  return false;
}

int Modifiers::takeOneOf(std::initializer_list<std::string_view> names) {
  int index = 0;
  for (std::string_view name : names) {
    if (take(name))
      return index;
    ++index;
  }
  return -1;
}

bool Modifiers::takePrefix(std::string_view prefix) {
  bool any = false;
  for (size_t i = 0; i < list.size(); ++i)
    if (!used[i] && list[i].substr(0, prefix.size()) == prefix)
      used[i] = any = true;
  return any;
}

Type Modifiers::takeType() {
  for (size_t i = 0; i < list.size(); ++i) {
    if (used[i])
      continue;
    Type type = parseType(list[i]);
    if (type == Type::None)
      continue;
    used[i] = true;
    return type;
  }
  return Type::None;
}

bool Modifiers::takeRound(Round &round) {
  switch (takeOneOf({"rn", "rz", "rm", "rp"})) {
  case 0:
    round = Round::Nearest;
    return true;
  case 1:
    round = Round::Zero;
    return true;
  case 2:
    round = Round::Down;
    return true;
  case 3:
    round = Round::Up;
    return true;
  default:
    return false;
  }
}

bool Modifiers::has(std::string_view name) const {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool Modifiers::allTaken() const {
  return std::find(used.begin(), used.end(), false) == used.end();
}

Decoder::Decoder(const Program &program, const FunctionSyntax &function,
                 Kernel &kernel, size_t &moduleDecoded)
    : program(program), function(function), kernel(kernel),
      handlers(getHandlers(program.options.payload)),
      moduleDecoded(moduleDecoded) {}

bool Decoder::failSyntax(std::string reason) {
  if (!error.empty())
    return false;
  errorLine = syntax ? syntax->line : function.line;
  error = "PTX line " + std::to_string(errorLine) + ": " + reason;
  if (syntax)
    error += " in '" + std::string(syntax->spelling) + "'";
  return false;
}

bool Decoder::failUnsupported(std::string reason) {
  if (error.empty())
    unsupportedError = true;
  return failSyntax(std::move(reason));
}

bool Decoder::failInstruction() {
  if (!error.empty())
    return false;
  unsupportedError = true;
  errorLine = syntax->line;
  error = "PTX line " + std::to_string(errorLine) + ": instruction '" +
          std::string(syntax->spelling) + "' is not supported";
  return false;
}

bool Decoder::layOutParameters() {
  uint64_t offset = 0;
  for (const VariableSyntax &p : function.parameters) {
    offset = alignUp(offset, p.align);
    kernel.info.parameters.push_back(
        {std::string(p.name), uint32_t(p.size), p.align, uint32_t(offset)});
    Symbol symbol;
    symbol.kind = Symbol::Kind::Variable;
    symbol.space = Space::Param;
    symbol.where = int64_t(offset);
    symbol.size = p.size;
    if (!scopes.back().emplace(p.name, symbol).second)
      return failSyntax("parameter '" + std::string(p.name) +
                        "' is declared twice");
    offset += p.size;
  }
  if (offset > 65536)
    return failSyntax("the parameters are larger than 64 KiB");
  kernel.info.argumentBytes = uint32_t(offset);
  return true;
}

bool Decoder::run() {
  kernel.info.name = std::string(function.name);
  kernel.info.reqntid = {function.reqntid[0], function.reqntid[1],
                         function.reqntid[2]};
  kernel.info.maxntid = {function.maxntid[0], function.maxntid[1],
                         function.maxntid[2]};
  const uint32_t (&cluster)[3] = function.reqnctapercluster;
  if (cluster[0] != 0)
    kernel.info.cluster = {cluster[0], std::max(cluster[1], 1u),
                           std::max(cluster[2], 1u)};
  if (uint64_t(cluster[0]) * kernel.info.cluster.y * kernel.info.cluster.z > 1)
    kernel.ownSharedBits = ownSharedBits;
  kernel.info.gridOfClusters = function.blocksAreClusters;
  scopes.emplace_back();
  firstVisibleScope = 0;
  if (!layOutParameters())
    return false;
  if (!function.unsupported.empty()) {
    error = function.unsupported;
    unsupportedError = true;
    return false;
  }
  sinkSlot = allocateRegister(16);
  currentFunction = &function;
  if (!decodeBody(function))
    return false;
  syntax = nullptr;
  return finish();
}

bool Decoder::openScope(const FunctionSyntax &f, size_t firstItem) {
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
      symbol.where = int64_t(labelPlaces.size());
      labelPlaces.push_back(noTarget);
    } else {
      symbol.kind = Symbol::Kind::Targets;
      symbol.where = item.index;
    }
    if (!scopes.back().emplace(item.name, symbol).second)
      return failSyntax("label '" + std::string(item.name) +
                        "' is defined twice");
  }
  return true;
}

bool Decoder::declareRegister(const RegisterSyntax &reg) {
  Symbol symbol;
  symbol.kind = reg.isRange ? Symbol::Kind::Range : Symbol::Kind::Register;
  symbol.isPredicate = reg.type == ".pred";
  symbol.bytes = uint8_t(getTypeSize(reg.type));
  symbol.count = reg.count;
  if (!reg.isRange)
    symbol.where = symbol.isPredicate ? int64_t(kernel.predicates++)
                                      : allocateRegister(symbol.bytes);
  if (!scopes.back().emplace(reg.name, symbol).second)
    return failSyntax("register '" + std::string(reg.name) +
                      "' is declared twice (PTX line " +
                      std::to_string(reg.line) + ")");
  return error.empty();
}

bool Decoder::placeShared(const VariableSyntax &v, Symbol &symbol) {
  if (v.isExtern && v.size != 0)
    return failUnsupported("shared variable '" + std::string(v.name) +
                           "', which is defined in another module, is not "
                           "supported");
  if (v.unsizedArray || v.isExtern) {
    // All such arrays start together, behind everything of a known size.
    kernel.info.usesDynamicShared = true;
    sharedAlign = std::max(sharedAlign, v.align);
    symbol.where = -1;
    return true;
  }
  sharedEnd = uint32_t(alignUp(sharedEnd, v.align));
  if (v.size > 0x1000000 || sharedEnd + v.size > 0x1000000)
    return failSyntax("shared variables exceed 16 MiB");
  symbol.where = sharedEnd;
  kernel.sharedVariables.push_back(
      {std::string(v.name), sharedEnd, uint32_t(v.size)});
  sharedEnd += uint32_t(v.size);
  return true;
}

bool Decoder::declareVariable(const VariableSyntax &v) {
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.space = v.space;
  symbol.size = v.size;
  switch (v.space) {
  case Space::Shared:
    if (!placeShared(v, symbol))
      return false;
    break;
  case Space::Local:
  case Space::Param: // Of a call: a place in the caller's frame.
    symbol.space = Space::Local;
    localEnd = alignUp(localEnd, v.align);
    symbol.where = int64_t(localEnd);
    localEnd += v.size;
    if (v.size > maxLocalBytes || localEnd > maxLocalBytes)
      return failSyntax("local variables exceed 512 KiB");
    break;
  default: {
    // A variable of the module, declared inside a function.
    auto known = program.variableIndex.find(v.name);
    if (known == program.variableIndex.end())
      return failSyntax("variable '" + std::string(v.name) +
                        "' is not allowed here");
    symbol.where = known->second;
    break;
  }
  }
  if (!scopes.back().emplace(v.name, symbol).second)
    return failSyntax("variable '" + std::string(v.name) +
                      "' is declared twice");
  return true;
}

bool Decoder::decodeBody(const FunctionSyntax &f) {
  if (!openScope(f, 0))
    return false;
  size_t depth = scopes.size();
  for (size_t i = 0; i < f.body.size(); ++i) {
    const BodyItem &item = f.body[i];
    if (item.kind != BodyItem::Kind::Instruction && !countDecoded(1))
      return false;
    switch (item.kind) {
    case BodyItem::Kind::OpenScope:
      if (!openScope(f, i + 1))
        return false;
      break;
    case BodyItem::Kind::CloseScope:
      scopes.pop_back();
      break;
    case BodyItem::Kind::Label:
      labelPlaces[scopes.back()[item.name].where] =
          uint32_t(kernel.code.size());
      break;
    case BodyItem::Kind::BranchTargets:
      break;
    case BodyItem::Kind::Register:
      if (!declareRegister(f.registers[item.index]))
        return false;
      break;
    case BodyItem::Kind::Variable:
      if (!declareVariable(f.variables[item.index]))
        return false;
      break;
    case BodyItem::Kind::Instruction:
      if (!decodeInstruction(f.instructions[item.index]))
        return false;
      break;
    }
  }
  scopes.resize(depth - 1);
  return true;
}

bool Decoder::countDecoded(size_t steps) {
  // Calls of calls could make a small text endless.
  decoded += steps;
  moduleDecoded += steps;
  if (decoded > maxInstructions)
    return failSyntax("the kernel has too many instructions");
  return moduleDecoded <= maxModuleInstructions ||
         failSyntax("the kernels of the module have too many instructions");
}

bool Decoder::decodeInstruction(const InstructionSyntax &instruction) {
  syntax = &instruction;
  // Instructions of many operands take more memory than others.
  if (!countDecoded(1 + instruction.operands.size() / 8))
    return false;
  auto method = getMethods().find(instruction.name);
  if (method == getMethods().end())
    return failInstruction();
  guard = truePredicate;
  guardXor = 0;
  if (!instruction.guard.empty()) {
    Symbol *symbol = lookUp(instruction.guard);
    if (!symbol || symbol->kind != Symbol::Kind::Register ||
        !symbol->isPredicate)
      return failSyntax("'" + std::string(instruction.guard) +
                        "' is not a predicate");
    guard = uint32_t(symbol->where);
    guardXor = instruction.guardNegated ? ~uint32_t(0) : 0;
  }
  Modifiers m(instruction.modifiers);
  modifiers = &m;
  pending.clear();
  uses.clear();
  size_t firstCode = kernel.code.size();
  // A call decodes other instructions before it is done.
  if (!(this->*method->second)())
    return false;
  recordUses(firstCode);
  if (modifiers == &m && !m.allTaken())
    return failInstruction();
  if (kernel.code.size() > maxInstructions)
    return failSyntax("the kernel has too many instructions");
  return error.empty();
}

/// Notes what registers the instruction names, with the part of it that is
/// guarded.
void Decoder::recordUses(size_t firstCode) {
  if (uses.empty())
    return;
  size_t at = firstCode;
  while (at < kernel.code.size() && !kernel.code[at].counted)
    ++at;
  if (at < kernel.code.size()) {
    InstructionInfo &info = kernel.infos[at];
    info.firstUse = uint32_t(kernel.registerUses.size());
    info.uses = uint32_t(uses.size());
    kernel.registerUses.insert(kernel.registerUses.end(), uses.begin(),
                               uses.end());
  }
  uses.clear();
}

Instruction Decoder::make(Handler handler) {
  Instruction I;
  I.handler = handler;
  I.guard = guard;
  I.guardXor = guardXor;
  return I;
}

bool Decoder::emit(const Instruction &I) {
  if (!I.handler)
    return failInstruction();
  kernel.code.push_back(I);
  kernel.infos.push_back(
      {syntax->line, syntax->loc, syntax->spelling, choosePipe(*syntax)});
  return true;
}

bool Decoder::emitAll(const Instruction &I) {
  if (!emit(I))
    return false;
  for (const Instruction &after : pending)
    if (!emit(after))
      return false;
  pending.clear();
  return true;
}

bool Decoder::emitSimple(Handler handler, Type type, unsigned sources,
                         uint32_t aux) {
  if (!needOperands(sources + 1, sources + 1))
    return false;
  Instruction I = make(handler);
  I.aux = aux;
  if ((sources > 0 && !read(operand(1), type, I.a)) ||
      (sources > 1 && !read(operand(2), type, I.b)) ||
      (sources > 2 && !read(operand(3), type, I.c)) ||
      !write(operand(0), type, I.dst))
    return false;
  return emitAll(I);
}

/// Gives a slot of the constant part its final place.
static void settle(int32_t &slot, uint32_t registerBytes) {
  if (slot >= 0 && (slot & constantFlag))
    slot = (slot & ~constantFlag) + int32_t(registerBytes);
}

bool Decoder::finish() {
  // Running off the end of a kernel ends it.
  Instruction end;
  end.handler = exitLanes;
  end.counted = 0;
  kernel.code.push_back(end);
  kernel.infos.push_back(kernel.infos.empty() ? InstructionInfo()
                                              : kernel.infos.back());
  for (Instruction &I : kernel.code)
    if (I.handler == branch)
      I.target = labelPlaces[I.target];
    else if (I.handler == branchIndexed)
      for (uint32_t i = 0; i < I.aux; ++i) {
        int32_t &label = kernel.extraOperands[I.target + i];
        label = int32_t(labelPlaces[label]);
      }
  placeReconvergence();

  kernel.registerBytes = uint32_t(alignUp(kernel.registerBytes, 64));
  uint64_t total = uint64_t(kernel.registerBytes) + constantBytes;
  if (total > maxRegisterBytes)
    return failSyntax("the kernel has too many registers");
  for (Instruction &I : kernel.code)
    for (int32_t *slot : {&I.dst, &I.a, &I.b, &I.c, &I.d})
      settle(*slot, kernel.registerBytes);
  for (int32_t &slot : kernel.extraOperands)
    settle(slot, kernel.registerBytes);
  kernel.dynamicSharedOffset =
      uint32_t(alignUp(sharedEnd, std::max(sharedAlign, 16u)));
  for (Constant &constant : dynamicShared) {
    constant.low += kernel.dynamicSharedOffset + kernel.ownSharedBits;
    kernel.constants.push_back(constant);
  }
  for (Constant &constant : kernel.constants)
    settle(constant.slot, kernel.registerBytes);
  for (Relocation &relocation : kernel.relocations)
    settle(relocation.slot, kernel.registerBytes);
  for (SpecialSlot &special : kernel.specials)
    settle(special.slot, kernel.registerBytes);
  kernel.fileBytes = uint32_t(total);

  for (const BulkForm &form : kernel.bulkForms)
    kernel.overwritesShared |=
        !form.isPrefetch && form.direction != BulkForm::Direction::Store;
  if (!kernel.usesWgmma && !kernel.overwritesShared)
    kernel.registerUses = {};
  kernel.info.staticSharedBytes = sharedEnd;
  kernel.info.localBytes = uint32_t(alignUp(localEnd, 16));
  uint32_t counted = 0;
  for (const Instruction &I : kernel.code)
    counted += I.counted;
  kernel.info.instructions = counted;
  return true;
}
