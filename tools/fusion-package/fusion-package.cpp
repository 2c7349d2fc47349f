//===- fusion-package.cpp - What is in a package --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the command line of fusion-package.
//
//===----------------------------------------------------------------------===//

#include "../OptionTable.h"
#include "../RuntimeTool.h"
#include "Diff.h"
#include "Disassemble.h"
#include "Extract.h"
#include "Listing.h"

#include <algorithm>

using namespace packagetool;
using namespace fusiontool;

namespace {
struct CommandLine {
  std::string command;
  std::vector<std::string> paths, kernels, ptx;
  std::string part, output;
  bool json = false, exitCode = false;
  Dims dims;
};
} // namespace

/// Prints an error with a code; returns the exit status of that.
static int report(const std::string &error) {
  std::cerr << "error: " << error << "\n";
  return error.compare(0, 8, "FUS-1442") == 0 ? Usage : Diagnosed;
}

static std::string readDim(const std::string &text, Dims &dims) {
  size_t equals = text.find('=');
  std::optional<uint64_t> size =
      parseNumber(equals == std::string::npos ? "" : text.substr(equals + 1));
  if (equals == 0 || !size || *size > uint64_t(INT64_MAX))
    return "'" + text + "' is not NAME=SIZE";
  dims[text.substr(0, equals)] = int64_t(*size);
  return "";
}

static OptionTable::Reader collect(std::vector<std::string> &list) {
  return [&list](const std::string &value) {
    list.push_back(value);
    return std::string(value.empty() ? "the value is empty" : "");
  };
}

static OptionTable makeTable(CommandLine &line) {
  OptionTable table("fusion-package", "COMMAND PACKAGE.fpk... [options]",
                    "Looks into packages, takes them apart and compares them");
  table.addCommand("list", "P.fpk",
                   "Print what the package has: entries with their tensors, "
                   "sizes, launches, traffic and workspace, kernels with what "
                   "they use");
  table.addCommand("extract", "P.fpk",
                   "Write PTX, machine code, decisions, launches and places in "
                   "the program into a folder, or one of them to the standard "
                   "output");
  table.addCommand("disassemble", "P.fpk",
                   "Print the machine code of kernels by nvdisasm, after ptxas "
                   "where there is only PTX");
  table.addCommand("diff", "A.fpk B.fpk",
                   "Print how B differs from A: kernels added, removed and "
                   "changed, launches, traffic, registers, memory");
  table.addFlag("--json", "list: print JSON", line.json);
  table.add(
      "--dim=NAME=SIZE",
      "list, extract, diff: print figures for a size; each is " +
          std::to_string(kAssumedSize) + " unless said. Repeat",
      [&line](const std::string &value) { return readDim(value, line.dims); });
  table.add("--kernel=NAME",
            "extract, disassemble: a kernel; all unless said. Repeat",
            collect(line.kernels));
  table.add(std::string("--part=") + kParts,
            "extract: one part alone; the standard output gets it unless -o "
            "names a folder",
            [&line](const std::string &value) {
              line.part = value;
              std::string all = "|" + std::string(kParts) + "|";
              return all.find("|" + value + "|") != std::string::npos
                         ? std::string()
                         : "'" + value + "' is none of " + kParts;
            });
  table.addText("-o FOLDER",
                "extract: where the files go, a folder that does not exist or "
                "is empty",
                line.output);
  table.add("--ptx=NAME", "diff: print how the PTX of a kernel differs. Repeat",
            collect(line.ptx));
  table.addFlag("--exit-code", "diff: exit with 1 if the packages differ",
                line.exitCode);
  table.setPositional([&line](const std::string &argument) {
    if (line.command.empty())
      line.command = argument;
    else
      line.paths.push_back(argument);
    return std::string();
  });
  table.setDetails("Exit code: 0 done, 1 an error was reported, 2 wrong usage, "
                   "70 a defect of the\ntool.\n");
  return table;
}

/// What is wrong with the command or with options that it does not take.
static std::string check(const CommandLine &line) {
  const bool isList = line.command == "list", isDiff = line.command == "diff";
  const bool isExtract = line.command == "extract";
  const bool isDisassemble = line.command == "disassemble";
  if (line.command.empty())
    return "expected a command and a package";
  if (!isList && !isDiff && !isExtract && !isDisassemble)
    return "'" + line.command + "' is no command";
  size_t wanted = isDiff ? 2 : 1;
  if (line.paths.size() != wanted)
    return line.command + " takes " + (isDiff ? "two packages" : "one package");
  const std::pair<bool, const char *> misplaced[] = {
      {line.json && !isList, "--json"},
      {!line.dims.empty() && isDisassemble, "--dim"},
      {!line.kernels.empty() && !isExtract && !isDisassemble, "--kernel"},
      {!line.part.empty() && !isExtract, "--part"},
      {!line.output.empty() && !isExtract, "-o"},
      {!line.ptx.empty() && !isDiff, "--ptx"},
      {line.exitCode && !isDiff, "--exit-code"}};
  for (const auto &[isWrong, name] : misplaced)
    if (isWrong)
      return line.command + " takes no " + name;
  if (isExtract && line.part.empty() && line.output.empty())
    return "extract needs -o FOLDER, or --part for the standard output";
  return "";
}

static int extract(const CommandLine &line, const OpenPackage &package) {
  std::string error;
  std::vector<Part> parts =
      collectParts(package, line.part, line.kernels, line.dims, error);
  if (!error.empty())
    return report(error);
  if (!line.output.empty()) {
    error = writeFolder(line.output, parts);
    return error.empty() ? Success : report(error);
  }
  if (line.part == "cubin" && parts.size() > 1) {
    reportUsage("there are " + std::to_string(parts.size()) +
                " files of machine code: name one --kernel, or a folder with "
                "-o");
    return Usage;
  }
  for (const Part &part : parts)
    std::cout << part.bytes;
  return Success;
}

static int run(const CommandLine &line) {
  std::string error;
  std::vector<OpenPackage> packages;
  for (const std::string &path : line.paths) {
    std::optional<OpenPackage> package = openPackage(path, error);
    if (!package)
      return report(error);
    packages.push_back(std::move(*package));
  }
  if (line.command == "extract")
    return extract(line, packages[0]);
  std::string text;
  if (line.command == "list")
    text = line.json ? listAsJson(packages[0], line.dims)
                     : listAsText(packages[0], line.dims);
  else if (line.command == "disassemble")
    text = disassemble(packages[0], line.kernels, error);
  else
    text = diffPackages(packages[0], packages[1], line.ptx, line.dims, error);
  if (!error.empty())
    return report(error);
  std::cout << text;
  return line.exitCode && !text.empty() ? Diagnosed : Success;
}

int main(int argc, char **argv) {
  installCrashHandlers();
  CommandLine line;
  OptionTable table = makeTable(line);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (table.answer(arguments))
    return Success;
  std::string error = table.parse(arguments);
  if (error.empty())
    error = check(line);
  if (!error.empty()) {
    reportUsage(error);
    return Usage;
  }
  int status = run(line);
  if (status == Success && !std::cout.flush()) {
    std::cerr << "error: FUS-1009: the standard output cannot be written; "
                 "check that it has space\n";
    return Diagnosed;
  }
  return status;
}
