//===- Families.h - Instructions by family -------------------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the functions that decode instructions, by family.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_FAMILIES_H
#define FUSION_LIB_RUNTIME_EMULATOR_FAMILIES_H

#include "Decode/InstructionDecoder.h"

#include <unordered_map>

namespace fusionemu {

/// Decodes the present instruction; false on error.
using DecodeFn = bool (*)(InstructionDecoder &);
/// By the instruction's name.
using DecodeTable = std::unordered_map<std::string_view, DecodeFn>;

void addIntegerDecoders(DecodeTable &table);
void addRareDecoders(DecodeTable &table);
void addFloatDecoders(DecodeTable &table);
void addMemoryDecoders(DecodeTable &table);
void addControlDecoders(DecodeTable &table);
void addMatrixDecoders(DecodeTable &table);
void addWgmmaDecoders(DecodeTable &table);
void addAsyncDecoders(DecodeTable &table);

//===----------------------------------------------------------------------===//
// What families share
//===----------------------------------------------------------------------===//

// DecodeBulk.cpp.
/// cp.bulk and cp.reduce.async.bulk.
bool decodeBulk(InstructionDecoder &d, bool reduces);
// DecodeAsync.cpp.
bool decodeClusterBarrier(InstructionDecoder &d);
bool decodeProxyFence(InstructionDecoder &d);
/// A slot of 64 bits with the address [...], computed before this instruction.
bool readAddress(InstructionDecoder &d, const Operand &o, Space space,
                 int32_t &slot);
bool readGroupCount(InstructionDecoder &d, const Operand &o, uint32_t &count);
// DecodeRare.cpp.
bool decodeCvtPack(InstructionDecoder &d);
bool decodeMadSaturated(InstructionDecoder &d);
// ExternalCalls.cpp.
/// A call of what has no body: what the host does for a kernel.
bool decodeExternalCall(InstructionDecoder &d, std::string_view name,
                        const std::vector<const Operand *> &results,
                        const std::vector<const Operand *> &arguments);
// DecodeFloat.cpp.
bool decodeFloatBinary(InstructionDecoder &d, Op op, Type type);
bool decodeFma(InstructionDecoder &d);
/// The flags that handlers of 16-bit floats find in aux.
uint32_t halfAux(FloatMode mode);
// StoreAsync.cpp.
/// st.async and red.async.
bool decodeStoreAsync(InstructionDecoder &d, bool reduces);
// DecodeMemory.cpp.
/// Completes what loads, stores and atomics share.
bool finishAccess(InstructionDecoder &d, Instruction &I, Type type,
                  unsigned count);
// DecodeMatrix.cpp.
/// Reads or writes `count` registers {a, b, ...} and appends their slots to
/// extraOperands, from `first`.
bool takeMatrixRegisters(InstructionDecoder &d, const Operand &operand,
                         unsigned count, unsigned bytes, bool writes,
                         uint32_t &first);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_FAMILIES_H
