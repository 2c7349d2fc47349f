#!/usr/bin/python3
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up lit's result files and prints 'N passed, N failed'.

Each file is what `lit --output` writes: {"tests": [{"name", "code"}, ...]}.
A file that cannot be read counts as a failure. The exit status is 0 only when
at least one test passed and none failed.
"""

import collections
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
NOT_RUN = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main(paths):
    names = collections.defaultdict(list)
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                tests = json.load(file)["tests"]
        except (OSError, ValueError, KeyError) as error:
            names["failed"].append(f"{path} (no results: {error})")
            continue
        for test in tests:
            code = test["code"]
            kind = ("passed" if code in PASSED else
                    "not run" if code in NOT_RUN else "failed")
            names[kind].append(test["name"])
    for name in names["failed"]:
        print(f"failed: {name}")
    passed, failed = len(names["passed"]), len(names["failed"])
    if names["not run"]:
        print(f"{len(names['not run'])} not applicable on this machine")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
