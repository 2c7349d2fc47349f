//===- InstructionDecoder.h - Operands of an instruction ------ -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the decoding of an instruction is made of: its
// modifiers, the slots of its operands, and what it becomes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_INSTRUCTIONDECODER_H
#define FUSION_LIB_RUNTIME_EMULATOR_INSTRUCTIONDECODER_H

#include "Decode/Modifiers.h"
#include "Decode/SymbolTable.h"

namespace fusionemu {

/// One instruction at a time, of one kernel.
class InstructionDecoder {
public:
  /// `moduleDecoded` counts what the kernels of one module were decoded to.
  InstructionDecoder(const Program &program, Kernel &kernel,
                     DecodeErrors &errors, SlotAllocator &slots,
                     SymbolTable &symbols, size_t &moduleDecoded);

  /// Makes `instruction` the present one; its guard holds for what is made.
  bool begin(const InstructionSyntax &instruction, Modifiers &own);
  /// Makes `instruction`, which was begun before, the present one again.
  void resume(const InstructionSyntax &instruction, Modifiers &own);
  /// Notes what registers the instruction names, with the part of it that is
  /// guarded; its code begins at `firstCode`.
  void recordUses(size_t firstCode);

  const InstructionSyntax &getSyntax() const { return *syntax; }
  Modifiers &getModifiers() { return *modifiers; }
  Kernel &getKernel() { return kernel; }
  const HandlerTable &getHandlers() const { return handlers; }
  bool isGuarded() const { return guard != truePredicate || guardXor != 0; }

  // Errors. Each returns false.
  bool failSyntax(std::string reason) {
    return errors.failSyntax(std::move(reason));
  }
  bool failUnsupported(std::string reason) {
    return errors.failUnsupported(std::move(reason));
  }
  bool failInstruction() { return errors.failInstruction(); }
  bool hasFailed() const { return errors.hasFailed(); }
  /// Counts work; false when a kernel or the module asks for too much.
  bool countDecoded(size_t steps);

  // Operands.
  bool needOperands(size_t least, size_t most);
  const Operand &operand(size_t i) const { return syntax->operands[i]; }
  Symbol *lookUp(std::string_view name) { return symbols.lookUp(name); }
  /// The register operand `operand`, or null: its symbol.
  Symbol *registerOf(const Operand &operand);
  int32_t allocateRegister(unsigned bytes) {
    return slots.allocateRegister(bytes);
  }
  int32_t constantSlot(unsigned bytes, uint64_t low) {
    return slots.constantSlot(bytes, low);
  }
  /// A slot with the value of an operand, `getSize(type)` bytes wide.
  bool read(const Operand &operand, Type type, int32_t &slot);
  bool readSized(const Operand &operand, unsigned bytes, bool isSigned,
                 bool isFloat, int32_t &slot);
  /// A slot to write; a register of another size is filled afterwards.
  bool write(const Operand &operand, Type type, int32_t &slot);
  bool writeSized(const Operand &operand, unsigned bytes, bool isSigned,
                  int32_t &slot);
  /// Replaces `slot` by one with its value in `to` bytes instead of `from`,
  /// computed before this instruction, whatever its guard.
  bool resizeSlot(int32_t &slot, unsigned from, unsigned to, bool isSigned);
  /// Appends slots to Kernel::extraOperands; the index of the first.
  uint32_t keepSlots(const std::vector<int32_t> &added);
  bool readPredicate(const Operand &operand, int32_t &predicate, bool &negated);
  bool writePredicate(const Operand &operand, int32_t &predicate);
  bool readImmediate(const Operand &operand, uint64_t &value);
  bool resolveAddress(const Operand &operand, Instruction &I, Space space);

  // Emission.
  Instruction make(Handler handler) const;
  bool emit(const Instruction &I);
  bool emitAll(const Instruction &I);
  /// Decodes handler(dst, a[, b[, c]]) with one type for all operands.
  bool emitSimple(Handler handler, Type type, unsigned sources,
                  uint32_t aux = 0);
  /// Notes a reduction into global memory; true when all of them so far are of
  /// one `kind`, which is not 0.
  bool noteReduction(uint32_t kind);

private:
  bool readVariable(const Operand &operand, const Symbol &symbol,
                    unsigned bytes, int32_t &slot);
  bool readSpecial(std::string_view name, unsigned &bytes, int32_t &slot);
  /// Clocks change while a warp runs and are read anew each time.
  bool readClock(bool is64, int32_t &slot);
  bool resolveRegister(const Operand &operand, const Symbol &symbol,
                       Instruction &I);
  bool resolveVariable(const Operand &operand, const Symbol &symbol,
                       Instruction &I);

  Kernel &kernel;
  DecodeErrors &errors;
  SlotAllocator &slots;
  SymbolTable &symbols;
  const HandlerTable &handlers;

  const InstructionSyntax *syntax = nullptr;
  Modifiers *modifiers = nullptr;
  uint32_t guard = truePredicate, guardXor = 0;
  std::vector<Instruction> pending;
  /// Registers that the instruction has named so far.
  std::vector<RegisterUse> uses;
  /// Steps of bodies decoded, those of called functions each time.
  size_t decoded = 0;
  size_t &moduleDecoded;
  /// The last reduction into global memory; 0 for none.
  uint32_t globalReduction = 0;
};

/// The elements of {a, b, ...}, or the operand itself.
std::vector<const Operand *> partsOf(const Operand &operand);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_INSTRUCTIONDECODER_H
