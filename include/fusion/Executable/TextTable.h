//===- TextTable.h - Columns for terminals ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the runtime and the tools without LLVM lay out tables.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_TEXTTABLE_H
#define FUSION_EXECUTABLE_TEXTTABLE_H

#include <algorithm>
#include <string>
#include <vector>

namespace fusionpkg {

/// Rows of cells; the first `numLeft` columns go to the left, the others to
/// the right.
class TextTable {
public:
  explicit TextTable(size_t numLeft) : numLeft(numLeft) {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  /// A line a row, each indented by two.
  std::string str() const {
    std::vector<size_t> widths;
    for (const std::vector<std::string> &row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const std::vector<std::string> &row : rows) {
      text += "  ";
      for (size_t i = 0; i < row.size(); ++i) {
        std::string space(widths[i] - row[i].size(), ' ');
        if (i != 0)
          text += "  ";
        bool isLast = i + 1 == row.size();
        if (i < numLeft)
          text += row[i] + (isLast ? "" : space);
        else
          text += space + row[i];
      }
      text += "\n";
    }
    return text;
  }

private:
  size_t numLeft;
  std::vector<std::vector<std::string>> rows;
};

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_TEXTTABLE_H
