//===- Extract.h - Parts of a package as files ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how parts of a package become files.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_PACKAGE_EXTRACT_H
#define FUSION_TOOLS_FUSION_PACKAGE_EXTRACT_H

#include "OpenPackage.h"

namespace packagetool {

/// A file to write: its name within a folder, and what is in it.
struct Part {
  std::string name, bytes;
};

/// The words of --part.
constexpr const char *kParts = "ptx|cubin|ledger|plan|source";

/// What `part`, or every part if that is empty, of the kernels `kernels` is.
/// Kernels of one module share a file, named after the first of them. `error`
/// has a code where there is nothing of what was asked for.
std::vector<Part> collectParts(const OpenPackage &package,
                               const std::string &part,
                               const std::vector<std::string> &kernels,
                               const Dims &dims, std::string &error);

/// Makes the folder `folder` with all of `parts` in it. It must not exist or be
/// empty, so that after an error, which has a code, it is as it was.
std::string writeFolder(const std::string &folder,
                        const std::vector<Part> &parts);

} // namespace packagetool

#endif // FUSION_TOOLS_FUSION_PACKAGE_EXTRACT_H
