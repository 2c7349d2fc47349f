//===- SymbolTable.h - What names mean ------------------------ -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the scopes of a kernel: its registers, variables and
// labels by name.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_SYMBOLTABLE_H
#define FUSION_LIB_RUNTIME_EMULATOR_SYMBOLTABLE_H

#include "Decode/SlotAllocator.h"

namespace fusionemu {

/// What a name means in a scope of a function.
struct Symbol {
  enum class Kind : uint8_t { Register, Range, Variable, Label, Targets };
  Kind kind = Kind::Register;
  bool isPredicate = false;
  uint8_t bytes = 0; ///< Of a register.
  /// A register's slot or predicate; a variable's offset in its space, or its
  /// index in Program::variables; a label's number.
  int64_t where = 0;
  uint32_t count = 0; ///< Of a range.
  Space space = Space::None;
  uint64_t size = 0; ///< Of a variable.
};

/// The names of one kernel, and of the functions that it calls.
class SymbolTable {
public:
  using Scope = std::map<std::string_view, Symbol>;

  SymbolTable(const Program &program, Kernel &kernel, SlotAllocator &slots,
              DecodeErrors &errors)
      : program(program), kernel(kernel), slots(slots), errors(errors) {}

  /// What `name` means here; null for nothing.
  Symbol *lookUp(std::string_view name);

  /// Opens the scope of parameters, which is outside of all others.
  void openParameters() { scopes.emplace_back(); }
  /// Opens a scope, of items of `f` from `firstItem` on, with its labels.
  bool openScope(const FunctionSyntax &f, size_t firstItem);
  void closeScope() { scopes.pop_back(); }
  bool declareParameter(const VariableSyntax &parameter, uint64_t offset);
  bool declareRegister(const RegisterSyntax &reg);
  bool declareVariable(const VariableSyntax &variable);

  /// Adds a label without a name; returns its number.
  uint32_t addLabel();
  /// The number of label `name`, or noTarget.
  uint32_t findLabel(std::string_view name);
  /// Says that label `number`, or `name` of the present scope, stands before
  /// the next instruction.
  void placeLabel(uint32_t number);
  void placeLabel(std::string_view name);
  uint32_t getPlace(uint32_t label) const { return labelPlaces[label]; }

  /// Lets a called function see `parameters` and what it declares only; returns
  /// what `leaveCall` is to be given.
  size_t enterCall(Scope parameters);
  void leaveCall(size_t entered);
  bool isInCall() const { return callDepth != 0; }
  unsigned getCallDepth() const { return callDepth; }

private:
  Symbol *placeInModule(std::string_view name);
  bool add(std::string_view name, const Symbol &symbol,
           const std::string &refusal);

  const Program &program;
  Kernel &kernel;
  SlotAllocator &slots;
  DecodeErrors &errors;
  std::vector<Scope> scopes;
  /// scopes below this one are invisible, in a function called from here.
  size_t firstVisibleScope = 0;
  unsigned callDepth = 0;
  std::vector<uint32_t> labelPlaces;
  /// Shared variables of the module that were named, once placed.
  Scope moduleShared;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_SYMBOLTABLE_H
