#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts the sources of examples into the pages that show them.

    include_sources.py [--check]

A code block of a page below docs/ that follows the line

    <!-- source: docs/examples/embedding/planner/plan.cpp -->

is that file from behind its banner on; with `plan.cpp from LINE to LINE`, the
lines from the first that begins with the one text up to the next that begins
with the other. Rewrites the blocks; with --check, writes nothing and fails if
one differs.
"""

import argparse
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"^(?P<marker><!-- source: (?P<path>\S+?)"
    r"(?: from `(?P<first>[^`]+)` to `(?P<last>[^`]+)`)? -->\n"
    r"```\w*\n)(?P<body>.*?)(?=^```$)", re.M | re.S)
RULE = re.compile(r"^//===-+===//\n", re.M)


class Problem(Exception):
    """A marker that cannot be followed."""


def skip_banner(text):
    """What follows the comment with the licence at the head of a file."""
    if text.startswith("//==="):
        return text[list(RULE.finditer(text))[-1].end():].lstrip("\n")
    return text


def cut(lines, first, last):
    """The lines from the one that begins with `first` to that with `last`."""
    begins = [i for i, line in enumerate(lines) if line.startswith(first)]
    if not begins:
        raise Problem(f"no line begins with '{first}'")
    for end in range(begins[0] + 1, len(lines)):
        if lines[end].startswith(last):
            return lines[begins[0]:end + 1]
    raise Problem(f"no line behind '{first}' begins with '{last}'")


def read_source(match):
    """The text of the block that `match`, of BLOCK, stands for."""
    path = ROOT / match["path"]
    if not path.is_file():
        raise Problem(f"there is no {match['path']}")
    lines = skip_banner(path.read_text()).splitlines(keepends=True)
    if match["first"]:
        lines = cut(lines, match["first"], match["last"])
    return match["marker"] + "".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    status = 0
    for page in sorted((ROOT / "docs").rglob("*.md")):
        old = page.read_text()
        name = page.relative_to(ROOT)
        try:
            new = BLOCK.sub(read_source, old)
        except Problem as problem:
            sys.exit(f"{name}: {problem}")
        # A marker without a block shows nothing.
        markers = old.count("\n<!-- source: ")
        if markers != len(BLOCK.findall(old)):
            sys.exit(f"{name}: a marker '<!-- source: ... -->' has no code block")
        if check and new != old:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), str(name), "sources"))
            print(f"{name} is not current: run tools/dev/gen_docs.sh",
                  file=sys.stderr)
            status = 1
        elif new != old:
            page.write_text(new)
    return status


if __name__ == "__main__":
    sys.exit(main())
