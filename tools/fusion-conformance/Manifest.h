//===- Manifest.h - What to run and what to expect --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the cases of a conformance manifest. The format is
// described in docs/TestingGuide.md.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_CONFORMANCE_MANIFEST_H
#define FUSION_TOOLS_FUSION_CONFORMANCE_MANIFEST_H

#include "Elements.h"
#include "fusion-rt/Emulator/Emulator.h"
#include "fusion-rt/Emulator/TensorMap.h"

#include <string>
#include <vector>

namespace conformance {

/// One kernel argument: a buffer, or a value passed as it is.
struct Argument {
  std::string name;
  const Element *element = nullptr;
  bool isBuffer = false;
  uint64_t count = 0; ///< Elements of a buffer.
  Fill fill;
  std::vector<uint8_t> value; ///< Of a scalar.
  /// Of a tensor map: the buffer that it is over, and all but its address.
  std::string mapBuffer;
  fusionemu::TensorMapInfo map;

  bool isMap() const { return !mapBuffer.empty(); }
};

/// When two results agree.
struct Expectation {
  bool exact = true;
  bool anyNaN = false; ///< Every NaN equals every other one.
  uint64_t ulp = 0;
  double absolute = 0, relative = 0;
};

/// What one launch is given. A case applies to every kernel of the module
/// whose whole name matches one of its patterns.
struct Case {
  unsigned line = 0;
  std::vector<std::string> patterns;
  fusionemu::Dim3 grid, block;
  uint32_t sharedBytes = 0;
  std::vector<Argument> arguments;
  Expectation expectation;
};

/// The tensor map `a` of `c` at the address of its buffer. `addresses` has one
/// element for each argument.
fusionemu::TensorMapInfo locateMap(const Case &c, const Argument &a,
                                   const std::vector<uint64_t> &addresses);

struct Manifest {
  std::string path; ///< Of the manifest.
  std::string name; ///< Without folders and extension: the group.
  std::string ptx;  ///< The path of the module.
  std::vector<Case> cases;
};

/// Reads a manifest. On failure `error` says "file:line: reason".
bool readManifest(const std::string &path, Manifest &manifest,
                  std::string &error);

/// The contents of a file; false when it cannot be read.
bool readFile(const std::string &path, std::string &text);

} // namespace conformance

#endif // FUSION_TOOLS_FUSION_CONFORMANCE_MANIFEST_H
