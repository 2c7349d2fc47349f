#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the Python tests.

    run.py [--results=FILE.json] [-k PATTERN]... [-f] [TEST...]

TEST is as for unittest, test_arrays or test_package.DynamicTest for example;
without one, every test runs, or those whose names contain a PATTERN or match it
(-k, as of unittest). -f stops at the first failure. The results are written in
lit's form. pytest runs the same tests (docs/Rationale/Libraries.md).
"""

import argparse
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


class Recorder(unittest.TextTestResult):
    """Remembers how each test ended. A test with failing subtests failed."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.codes = {}

    def record(self, test, code):
        # setUpClass and the like have no id of their own but do fail.
        name = test.id()
        if self.codes.get(name) != "FAIL":
            self.codes[name] = code

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "PASS")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.record(test, "FAIL")

    def addError(self, test, error):
        super().addError(test, error)
        self.record(test, "FAIL")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.record(test, "FAIL")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "UNSUPPORTED")

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.record(test, "XFAIL")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.record(test, "XPASS")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("-k", action="append", dest="patterns")
    parser.add_argument("-f", action="store_true", dest="failfast")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()

    loader = unittest.defaultTestLoader
    if options.patterns:
        loader.testNamePatterns = [
            pattern if "*" in pattern else f"*{pattern}*"
            for pattern in options.patterns]
    suite = (loader.loadTestsFromNames(options.tests) if options.tests
             else loader.discover(str(HERE), pattern="test_*.py"))
    result = unittest.TextTestRunner(
        resultclass=Recorder, verbosity=2, stream=sys.stdout,
        failfast=options.failfast).run(suite)
    if options.results:
        options.results.write_text(json.dumps(
            {"tests": [{"name": f"Fusion-Python :: {name}", "code": code}
                       for name, code in result.codes.items()]}) + "\n")
    return 0 if result.wasSuccessful() and result.codes else 1


if __name__ == "__main__":
    sys.exit(main())
