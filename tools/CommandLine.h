//===- CommandLine.h - Parsing in tools -------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how tools parse their command line with llvm::cl: a wrong
// one is a coded error with the exit status for usage.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMMANDLINE_H
#define FUSION_TOOLS_COMMANDLINE_H

#include "ToolInfo.h"
#include "fusion/Tools/Steering.h"
#include "fusion/Tools/ToolSupport.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/CommandLine.h"
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace mlir::fusion {

/// Answers --explain-error=FUS-nnnn, which every tool has: prints what the
/// table of codes says and returns the exit status. Nothing if it is not asked.
inline std::optional<int> explainErrorIfAsked(int argc, char **argv) {
  for (StringRef argument : ArrayRef(argv, argc).drop_front()) {
    if (!argument.consume_front("--explain-error="))
      continue;
    std::optional<int> number = parseCode(argument);
    const CodeInfo *info = number ? findCode(*number) : nullptr;
    if (!info)
      return reportError(ErrorCode::BadCommandLine,
                         "there is no code '" + argument + "'",
                         "docs/Errors.md lists all");
    llvm::outs() << explainCode(*info);
    return kExitOk;
  }
  return std::nullopt;
}

/// What `action` writes to the standard error, which nobody else sees.
inline std::string captureErrors(function_ref<void()> action) {
  int saved = dup(STDERR_FILENO);
  int file = memfd_create("errors", MFD_CLOEXEC);
  if (saved < 0 || file < 0) {
    action();
    return "";
  }
  dup2(file, STDERR_FILENO);
  action();
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), 0);
  ssize_t count = pread(file, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  close(file);
  return text;
}

/// What llvm::cl knows of the tool's options, but for hidden ones.
/// `describeName` says what an option is that is one of many words that a list
/// takes, as passes are; empty where it knows nothing of it.
inline fusiontool::ToolInfo
describeOptions(StringRef tool, StringRef purpose,
                function_ref<std::string(StringRef)> describeName) {
  fusiontool::ToolInfo info;
  info.name = tool.str();
  info.purpose = purpose.split('\n').first.rtrim(".").str();
  info.version = getVersion().str();
  for (llvm::cl::Option *option :
       llvm::cl::SubCommand::getTopLevel().PositionalOpts)
    info.arguments += option->HelpStr.str() + " ";
  info.arguments += "[options]";
  auto &registered = llvm::cl::getRegisteredOptions();
  SmallVector<StringRef> names(registered.keys());
  llvm::sort(names);
  for (StringRef name : names) {
    llvm::cl::Option *option = registered[name];
    // llvm::cl shows --help-list, hidden before, once --help is asked for.
    if (option->getOptionHiddenFlag() != llvm::cl::NotHidden &&
        name != "help-list")
      continue;
    fusiontool::OptionInfo &one = info.options.emplace_back();
    one.name = ((name.size() == 1 ? "-" : "--") + name).str();
    bool isWord = !option->hasArgStr() || option->ArgStr != name;
    StringRef text = option->HelpStr;
    std::string known = isWord ? describeName(name) : "";
    one.text = (known.empty() ? text : StringRef(known)).rtrim(".").str();
    if (isWord)
      continue;
    llvm::cl::ValueExpected value = option->getValueExpectedFlag();
    if (value != llvm::cl::ValueDisallowed && !option->ValueStr.empty())
      one.value = option->ValueStr.str();
    one.isValueOptional =
        value == llvm::cl::ValueOptional && !one.value.empty();
  }
  return info;
}

/// The options of every tool that print pages made of its options, once all of
/// them are registered; they end the process.
class PageOptions {
public:
  PageOptions(StringRef tool, StringRef purpose,
              llvm::cl::OptionCategory &category,
              std::function<std::string(StringRef)> describeName = nullptr)
      : tool(tool), purpose(purpose), describeName(std::move(describeName)) {
    manPage.addCategory(category);
    completion.addCategory(category);
  }

private:
  fusiontool::ToolInfo describe() const {
    return describeOptions(tool, purpose, [this](StringRef name) {
      return describeName ? describeName(name) : std::string();
    });
  }
  [[noreturn]] static void print(const std::string &page) {
    llvm::outs() << page;
    llvm::outs().flush();
    _exit(kExitOk);
  }

  StringRef tool, purpose;
  std::function<std::string(StringRef)> describeName;
  llvm::cl::opt<bool> manPage{
      StringRef(fusiontool::kManPageOption).drop_front(2),
      llvm::cl::desc(fusiontool::kManPageText), llvm::cl::ValueDisallowed,
      llvm::cl::callback([this](const bool &) {
        print(fusiontool::renderManPage(describe()));
      })};
  enum class Shell { Bash, Zsh };
  llvm::cl::opt<Shell> completion{
      StringRef(fusiontool::kCompletionOption).drop_front(2),
      llvm::cl::desc(fusiontool::kCompletionText),
      llvm::cl::value_desc(fusiontool::kShells),
      llvm::cl::values(clEnumValN(Shell::Bash, "bash", ""),
                       clEnumValN(Shell::Zsh, "zsh", "")),
      llvm::cl::callback([this](const Shell &shell) {
        print(fusiontool::renderCompletion(
            describe(), shell == Shell::Bash ? "bash" : "zsh"));
      })};
};

/// Parses the options that are registered. Returns nothing on success and the
/// exit status after a reported error. --help and --version end the process.
inline std::optional<int> parseOptions(int argc, char **argv, StringRef tool,
                                       StringRef overview) {
  setCrashArguments(tool, argc, argv);
  if (std::optional<int> status = explainErrorIfAsked(argc, argv))
    return status;
  static std::string version = getVersionString(tool);
  llvm::cl::SetVersionPrinter([](raw_ostream &os) { os << version << "\n"; });
  std::string errors;
  llvm::raw_string_ostream os(errors);
  bool fine = false;
  // Of an option's own value llvm::cl complains on the standard error.
  std::string more = captureErrors([&] {
    fine = llvm::cl::ParseCommandLineOptions(argc, argv, overview, &os);
  });
  if (fine) {
    llvm::errs() << more;
    return std::nullopt;
  }
  // The first line says what is wrong, the rest how to ask for help.
  StringRef cause = StringRef(errors.empty() ? more : errors).trim();
  cause = cause.split('\n').first.rtrim();
  cause.consume_front((StringRef(argv[0]) + ": ").str());
  cause.consume_front((tool + ": ").str());
  if (cause.empty())
    cause = findCode(int(ErrorCode::BadCommandLine))->meaning;
  return reportError(ErrorCode::BadCommandLine, cause);
}

/// Takes the options of `category` out of llvm::cl's lists, which the caller's
/// options do not outlive. Their values stay.
inline void forgetOptions(llvm::cl::OptionCategory &category) {
  llvm::SmallPtrSet<llvm::cl::Option *, 32> options;
  for (auto &entry : llvm::cl::getRegisteredOptions())
    options.insert(entry.second);
  for (llvm::cl::Option *option :
       llvm::cl::SubCommand::getTopLevel().PositionalOpts)
    options.insert(option);
  for (llvm::cl::Option *option : options)
    if (llvm::is_contained(option->Categories, &category))
      option->removeArgument();
}

/// The same for a tool whose options, in the caller, are those of `category`.
inline std::optional<int> parseCommandLine(int argc, char **argv,
                                           StringRef tool, StringRef overview,
                                           llvm::cl::OptionCategory &category) {
  PageOptions pages(tool, overview, category);
  llvm::cl::HideUnrelatedOptions(category);
  std::optional<int> status = parseOptions(argc, argv, tool, overview);
  forgetOptions(category);
  return status;
}

/// The options of tools that compile by which a caller says what is fused.
struct SteeringFlags {
  explicit SteeringFlags(llvm::cl::OptionCategory &category)
      : must("must",
             llvm::cl::desc("Operations that must be fused into all their "
                            "users, or compiling fails with the reason: each "
                            "a label, a line, both (matmul:17) or the name of "
                            "a result (%sum)"),
             llvm::cl::value_desc("A,B"), llvm::cl::CommaSeparated,
             llvm::cl::cat(category)),
        never("never",
              llvm::cl::desc("Operations that share a kernel with no other, "
                             "called as for --must"),
              llvm::cl::value_desc("A,B"), llvm::cl::CommaSeparated,
              llvm::cl::cat(category)),
        maxKernels("max-kernels",
                   llvm::cl::desc("Kernels that each function becomes at most, "
                                  "or compiling fails with the reason"),
                   llvm::cl::value_desc("N"), llvm::cl::init(0),
                   llvm::cl::cat(category)) {}

  /// Sets `options`: an exit status after a reported error.
  std::optional<int> read(SteeringOptions &options) const {
    if (maxKernels.getNumOccurrences() && maxKernels < 1)
      return reportError(ErrorCode::BadCommandLine,
                         "--max-kernels=" + Twine(maxKernels) +
                             " is less than 1");
    options.must.assign(must.begin(), must.end());
    options.never.assign(never.begin(), never.end());
    options.maxKernels = maxKernels;
    return std::nullopt;
  }

  llvm::cl::list<std::string> must, never;
  llvm::cl::opt<int64_t> maxKernels;
};

/// For a tool whose main is MLIR's and parses the options itself: llvm::cl ends
/// the process with 1 where they are wrong, which becomes a coded error and the
/// exit status for usage. MLIR's mains return in every other case.
inline void watchUsageErrors() {
  on_exit(
      [](int status, void *) {
        if (status == kExitDiagnosed)
          _exit(reportError(ErrorCode::BadCommandLine,
                            "the command line is wrong"));
      },
      nullptr);
}
/// Ends the process with the result of such a main.
[[noreturn]] inline void endWith(LogicalResult result) {
  llvm::outs().flush();
  fflush(stdout);
  _exit(succeeded(result) ? kExitOk : kExitDiagnosed);
}

} // namespace mlir::fusion

#endif // FUSION_TOOLS_COMMANDLINE_H
