//===- CompilerTargets.h - What the compiler's fuzzers run ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the bodies of the fuzz targets that need the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_COMPILERTARGETS_H
#define FUSION_TEST_FUZZ_COMPILERTARGETS_H

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace fusionfuzz {

/// Compiles `data`, MLIR text, for a target that follows from its size, and
/// runs the package on the emulator. Returns what contradicts the promises of
/// the compiler: a refusal without an error, a package that is not one.
std::string fuzzProgram(const uint8_t *data, size_t size);

/// Runs fusion-compile or fusion-run, whichever the first line of `data` names,
/// with the other lines as arguments, up to the tool itself.
std::string fuzzCommandLine(const uint8_t *data, size_t size);

/// A program with some of its tokens replaced, by their like or by others,
/// lines left out, doubled or exchanged.
std::string alterProgram(const std::string &text, std::mt19937 &random);

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_COMPILERTARGETS_H
