//===- OpKeys.cpp - What tells operations from each other -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the keys of operations.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/OpKeys.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// What a number or address is of, where that may differ.
enum Kind : uintptr_t { Inside, Constant, Outside };

/// Writes a key from front to back: each part says how long it is.
class KeyWriter {
public:
  void write(Operation *op, DictionaryAttr attributes);

  OpKey key;

private:
  void add(const void *address) {
    key.push_back(reinterpret_cast<uintptr_t>(address));
  }
  void writeRead(Value value);
  /// A value that `op` or its blocks define.
  void define(Value value) {
    add(value.getType().getAsOpaquePointer());
    values.try_emplace(value, values.size());
  }
  void write(Region &region);

  DenseMap<Value, unsigned> values;
  DenseMap<Block *, unsigned> blocks;
};
} // namespace

void KeyWriter::writeRead(Value value) {
  Attribute constant;
  if (auto known = values.find(value); known != values.end()) {
    key.insert(key.end(), {Inside, known->second});
  } else if (matchPattern(value, m_Constant(&constant))) {
    key.push_back(Constant);
    add(constant.getAsOpaquePointer());
  } else {
    key.push_back(Outside);
    add(value.getType().getAsOpaquePointer());
  }
}

void KeyWriter::write(Region &region) {
  key.push_back(region.getBlocks().size());
  for (Block &block : region) {
    blocks.try_emplace(&block, blocks.size());
    key.push_back(block.getNumArguments());
    for (Value argument : block.getArguments())
      define(argument);
  }
  for (Block &block : region) {
    key.push_back(block.getOperations().size());
    for (Operation &op : block)
      write(&op, op.getAttrDictionary());
  }
}

void KeyWriter::write(Operation *op, DictionaryAttr attributes) {
  add(op->getName().getAsOpaquePointer());
  add(attributes.getAsOpaquePointer());
  key.insert(key.end(), {op->getNumOperands(), op->getNumResults(),
                         op->getNumSuccessors(), op->getNumRegions()});
  for (Value operand : op->getOperands())
    writeRead(operand);
  for (Value result : op->getResults())
    define(result);
  for (Block *successor : op->getSuccessors())
    key.push_back(blocks.lookup(successor));
  for (Region &region : op->getRegions())
    write(region);
}

OpKey fusion::getKey(Operation *op, ArrayRef<StringRef> ignored) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (StringRef name : ignored)
    attributes.erase(name);
  KeyWriter writer;
  // Of what is around it this alone counts.
  writer.key.push_back(allowsTF32(op));
  writer.write(op, attributes.getDictionary(op->getContext()));
  return std::move(writer.key);
}

std::optional<OpKey> fusion::getKernelKey(KernelOp kernel) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  if (!llvm::all_of(kernel->getOperandTypes(), isStatic) ||
      !llvm::all_of(kernel->getResultTypes(), isStatic))
    return std::nullopt;
  return getKey(kernel, kernel.getKernelNameAttrName().getValue());
}
