//===- ToolInfo.cpp - What a tool says of itself --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pages that are made of a tool's options.
//
//===----------------------------------------------------------------------===//

#include "ToolInfo.h"

#include <algorithm>
#include <cctype>

using namespace fusiontool;

/// Columns of a terminal, and where the texts of options begin.
static constexpr size_t kWidth = 80, kIndent = 24;

std::string OptionInfo::getSpelling() const {
  if (value.empty())
    return name;
  if (isValueOptional)
    return name + "[=" + value + "]";
  return name + (name.compare(0, 2, "--") == 0 ? "=" : " ") + value;
}

std::vector<std::string> OptionInfo::getChoices() const {
  std::vector<std::string> words(1);
  for (char c : value) {
    if (c == '|')
      words.emplace_back();
    else if (std::islower(static_cast<unsigned char>(c)) || c == '-')
      words.back() += c;
    else
      return {};
  }
  return words.size() > 1 || (isValueOptional && !value.empty())
             ? words
             : std::vector<std::string>();
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// Appends `text`, broken between words, in lines that begin at `indent`; the
/// first one is at the column `column` already.
static void wrap(std::string &out, const std::string &text, size_t indent,
                 size_t column) {
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = std::min(text.find(' ', begin), text.size());
    size_t length = end - begin;
    if (column > indent && column + 1 + length > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(text, begin, length);
    column += length;
    begin = end + 1;
  }
  out += "\n";
}

/// One option or command: its spelling, and beside or below it what it does.
static void addEntry(std::string &out, const std::string &spelling,
                     const std::string &text) {
  out += "  " + spelling;
  if (spelling.size() + 4 <= kIndent)
    out += std::string(kIndent - 2 - spelling.size(), ' ');
  else
    out += "\n" + std::string(kIndent, ' ');
  wrap(out, text, kIndent, kIndent);
}

std::string fusiontool::renderHelp(const ToolInfo &tool) {
  std::string out = "usage: " + tool.name + " " + tool.arguments + "\n\n";
  wrap(out, tool.purpose + ".", 0, 0);
  if (!tool.commands.empty())
    out += "\nCommands:\n";
  for (const CommandInfo &command : tool.commands)
    addEntry(out, command.name + " " + command.arguments, command.text);
  out += "\nOptions:\n";
  for (const OptionInfo &option : tool.options)
    addEntry(out, option.getSpelling(), option.text);
  if (!tool.details.empty())
    out += "\n" + tool.details;
  return out;
}

//===----------------------------------------------------------------------===//
// Manual pages
//===----------------------------------------------------------------------===//

/// `text` with what groff would take for its own.
static std::string escapeRoff(const std::string &text) {
  std::string out;
  for (char c : text) {
    bool isAtBegin = out.empty() || out.back() == '\n';
    if (isAtBegin && (c == '.' || c == '\''))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

static void addManEntry(std::string &out, const std::string &spelling,
                        const std::string &text) {
  out += ".TP\n.B " + escapeRoff(spelling) + "\n" + escapeRoff(text) + ".\n";
}

std::string fusiontool::renderManPage(const ToolInfo &tool) {
  std::string upper = tool.name;
  for (char &c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string purpose = tool.purpose;
  if (!purpose.empty())
    purpose[0] =
        static_cast<char>(std::tolower(static_cast<unsigned char>(purpose[0])));
  std::string out = ".TH " + escapeRoff(upper) + " 1 \"\" \"Fusion " +
                    escapeRoff(tool.version) +
                    "\" \"User Commands\"\n.SH NAME\n" + escapeRoff(tool.name) +
                    " \\- " + escapeRoff(purpose) + "\n.SH SYNOPSIS\n.B " +
                    escapeRoff(tool.name) + "\n" + escapeRoff(tool.arguments) +
                    "\n.SH DESCRIPTION\n" + escapeRoff(tool.purpose) + ".\n";
  if (!tool.commands.empty())
    out += ".SH COMMANDS\n";
  for (const CommandInfo &command : tool.commands)
    addManEntry(out, command.name + " " + command.arguments, command.text);
  out += ".SH OPTIONS\n";
  for (const OptionInfo &option : tool.options)
    addManEntry(out, option.getSpelling(), option.text);
  if (!tool.details.empty())
    out += ".SH NOTES\n.nf\n" + escapeRoff(tool.details) + ".fi\n";
  return out;
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

static std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

static std::string makeBash(const ToolInfo &tool) {
  std::string function = "_" + tool.name, options, cases;
  std::replace(function.begin(), function.end(), '-', '_');
  for (const OptionInfo &option : tool.options) {
    bool takesEquals =
        !option.value.empty() && option.name.compare(0, 2, "--") == 0;
    if (!takesEquals || option.isValueOptional)
      options += "\n    " + option.name;
    if (takesEquals)
      options += "\n    " + option.name + "=";
    if (std::vector<std::string> choices = option.getChoices();
        !choices.empty())
      cases +=
          "      " + option.name + ") choices='" + join(choices) + "' ;;\n";
  }
  std::vector<std::string> commands;
  for (const CommandInfo &command : tool.commands)
    commands.push_back(command.name);
  // '=' breaks words: "--name=va" is three of them.
  return "# Completion of " + tool.name + " for bash.\n" + function +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} option= choices= options=\n"
         "  COMPREPLY=()\n"
         "  if [[ $word == = ]]; then\n"
         "    option=${COMP_WORDS[COMP_CWORD-1]} word=\n"
         "  elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD-1]} == = ]]; "
         "then\n"
         "    option=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  if [[ -n $option ]]; then\n"
         "    case $option in\n" +
         cases +
         "    esac\n"
         "    # Without choices the shell completes the names of files.\n"
         "    COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  if [[ $word != -* ]]; then\n" +
         (commands.empty()
              ? std::string("    return\n")
              : "    ((COMP_CWORD == 1)) &&\n"
                "      COMPREPLY=($(compgen -W '" +
                    join(commands) + "' -- \"$word\"))\n    return\n") +
         "  fi\n"
         "  options='" +
         options +
         "'\n"
         "  COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then\n"
         "    compopt -o nospace 2>/dev/null\n"
         "  fi\n"
         "}\n"
         "complete -o default -F " +
         function + " " + tool.name + "\n";
}

/// `text` inside of a specification of _arguments, in single quotes.
static std::string escapeZsh(const std::string &text) {
  std::string out;
  for (char c : text) {
    if (c == '\'')
      out += "'\\'";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += '\\';
    out += c;
  }
  return out;
}

static std::string makeZsh(const ToolInfo &tool) {
  std::string out = "#compdef " + tool.name + "\n# Completion of " + tool.name +
                    " for zsh.\n_arguments -s -S";
  for (const OptionInfo &option : tool.options) {
    out += " \\\n  '*" + option.name;
    // "--name=-" takes the value in the same word.
    if (!option.value.empty())
      out += option.isValueOptional                 ? "=-"
             : option.name.compare(0, 2, "--") == 0 ? "="
                                                    : "+";
    out += "[" + escapeZsh(option.text) + "]";
    if (!option.value.empty()) {
      std::vector<std::string> choices = option.getChoices();
      out += std::string(option.isValueOptional ? "::" : ":") +
             escapeZsh(option.value) + ":" +
             (choices.empty() ? "_files" : "(" + join(choices) + ")");
    }
    out += "'";
  }
  if (!tool.commands.empty()) {
    std::vector<std::string> commands;
    for (const CommandInfo &command : tool.commands)
      commands.push_back(command.name);
    out += " \\\n  '1:command:(" + join(commands) + ")'";
  }
  return out + " \\\n  '*:file:_files'\n";
}

std::string fusiontool::renderCompletion(const ToolInfo &tool,
                                         const std::string &shell) {
  if (shell == "bash")
    return makeBash(tool);
  return shell == "zsh" ? makeZsh(tool) : "";
}
