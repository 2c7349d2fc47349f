//===- Disassemble.h - The machine code of kernels --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the machine code of a package's kernels becomes text.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_PACKAGE_DISASSEMBLE_H
#define FUSION_TOOLS_FUSION_PACKAGE_DISASSEMBLE_H

#include "OpenPackage.h"

namespace packagetool {

/// What nvdisasm prints of the modules of `kernels`, or of all kernels if there
/// are none. A module that has only PTX is assembled by ptxas first. On failure
/// `error` has a code.
std::string disassemble(const OpenPackage &package,
                        const std::vector<std::string> &kernels,
                        std::string &error);

} // namespace packagetool

#endif // FUSION_TOOLS_FUSION_PACKAGE_DISASSEMBLE_H
