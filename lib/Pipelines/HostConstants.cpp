//===- HostConstants.cpp - Constants as packages store them ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the conversion of constant tensors to stored bytes.
//
//===----------------------------------------------------------------------===//

#include "PackageBuilder.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::DType;

/// The bits of one element.
static uint64_t getBits(Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return cast<IntegerAttr>(element).getValue().getZExtValue();
}

FillPattern fusion::getFillPattern(Attribute element) {
  uint64_t bits = getBits(element);
  DType type = *getDType(cast<TypedAttr>(element).getType());
  // Two elements a byte.
  if (type == DType::I4)
    return {1, bits | bits << 4};
  return {fusionpkg::getStorageBits(type) / 8, bits};
}

/// Two elements of four bits a byte, the low half first.
static std::vector<char> packHalves(ArrayRef<char> elements) {
  std::vector<char> bytes((elements.size() + 1) / 2);
  for (auto [i, element] : llvm::enumerate(elements))
    bytes[i / 2] |= (element & 15) << (i % 2 * 4);
  return bytes;
}

static void appendBits(std::vector<char> &bytes, uint64_t bits,
                       unsigned width) {
  for (unsigned i = 0; i < width; ++i)
    bytes.push_back(static_cast<char>(bits >> (8 * i)));
}

/// The elements of an attribute that keeps them in the program's text.
static std::vector<char> getDenseBytes(DenseElementsAttr dense, DType type) {
  unsigned width = std::max(fusionpkg::getStorageBits(type) / 8, 1u);
  std::vector<char> bytes;
  bytes.reserve(dense.getNumElements() * width);
  if (dense.isSplat()) {
    uint64_t bits = getBits(dense.getSplatValue<Attribute>());
    for (int64_t i = 0; i < dense.getNumElements(); ++i)
      appendBits(bytes, bits, width);
  } else if (isa<FloatType>(dense.getElementType()) ||
             (type != DType::I1 && type != DType::I4)) {
    // Kept element by element in the order of the host, little end first.
    ArrayRef<char> raw = dense.getRawData();
    bytes.assign(raw.begin(), raw.end());
  } else {
    for (const APInt &element : dense.getValues<APInt>())
      appendBits(bytes, element.getZExtValue(), width);
  }
  return bytes;
}

FailureOr<std::vector<char>> fusion::getStoredBytes(ElementsAttr value,
                                                    Location loc) {
  std::optional<DType> type = getDType(value.getElementType());
  if (!type) {
    emitError(loc) << "FUS-4001: a constant has elements of type "
                   << value.getElementType()
                   << ", which packages do not store; use another type";
    return failure();
  }
  std::vector<char> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    bytes = getDenseBytes(dense, *type);
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    unsigned width = std::max(fusionpkg::getStorageBits(*type) / 8, 1u);
    if (!blob || blob->getData().size() !=
                     static_cast<size_t>(value.getNumElements()) * width) {
      emitError(loc) << "FUS-4002: the data of the constant '"
                     << resource.getRawHandle().getKey()
                     << "' is missing or has another size than its type";
      return failure();
    }
    bytes.assign(blob->getData().begin(), blob->getData().end());
  } else {
    emitError(loc) << "FUS-4001: packages cannot store a constant of this "
                      "kind; write it as a dense constant";
    return failure();
  }
  return *type == DType::I4 ? packHalves(bytes) : bytes;
}
