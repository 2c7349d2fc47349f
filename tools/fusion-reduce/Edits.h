//===- Edits.h - Ways to make a program smaller -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the edits that fusion-reduce tries. Each changes one place
// of a program, whether or not the program then means anything: what breaks it
// does not verify and is dropped.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_REDUCE_EDITS_H
#define FUSION_TOOLS_FUSION_REDUCE_EDITS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <array>
#include <string>
#include <vector>

namespace mlir::fusion {

/// How large a program is, compared lexicographically: ops that compute, all
/// ops, arguments, results, elements of all tensors, characters. An op that
/// makes the space or the constant for another is not one that computes.
using ProgramSize = std::array<uint64_t, 6>;
ProgramSize measure(ModuleOp module);

/// Places that read what tensor.empty made and nothing wrote. A smaller program
/// must not have more of them: what it computes would be arbitrary.
unsigned countUninitialisedReads(ModuleOp module);

/// The module as text, in the form that people write.
std::string printProgram(ModuleOp module);

/// One kind of edit. `apply` makes the edit at the place of that number,
/// counted as in the program that is reduced, and returns false where there is
/// none.
struct EditKind {
  StringRef name;
  bool (*apply)(ModuleOp module, unsigned place);
};

/// The kinds, those that remove most first.
ArrayRef<EditKind> getEditKinds();

/// Removes ops that nothing uses, and arguments.
void removeUnused(ModuleOp module);

/// Replaces results of the ops [begin, end) of the first function, those with
/// results, by new arguments.
void cutOps(ModuleOp module, unsigned begin, unsigned end);
unsigned countOps(ModuleOp module);

/// Texts of the program with one of its sizes made smaller everywhere.
std::vector<std::string> shrinkSizes(StringRef text);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_FUSION_REDUCE_EDITS_H
