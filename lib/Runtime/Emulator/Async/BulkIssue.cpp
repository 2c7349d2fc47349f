//===- BulkIssue.cpp - What a bulk copy moves -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the issue of cp.async.bulk: the operands of one lane
// become a BulkCopy, for tensors by way of their tensor map.
//
//===----------------------------------------------------------------------===//

#include "Async/Bulk.h"
#include "Decode/Payload.h"
#include "Machine/Launch.h"
#include "Support.h"

#include <cstring>

using namespace fusionemu;

namespace {
/// The operands of one lane of one instruction.
class BulkOperands {
public:
  BulkOperands(Context &c, const Instruction &I, unsigned lane)
      : c(c), form(c.kernel->bulkForms[I.aux]),
        slots(&c.kernel->extraOperands[I.target]), lane(lane) {}

  bool has(unsigned i) const { return slots[i] >= 0; }
  uint64_t address(unsigned i) const {
    return c.slot<uint64_t>(slots[i])[lane];
  }
  uint32_t word(unsigned i) const { return c.slot<uint32_t>(slots[i])[lane]; }

  bool build(BulkCopy &copy);

private:
  bool refuse(const std::string &why) {
    fail(c, ErrorKind::BadDescriptor, lane, why);
    return false;
  }
  bool findDestination(BulkCopy &copy, uint32_t align);
  bool findSource(BulkCopy &copy, uint32_t align);
  bool findMBarrier(BulkCopy &copy);
  bool buildPlain(BulkCopy &copy);
  bool buildTensor(BulkCopy &copy);
  bool findReduction(BulkCopy &copy);
  bool readMap(TensorMapInfo &map);

  Context &c;
  const BulkForm &form;
  const int32_t *slots;
  unsigned lane;
  Block *receiver = nullptr;
};
} // namespace

/// The places of operands in extraOperands.
enum : unsigned {
  atDestination,
  atSource,
  atSize,
  atMBarrier,
  atMask,
  atCoordinates,
  atOffsets = atCoordinates + 5,
};

bool BulkOperands::findDestination(BulkCopy &copy, uint32_t align) {
  uint64_t offset = 0;
  receiver = findShared(c, form.destinationSpace, address(atDestination), lane,
                        copy.bytes, align, "copies to", offset);
  if (!receiver)
    return false;
  copy.shared = uint32_t(offset);
  copy.targets = uint16_t(1u << receiver->rank);
  if (!has(atMask))
    return true;
  uint32_t mask = word(atMask) & 0xffff;
  if (mask == 0 || mask >> c.block->cluster->size)
    return refuse("sends a multicast to blocks " + std::to_string(mask) +
                  " (a bit for each) of a cluster of " +
                  std::to_string(c.block->cluster->size));
  copy.targets = uint16_t(mask);
  return true;
}

bool BulkOperands::findSource(BulkCopy &copy, uint32_t align) {
  uint64_t offset = 0;
  Block *block = findShared(c, form.sourceSpace, address(atSource), lane,
                            copy.bytes, align, "copies from", offset);
  if (!block)
    return false;
  if (block != c.block)
    return refuse("copies from the shared memory of another block");
  if (copy.kind == BulkCopy::Kind::Share)
    copy.source = uint32_t(offset);
  else
    copy.shared = uint32_t(offset);
  return true;
}

bool BulkOperands::findMBarrier(BulkCopy &copy) {
  uint64_t offset = 0;
  Block *block = findShared(c, form.mbarrierSpace, address(atMBarrier), lane, 8,
                            8, "signals", offset);
  if (!block)
    return false;
  // A multicast signals at the same offset in each block that receives.
  if (!has(atMask) && block != receiver)
    return refuse(
        "signals an mbarrier in block " + std::to_string(block->rank) +
        " of the cluster for bytes in block " + std::to_string(receiver->rank));
  copy.signals = true;
  copy.mbarrier = uint32_t(offset);
  return true;
}

bool BulkOperands::buildPlain(BulkCopy &copy) {
  constexpr uint32_t align = 16;
  copy.bytes = word(atSize);
  if (copy.bytes % align != 0)
    return refuse("copies " + std::to_string(copy.bytes) +
                  " bytes, which is not a multiple of 16");
  if (form.direction != BulkForm::Direction::Store &&
      (!findDestination(copy, align) || !findMBarrier(copy)))
    return false;
  if (form.direction != BulkForm::Direction::Load && !findSource(copy, align))
    return false;
  if (form.direction == BulkForm::Direction::Share)
    return true;
  uint64_t global = address(
      form.direction == BulkForm::Direction::Load ? atSource : atDestination);
  if (global % align != 0) {
    failGlobal(c, lane, global, align,
               form.direction == BulkForm::Direction::Load ? "reads"
                                                           : "writes");
    return false;
  }
  if (copy.bytes != 0)
    copy.runs.push_back({global, copy.shared, copy.bytes, false});
  return true;
}

/// Reads the tensor map of the instruction, wherever it lies.
bool BulkOperands::readMap(TensorMapInfo &map) {
  unsigned at =
      form.direction == BulkForm::Direction::Load ? atSource : atDestination;
  uint64_t where = address(at);
  if (where % tensorMapAlign != 0)
    return refuse("takes a tensor map at an address that is not a multiple of "
                  "64");
  const uint8_t *bytes = nullptr;
  if (where - paramWindow < windowBytes) {
    uint64_t offset = where - paramWindow;
    if (offset + tensorMapBytes > c.paramBytes) {
      failSpace(c, lane, "parameter", offset, c.paramBytes, tensorMapBytes,
                "reads");
      return false;
    }
    bytes = c.params + offset;
  } else {
    bytes =
        accessGlobal(c, lane, where, tensorMapBytes, AccessMode::StrongRead);
    if (!bytes)
      return false;
  }
  Status status = decodeTensorMap(bytes, map);
  if (status.ok())
    return true;
  fail(c, ErrorKind::BadTensorMap, lane,
       "takes a bad tensor map: " + getReason(status));
  return false;
}

/// The type that reduces the elements of a tensor with `op`, or None.
static Type typeToReduce(TensorMapType type, Op op) {
  bool isBitwise = op == Op::And || op == Op::Or || op == Op::Xor;
  switch (type) {
  case TensorMapType::U32:
    return Type::U32;
  case TensorMapType::S32:
    return Type::S32;
  case TensorMapType::U64:
    return Type::U64;
  case TensorMapType::S64:
    return isBitwise ? Type::U64 : Type::S64;
  case TensorMapType::F16:
    return Type::F16;
  case TensorMapType::BF16:
    return Type::BF16;
  case TensorMapType::F32:
  case TensorMapType::F32Ftz:
    return Type::F32;
  case TensorMapType::F64:
    return Type::F64;
  default:
    return Type::None;
  }
}

/// The elements of a tensor have the type that its map says.
bool BulkOperands::findReduction(BulkCopy &copy) {
  Type type = typeToReduce(copy.map.type, copy.op);
  copy.type = form.payload ? getPayloadType(type) : type;
  if (canReduce(copy.op, type))
    return true;
  return refuse(std::string("cannot reduce a tensor of ") +
                getTypeName(copy.map.type) + " with this operation");
}

bool BulkOperands::buildTensor(BulkCopy &copy) {
  copy.isTensor = true;
  if (!readMap(copy.map))
    return false;
  uint64_t extent = getBoxExtent(copy.map);
  if (extent > c.block->sharedBytes && !form.isPrefetch)
    return refuse("copies a box of " + std::to_string(extent) +
                  " bytes, but the block has " +
                  std::to_string(c.block->sharedBytes) +
                  " bytes of shared memory");
  copy.bytes = uint32_t(getBoxBytes(copy.map));
  if (copy.reduces && !findReduction(copy))
    return false;
  int32_t coordinates[5] = {};
  uint16_t offsets[3] = {};
  for (unsigned i = 0; i < form.rank; ++i)
    coordinates[i] = int32_t(word(atCoordinates + i));
  for (unsigned i = 0; i < 3; ++i)
    if (has(atOffsets + i))
      offsets[i] = uint16_t(word(atOffsets + i));
  bool isStore = form.direction == BulkForm::Direction::Store;
  if (!form.isPrefetch &&
      !(isStore ? findSource(copy, tensorCopySharedAlign)
                : findDestination(copy, tensorCopySharedAlign) &&
                      findMBarrier(copy)))
    return false;
  std::vector<CopyRun> runs;
  Status status = form.isIm2col
                      ? expandIm2col(copy.map, coordinates, form.rank, offsets,
                                     isStore, copy.shared, runs)
                      : expandTile(copy.map, coordinates, form.rank, isStore,
                                   copy.shared, runs);
  if (status.ok() && isStore)
    status = checkTensorStore(copy.map, coordinates, form.rank);
  if (!status.ok())
    return refuse("cannot copy with its tensor map: " + getReason(status));
  for (const CopyRun &run : runs) {
    if (isStore && run.fill)
      continue;
    if (!form.isPrefetch &&
        uint64_t(run.sharedOffset) + run.bytes > c.block->sharedBytes) {
      fail(c, ErrorKind::OutOfBounds, lane,
           "copies a box that reaches byte " +
               std::to_string(uint64_t(run.sharedOffset) + run.bytes) +
               " of shared memory, which has " +
               std::to_string(c.block->sharedBytes) + " bytes");
      return false;
    }
    copy.runs.push_back(
        {run.globalAddress, run.sharedOffset, run.bytes, run.fill});
    SharedRange *last = copy.ranges.empty() ? nullptr : &copy.ranges.back();
    if (last && last->begin + last->bytes == run.sharedOffset)
      last->bytes += run.bytes;
    else
      copy.ranges.push_back({run.sharedOffset, run.bytes});
  }
  return true;
}

bool BulkOperands::build(BulkCopy &copy) {
  copy.lane = uint8_t(lane);
  copy.kind = form.direction == BulkForm::Direction::Load ? BulkCopy::Kind::Load
              : form.direction == BulkForm::Direction::Store
                  ? BulkCopy::Kind::Store
                  : BulkCopy::Kind::Share;
  copy.reduces = form.reduces;
  copy.op = Op(form.op);
  copy.type = Type(form.type);
  return form.isTensor ? buildTensor(copy) : buildPlain(copy);
}

/// aux is an index in Kernel::bulkForms, target the first of its operands in
/// extraOperands.
Next fusionemu::bulkCopy(Context &c, const Instruction &I) {
  const BulkForm &form = c.kernel->bulkForms[I.aux];
  for (uint32_t r = c.exec; r; r &= r - 1) {
    BulkCopy copy;
    if (!BulkOperands(c, I, unsigned(__builtin_ctz(r))).build(copy))
      return Next::Fail;
    // What a prefetch would bring to a cache is not seen here.
    if (form.isPrefetch || copy.bytes == 0)
      continue;
    if (!issueBulkCopy(c, std::move(copy)))
      return Next::Fail;
  }
  return Next::Continue;
}
