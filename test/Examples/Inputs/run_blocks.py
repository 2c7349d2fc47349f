#!/usr/bin/env python3
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of one section of a documentation page, as a reader would.

    run_blocks.py --page=README.md --section=TITLE --build=DIR

The section's sh and python blocks run in order in the root of the source tree;
build/ stands for DIR and /tmp for a fresh folder. What they print is printed;
the first that fails ends the run with its status.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


def blocks(page, section):
    """[(language, text)] of the fenced blocks under the heading."""
    text = (ROOT / page).read_text()
    found = re.search(rf"^#+ {re.escape(section)}\n(.*?)(?=^## |\Z)", text,
                      re.M | re.S)
    if not found:
        sys.exit(f"{page} has no section '{section}'")
    return re.findall(r"^```(\w+)\n(.*?)^```", found.group(1), re.M | re.S)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", required=True)
    parser.add_argument("--section", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    environment = dict(os.environ, FUSION_BUILD_DIR=str(options.build),
                       PYTHONPATH=str(ROOT / "python"))
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for language, text in blocks(options.page, options.section):
            text = text.replace("/tmp/", f"{folder}/")
            text = text.replace("build/bin/", f"{options.build}/bin/")
            command = {"sh": ["sh", "-e", "-c", text],
                       "python": [sys.executable, "-c", text]}.get(language)
            if command:
                count += 1
                status = subprocess.run(command, cwd=ROOT, env=environment,
                                        stdin=subprocess.DEVNULL).returncode
                if status:
                    sys.exit(f"block {count} of '{options.section}' failed "
                             f"with status {status}:\n{text}")
    if not count:
        sys.exit(f"section '{options.section}' has no commands")


if __name__ == "__main__":
    main()
