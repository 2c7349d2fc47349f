//===- Targets.h - What the fuzzers run -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the bodies of the fuzz targets, which the unit tests run
// as well.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_TARGETS_H
#define FUSION_TEST_FUZZ_TARGETS_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace fusionfuzz {

/// Parses and decodes `data` as PTX and runs every kernel that asks for little.
/// Returns what contradicts the promises of the interface; empty if nothing.
std::string fuzzParser(const uint8_t *data, size_t size);

/// Runs the program that `data` stands for in several ways that must agree.
/// Returns how two of them differ; empty if they do not.
std::string fuzzExecution(const uint8_t *data, size_t size);

/// Reads `data` as a package, as it is and with its checksum repaired, writes
/// it again, and launches its entries on the emulator. Returns what contradicts
/// the promises of the runtime; empty if nothing.
std::string fuzzPackage(const uint8_t *data, size_t size);

/// Parses `data` behind its first byte as a .npy file of the element type that
/// the first byte names, and writes it again. Returns how the two differ.
std::string fuzzNpy(const uint8_t *data, size_t size);

/// Reads the lines of `data` as arguments of fusion-emulate and launches a
/// kernel with the buffers and tensor maps that they describe.
std::string fuzzEmulateCommandLine(const uint8_t *data, size_t size);

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_TARGETS_H
