//===- KernelDecoder.h - Syntax to instructions --------------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the decoder of a kernel: names become slots of a register
// file, modifiers become a choice of handler, calls become copies of the body.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_KERNELDECODER_H
#define FUSION_LIB_RUNTIME_EMULATOR_KERNELDECODER_H

#include "Decode/Families.h"

namespace fusionemu {

/// Turns one kernel's syntax into a Kernel.
class KernelDecoder {
public:
  /// `moduleDecoded` counts what the kernels of one module were decoded to.
  KernelDecoder(const Program &program, const FunctionSyntax &function,
                Kernel &kernel, size_t &moduleDecoded);
  /// False on error.
  bool run();
  const DecodeErrors &getErrors() const { return errors; }

private:
  void describe();
  bool layOutParameters();
  bool decodeBody(const FunctionSyntax &f);
  bool decodeItem(const FunctionSyntax &f, size_t number);
  bool decodeInstruction(const InstructionSyntax &instruction);
  /// Decodes the present instruction, a branch, a call or a return.
  bool decodeFlow(std::string_view name);
  bool decodeBra();
  bool decodeBrx();
  bool decodeExit(bool returns);
  bool decodeCall();
  /// The body of `callee`, with names for its parameters.
  bool decodeCallee(const FunctionSyntax &callee,
                    SymbolTable::Scope parameters);
  /// Adds what `formal` of a called function stands for to `parameters`.
  bool bind(const Operand &actual, const VariableSyntax &formal,
            SymbolTable::Scope &parameters);
  bool finish();

  const Program &program;
  const FunctionSyntax &function;
  Kernel &kernel;
  DecodeErrors errors;
  SlotAllocator slots;
  SymbolTable symbols;
  InstructionDecoder d;
  /// Where `ret` goes, in a called function; noTarget in the kernel.
  uint32_t returnLabel = noTarget;
  const FunctionSyntax *currentFunction = nullptr;
};

/// Places the points where the lanes of branches meet again.
void placeReconvergence(Kernel &kernel);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_KERNELDECODER_H
