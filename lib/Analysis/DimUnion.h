//===- DimUnion.h - Classes of loops and dimensions -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the union-find by which loops and dimensions of tensors
// become those of one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_ANALYSIS_DIMUNION_H
#define FUSION_LIB_ANALYSIS_DIMUNION_H

#include "llvm/ADT/DenseSet.h"
#include <utility>
#include <vector>

namespace mlir::fusion {

/// Union-find over loops and tensor dimensions, whose classes hold at most one
/// slot of each owner: two loops of one node, or two dimensions of one tensor,
/// never share a class; x + transpose(x) keeps two.
template <typename Owner>
class DimUnion {
public:
  /// Adds a slot of `owner`; returns it.
  unsigned add(Owner owner) {
    slots.push_back({static_cast<unsigned>(slots.size()), {}});
    slots.back().owners.insert(owner);
    return slots.size() - 1;
  }

  unsigned find(unsigned slot) {
    while (slots[slot].parent != slot)
      slot = slots[slot].parent = slots[slots[slot].parent].parent;
    return slot;
  }

  /// Merges two classes unless an owner would then be in the class twice.
  void merge(unsigned a, unsigned b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return;
    if (slots[a].owners.size() < slots[b].owners.size())
      std::swap(a, b);
    for (Owner owner : slots[b].owners)
      if (slots[a].owners.contains(owner))
        return;
    for (Owner owner : slots[b].owners)
      slots[a].owners.insert(owner);
    slots[b].owners.clear();
    slots[b].parent = a;
  }

private:
  struct Slot {
    unsigned parent;
    llvm::SmallDenseSet<Owner, 4> owners;
  };
  std::vector<Slot> slots;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_ANALYSIS_DIMUNION_H
