//===- WgmmaIssue.cpp - wgmma from issue to wait --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the life of a wgmma: its checks and what it takes into
// use when it is issued, its result when it is waited for, and the agreement of
// the four warps of a warpgroup.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Matrix/Wgmma.h"

#include <algorithm>

using namespace fusionemu;

/// The value that all lanes must have in a 64-bit register.
static bool readUniform(Context &c, uint32_t operand, uint64_t &value) {
  const auto *lanes = c.slot<uint64_t>(c.kernel->extraOperands[operand]);
  value = lanes[0];
  for (unsigned i = 1; i < warpSize; ++i)
    if (lanes[i] != value) {
      fail(c, ErrorKind::BarrierDivergence, i,
           "has another matrix descriptor than the first thread of its warp");
      return false;
    }
  return true;
}

/// Calls f(offset, bytes) for the shared memory that a pending wgmma reads.
template <typename F>
static void forEachRange(const Kernel &kernel, const PendingWgmma &p, F f) {
  const WgmmaOp &op = kernel.wgmmas[p.index];
  if (op.countA == 0)
    forEachMatrixRange(decodeMatrixDescriptor(p.descriptorA), getExtentA(op),
                       f);
  forEachMatrixRange(decodeMatrixDescriptor(p.descriptorB), getExtentB(op), f);
}

/// Checks that an operand lies in the block's shared memory.
static bool checkOperand(Context &c, uint64_t bits, const MatrixExtent &extent,
                         const char *name) {
  if (const char *reason = validateMatrixDescriptor(bits)) {
    fail(c, ErrorKind::BadDescriptor, 0,
         std::string("uses a descriptor of ") + name + " that " + reason);
    return false;
  }
  uint64_t worst = 0;
  forEachMatrixRange(decodeMatrixDescriptor(bits), extent,
                     [&](uint32_t offset, uint32_t bytes) {
                       worst = std::max(worst, uint64_t(offset) + bytes);
                     });
  if (worst <= c.block->sharedBytes)
    return true;
  fail(c, ErrorKind::OutOfBounds, 0,
       std::string("multiplies a matrix ") + name + " that reaches byte " +
           std::to_string(worst) + " of shared memory, which has " +
           std::to_string(c.block->sharedBytes) + " bytes");
  return false;
}

/// What the current warp is about to issue, in the log of its warpgroup: a new
/// entry, or one that other warps made and that must be equal. Null after a
/// report.
static WgmmaLog::Entry *findEntry(Context &c, const PendingWgmma &p,
                                  bool &isFirst) {
  Warp &w = *c.warp;
  WgmmaLog &log = c.block->wgmmaLogs[w.index / 4];
  uint64_t at = w.wgmmaIssued - log.first;
  isFirst = at == log.entries.size();
  if (isFirst) {
    log.entries.push_back({p});
    return &log.entries.back();
  }
  WgmmaLog::Entry &entry = log.entries[at];
  if (entry.op.pc == p.pc && entry.op.descriptorA == p.descriptorA &&
      entry.op.descriptorB == p.descriptorB && entry.op.scaleD == p.scaleD)
    return &entry;
  fail(c, ErrorKind::BarrierDivergence, 0,
       "issues another wgmma than the other warps of its warpgroup, which "
       "came to " +
           describePlace(c, entry.op.pc) +
           (entry.op.pc == p.pc ? " with other operands" : ""));
  return nullptr;
}

static void markRegisters(const Kernel &kernel, Warp &w, uint32_t first,
                          uint32_t count, uint8_t use) {
  for (uint32_t k = 0; k < count; ++k)
    w.registerUse[kernel.extraOperands[first + k] / 32] |= use;
}

/// Takes the registers of all pending wgmmas into use, and no others.
static void remarkRegisters(const Kernel &kernel, Warp &w) {
  std::fill_n(w.registerUse, kernel.fileBytes / 32 + 1, uint8_t(0));
  for (const PendingWgmma &p : w.wgmmas) {
    const WgmmaOp &op = kernel.wgmmas[p.index];
    markRegisters(kernel, w, op.firstA, op.countA, wgmmaReads);
    markRegisters(kernel, w, op.firstD, op.countD, wgmmaAccumulates);
  }
}

/// Whether an accumulator in flight belongs to a wgmma of the same shape, which
/// the hardware keeps in order by itself.
static bool isSameAccumulator(const Kernel &kernel, const Warp &w,
                              const WgmmaOp &op) {
  for (const PendingWgmma &p : w.wgmmas) {
    const WgmmaOp &other = kernel.wgmmas[p.index];
    bool overlaps = false, same = other.countD == op.countD;
    for (uint32_t i = 0; i < op.countD; ++i) {
      int32_t slot = kernel.extraOperands[op.firstD + i];
      same = same && kernel.extraOperands[other.firstD + i] == slot;
      for (uint32_t k = 0; k < other.countD && !overlaps; ++k)
        overlaps = kernel.extraOperands[other.firstD + k] == slot;
    }
    if (overlaps && !(same && other.n == op.n && other.d == op.d))
      return false;
  }
  return true;
}

/// Checks the registers of a wgmma against those in flight and against writes
/// that no wgmma.fence has ordered. False after a report.
static bool checkRegisters(Context &c, const WgmmaOp &op) {
  Warp &w = *c.warp;
  const Kernel &kernel = *c.kernel;
  if (!c.checkAsync)
    return true;
  if (w.wgmmaFence == 0) {
    fail(c, ErrorKind::MissingFence, 0,
         "comes to its first wgmma without a wgmma.fence before it");
    return false;
  }
  auto check = [&](uint32_t first, uint32_t count, bool isD) {
    for (uint32_t k = 0; k < count; ++k) {
      uint32_t at = uint32_t(kernel.extraOperands[first + k]) / 32;
      const char *what = isD ? "accumulates into" : "takes fragments of A from";
      // Fragments of A that others only read are no matter.
      uint64_t access = w.registerWrite[at];
      bool isRead = access & readFlag;
      if (timeOf(access) > w.wgmmaFence && (isD || !isRead)) {
        fail(c, ErrorKind::MissingFence, 0,
             std::string(what) + " a register that was " +
                 (isRead ? "read" : "written") +
                 " with no wgmma.fence in between");
        return false;
      }
      uint8_t use = w.registerUse[at];
      if (isD ? (use & wgmmaReads) != 0 : (use & wgmmaAccumulates) != 0) {
        fail(c, ErrorKind::InFlight, 0,
             std::string(what) +
                 " a register that another wgmma in flight uses otherwise");
        return false;
      }
    }
    return true;
  };
  if (!check(op.firstA, op.countA, false) || !check(op.firstD, op.countD, true))
    return false;
  if (isSameAccumulator(kernel, w, op))
    return true;
  fail(c, ErrorKind::InFlight, 0,
       "accumulates into registers of a wgmma in flight that has another "
       "shape");
  return false;
}

static unsigned getBytes(TensorMapSwizzle swizzle) {
  switch (swizzle) {
  case TensorMapSwizzle::None:
    return 0;
  case TensorMapSwizzle::B32:
    return 32;
  case TensorMapSwizzle::B64:
    return 64;
  default:
    return 128;
  }
}

/// Checks that a descriptor speaks of the swizzle with which a tensor copy laid
/// the bytes at its start, if it was one that wrote them last. False after a
/// report.
static bool checkSwizzle(Context &c, uint64_t bits, const char *name) {
  MatrixDescriptor d = decodeMatrixDescriptor(bits);
  const auto &tiles = c.block->cluster->tiles[c.block->rank];
  auto it = tiles.upper_bound(d.start);
  // Without the detector of races nobody knows who wrote last.
  if (!c.checkAsync || !c.checkSharedRaces || it == tiles.begin() ||
      (--it)->second.end <= d.start ||
      !(c.block->sharedWriter[d.start >> c.kernel->sharedGranuleShift] &
        proxyWriter))
    return true;
  unsigned swizzle = getBytes(it->second.swizzle);
  if (swizzle == d.swizzle)
    return true;
  auto describe = [](unsigned bytes) {
    return bytes == 0 ? std::string("no swizzle")
                      : "a swizzle of " + std::to_string(bytes) + " bytes";
  };
  fail(c, ErrorKind::BadDescriptor, 0,
       std::string("uses a descriptor of ") + name + " with " +
           describe(d.swizzle) + " for shared memory at " +
           std::to_string(d.start) + ", where " +
           describePlace(c, it->second.pc) + " has brought a tile with " +
           describe(swizzle));
  return false;
}

/// Checks the shared memory of a wgmma. False after a report.
static bool checkOperands(Context &c, const PendingWgmma &p) {
  bool fine = true;
  forEachRange(*c.kernel, p, [&](uint32_t offset, uint32_t bytes) {
    fine = fine && checkAsyncShared(c, 0, *c.block, offset, bytes,
                                    SharedUse::WgmmaRead);
  });
  const WgmmaOp &op = c.kernel->wgmmas[p.index];
  return fine && (op.countA != 0 || checkSwizzle(c, p.descriptorA, "A")) &&
         checkSwizzle(c, p.descriptorB, "B");
}

static void compute(Context &c, Warp &w, PendingWgmma &p) {
  if (p.done)
    return;
  computeWgmma(c, w, c.kernel->wgmmas[p.index], p.descriptorA, p.descriptorB,
               p.scaleD, *c.block);
  p.done = true;
}

Next fusionemu::wgmmaIssue(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  Warp &w = *c.warp;
  const WgmmaOp &op = c.kernel->wgmmas[I.aux];
  if (w.index / 4 * 4 + 4 > c.block->numWarps)
    return fail(c, ErrorKind::BarrierDivergence, 0,
                "is not in a warpgroup of four warps");
  PendingWgmma p;
  p.index = I.aux;
  p.pc = c.here();
  p.group = w.wgmmaGroups;
  if (op.countA == 0 && (!readUniform(c, op.descriptorA, p.descriptorA) ||
                         !checkOperand(c, p.descriptorA, getExtentA(op), "A")))
    return Next::Fail;
  if (!readUniform(c, op.descriptorB, p.descriptorB) ||
      !checkOperand(c, p.descriptorB, getExtentB(op), "B"))
    return Next::Fail;
  uint32_t scale = c.preds[op.scaleD] ^ (op.scaleDNegated ? ~0u : 0u);
  if (scale != 0 && scale != ~0u)
    return fail(c, ErrorKind::BarrierDivergence,
                unsigned(__builtin_ctz(scale & 1 ? ~scale : scale)),
                "has another scale-d than the first thread of its warp");
  p.scaleD = scale != 0;
  // Nobody waits for what is issued without end.
  constexpr size_t maxPending = 4096;
  if (w.wgmmas.size() >= maxPending)
    return fail(c, ErrorKind::InFlight, 0,
                "has " + std::to_string(maxPending) +
                    " wgmmas in flight: wgmma.wait_group is missing");
  bool isFirst = false;
  if (!findEntry(c, p, isFirst) || !checkRegisters(c, op) ||
      !checkOperands(c, p))
    return Next::Fail;
  if (isFirst) {
    forEachRange(*c.kernel, p, [&](uint32_t offset, uint32_t bytes) {
      markReading(*c.block, offset, bytes, 1);
    });
    ++c.block->inFlight;
  }
  ++w.wgmmaIssued;
  markRegisters(*c.kernel, w, op.firstA, op.countA, wgmmaReads);
  markRegisters(*c.kernel, w, op.firstD, op.countD, wgmmaAccumulates);
  w.wgmmas.push_back(p);
  ++c.events;
  if (!c.isLate)
    compute(c, w, w.wgmmas.back());
  return Next::Continue;
}

Next fusionemu::wgmmaFence(Context &c, const Instruction &) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  c.warp->wgmmaFence = c.warp->registerTime;
  return Next::Continue;
}

Next fusionemu::wgmmaCommit(Context &c, const Instruction &) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  ++c.warp->wgmmaGroups;
  return Next::Continue;
}

/// How many wgmmas all warps of a warpgroup must have issued before this warp
/// can have waited for those that its wait is about.
static uint64_t countDue(const Warp &w, uint32_t keep) {
  uint64_t due = w.wgmmaIssued - w.wgmmas.size();
  for (const PendingWgmma &p : w.wgmmas)
    due += int64_t(p.group) < int64_t(w.wgmmaGroups) - int64_t(keep);
  return due;
}

static bool hasGroupIssued(const Block &block, const Warp &w, uint64_t due) {
  for (unsigned i = 0; i < 4; ++i)
    if (block.warps[w.index / 4 * 4 + i].wgmmaIssued < due)
      return false;
  return true;
}

/// Ends wgmma `number` for the current warp. It is one operation of four warps:
/// when the first of them has waited, all four have read their operands, and
/// any of the four may tell others so.
static void finish(Context &c, WgmmaLog::Entry &entry, uint64_t number) {
  Warp &w = *c.warp;
  if (!entry.released) {
    for (unsigned i = 0; i < 4; ++i) {
      Warp &other = c.block->warps[w.index / 4 * 4 + i];
      uint64_t first = other.wgmmaIssued - other.wgmmas.size();
      compute(c, other, other.wgmmas[number - first]);
    }
    entry.released = true;
    entry.agent = w.agent;
    entry.time = w.clock[w.agent] = tick(*c.block->cluster);
    forEachRange(*c.kernel, entry.op, [&](uint32_t offset, uint32_t bytes) {
      markReading(*c.block, offset, bytes, -1);
      recordAsyncRead(*c.block, w, offset, bytes);
    });
    --c.block->inFlight;
  }
  w.clock[entry.agent] = std::max(w.clock[entry.agent], entry.time);
}

/// Forgets wgmmas that all warps of the warpgroup have waited for.
static void dropFinished(Block &block, unsigned group) {
  WgmmaLog &log = block.wgmmaLogs[group];
  uint64_t least = ~uint64_t(0);
  for (unsigned i = 0; i < 4; ++i) {
    const Warp &w = block.warps[group * 4 + i];
    least = std::min(least, w.wgmmaIssued - w.wgmmas.size());
  }
  for (; log.first < least; ++log.first)
    log.entries.pop_front();
}

Next fusionemu::wgmmaWait(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  Warp &w = *c.warp;
  if (w.wgmmas.empty())
    return Next::Continue;
  uint64_t due = countDue(w, I.aux);
  if (!hasGroupIssued(*c.block, w, due)) {
    Fragment &f = w.fragments[w.current];
    f.state = Fragment::State::WarpGroup;
    f.waitsFor = I.aux;
    f.exec = c.exec;
    f.pc = c.here();
    return Next::Switch;
  }
  size_t count = size_t(due - (w.wgmmaIssued - w.wgmmas.size()));
  if (count == 0)
    return Next::Continue;
  WgmmaLog &log = c.block->wgmmaLogs[w.index / 4];
  uint64_t number = w.wgmmaIssued - w.wgmmas.size();
  for (size_t i = 0; i < count; ++i)
    finish(c, log.entries[number + i - log.first], number + i);
  // What follows the wait comes after the reads that it waited for.
  w.clock[w.agent] = tick(*c.block->cluster);
  w.wgmmas.erase(w.wgmmas.begin(), w.wgmmas.begin() + std::ptrdiff_t(count));
  remarkRegisters(*c.kernel, w);
  dropFinished(*c.block, w.index / 4);
  return Next::Continue;
}

bool fusionemu::checkWgmmasAtEnd(Context &c, Block &block) {
  for (unsigned i = 0; i < block.numWarps; ++i) {
    Warp &w = block.warps[i];
    if (w.wgmmas.empty())
      continue;
    c.block = &block;
    c.warp = &w;
    c.pc = w.wgmmas.front().pc + 1;
    fail(c, ErrorKind::InFlight, warpSize,
         "exits with a wgmma in flight: wgmma.wait_group is missing");
    return false;
  }
  return true;
}

bool fusionemu::releaseWarpgroups(Block &block) {
  bool any = false;
  for (unsigned i = 0; i < block.numWarps; ++i) {
    Warp &w = block.warps[i];
    for (unsigned k = 0; k < w.numFragments; ++k) {
      Fragment &f = w.fragments[k];
      if (f.state != Fragment::State::WarpGroup ||
          !hasGroupIssued(block, w, countDue(w, f.waitsFor)))
        continue;
      f.state = Fragment::State::Ready;
      any = true;
    }
  }
  return any;
}
