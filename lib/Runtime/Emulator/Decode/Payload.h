//===- Payload.h - Literals of payload mode ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines which integer stands for a floating-point literal in
// payload mode; Exec/Payload.cpp has the instructions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_PAYLOAD_H
#define FUSION_LIB_RUNTIME_EMULATOR_PAYLOAD_H

#include "Operations.h"

namespace fusionemu {

/// The payload of `value` in a register of `bytes` bytes: an integral value is
/// itself, one beyond the range of the register, infinities included, the
/// integer at that end, and any other a hash of at most 15 bits with its sign.
uint64_t getPayload(double value, unsigned bytes);

/// The integers that stand for a type of plain floats; other types are theirs.
Type getPayloadType(Type type);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_PAYLOAD_H
