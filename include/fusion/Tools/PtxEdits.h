//===- PtxEdits.h - Planted faults in PTX -----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines mutation operators on PTX text: each edit plants one fault
// of a kind that a compiler makes (a barrier left out, a comparison off by one,
// an operand in the wrong place), so that it can be asked whether the checks
// find it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_PTXEDITS_H
#define FUSION_TOOLS_PTXEDITS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::fusion {

/// What an edit does to a statement.
enum class PtxEditKind : uint8_t {
  DropBarrier, ///< Leaves out a barrier, a fence, a wait or an arrival.
  DropStore,   ///< Leaves out a store, a reduction or a copy.
  Compare,     ///< lt for le, gt for ge, eq for ne, and back.
  Guard,       ///< @p for @!p, and back.
  Select,      ///< Exchanges the two values of selp.
  Opcode,      ///< add for sub, min for max, and for or, shl for shr, and back.
  Operands,    ///< Exchanges the last two operands where their order counts.
  Integer,     ///< Adds 1 to an integer constant that is no address offset.
  Float,       ///< Changes the exponent of a float constant by 1; where it is
               ///< moved as bits, 0 to -infinity.
  Address,     ///< Moves the address of a load or store by 16 bytes.
  Register,    ///< %tid.x for %laneid, %ctaid.x for %ctaid.y.
  Rounding,    ///< Converts rounding to zero instead of to nearest.
};
constexpr unsigned kNumPtxEditKinds = 12;

/// "drop-barrier", ...
llvm::StringRef getPtxEditKindName(PtxEditKind kind);

/// One edit: the statement at `offset` of the text, whose text is `before`, is
/// replaced by `after`, which may be empty.
struct PtxEdit {
  PtxEditKind kind = PtxEditKind::DropBarrier;
  /// 1-based.
  unsigned line = 0;
  size_t offset = 0;
  std::string before, after;
};

/// Every edit of `ptx`, in the order of the text.
std::vector<PtxEdit> findPtxEdits(llvm::StringRef ptx);

/// `ptx` with the edit made.
std::string applyPtxEdit(llvm::StringRef ptx, const PtxEdit &edit);

/// At most `count` of `edits`, drawn by `seed`, kinds in turns, so that a kind
/// of which there are few is not lost among the others. In the order of the
/// text.
std::vector<PtxEdit> samplePtxEdits(std::vector<PtxEdit> edits, unsigned count,
                                    uint64_t seed);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_PTXEDITS_H
