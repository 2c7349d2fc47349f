//===- Arguments.h - Arguments of a kernel from text ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the scalars, buffers and tensor maps that the command line
// of fusion-emulate describes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_EMULATE_ARGUMENTS_H
#define FUSION_TOOLS_FUSION_EMULATE_ARGUMENTS_H

#include "fusion-rt/Emulator/Emulator.h"
#include "fusion-rt/Emulator/TensorMap.h"

#include <cstdio>

namespace fusionemu {

/// One --arg or --buffer: a scalar, a buffer whose address is passed, or a
/// tensor map over a buffer.
struct Argument {
  enum class Kind : uint8_t { Scalar, Buffer, TensorMap };
  Kind kind = Kind::Scalar;
  bool isOutput = false;
  std::vector<uint8_t> bytes; ///< What the kernel gets.
  std::string name;           ///< Of the buffer.
  std::string fill, type;
  uint64_t size = 0, address = 0;
  TensorMapInfo map; ///< Its address is an offset in the buffer.
};

/// Reads the text of an --arg. On failure `error` says why.
bool parseArgument(const std::string &text, Argument &argument,
                   std::string &error);

enum class Preparation { Done, BadUsage, Failed };

/// Creates the buffers of both lists in `memory` and lays the arguments out in
/// `block` as the kernel wants them. On failure `status` is the error of the
/// emulator or `error` that of the user.
Preparation prepareArguments(std::vector<Argument> &arguments,
                             std::vector<Argument> &buffers,
                             const KernelInfo &kernel, Memory &memory,
                             std::vector<uint8_t> &block, std::string &error,
                             Status &status);

/// Prints "NAME: VALUE VALUE ..." for a buffer with these contents.
void printBuffer(const Argument &a, const std::vector<uint8_t> &bytes,
                 std::FILE *file);

/// The whole of `text` as an integer, in decimal or with 0x.
bool parseInteger(const std::string &text, int64_t &value);

/// The parts of `text` between the characters `at`.
std::vector<std::string> split(const std::string &text, char at);

} // namespace fusionemu

#endif // FUSION_TOOLS_FUSION_EMULATE_ARGUMENTS_H
