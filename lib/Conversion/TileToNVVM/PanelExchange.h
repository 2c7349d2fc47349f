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

#include "OpEmitter.h"
#include "fusion/Support/Hardware.h"
#include "fusion/Support/PanelFormat.h"

namespace mlir::fusion {

/// Bytes of an element with the number of its exchange, and of the widest
/// access.
constexpr int64_t kWordBytes = kPanelWordBytes, kWidestBytes = kMaxAccessBytes;
/// Bytes before the words of an exchange in a cluster, for its barrier, and of
/// a word that are sent there.
constexpr int64_t kHeadBytes = kPanelHeadBytes, kSentBytes = 4;
/// Words that a thread reads at a time, of two registers each.
constexpr int64_t kMostInFlight = 16;

/// True when what a panel exchanges through is shared memory of the blocks of a
/// cluster, and not memory of the launch.
inline bool isClusterMemory(Value memory) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(memory.getType());
  return pointer &&
         pointer.getAddressSpace() == unsigned(NVVM::NVVMMemorySpace::Shared);
}

/// How the threads of a warp share out the words of an exchange.
struct PanelDeal {
  /// Which threads hold which elements.
  tile::LinearLayout layout;
  /// Bits of the thread's number with what they add to the place of its words
  /// among those of the warp, and to the place of the warp's among the block's.
  SmallVector<std::pair<unsigned, uint64_t>> lanes, warps;
  /// Bits of the lane that the members are dealt out by.
  SmallVector<unsigned> dealt;
  /// Words of a threads.getThread(), of a warp, and how many warps have words
  /// of their own.
  int64_t perThread = 1, perWarp = 1, numWarps = 1;
};

/// Words of one access to `words` that lie side by side.
inline int64_t getWordsOfAccess(int64_t words) {
  return words % 2 == 0 ? kWidestBytes / kWordBytes : 1;
}

/// Emits an error when some element has no place of its own.
FailureOr<PanelDeal> dealPanel(const ProgramLowering &lowering, Operation *op,
                               ValueRange values, int64_t members);

/// The words of `members` members, so many bytes apart, from `offset` bytes
/// after `first` on.
struct PanelRead {
  Value first, number;
  int64_t offset, memberBytes, perThread, members;
};

/// The exchange of one operation: where a thread's words lie, how it writes its
/// own and which warps take part.
class PanelExchange : public OpEmitter {
protected:
  /// An exchange of `values`; `states` words of an element lie side by side.
  template <typename OpTy>
  PanelExchange(ProgramLowering &lowering, OpTy op, const PanelDeal &deal,
                ValueRange values, int64_t states)
      : OpEmitter(lowering), deal(deal), states(states),
        perThread(deal.perThread * states),
        members(static_cast<int64_t>(op.getMembers())),
        dealers(int64_t(1) << deal.dealt.size()),
        memberBytes(deal.perWarp * states * kWordBytes), values(values),
        memory(op.getMemory()), panel(op.getPanel()), turn(op.getTurn()),
        copies(static_cast<int64_t>(op.getCopies())),
        firstByte(static_cast<int64_t>(op.getOffset())),
        panelBytes(static_cast<int64_t>(op.getBytes())),
        inCluster(isClusterMemory(memory)) {
    if constexpr (!std::is_same_v<OpTy, tile::PanelPublishOp>) {
      byOwners = op.getByOwners();
      combiner = &op.getCombiner();
    }
  }

  Value index(int64_t value) { return builder.constantIndex(value); }
  Value add(Value a, Value b);
  Value times(Value value, int64_t factor);
  Scalars combine(const Scalars &left, const Scalars &right) {
    return lowering.combine(*combiner, left, right);
  }

  /// Computes `number` and `place`.
  void findPlace();
  /// The number of the lane among those that share the members of an element.
  Value getRank();
  /// The address of the thread's words among those of `member`.
  Value getWords(Value member);
  /// Writes the thread's `scalars` as words that lie side by side, from
  /// `offset` bytes after `address` on.
  void store(Value address, int64_t offset, ArrayRef<Value> scalars);
  /// Reads words of an exchange until all of them are there.
  Scalars readPanel(const PanelRead &read);
  /// Reads words that other blocks of the cluster have sent, once all have.
  Scalars readSent(const PanelRead &read);
  /// The bits of a scalar in the lower part of the integer `type`.
  Value toBits(Value scalar, Type type);
  /// The words of a result of inline assembly.
  Scalars unpackWords(Value all, int64_t words);
  /// Sends the thread's `scalars` to all blocks of the cluster.
  void send(Value address, int64_t offset, ArrayRef<Value> scalars);
  /// The element that `word` of an exchange has in its lower half.
  Value takeFromWord(Value word, Type element);
  /// Lets the first of the threads with the same elements do `publish`.
  void publishOnce(llvm::function_ref<void()> publish);
  /// What `exchange` gives; where only owners take part, others have `others`.
  Scalars runExchange(const Scalars &others,
                      llvm::function_ref<Scalars()> exchange);

  const PanelDeal &deal;
  /// Words of an element, and of a threads.getThread(), side by side; members.
  int64_t states, perThread, members;
  /// Lanes that share the members of an element, and bytes between the words of
  /// two members.
  int64_t dealers, memberBytes;
  ValueRange values;
  /// The number of the exchange; bytes from the start of the memory to the
  /// thread's words among those of member 0.
  Value number, place;

private:
  Scalars runByOwners(const Scalars &others, llvm::function_ref<Scalars()> run);

  Value memory, panel, turn;
  int64_t copies, firstByte, panelBytes;
  bool byOwners = false, inCluster;
  /// None of what is only written.
  Region *combiner = nullptr;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_PANELEXCHANGE_H
