# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks an installation: check_installed.py FOLDER BUILD_FOLDER...

Every file of the project that an installed header or TableGen file includes is
installed too, and no text file names one of the folders that it was made in.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#?\s*include\s+"(fusion[^"]*)"', re.M)
TEXTS = (".h", ".td", ".def", ".inc", ".cmake", ".pc")


def find_problems(root, folders):
    """Lines that say what is wrong."""
    for path in sorted(root.rglob("*")):
        if path.suffix not in TEXTS or not path.is_file():
            continue
        text = path.read_text()
        for name in INCLUDE.findall(text):
            if not (root / "include" / name).is_file():
                yield f"{path}: {name} is not installed"
        for folder in folders:
            if folder in text:
                yield f"{path}: names {folder}"


def main():
    root, *folders = sys.argv[1:]
    root = pathlib.Path(root)
    # The search has something to find.
    headers = list((root / "include").rglob("*.h"))
    if len(headers) < 50:
        sys.exit(f"only {len(headers)} headers are installed")
    problems = list(find_problems(root, folders))
    sys.exit("\n".join(problems) or 0)


main()
