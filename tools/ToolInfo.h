//===- ToolInfo.h - What a tool says of itself ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what a tool says of its command line, and the pages made of
// that: the text of --help, a manual page, and the files by which shells
// complete. It knows no LLVM: tools whose options are llvm::cl's fill it from
// those (CommandLine.h), the others from an OptionTable.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_TOOLINFO_H
#define FUSION_TOOLS_TOOLINFO_H

#include <string>
#include <vector>

namespace fusiontool {

struct OptionInfo {
  std::string name;  ///< As it is written: "--kernel", "-o".
  std::string value; ///< What to write for the value; empty for a flag.
  std::string text;  ///< What it does, without a full stop.
  bool isValueOptional = false;

  /// "--kernel=NAME", "-o FILE", "--profile[=json]", "--list".
  std::string getSpelling() const;
  /// The words that the value is one of: those of "late|early". Empty where the
  /// value is anything else.
  std::vector<std::string> getChoices() const;
};

/// A word that says what a tool does: "list" of fusion-package.
struct CommandInfo {
  std::string name, arguments, text;
};

struct ToolInfo {
  std::string name;
  std::string purpose;   ///< One line, as a manual page begins with.
  std::string arguments; ///< "FILE.ptx [options]"
  std::vector<CommandInfo> commands;
  std::vector<OptionInfo> options;
  /// What is behind the options, as it is printed.
  std::string details;
  std::string version;
};

/// Options that every tool has; the pages of a tool have them too.
constexpr const char *kManPageOption = "--man-page";
constexpr const char *kCompletionOption = "--completion";
constexpr const char *kManPageText = "Print the manual page of this tool";
constexpr const char *kCompletionText =
    "Print what makes a shell complete the options of this tool";
constexpr const char *kShells = "bash|zsh";

/// The text of --help.
std::string renderHelp(const ToolInfo &tool);
/// The manual page, as man and groff read it.
std::string renderManPage(const ToolInfo &tool);
/// What the shell `shell` reads to complete; empty for a shell that is unknown.
std::string renderCompletion(const ToolInfo &tool, const std::string &shell);

} // namespace fusiontool

#endif // FUSION_TOOLS_TOOLINFO_H
