#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refuses long functions and classes of many methods.

    check_sizes.py [--list] [FILE...]

Without files: all C++ sources of the compiler, the runtime and the tools that
git knows. A function has at most 100 lines, from its name to its last brace; a
class has at most 40 methods, constructors and inline ones counted. With --list
the longest are printed as well. The exit status is 1 when something is larger.
"""

import argparse
import pathlib
import re
import subprocess
import sys

MOST_LINES = 100
MOST_METHODS = 40
FOLDERS = ("lib", "include", "tools")
ROOT = pathlib.Path(__file__).resolve().parents[2]

TOKEN = re.compile(r"""
    //[^\n]* | /\*.*?\*/                         # comments
  | R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"           # raw strings
  | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'    # strings and characters
  | ^[ \t]*\#(?:[^\n\\]|\\.)*                    # directives
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

# What stands before a brace.
NAMESPACE = re.compile(r"\b(?:namespace|extern)\b[^()=]*$")
CLASS = re.compile(r"\b(?:class|struct|union)\s+(?:[A-Z_]+\s+)?"
                   r"((?:\w+::)*\w+)(?:\s*<[^{}]*>)?\s*(?:final\s*)?"
                   r"(?::[^:].*)?$", re.DOTALL)
# A declarator: a name and its parameters, in which parentheses may nest once.
FUNCTION = re.compile(
    r"(?:^|[\s*&>\]:~])(operator\s*(?:\(\s*\)|[^\s\w(]+|[\w:]+[\s*&]*)|~?\w+)"
    r"\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    r"\s*(?:const|override|final|noexcept|&&?|mutable|->[^;{}]*|\s)*"
    r"(?::[^:].*|=\s*(?:0|default|delete)\s*)?$", re.DOTALL)
NO_FUNCTION = {"if", "for", "while", "switch", "return", "catch", "sizeof",
               "alignas", "alignof", "decltype", "defined", "assert",
               "static_assert", "llvm_unreachable"}
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")


def blank(match):
    """Spaces for what is no code, with its lines."""
    return re.sub(r"[^\n]", " ", match.group())


def find_function(head):
    """The name of the function that `head` declares, or None."""
    head = re.sub(r"\btemplate\s*<.*?>\s*(?=[\w\[])", "", head,
                  flags=re.DOTALL)
    if re.match(r"\s*(?:using|friend|typedef|static_assert|enum)\b", head):
        return None
    match = FUNCTION.search(head)
    # A member with an initializer, or a call of a macro.
    if not match or "=" in re.sub(r"operator\s*\S+", "", head[:match.start(1)]):
        return None
    name = match.group(1)
    return None if name in NO_FUNCTION else name


class Scan:
    """The functions and classes of one file."""

    def __init__(self, text):
        self.functions = []  # lines, name, line
        self.classes = []  # methods, name, line
        code = TOKEN.sub(blank, text)
        self.lines = [match.start() for match in re.finditer("\n", code)]
        self.walk(code)

    def line_of(self, place):
        """The number of the line at `place`."""
        low, high = 0, len(self.lines)
        while low < high:
            middle = (low + high) // 2
            if self.lines[middle] < place:
                low = middle + 1
            else:
                high = middle
        return low + 1

    def walk(self, code):
        # Kind, begin of the head, name, methods. Braces of initializers and of
        # statements are of kind "other".
        stack, start = [("namespace", 0, "", 0)], 0
        for match in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:",
                                 code):
            head = code[start:match.start()]
            kind = stack[-1][0]
            token = match.group()[0]
            if token == "{":
                opened, name = self.classify(head, kind)
                if opened == "function" and kind == "class":
                    self.count_method(stack)
                begin = start + len(head) - len(head.lstrip())
                stack.append((opened, begin, name, 0))
            elif token == "}" and len(stack) > 1:
                opened, begin, name, methods = stack.pop()
                first = self.line_of(begin)
                if opened == "function":
                    size = self.line_of(match.start()) - first + 1
                    self.functions.append((size, name, first))
                elif opened == "class":
                    self.classes.append((methods, name, first))
            elif token == ";" and kind == "class" and find_function(head):
                self.count_method(stack)
            start = match.end()

    @staticmethod
    def count_method(stack):
        kind, begin, name, methods = stack[-1]
        stack[-1] = (kind, begin, name, methods + 1)

    @staticmethod
    def classify(head, kind):
        """What a brace behind `head` opens, in a scope of `kind`."""
        if kind not in ("namespace", "class"):
            return "braces", ""
        if NAMESPACE.search(head):
            return "namespace", ""
        found = CLASS.search(head)
        if found and "(" not in head[:found.start()]:
            return "class", found.group(1)
        name = find_function(head)
        return ("function", name) if name else ("braces", "")


def list_files():
    """The C++ files under FOLDERS."""
    names = subprocess.run(
        ["git", "ls-files", *FOLDERS], cwd=ROOT, check=True, text=True,
        capture_output=True).stdout.split()
    return [name for name in names
            if name.endswith((".h", ".c", ".cpp")) and (ROOT / name).exists()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    functions, classes = [], []
    for name in arguments.files or list_files():
        scan = Scan((ROOT / name).read_text())
        functions += [(*each, name) for each in scan.functions]
        classes += [(*each, name) for each in scan.classes]
    functions.sort(reverse=True)
    classes.sort(reverse=True)
    if arguments.list:
        for size, what, line, name in functions[:10]:
            print(f"{name}:{line}: {what} has {size} lines")
        for methods, what, line, name in classes[:10]:
            print(f"{name}:{line}: {what} has {methods} methods")
    status = 0
    for size, what, line, name in functions:
        if size > MOST_LINES:
            status = 1
            print(f"{name}:{line}: error: function '{what}' has {size} lines, "
                  f"more than {MOST_LINES}")
    for methods, what, line, name in classes:
        if methods > MOST_METHODS:
            status = 1
            print(f"{name}:{line}: error: class '{what}' has {methods} "
                  f"methods, more than {MOST_METHODS}")
    return status


if __name__ == "__main__":
    sys.exit(main())
