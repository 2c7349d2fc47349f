//===- TargetFile.h - Measured constants in files ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the text form of a chip's fitted constants: JSON with the
// version of the form, the chip, and constants by group and name. Those that
// the file does not have keep their values.
//
//   {"version": 1, "chip": "sm_90a", "fitted": {"loops": {"walkingShare":
//   0.6}}}
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_TARGETFILE_H
#define FUSION_PIPELINES_TARGETFILE_H

#include "fusion/Analysis/TargetInfo.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::fusion {

/// The constants of the file at `path` as `#fusion.target` has them. Fails,
/// with an error at `loc`, unless they are `target`'s.
FailureOr<DictionaryAttr>
readTargetFile(StringRef path, const TargetInfo &target, Location loc);

/// Writes all constants of `target`.
void writeTargetFile(const TargetInfo &target, raw_ostream &os);

} // namespace mlir::fusion

#endif // FUSION_PIPELINES_TARGETFILE_H
