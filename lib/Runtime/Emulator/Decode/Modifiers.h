//===- Modifiers.h - Modifiers of an instruction -------------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the modifiers of one instruction.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_MODIFIERS_H
#define FUSION_LIB_RUNTIME_EMULATOR_MODIFIERS_H

#include "Operations.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace fusionemu {

/// The modifiers of one instruction. Each must be taken by who understands it,
/// so that nothing that matters is ever ignored.
class Modifiers {
public:
  explicit Modifiers(const std::vector<std::string_view> &list)
      : list(list), used(list.size(), false) {}
  bool take(std::string_view name);
  /// Takes the first that is in `names`; its index, or -1.
  int takeOneOf(std::initializer_list<std::string_view> names);
  /// Takes all that start with `prefix`; true if there were any.
  bool takePrefix(std::string_view prefix);
  /// Takes the next type in order, or None.
  Type takeType();
  /// Takes the next in order that names the type of a matrix, or None.
  MatrixType takeMatrixType();
  /// Takes .m16n8k16 and the like.
  bool takeMatrixShape(unsigned &m, unsigned &n, unsigned &k);
  /// Takes .rn, .rz, .rm, .rp; true if there was one.
  bool takeRound(Round &round);
  bool has(std::string_view name) const;
  bool allTaken() const;

private:
  const std::vector<std::string_view> &list;
  std::vector<bool> used;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_MODIFIERS_H
