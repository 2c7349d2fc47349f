//===- RandomInputs.cpp - Inputs that nobody chose ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the drawing of inputs.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/RandomInputs.h"

#include "Random.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>

using namespace mlir::fusion;

static double nextSpecial(Random &random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kSpecial[] = {0.0,       -0.0, kInfinity, -kInfinity,
                                 kNaN,      1.0,  -1.0,      0x1p-24,
                                 -0x1p-149, 2.0,  -0.5,      0x1p15};
  return kSpecial[random.nextInt(0, std::size(kSpecial) - 1)];
}

static void fill(HostTensor &tensor, const RandomInputOptions &options,
                 Random &random) {
  int64_t count = tensor.getNumElements();
  if (isFloat(tensor) && options.floatBits) {
    for (uint64_t i = 0; i < tensor.getNumBytes(); ++i)
      tensor.data()[i] = static_cast<uint8_t>(random.next());
    return;
  }
  if (isFloat(tensor)) {
    for (int64_t i = 0; i < count; ++i)
      tensor.setDouble(i, options.floatStd * random.nextNormal());
    if (options.specialShare > 0)
      for (int64_t i = 0; i < count; ++i)
        if (random.nextUniform() < options.specialShare)
          tensor.setDouble(i, nextSpecial(random));
    if (options.infinityShare > 0)
      for (int64_t i = 0; i < count; ++i)
        if (random.nextUniform() < options.infinityShare)
          tensor.setDouble(i, std::numeric_limits<double>::infinity());
    return;
  }
  unsigned bits = tensor.getDType() == DType::I1
                      ? 1
                      : fusionpkg::getStorageBits(tensor.getDType());
  int64_t least = tensor.getDType() == DType::I1 ? 0 : INT64_MIN >> (64 - bits);
  int64_t most = tensor.getDType() == DType::I1 ? 1 : INT64_MAX >> (64 - bits);
  int64_t low = std::clamp(options.intLow, least, most);
  int64_t high = std::clamp(options.intHigh, least, most);
  for (int64_t i = 0; i < count; ++i)
    tensor.setInteger(i, random.nextInt(low, high));
}

RandomInputError mlir::fusion::drawInputs(const Signature &signature,
                                          const RandomInputOptions &options,
                                          std::vector<HostTensor> &inputs,
                                          std::string &message) {
  inputs.clear();
  std::map<std::string, int64_t> sizes;
  std::map<std::string, bool> isUsed;
  Random random(options.seed, /*stream=*/0);
  std::vector<std::vector<int64_t>> shapes;
  for (auto [index, input] : llvm::enumerate(signature.inputs)) {
    std::vector<int64_t> shape = input.shape;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const std::string &name = input.dimNames[dim];
      std::string position =
          "arg" + std::to_string(index) + "." + std::to_string(dim);
      isUsed[name] = isUsed[position] = true;
      auto given = options.dims.find(position);
      if (given == options.dims.end())
        given = options.dims.find(name);
      if (shape[dim] != TensorSignature::kDynamic) {
        if (given != options.dims.end() && given->second != shape[dim]) {
          message = "'" + given->first + "' is fixed at " +
                    std::to_string(shape[dim]);
          return RandomInputError::BadDim;
        }
        continue;
      }
      // One draw for each new name, in the order of the signature.
      auto [it, isNew] = sizes.try_emplace(name, 0);
      if (given != options.dims.end()) {
        if (!isNew && it->second != given->second) {
          message = "'" + name + "' is given two sizes, " +
                    std::to_string(it->second) + " and " +
                    std::to_string(given->second);
          return RandomInputError::BadDim;
        }
        it->second = given->second;
      } else if (isNew) {
        it->second = random.nextSize();
      }
      shape[dim] = it->second;
    }
    if (!countBytes(input.dtype, shape)) {
      message = "input " + std::to_string(index) + " of type " +
                input.getTypeString() + " has too many bytes with these sizes";
      return RandomInputError::Overflow;
    }
    shapes.push_back(std::move(shape));
  }
  for (const auto &[name, size] : options.dims)
    if (!isUsed.count(name)) {
      message = "no argument has an extent named '" + name + "'";
      return RandomInputError::BadDim;
    }
  for (size_t i = 0; i < shapes.size(); ++i) {
    HostTensor tensor = createTensor(signature.inputs[i].dtype, shapes[i]);
    Random values(options.seed, /*stream=*/i + 1);
    fill(tensor, options, values);
    if (auto known = options.scalars.find(i); known != options.scalars.end())
      tensor.setInteger(0, known->second);
    inputs.push_back(std::move(tensor));
  }
  return RandomInputError::None;
}
