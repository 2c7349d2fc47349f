//===- OpenPackage.h - A package to look at ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a package as fusion-package looks at it: read and checked,
// with its expressions evaluated for sizes that the user chose.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_PACKAGE_OPENPACKAGE_H
#define FUSION_TOOLS_FUSION_PACKAGE_OPENPACKAGE_H

#include "fusion/Executable/Package.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace packagetool {

using Dims = std::map<std::string, int64_t>;

/// What sizes have that the user does not give, as in the compiler's reports.
constexpr int64_t kAssumedSize = 1024;

/// A package and the file that it is in.
struct OpenPackage {
  std::string path;
  fusionpkg::PackageModel model;
  uint32_t formatVersion = 0;
  uint64_t bytes = 0; ///< Of the file.

  /// The number of the kernel called `name`.
  std::optional<size_t> findKernel(const std::string &name) const;
  /// Numbers of the kernels called `names`, or of all if there are none.
  /// `error` has a code where there is none of a name.
  std::vector<size_t> findKernels(const std::vector<std::string> &names,
                                  std::string &error) const;
};

/// Reads the package in `path`. On failure `error` has a code.
std::optional<OpenPackage> openPackage(const std::string &path,
                                       std::string &error);

/// The values of an entry's expressions for sizes that are given by name, or
/// assumed.
class EntrySizes {
public:
  EntrySizes(const fusionpkg::Entry &entry, const Dims &dims);

  /// -1 where `id` is none or has no value.
  int64_t get(fusionpkg::ExprId id) const;
  /// "ceildiv(rows, 64) = 16", "16", or "1" for none.
  std::string print(fusionpkg::ExprId id) const;
  /// The same without its value.
  std::string printSymbolic(fusionpkg::ExprId id) const;
  /// Bytes of the temporaries at once; -1 if unknown.
  int64_t getWorkspaceBytes() const;
  int64_t getSymbol(size_t number) const { return symbols[number]; }

private:
  const fusionpkg::Entry &entry;
  std::vector<int64_t> symbols;
  std::vector<std::string> names;
  fusionpkg::ExprValues values;
};

/// 1234567 as "1.23 MB", "unknown" below 0.
std::string formatBytes(int64_t bytes);
/// 3.5 as "3.50 us", "unknown" below 0.
std::string formatMicroseconds(double microseconds);

} // namespace packagetool

#endif // FUSION_TOOLS_FUSION_PACKAGE_OPENPACKAGE_H
