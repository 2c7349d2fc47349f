//===- OptionTable.cpp - Options of tools without LLVM --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of a command line by its table.
//
//===----------------------------------------------------------------------===//

#include "OptionTable.h"
#include "fusion/Version.h"

#include <cerrno>
#include <cstdlib>
#include <iostream>

using namespace fusiontool;

OptionTable::OptionTable(std::string name, std::string arguments,
                         std::string purpose) {
  info.name = std::move(name);
  info.arguments = std::move(arguments);
  info.purpose = std::move(purpose);
  info.version = FUSION_VERSION_STRING;
  // These are answered before the others are read.
  auto nothing = [](const std::string &) { return std::string(); };
  add("--help", "Print this text", nothing);
  add("--version", "Print the release", nothing);
  add(kManPageOption, kManPageText, nothing);
  add(std::string(kCompletionOption) + "=" + kShells, kCompletionText,
      [](const std::string &value) {
        return "'" + value + "' is none of " + kShells;
      });
}

void OptionTable::add(const std::string &spelling, std::string text,
                      Reader reader) {
  OptionInfo option;
  option.text = std::move(text);
  size_t end = spelling.find_first_of("[= ");
  option.name = spelling.substr(0, end);
  if (end != std::string::npos) {
    option.isValueOptional = spelling[end] == '[';
    size_t begin = end + (option.isValueOptional ? 2 : 1);
    option.value = spelling.substr(begin, spelling.size() - begin -
                                              (option.isValueOptional ? 1 : 0));
  }
  info.options.push_back(std::move(option));
  readers.push_back(std::move(reader));
}

void OptionTable::addFlag(const std::string &spelling, std::string text,
                          bool &flag) {
  add(spelling, std::move(text), [&flag](const std::string &) {
    flag = true;
    return std::string();
  });
}

void OptionTable::addText(const std::string &spelling, std::string text,
                          std::string &value) {
  add(spelling, std::move(text), [&value](const std::string &given) {
    value = given;
    return std::string(given.empty() ? "the value is empty" : "");
  });
}

void OptionTable::addWhole(const std::string &spelling, std::string text,
                           uint64_t most, std::function<void(uint64_t)> set) {
  add(spelling, std::move(text), [set, most](const std::string &given) {
    std::optional<uint64_t> number = parseNumber(given);
    if (!number)
      return "'" + given + "' is not a number";
    if (*number > most)
      return given + " is more than " + std::to_string(most);
    set(*number);
    return std::string();
  });
}

void OptionTable::addCommand(std::string name, std::string arguments,
                             std::string text) {
  info.commands.push_back(
      {std::move(name), std::move(arguments), std::move(text)});
}

std::string
OptionTable::parse(const std::vector<std::string> &arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument.empty() || argument[0] != '-' || argument == "-") {
      std::string error =
          positional ? positional(argument) : "cannot read '" + argument + "'";
      if (!error.empty())
        return error;
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    size_t number = 0;
    while (number < readers.size() && info.options[number].name != name)
      ++number;
    if (number == readers.size())
      return "cannot read '" + argument + "'";
    const OptionInfo &option = info.options[number];
    bool isGiven = equals != std::string::npos;
    if (isGiven && option.value.empty())
      return "cannot read '" + argument + "': " + name + " takes no value";
    std::string value = isGiven ? argument.substr(equals + 1) : "";
    if (!isGiven && !option.value.empty() && !option.isValueOptional) {
      if (i + 1 == arguments.size())
        return name + " needs a value, " + option.getSpelling();
      value = arguments[++i];
    }
    if (std::string error = readers[number](value); !error.empty())
      return name + ": " + error;
  }
  return "";
}

bool OptionTable::answer(const std::vector<std::string> &arguments) const {
  const std::string completion = std::string(kCompletionOption) + "=";
  for (const std::string &argument : arguments) {
    std::string text;
    if (argument == "--help")
      text = renderHelp(info);
    else if (argument == "--version")
      text = info.name + " (fusion " + info.version + ")\n";
    else if (argument == kManPageOption)
      text = renderManPage(info);
    else if (argument.compare(0, completion.size(), completion) == 0)
      text = renderCompletion(info, argument.substr(completion.size()));
    if (text.empty())
      continue;
    std::cout << text << std::flush;
    return true;
  }
  return false;
}

std::optional<uint64_t> fusiontool::parseNumber(const std::string &text) {
  // strtoull takes signs and blanks, which no number here begins with.
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return std::nullopt;
  char *end = nullptr;
  errno = 0;
  uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (errno || *end != 0)
    return std::nullopt;
  return value;
}
