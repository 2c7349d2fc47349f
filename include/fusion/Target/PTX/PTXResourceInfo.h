//===- PTXResourceInfo.h - What ptxas says of a kernel ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the read-back of a kernel's resources from ptxas.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_PTX_PTXRESOURCEINFO_H
#define FUSION_TARGET_PTX_PTXRESOURCEINFO_H

#include "fusion/Support/DefaultChip.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::fusion {

/// What ptxas reports of one kernel.
struct PTXKernelResources {
  std::string name;
  /// Registers of 32 bits a thread.
  unsigned registers = 0;
  unsigned barriers = 0;
  /// Bytes a thread of local memory, and of it what spilled registers cost.
  uint64_t stackBytes = 0;
  uint64_t spillStoreBytes = 0;
  uint64_t spillLoadBytes = 0;
  /// Bytes a block of shared memory that the text declares with a size.
  uint64_t staticSharedBytes = 0;
  /// Performance advisories that name this kernel, as ptxas words them, e.g.
  /// "(C7510) Potential Performance Loss: ...".
  std::vector<std::string> advisories;

  bool spills() const { return spillStoreBytes != 0 || spillLoadBytes != 0; }
};

/// What ptxas reports of one PTX text.
struct PTXResourceInfo {
  /// In the order of ptxas' report.
  std::vector<PTXKernelResources> kernels;
  /// Advisories that name no kernel.
  std::vector<std::string> advisories;
  /// The assembled binary, when it was asked for.
  std::vector<char> cubin;

  /// The entry for `kernel`, or null.
  const PTXKernelResources *lookup(StringRef kernel) const;
};

/// How to run ptxas.
struct PTXAssemblerOptions {
  /// The chip, as in PTXOptions.
  std::string chip = kDefaultChip.str();
  /// The program; empty takes `findPTXAssembler()`.
  std::string assembler;
  unsigned optLevel = 3;
  /// Keep line tables in the binary.
  bool lineInfo = true;
  /// Return the binary, too.
  bool keepCubin = false;
  /// ptxas is ended after this many seconds; 0 waits for ever.
  unsigned timeoutSeconds = 300;
};

/// The path of ptxas: on PATH, then below CUDA_HOME, CUDA_PATH and
/// /usr/local/cuda. Empty when there is none.
std::string findPTXAssembler();

/// Parses what `ptxas -v` wrote for entry functions.
PTXResourceInfo parsePTXAssemblerLog(StringRef log);

/// Assembles `ptx` and returns what ptxas reports. A machine without ptxas
/// gives `std::nullopt`, a text that ptxas refuses an error with its words.
llvm::Expected<std::optional<PTXResourceInfo>>
readPTXResources(StringRef ptx, const PTXAssemblerOptions &options);

} // namespace mlir::fusion

#endif // FUSION_TARGET_PTX_PTXRESOURCEINFO_H
