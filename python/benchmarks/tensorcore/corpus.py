# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of the tools that check the corpus, and the cases they name."""

import pathlib
import re

from . import suites

_ROOT = pathlib.Path(__file__).resolve().parents[3]


def add_arguments(parser, part):
    """`part`: what --part deals out."""
    parser.add_argument("--suite", default=",".join(suites.CORPUS))
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--part", default="1/1", metavar="I/N",
                        help=f"every N-th {part}, beginning with the I-th")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--compiler-dir", type=pathlib.Path,
                        default=_ROOT / "build" / "bin")


def select(options):
    """The cases, and the slice of what is dealt out; ValueError when an option
    says nothing."""
    cases = suites.select(options.suite.split(","))
    part, parts = map(int, options.part.split("/"))
    return ([case for case in cases if re.search(options.only, case.name)],
            slice(part - 1, None, parts))
