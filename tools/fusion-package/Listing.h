//===- Listing.h - What a package has ---------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the listing of a package, for people and as JSON, and its
// launches as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_PACKAGE_LISTING_H
#define FUSION_TOOLS_FUSION_PACKAGE_LISTING_H

#include "OpenPackage.h"

namespace packagetool {

std::string listAsText(const OpenPackage &package, const Dims &dims);
std::string listAsJson(const OpenPackage &package, const Dims &dims);
/// The entries alone: what is launched, in order, on which memory.
std::string planAsJson(const OpenPackage &package, const Dims &dims);

/// "f32[rows, 128]", with "by value" or what the tensor overwrites.
std::string describeTensor(const fusionpkg::Entry &entry,
                           const fusionpkg::TensorSpec &tensor,
                           const EntrySizes &sizes);
/// "launch exp_matmul, grid 16 x 1 x 1, block 128".
std::string describeStep(const fusionpkg::PackageModel &model,
                         const fusionpkg::Entry &entry,
                         const fusionpkg::Step &step, const EntrySizes &sizes);
/// What ptxas measured, or else what was predicted.
const fusionpkg::KernelResources &getResources(const fusionpkg::Kernel &kernel);
/// "64", "64 predicted", or "-" if unknown.
std::string describeRegisters(const fusionpkg::Kernel &kernel);

} // namespace packagetool

#endif // FUSION_TOOLS_FUSION_PACKAGE_LISTING_H
