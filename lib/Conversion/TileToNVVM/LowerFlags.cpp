//===- LowerFlags.cpp - Lists of flags that are set -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements lists of the flags that are set in shared memory. Each
// warp counts all of them, so that all threads know how many there are without
// telling each other: a lane has as many bytes as any other, one behind the
// other, as bits of a few words. The first warp writes the list.
//
//===----------------------------------------------------------------------===//

#include "OpEmitter.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;

/// Bits of a word that flags are gathered in, and flags that four bytes are.
static constexpr int32_t kWordBits = 32, kFlagsOfWord = 4;

/// Bytes of 0 and 1, times this: the bit of each, in their order, is one of the
/// four highest, and no sum of others reaches these.
static constexpr int32_t kGather = (1 << 28) | (1 << 21) | (1 << 14) | (1 << 7);

namespace {
/// Builds one list.
class FlagLister : public OpEmitter {
public:
  FlagLister(ProgramLowering &lowering, tile::ListFlagsOp op)
      : OpEmitter(lowering), op(op), i32(builder.getI32Type()),
        ofLane(static_cast<int32_t>(op.getFlags().getType().getShape()[0]) /
               kWarpThreads) {}

  /// Writes the list; returns how many numbers it has.
  Value emit();

private:
  Value constant(int32_t value) { return builder.constant32(value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, a, b); }
  Value multiply(Value value, int32_t factor) {
    return arith::MulIOp::create(builder, value, constant(factor));
  }
  /// The lane's flags as bits of words.
  void load();
  /// The bits of four flags, the lowest of a word.
  Value gather(Value bytes);
  /// The sum of `own` over the lanes up to this one.
  Value scan(Value own);
  /// Writes the numbers of the bits of `word`, of which the lowest is flag
  /// `first` of all, at `place` of the list on.
  void write(Value word, Value first, Value place);

  tile::ListFlagsOp op;
  Type i32;
  /// Flags of a lane.
  int32_t ofLane;
  Value lane;
  SmallVector<Value> words, counts;
};
} // namespace

Value FlagLister::gather(Value bytes) {
  return arith::ShRUIOp::create(builder, multiply(bytes, kGather),
                                constant(kWordBits - kFlagsOfWord));
}

void FlagLister::load() {
  SharedPlace place = sharedMemory.getPlace(op.getFlags());
  Value offset = multiply(lane, ofLane);
  int32_t each = std::min<int32_t>(ofLane, kMaxAccessBytes);
  unsigned count = each / kFlagsOfWord;
  Type type = count == 1 ? i32 : Type(VectorType::get(count, i32));
  for (int32_t begin = 0; begin < ofLane; begin += each) {
    Value address =
        sharedMemory.getAddress(place, offset, /*xorPart=*/0, begin);
    Value loaded = LLVM::LoadOp::create(builder, type, address, each);
    for (unsigned i = 0; i < count; ++i) {
      Value bits =
          gather(count == 1 ? loaded : builder.extractElement(loaded, i));
      int32_t first = (begin + kFlagsOfWord * i) % kWordBits;
      if (first == 0) {
        words.push_back(bits);
        continue;
      }
      bits = arith::ShLIOp::create(builder, bits, constant(first));
      words.back() = arith::OrIOp::create(builder, words.back(), bits);
    }
  }
}

Value FlagLister::scan(Value own) {
  Value sum = own;
  for (int32_t distance = 1; distance < kWarpThreads; distance *= 2) {
    Value other = builder.shuffle(sum, constant(distance), NVVM::ShflKind::up);
    Value adds = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, lane,
                                       constant(distance));
    other = arith::SelectOp::create(builder, adds, other, constant(0));
    sum = add(sum, other);
  }
  return sum;
}

void FlagLister::write(Value word, Value first, Value place) {
  SharedPlace list = sharedMemory.getPlace(op.getList());
  auto loop = scf::WhileOp::create(
      builder, TypeRange{i32, i32}, ValueRange{word, place},
      [&](OpBuilder &, Location, ValueRange state) {
        Value goesOn = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                             state[0], constant(0));
        scf::ConditionOp::create(builder, goesOn, state);
      },
      [&](OpBuilder &, Location, ValueRange state) {
        Value bit = LLVM::CountTrailingZerosOp::create(
            builder, i32, state[0], /*is_zero_poison=*/false);
        constexpr int32_t bytes = sizeof(int32_t);
        LLVM::StoreOp::create(
            builder, add(first, bit),
            sharedMemory.getAddress(list, multiply(state[1], bytes)), bytes);
        Value less = arith::SubIOp::create(builder, state[0], constant(1));
        scf::YieldOp::create(
            builder, ValueRange{arith::AndIOp::create(builder, state[0], less),
                                add(state[1], constant(1))});
      });
  builder.setInsertionPointAfter(loop);
}

Value FlagLister::emit() {
  lane = threads.getLane();
  load();
  Value own = constant(0);
  for (Value word : words) {
    counts.push_back(LLVM::CtPopOp::create(builder, i32, word));
    own = add(own, counts.back());
  }
  Value sum = scan(own);
  Value total =
      builder.shuffle(sum, constant(kWarpThreads - 1), NVVM::ShflKind::idx);
  builder.ifThread(builder.isEqual(threads.getWarp(), 0), [&] {
    Value place = arith::SubIOp::create(builder, sum, own);
    Value first = multiply(lane, ofLane);
    for (auto [i, word] : llvm::enumerate(words)) {
      write(word, add(first, constant(kWordBits * static_cast<int32_t>(i))),
            place);
      place = add(place, counts[i]);
    }
  });
  return total;
}

namespace {
struct ListFlagsLowering : public TileOpLowering<tile::ListFlagsOp> {
  LogicalResult lower(tile::ListFlagsOp op,
                      ProgramLowering &lowering) const override {
    Value total = FlagLister(lowering, op).emit();
    lowering.set(op.getCount(), {lowering.getBuilder().toIndex(total)});
    return success();
  }
};

struct LocalElementLowering : public TileOpLowering<tile::LocalElementOp> {
  LogicalResult lower(tile::LocalElementOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

LogicalResult LocalElementLowering::lower(tile::LocalElementOp op,
                                          ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  SharedMemory &sharedMemory = lowering.getSharedMemory();
  auto bytes = static_cast<int32_t>(
      op.getBuffer().getType().getLayout().getShared().elementBytes());
  Value offset = arith::MulIOp::create(
      builder, builder.toI32(lowering.getScalar(op.getNumber())),
      builder.constant32(bytes));
  Value address =
      sharedMemory.getAddress(sharedMemory.getPlace(op.getBuffer()), offset);
  lowering.set(op.getResult(),
               {LLVM::LoadOp::create(builder, op.getType(), address, bytes)});
  return success();
}

void mlir::fusion::populateFlagLowerings(LoweringSet &lowerings) {
  lowerings.add<ListFlagsLowering, LocalElementLowering>();
}
