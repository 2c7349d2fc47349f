//===- Support.h - Small helpers of the emulator ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the emulator writes addresses and quotes errors, and
// how it lays out memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_SUPPORT_H
#define FUSION_LIB_RUNTIME_EMULATOR_SUPPORT_H

#include "fusion-rt/Emulator/Emulator.h"

#include <cstdio>
#include <string>

namespace fusionemu {

inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
  return text;
}

/// The message of an error without its code, to be quoted in another one.
inline std::string getReason(const Status &status) {
  const std::string &message = status.message();
  return message.substr(message.find(": ") + 2);
}

inline uint64_t alignUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_SUPPORT_H
