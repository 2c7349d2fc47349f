//===- PanelExchange.h - Words that the blocks of a panel exchange -*- C++ -*-//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the threads of a warp share out the words by which the
// blocks of a panel exchange what they have.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_PANELEXCHANGE_H
#define FUSION_LIB_CONVERSION_TILETONVVM_PANELEXCHANGE_H

#include "ProgramLowering.h"

namespace mlir::fusion {

/// Bytes of an element with the number of its exchange, and of the widest
/// access.
constexpr int64_t kWordBytes = 8, kWidestBytes = 16;
/// Bits of a thread's number that are its lane's.
constexpr unsigned kLaneBits = 5;
/// Words that a thread reads at a time, of two registers each.
constexpr int64_t kMostInFlight = 16;

/// How the threads of a warp share out the words of an exchange.
struct PanelDeal {
  /// Bits of the thread's number with what they add to the place of its words
  /// among those of the warp, and to the place of the warp's among the block's.
  SmallVector<std::pair<unsigned, uint64_t>> lanes, warps;
  /// Bits of the lane that the members are dealt out by.
  SmallVector<unsigned> dealt;
  /// Words of a thread, of a warp, and how many warps have words of their own.
  int64_t perThread = 1, perWarp = 1, numWarps = 1;
};

/// None when some element has no place of its own.
std::optional<PanelDeal> dealPanel(const tile::LinearLayout &layout,
                                   int64_t members);

/// How threads hold `type`; all have a scalar.
tile::LinearLayout getThreadLayout(Type type, int64_t numWarps);

/// Words of one access to `words` that lie side by side.
inline int64_t getWordsOfAccess(int64_t words) {
  return words % 2 == 0 ? kWidestBytes / kWordBytes : 1;
}

/// The words of `members` members, so many bytes apart, from `offset` bytes
/// after `first` on.
struct ProgramLowering::PanelRead {
  Value first, number;
  int64_t offset, memberBytes, perThread, members;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_PANELEXCHANGE_H
