//===- TranslateToPTX.h - LLVM dialect to PTX text --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the translation of a module in the LLVM dialect to PTX
// text through LLVM's NVPTX backend.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_PTX_TRANSLATETOPTX_H
#define FUSION_TARGET_PTX_TRANSLATETOPTX_H

#include "fusion/Support/DefaultChip.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace mlir {
class DialectRegistry;
class Operation;

namespace fusion {

/// How to write PTX. Everything that changes the text is in here: equal
/// options and an equal module give equal text.
struct PTXOptions {
  /// The chip to generate for, as `ptxas -arch` spells it.
  std::string chip = kDefaultChip.str();
  /// The PTX ISA version times ten; 0 takes `defaultPTXVersion(chip)`.
  unsigned ptxVersion = 0;
  /// LLVM's optimisation level, 0 to 3.
  unsigned optLevel = 3;
  /// Emit .loc directives for operations that have a file location.
  bool lineInfo = true;
};

/// One chip that the PTX writer knows.
struct PTXChip {
  StringRef name;
  /// The lowest PTX ISA version (times ten) that knows the chip.
  unsigned minVersion;
  /// The version written unless the caller asks for another: high enough for
  /// every instruction that the compiler emits for this chip and no higher, so
  /// that older drivers load the text.
  unsigned defaultVersion;
};

/// Every chip that `translateToPTX` accepts, by name.
ArrayRef<PTXChip> getPTXChips();

/// The entry for `chip`, or null when it is unknown.
const PTXChip *lookupPTXChip(StringRef chip);

/// Registers what `translateToPTX` needs of MLIR's LLVM IR export. A pass
/// that translates must call this from `getDependentDialects`.
void registerPTXTranslations(DialectRegistry &registry);

/// Translates `module`, a gpu.module or builtin.module that holds only the
/// LLVM dialect and NVVM operations, to PTX. The module is not changed. On
/// failure an error with a FUS code has been emitted at the offending place.
/// Safe to call from several threads at once.
FailureOr<std::string> translateToPTX(Operation *module,
                                      const PTXOptions &options);

} // namespace fusion
} // namespace mlir

#endif // FUSION_TARGET_PTX_TRANSLATETOPTX_H
