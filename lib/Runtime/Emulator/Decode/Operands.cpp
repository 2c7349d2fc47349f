//===- Operands.cpp - Operands to slots -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of operands.
//
//===----------------------------------------------------------------------===//

#include "Decode/Decoder.h"
#include "Decode/Payload.h"

#include <cstring>

using namespace fusionemu;

static constexpr uint64_t maxRegisterBytes = uint64_t(1) << 24;

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

Symbol *Decoder::lookUp(std::string_view name) {
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
                                      : allocateRegister(symbol.bytes);
    return &(scopes[s][name] = symbol);
  }
  auto placed = moduleShared.find(name);
  if (placed != moduleShared.end())
    return &placed->second;
  auto variable = program.variableIndex.find(name);
  if (variable == program.variableIndex.end()) {
    // A shared variable of the module belongs to the kernels that name it.
    auto shared = program.sharedIndex.find(name);
    if (shared != program.sharedIndex.end()) {
      const VariableSyntax &v = program.syntax.variables[shared->second];
      Symbol symbol;
      symbol.kind = Symbol::Kind::Variable;
      symbol.space = Space::Shared;
      symbol.size = v.size;
      if (!placeShared(v, symbol))
        return nullptr;
      return &(moduleShared[name] = symbol);
    }
    return nullptr;
  }
  // Module variables become symbols of the outermost scope when named.
  const ModuleVariable &v = program.variables[variable->second];
  Symbol symbol;
  symbol.kind = Symbol::Kind::Variable;
  symbol.space = v.space;
  symbol.where = variable->second;
  symbol.size = v.size;
  return &(scopes[firstVisibleScope][name] = symbol);
}

bool Decoder::needOperands(size_t least, size_t most) {
  size_t n = syntax->operands.size();
  if (n >= least && n <= most)
    return true;
  return failSyntax("expected " + std::to_string(least) +
                    (most != least ? " to " + std::to_string(most) : "") +
                    " operands, found " + std::to_string(n));
}

int32_t Decoder::allocateRegister(unsigned bytes) {
  uint64_t size = uint64_t(bytes) * warpSize;
  uint64_t begin = (kernel.registerBytes + 63) / 64 * 64;
  if (begin + size > maxRegisterBytes) {
    failSyntax("the kernel has too many registers");
    return 0;
  }
  kernel.registerBytes = uint32_t(begin + size);
  return int32_t(begin);
}

static uint64_t truncate(uint64_t value, unsigned bytes) {
  return bytes >= 8 ? value : value & ((uint64_t(1) << (bytes * 8)) - 1);
}

int32_t Decoder::constantSlot(unsigned bytes, uint64_t low, uint64_t high) {
  low = truncate(low, bytes);
  auto key = std::make_pair(bytes, std::make_pair(low, high));
  auto known = constants.find(key);
  if (known != constants.end())
    return known->second;
  uint64_t begin = (constantBytes + 63) / 64 * 64;
  if (begin + 16 * warpSize > maxRegisterBytes) {
    failSyntax("the kernel has too many constants");
    return 0;
  }
  int32_t slot = int32_t(begin) | constantFlag;
  constantBytes = uint32_t(begin + bytes * warpSize);
  kernel.constants.push_back({slot, uint8_t(bytes), low, high});
  return constants[key] = slot;
}

int32_t Decoder::addressSlot(uint32_t variable, unsigned bytes,
                             uint64_t addend) {
  auto key = std::make_pair(variable, std::make_pair(bytes, addend));
  auto known = addressSlots.find(key);
  if (known != addressSlots.end())
    return known->second;
  uint64_t begin = (constantBytes + 63) / 64 * 64;
  if (begin + 16 * warpSize > maxRegisterBytes) {
    failSyntax("the kernel has too many constants");
    return 0;
  }
  int32_t slot = int32_t(begin) | constantFlag;
  constantBytes = uint32_t(begin + bytes * warpSize);
  kernel.relocations.push_back({slot, uint8_t(bytes), variable, addend});
  return addressSlots[key] = slot;
}

int32_t Decoder::dynamicSharedSlot(unsigned bytes, uint64_t addend) {
  // No variable has this number.
  auto key = std::make_pair(~uint32_t(0), std::make_pair(bytes, addend));
  auto known = addressSlots.find(key);
  if (known != addressSlots.end())
    return known->second;
  uint64_t begin = (constantBytes + 63) / 64 * 64;
  int32_t slot = int32_t(begin) | constantFlag;
  constantBytes = uint32_t(begin + bytes * warpSize);
  dynamicShared.push_back({slot, uint8_t(bytes), addend, 0});
  return addressSlots[key] = slot;
}

namespace {
struct SpecialName {
  const char *name;
  Special special;
  uint8_t bytes;
};
} // namespace

static const SpecialName specialNames[] = {
    {"%tid.x", Special::TidX, 4},
    {"%tid.y", Special::TidY, 4},
    {"%tid.z", Special::TidZ, 4},
    {"%ntid.x", Special::NTidX, 4},
    {"%ntid.y", Special::NTidY, 4},
    {"%ntid.z", Special::NTidZ, 4},
    {"%ctaid.x", Special::CtaIdX, 4},
    {"%ctaid.y", Special::CtaIdY, 4},
    {"%ctaid.z", Special::CtaIdZ, 4},
    {"%nctaid.x", Special::NCtaIdX, 4},
    {"%nctaid.y", Special::NCtaIdY, 4},
    {"%nctaid.z", Special::NCtaIdZ, 4},
    {"%laneid", Special::LaneId, 4},
    {"%warpid", Special::WarpId, 4},
    {"%nwarpid", Special::NWarpId, 4},
    {"%smid", Special::SmId, 4},
    {"%nsmid", Special::NSmId, 4},
    {"%gridid", Special::GridId, 8},
    {"%lanemask_eq", Special::LaneMaskEq, 4},
    {"%lanemask_lt", Special::LaneMaskLt, 4},
    {"%lanemask_le", Special::LaneMaskLe, 4},
    {"%lanemask_gt", Special::LaneMaskGt, 4},
    {"%lanemask_ge", Special::LaneMaskGe, 4},
    {"%dynamic_smem_size", Special::DynamicSharedSize, 4},
    {"%total_smem_size", Special::TotalSharedSize, 4},
    {"%aggr_smem_size", Special::TotalSharedSize, 4},
    {"%reserved_smem_offset_begin", Special::Zero, 4},
    {"%reserved_smem_offset_end", Special::Zero, 4},
    {"%reserved_smem_offset_cap", Special::Zero, 4},
    {"%clusterid.x", Special::ClusterIdX, 4},
    {"%clusterid.y", Special::ClusterIdY, 4},
    {"%clusterid.z", Special::ClusterIdZ, 4},
    {"%nclusterid.x", Special::NClusterIdX, 4},
    {"%nclusterid.y", Special::NClusterIdY, 4},
    {"%nclusterid.z", Special::NClusterIdZ, 4},
    {"%cluster_ctaid.x", Special::ClusterCtaIdX, 4},
    {"%cluster_ctaid.y", Special::ClusterCtaIdY, 4},
    {"%cluster_ctaid.z", Special::ClusterCtaIdZ, 4},
    {"%cluster_nctaid.x", Special::ClusterNCtaIdX, 4},
    {"%cluster_nctaid.y", Special::ClusterNCtaIdY, 4},
    {"%cluster_nctaid.z", Special::ClusterNCtaIdZ, 4},
    {"%cluster_ctarank", Special::ClusterCtaRank, 4},
    {"%cluster_nctarank", Special::ClusterNCtaRank, 4},
};

bool Decoder::specialSlot(std::string_view name, unsigned &bytes,
                          int32_t &slot) {
  // Clocks change while a warp runs and are read anew each time.
  if (name == "%clock" || name == "%clock64" || name == "%clock_hi" ||
      name == "%globaltimer" || name == "%globaltimer_lo") {
    int32_t now = allocateRegister(8);
    Instruction I = make(handlers.special("clock"));
    I.guard = truePredicate;
    I.guardXor = 0;
    I.counted = 0;
    I.dst = now;
    if (!emit(I))
      return false;
    bool is64 = name == "%clock64" || name == "%globaltimer";
    bytes = is64 ? 8 : 4;
    slot = now;
    if (is64)
      return true;
    slot = allocateRegister(4);
    Instruction narrow = I;
    narrow.handler = handlers.resize(8, 4, false);
    narrow.a = now;
    narrow.dst = slot;
    return emit(narrow);
  }
  auto known = specials.find(name);
  if (known != specials.end()) {
    bytes = known->second.first;
    slot = known->second.second;
    return true;
  }
  for (const SpecialName &s : specialNames) {
    if (name != s.name)
      continue;
    uint64_t begin = (constantBytes + 63) / 64 * 64;
    slot = int32_t(begin) | constantFlag;
    bytes = s.bytes;
    constantBytes = uint32_t(begin + bytes * warpSize);
    kernel.specials.push_back({s.special, s.bytes, slot});
    specials[name] = {bytes, slot};
    return true;
  }
  if (!name.empty() && name[0] == '%' && name != "%")
    return failSyntax("'" + std::string(name) +
                      "' is neither a declared register nor a special "
                      "register that is supported");
  return failSyntax("'" + std::string(name) + "' is not declared");
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

Symbol *Decoder::registerOf(const Operand &o) {
  if (o.kind != Operand::Kind::Name)
    return nullptr;
  Symbol *symbol = lookUp(o.name);
  return symbol && symbol->kind == Symbol::Kind::Register ? symbol : nullptr;
}

bool Decoder::read(const Operand &o, Type type, int32_t &slot) {
  bool isFloat = type == Type::F32 || type == Type::F64;
  return readSized(o, getSize(type), isSigned(type), isFloat, slot);
}

bool Decoder::readSized(const Operand &o, unsigned bytes, bool sign,
                        bool isFloat, int32_t &slot) {
  switch (o.kind) {
  case Operand::Kind::Integer:
    if (isFloat && o.bits != 0)
      return failSyntax("an integer literal where a float is expected");
    slot = constantSlot(bytes, o.bits,
                        int64_t(o.bits) < 0 && bytes == 16 ? ~uint64_t(0) : 0);
    return error.empty();
  case Operand::Kind::Float:
    if (bytes != 4 && bytes != 8)
      return failSyntax("a float literal where none fits");
    slot = constantSlot(bytes, handlers.payload ? convertToPayload(o, bytes)
                                                : convertLiteral(o, bytes));
    return error.empty();
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
  if (symbol && symbol->kind == Symbol::Kind::Variable) {
    switch (symbol->space) {
    case Space::Shared:
      if (symbol->where < 0) {
        slot = dynamicSharedSlot(bytes, o.bits);
        return error.empty();
      }
      slot = constantSlot(bytes, uint64_t(symbol->where) + o.bits +
                                     kernel.ownSharedBits);
      return error.empty();
    case Space::Local:
    case Space::Param:
      slot = constantSlot(bytes, uint64_t(symbol->where) + o.bits);
      return error.empty();
    default:
      slot = addressSlot(uint32_t(symbol->where), bytes, o.bits);
      return error.empty();
    }
  }
  if (symbol && symbol->kind == Symbol::Kind::Register) {
    if (symbol->isPredicate)
      return failSyntax("'" + std::string(o.name) + "' is a predicate");
    size = symbol->bytes;
    slot = int32_t(symbol->where);
    uses.push_back({slot, symbol->bytes, false});
  } else if (symbol) {
    return failSyntax("'" + std::string(o.name) + "' is a label");
  } else if (!specialSlot(o.name, size, slot)) {
    return false;
  }
  if (size == bytes)
    return error.empty();
  return resizeSlot(slot, size, bytes, sign) && error.empty();
}

bool Decoder::resizeSlot(int32_t &slot, unsigned from, unsigned to, bool sign) {
  Instruction I = make(handlers.resize(from, to, sign));
  I.guard = truePredicate;
  I.guardXor = 0;
  I.counted = 0;
  I.a = slot;
  I.dst = slot = allocateRegister(to);
  return emit(I);
}

uint32_t Decoder::keepSlots(const std::vector<int32_t> &slots) {
  std::vector<int32_t> &kept = kernel.extraOperands;
  kept.insert(kept.end(), slots.begin(), slots.end());
  return uint32_t(kept.size() - slots.size());
}

std::vector<const Operand *> Decoder::partsOf(const Operand &o) {
  if (o.kind != Operand::Kind::Vector)
    return {&o};
  std::vector<const Operand *> parts;
  for (const Operand &element : o.elements)
    parts.push_back(&element);
  return parts;
}

bool Decoder::write(const Operand &o, Type type, int32_t &slot) {
  return writeSized(o, getSize(type), isSigned(type), slot);
}

bool Decoder::writeSized(const Operand &o, unsigned bytes, bool sign,
                         int32_t &slot) {
  if (o.kind == Operand::Kind::Sink) {
    slot = sinkSlot;
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
    return error.empty();
  Instruction I = make(handlers.resize(bytes, symbol->bytes, sign));
  I.counted = 0;
  I.dst = slot;
  I.a = slot = allocateRegister(bytes);
  pending.push_back(I);
  return error.empty();
}

bool Decoder::readPredicate(const Operand &o, int32_t &predicate,
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

bool Decoder::writePredicate(const Operand &o, int32_t &predicate) {
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

bool Decoder::readImmediate(const Operand &o, uint64_t &value) {
  if (o.kind != Operand::Kind::Integer)
    return failSyntax("expected an integer constant");
  value = o.bits;
  return true;
}

bool Decoder::resolveAddress(const Operand &o, Instruction &I, Space space) {
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
  if (symbol->kind == Symbol::Kind::Register) {
    if (symbol->isPredicate || (symbol->bytes != 4 && symbol->bytes != 8))
      return failSyntax("'" + std::string(o.name) + "' cannot hold an address");
    I.a = int32_t(symbol->where);
    uses.push_back({I.a, symbol->bytes, false});
    I.addressBytes = symbol->bytes;
    // The frame of a called function holds its parameters.
    if (space == Space::Param && callDepth != 0)
      I.space = Space::Local;
    return true;
  }
  if (symbol->kind != Symbol::Kind::Variable)
    return failSyntax("'" + std::string(o.name) + "' is not an address");
  Space actual = symbol->space;
  if (actual == Space::Global || actual == Space::Const) {
    I.a = addressSlot(uint32_t(symbol->where), 8, 0);
    I.addressBytes = 8;
    return error.empty();
  }
  if (actual == Space::Shared && symbol->where < 0) {
    bool generic = space == Space::Generic;
    if (!generic && space != Space::Shared)
      return failSyntax("'" + std::string(o.name) +
                        "' lies in another state space");
    I.addressBytes = generic ? 8 : 4;
    I.a = dynamicSharedSlot(I.addressBytes, generic ? sharedWindow : 0);
    return true;
  }
  I.offset += symbol->where;
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
