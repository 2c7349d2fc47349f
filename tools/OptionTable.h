//===- OptionTable.h - Options of tools without LLVM ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the command line of a tool that needs no LLVM as one table:
// what reads an option stands beside what --help, the manual page and shells
// say of it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_OPTIONTABLE_H
#define FUSION_TOOLS_OPTIONTABLE_H

#include "ToolInfo.h"
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>

namespace fusiontool {

class OptionTable {
public:
  /// Takes a value; returns what is wrong with it, empty if nothing is.
  using Reader = std::function<std::string(const std::string &value)>;

  /// `arguments` as in "FILE.ptx [options]".
  OptionTable(std::string name, std::string arguments, std::string purpose);

  /// `spelling` is the name with what its value is: "--kernel=NAME",
  /// "--profile[=json]", "-o FILE". One without a value gives the reader "".
  void add(const std::string &spelling, std::string text, Reader reader);
  void addFlag(const std::string &spelling, std::string text, bool &flag);
  /// A value that is not empty.
  void addText(const std::string &spelling, std::string text,
               std::string &value);
  /// A whole number from 0 to `most`, in decimal or with 0x.
  template <typename T>
  void addNumber(const std::string &spelling, std::string text, T &value,
                 uint64_t most = std::numeric_limits<T>::max()) {
    static_assert(std::is_unsigned_v<T>, "numbers here have no sign");
    addWhole(spelling, std::move(text), most,
             [&value](uint64_t given) { value = static_cast<T>(given); });
  }
  void addCommand(std::string name, std::string arguments, std::string text);
  /// Takes every argument that is no option, in order.
  void setPositional(Reader reader) { positional = std::move(reader); }
  void setDetails(std::string details) { info.details = std::move(details); }

  const ToolInfo &getInfo() const { return info; }

  /// Reads the arguments behind the name of the program. Returns what is wrong,
  /// empty if nothing is.
  std::string parse(const std::vector<std::string> &arguments) const;
  /// Answers --help, --version, --man-page and --completion on the standard
  /// output; false if none of them is asked for.
  bool answer(const std::vector<std::string> &arguments) const;

private:
  void addWhole(const std::string &spelling, std::string text, uint64_t most,
                std::function<void(uint64_t)> set);

  ToolInfo info;
  std::vector<Reader> readers; ///< As many as there are options.
  Reader positional;
};

/// The whole of `text` as a number, in decimal or with 0x.
std::optional<uint64_t> parseNumber(const std::string &text);

} // namespace fusiontool

#endif // FUSION_TOOLS_OPTIONTABLE_H
