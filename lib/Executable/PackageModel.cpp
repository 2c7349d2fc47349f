//===- PackageModel.cpp - What a package says -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the facts about element types and parameters, and the
// constants blob.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/PackageModel.h"
#include "fusion/Executable/Package.h"

#include <cstring>

namespace fusionpkg {

const char *getDTypeName(DType type) {
  switch (type) {
  case DType::F64:
    return "f64";
  case DType::F32:
    return "f32";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::F8E4M3:
    return "f8e4m3";
  case DType::F8E5M2:
    return "f8e5m2";
  case DType::I64:
    return "i64";
  case DType::I32:
    return "i32";
  case DType::I16:
    return "i16";
  case DType::I8:
    return "i8";
  case DType::I4:
    return "i4";
  case DType::I1:
    return "i1";
  }
  return "?";
}

bool isFloat(DType type) { return type <= DType::F8E5M2; }

unsigned getStorageBits(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
    return 64;
  case DType::F32:
  case DType::I32:
    return 32;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
    return 16;
  case DType::F8E4M3:
  case DType::F8E5M2:
  case DType::I8:
  case DType::I1:
    return 8;
  case DType::I4:
    return 4;
  }
  return 8;
}

std::optional<int64_t> getStorageBytes(DType type, int64_t elements) {
  unsigned bits = getStorageBits(type);
  if (bits < 8)
    return elements / 2 + elements % 2;
  return applyExprOp(ExprOp::Mul, elements, bits / 8);
}

ExprId buildStorageBytes(ExprPool &pool, DType type,
                         const std::vector<ExprId> &dims) {
  ExprId elements = pool.product(dims);
  unsigned bits = getStorageBits(type);
  if (bits < 8)
    return pool.ceilDiv(elements, pool.constant(8 / bits));
  return pool.mul(elements, pool.constant(bits / 8));
}

bool isOverwritten(const Entry &entry, uint32_t buffer) {
  const Buffer &memory = entry.buffers[buffer];
  if (memory.kind != BufferKind::Input)
    return false;
  for (const TensorSpec &output : entry.outputs)
    if (output.overwrites == memory.index)
      return true;
  return false;
}

unsigned getParamBytes(const Entry &entry, const Arg &arg) {
  switch (arg.kind) {
  case ArgKind::Buffer:
  case ArgKind::I64:
  case ArgKind::F64:
    return 8;
  case ArgKind::I32:
  case ArgKind::F32:
    return 4;
  case ArgKind::Scalar:
    return getStorageBits(entry.inputs[arg.index].dtype) / 8;
  case ArgKind::TensorMap:
    return 128;
  }
  return 8;
}

uint32_t PackageModel::addConstant(std::string name, const void *data,
                                   size_t size) {
  for (size_t i = 0; i < constants.size(); ++i)
    if (constants[i].size == size &&
        (size == 0 || std::memcmp(constantData.data() + constants[i].offset,
                                  data, size) == 0))
      return static_cast<uint32_t>(i);
  constantData.resize((constantData.size() + 15) / 16 * 16);
  uint64_t offset = constantData.size();
  const auto *bytes = static_cast<const uint8_t *>(data);
  constantData.insert(constantData.end(), bytes, bytes + size);
  constants.push_back({std::move(name), offset, size});
  return static_cast<uint32_t>(constants.size() - 1);
}

} // namespace fusionpkg
