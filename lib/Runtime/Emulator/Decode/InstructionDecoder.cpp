//===- InstructionDecoder.cpp - Operands of an instruction ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the operands and the emission of instructions.
//
//===----------------------------------------------------------------------===//

#include "Decode/InstructionDecoder.h"
#include "Decode/Payload.h"
#include "ProfileImpl.h"

#include <cstring>

using namespace fusionemu;

static constexpr size_t maxInstructions = size_t(1) << 20;
static constexpr size_t maxModuleInstructions = size_t(1) << 21;

InstructionDecoder::InstructionDecoder(const Program &program, Kernel &kernel,
                                       DecodeErrors &errors,
                                       SlotAllocator &slots,
                                       SymbolTable &symbols,
                                       size_t &moduleDecoded)
    : kernel(kernel), errors(errors), slots(slots), symbols(symbols),
      handlers(fusionemu::getHandlers(program.options.payload)),
      moduleDecoded(moduleDecoded) {}

void InstructionDecoder::resume(const InstructionSyntax &instruction,
                                Modifiers &own) {
  syntax = &instruction;
  modifiers = &own;
  errors.setInstruction(syntax);
}

bool InstructionDecoder::begin(const InstructionSyntax &instruction,
                               Modifiers &own) {
  resume(instruction, own);
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
  pending.clear();
  uses.clear();
  return true;
}

bool InstructionDecoder::countDecoded(size_t steps) {
  // Calls of calls could make a small text endless.
  decoded += steps;
  moduleDecoded += steps;
  if (decoded > maxInstructions)
    return failSyntax("the kernel has too many instructions");
  return moduleDecoded <= maxModuleInstructions ||
         failSyntax("the kernels of the module have too many instructions");
}

void InstructionDecoder::recordUses(size_t firstCode) {
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

bool InstructionDecoder::needOperands(size_t least, size_t most) {
  size_t n = syntax->operands.size();
  if (n >= least && n <= most)
    return true;
  return failSyntax("expected " + std::to_string(least) +
                    (most != least ? " to " + std::to_string(most) : "") +
                    " operands, found " + std::to_string(n));
}

/// The pattern of a float literal in another width.
static uint64_t convertLiteral(const Operand &o, unsigned bytes) {
  if (o.floatSize == bytes)
    return o.bits;
  double value;
  if (o.floatSize == 4) {
    float narrow;
    uint32_t bits = uint32_t(o.bits);
    std::memcpy(&narrow, &bits, 4);
    value = narrow;
  } else {
    std::memcpy(&value, &o.bits, 8);
  }
  uint64_t result = 0;
  if (bytes == 4) {
    float narrow = float(value);
    std::memcpy(&result, &narrow, 4);
  } else {
    std::memcpy(&result, &value, 8);
  }
  return result;
}

/// The integer that stands for a float literal in payload mode.
static uint64_t convertToPayload(const Operand &o, unsigned bytes) {
  uint64_t bits = convertLiteral(o, bytes);
  double value;
  if (bytes == 4) {
    float narrow;
    std::memcpy(&narrow, &bits, 4);
    value = narrow;
  } else {
    std::memcpy(&value, &bits, 8);
  }
  return getPayload(value, bytes);
}

Symbol *InstructionDecoder::registerOf(const Operand &o) {
  if (o.kind != Operand::Kind::Name)
    return nullptr;
  Symbol *symbol = lookUp(o.name);
  return symbol && symbol->kind == Symbol::Kind::Register ? symbol : nullptr;
}

bool InstructionDecoder::read(const Operand &o, Type type, int32_t &slot) {
  bool isFloat = type == Type::F32 || type == Type::F64;
  return readSized(o, getSize(type), isSigned(type), isFloat, slot);
}

bool InstructionDecoder::readVariable(const Operand &o, const Symbol &symbol,
                                      unsigned bytes, int32_t &slot) {
  uint64_t place = uint64_t(symbol.where) + o.bits;
  switch (symbol.space) {
  case Space::Shared:
    slot = symbol.where < 0 ? slots.dynamicSharedSlot(bytes, o.bits)
                            : constantSlot(bytes, place + kernel.ownSharedBits);
    break;
  case Space::Local:
  case Space::Param:
    slot = constantSlot(bytes, place);
    break;
  default:
    slot = slots.addressSlot(uint32_t(symbol.where), bytes, o.bits);
    break;
  }
  return !hasFailed();
}

bool InstructionDecoder::readClock(bool is64, int32_t &slot) {
  slot = allocateRegister(8);
  Instruction I = make(handlers.special("clock"));
  I.guard = truePredicate;
  I.guardXor = 0;
  I.counted = 0;
  I.dst = slot;
  return emit(I) && (is64 || resizeSlot(slot, 8, 4, false));
}

bool InstructionDecoder::readSpecial(std::string_view name, unsigned &bytes,
                                     int32_t &slot) {
  bool is64 = name == "%clock64" || name == "%globaltimer";
  if (is64 || name == "%clock" || name == "%clock_hi" ||
      name == "%globaltimer_lo") {
    bytes = is64 ? 8 : 4;
    return readClock(is64, slot);
  }
  if (slots.findSpecial(name, bytes, slot))
    return true;
  if (!name.empty() && name[0] == '%' && name != "%")
    return failSyntax("'" + std::string(name) +
                      "' is neither a declared register nor a special "
                      "register that is supported");
  return failSyntax("'" + std::string(name) + "' is not declared");
}

bool InstructionDecoder::readSized(const Operand &o, unsigned bytes, bool sign,
                                   bool isFloat, int32_t &slot) {
  switch (o.kind) {
  case Operand::Kind::Integer:
    if (isFloat && o.bits != 0)
      return failSyntax("an integer literal where a float is expected");
    slot = slots.constantSlot(
        bytes, o.bits, int64_t(o.bits) < 0 && bytes == 16 ? ~uint64_t(0) : 0);
    return !hasFailed();
  case Operand::Kind::Float:
    if (bytes != 4 && bytes != 8)
      return failSyntax("a float literal where none fits");
    slot = constantSlot(bytes, handlers.payload ? convertToPayload(o, bytes)
                                                : convertLiteral(o, bytes));
    return !hasFailed();
  case Operand::Kind::Name:
    break;
  default:
    return failSyntax("expected a register or a constant");
  }
  if (o.negated)
    return failSyntax("'!' is only allowed for predicates");
  Symbol *symbol = lookUp(o.name);
  if (o.bits != 0 && (!symbol || symbol->kind != Symbol::Kind::Variable))
    return failSyntax("only the address of a variable takes an addend");
  unsigned size = 0;
  if (symbol && symbol->kind == Symbol::Kind::Variable)
    return readVariable(o, *symbol, bytes, slot);
  if (symbol && symbol->kind == Symbol::Kind::Register) {
    if (symbol->isPredicate)
      return failSyntax("'" + std::string(o.name) + "' is a predicate");
    size = symbol->bytes;
    slot = int32_t(symbol->where);
    uses.push_back({slot, symbol->bytes, false});
  } else if (symbol) {
    return failSyntax("'" + std::string(o.name) + "' is a label");
  } else if (!readSpecial(o.name, size, slot)) {
    return false;
  }
  if (size == bytes)
    return !hasFailed();
  return resizeSlot(slot, size, bytes, sign) && !hasFailed();
}

bool InstructionDecoder::resizeSlot(int32_t &slot, unsigned from, unsigned to,
                                    bool sign) {
  Instruction I = make(handlers.resize(from, to, sign));
  I.guard = truePredicate;
  I.guardXor = 0;
  I.counted = 0;
  I.a = slot;
  I.dst = slot = allocateRegister(to);
  return emit(I);
}

uint32_t InstructionDecoder::keepSlots(const std::vector<int32_t> &added) {
  std::vector<int32_t> &kept = kernel.extraOperands;
  kept.insert(kept.end(), added.begin(), added.end());
  return uint32_t(kept.size() - added.size());
}

std::vector<const Operand *> fusionemu::partsOf(const Operand &o) {
  if (o.kind != Operand::Kind::Vector)
    return {&o};
  std::vector<const Operand *> parts;
  for (const Operand &element : o.elements)
    parts.push_back(&element);
  return parts;
}

bool InstructionDecoder::write(const Operand &o, Type type, int32_t &slot) {
  return writeSized(o, getSize(type), isSigned(type), slot);
}

bool InstructionDecoder::writeSized(const Operand &o, unsigned bytes, bool sign,
                                    int32_t &slot) {
  if (o.kind == Operand::Kind::Sink) {
    slot = slots.getSink();
    return true;
  }
  Symbol *symbol = registerOf(o);
  if (!symbol || symbol->isPredicate)
    return failSyntax("expected a register as destination" +
                      (o.name.empty()
                           ? std::string()
                           : ", found '" + std::string(o.name) + "'"));
  slot = int32_t(symbol->where);
  uses.push_back({slot, symbol->bytes, true});
  if (symbol->bytes == bytes)
    return !hasFailed();
  Instruction I = make(handlers.resize(bytes, symbol->bytes, sign));
  I.counted = 0;
  I.dst = slot;
  I.a = slot = allocateRegister(bytes);
  pending.push_back(I);
  return !hasFailed();
}

bool InstructionDecoder::readPredicate(const Operand &o, int32_t &predicate,
                                       bool &negated) {
  negated = o.negated;
  if (o.kind == Operand::Kind::Integer) {
    predicate = o.bits ? int32_t(truePredicate) : int32_t(falsePredicate);
    return true;
  }
  Symbol *symbol = registerOf(o);
  if (!symbol || !symbol->isPredicate)
    return failSyntax("expected a predicate");
  predicate = int32_t(symbol->where);
  return true;
}

bool InstructionDecoder::writePredicate(const Operand &o, int32_t &predicate) {
  if (o.kind == Operand::Kind::Sink) {
    predicate = int32_t(sinkPredicate);
    return true;
  }
  Symbol *symbol = registerOf(o);
  if (!symbol || !symbol->isPredicate)
    return failSyntax("expected a predicate as destination");
  predicate = int32_t(symbol->where);
  return true;
}

bool InstructionDecoder::readImmediate(const Operand &o, uint64_t &value) {
  if (o.kind != Operand::Kind::Integer)
    return failSyntax("expected an integer constant");
  value = o.bits;
  return true;
}

bool InstructionDecoder::resolveRegister(const Operand &o, const Symbol &symbol,
                                         Instruction &I) {
  if (symbol.isPredicate || (symbol.bytes != 4 && symbol.bytes != 8))
    return failSyntax("'" + std::string(o.name) + "' cannot hold an address");
  I.a = int32_t(symbol.where);
  uses.push_back({I.a, symbol.bytes, false});
  I.addressBytes = symbol.bytes;
  // The frame of a called function holds its parameters.
  if (I.space == Space::Param && symbols.isInCall())
    I.space = Space::Local;
  return true;
}

bool InstructionDecoder::resolveVariable(const Operand &o, const Symbol &symbol,
                                         Instruction &I) {
  Space space = I.space;
  Space actual = symbol.space;
  if (actual == Space::Global || actual == Space::Const) {
    I.a = slots.addressSlot(uint32_t(symbol.where), 8, 0);
    I.addressBytes = 8;
    return !hasFailed();
  }
  if (actual == Space::Shared && symbol.where < 0) {
    bool generic = space == Space::Generic;
    if (!generic && space != Space::Shared)
      return failSyntax("'" + std::string(o.name) +
                        "' lies in another state space");
    I.addressBytes = generic ? 8 : 4;
    I.a = slots.dynamicSharedSlot(I.addressBytes, generic ? sharedWindow : 0);
    return true;
  }
  I.offset += symbol.where;
  if (space == Space::Generic) {
    I.offset += int64_t(actual == Space::Shared  ? sharedWindow
                        : actual == Space::Local ? localWindow
                                                 : paramWindow);
    return true;
  }
  if (space != actual && space != Space::Param)
    return failSyntax("'" + std::string(o.name) +
                      "' lies in another state space");
  I.space = actual;
  return true;
}

bool InstructionDecoder::resolveAddress(const Operand &o, Instruction &I,
                                        Space space) {
  if (o.kind != Operand::Kind::Address)
    return failSyntax("expected an address");
  I.space = space;
  I.offset = int64_t(o.bits);
  I.addressBytes = 0;
  if (o.name.empty())
    return true;
  Symbol *symbol = lookUp(o.name);
  if (!symbol)
    return failSyntax("'" + std::string(o.name) + "' is not declared");
  if (symbol->kind == Symbol::Kind::Register)
    return resolveRegister(o, *symbol, I);
  if (symbol->kind != Symbol::Kind::Variable)
    return failSyntax("'" + std::string(o.name) + "' is not an address");
  return resolveVariable(o, *symbol, I);
}

Instruction InstructionDecoder::make(Handler handler) const {
  Instruction I;
  I.handler = handler;
  I.guard = guard;
  I.guardXor = guardXor;
  return I;
}

bool InstructionDecoder::emit(const Instruction &I) {
  if (!I.handler)
    return failInstruction();
  kernel.code.push_back(I);
  kernel.infos.push_back(
      {syntax->line, syntax->loc, syntax->spelling, choosePipe(*syntax)});
  return true;
}

bool InstructionDecoder::emitAll(const Instruction &I) {
  if (!emit(I))
    return false;
  for (const Instruction &after : pending)
    if (!emit(after))
      return false;
  pending.clear();
  return true;
}

bool InstructionDecoder::emitSimple(Handler handler, Type type,
                                    unsigned sources, uint32_t aux) {
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

bool InstructionDecoder::noteReduction(uint32_t kind) {
  bool isSame = globalReduction == 0 || globalReduction == kind;
  globalReduction = kind;
  return isSame;
}
