//===- PtxStatements.h - Statements of PTX text -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what mutation operators know of PTX: the shape of a
// statement (guard, opcode with its modifiers, operands) and the types of
// registers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TOOLS_PTXSTATEMENTS_H
#define FUSION_LIB_TOOLS_PTXSTATEMENTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <optional>
#include <vector>

namespace mlir::fusion::ptx {

/// One statement, `@!%p1 add.s32 %r1, %r2, 1;`, without its semicolon.
struct Statement {
  unsigned line = 0;
  size_t offset = 0;
  StringRef text;
  /// "@!%p1" or empty.
  StringRef guard;
  /// "add.s32" and what it is split into at the dots.
  StringRef opcode;
  SmallVector<StringRef> parts;
  /// Operands as written; vectors and addresses are one each.
  SmallVector<StringRef> operands;

  StringRef name() const { return parts.front(); }
  bool has(StringRef part) const { return llvm::is_contained(parts, part); }
};

/// Reads the statement that `text` is, nothing for a directive or a label.
std::optional<Statement> parseStatement(StringRef text);

/// The statements of the bodies of all entries and functions.
std::vector<Statement> findStatements(StringRef ptx);

/// The registers that an operand names: itself, or the elements of a vector.
/// Empty if it is anything else.
SmallVector<StringRef> getRegisters(StringRef operand);

/// The types of registers by name, "b32", as they are declared in the text.
class RegisterTypes {
public:
  explicit RegisterTypes(StringRef ptx);
  /// Empty if the name is not declared, or as several types.
  StringRef lookup(StringRef name) const;

private:
  void add(StringRef name, StringRef type);

  /// Under "%r<" for a numbered family.
  llvm::StringMap<StringRef> types;
};

/// The registers that hold floats: operands of float arithmetic, and what is
/// moved or selected from or to one.
llvm::StringSet<> findFloatRegisters(ArrayRef<Statement> statements);

} // namespace mlir::fusion::ptx

#endif // FUSION_LIB_TOOLS_PTXSTATEMENTS_H
