#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a program smaller that ends otherwise than it should.

    reduce.py FILE.mlir [-o OUT.mlir] [--bin=FOLDER] [--timeout=SECONDS]

Runs the program as run.py does, with the options on its first line, and has
fusion-reduce look for a smaller one of the same outcome: its kind, its code and
its message without numbers and names.
"""

import argparse
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from outcomes import Runner, find_tool, read_options  # noqa: E402
from run import ROOT  # noqa: E402


def signature(outcome):
    """What a smaller program has to keep of an outcome. Values differ."""
    if outcome.kind in ("hang", "not-checked", "verified"):
        return outcome.label
    number = r"-?\w*\d[\w.]*(?:(?<=e)[-+]\d+)?"
    message = re.sub(rf"'[^']*'|tensor<[^>]*>|%?{number}|/\S*", "_",
                     outcome.message)
    return f"{outcome.label}: {message}"


def name_sizes(text):
    """The program with a name for each dynamic size of an argument, so that
    --dim still fits when arguments go."""
    options = read_options(text)
    sizes = dict(o[len("--dim="):].split("=") for o in options
                 if o.startswith("--dim="))
    named = {}

    def add_names(match):
        number = int(match[1])
        shape = [s for s in match[2].split("x")[:-1]]
        given = re.search(r"fusion\.dims = \[([^]]*)\](?:, )?", match[3] or "")
        names = re.findall(r'"([^"]*)"', given[1]) if given else \
            ["_"] * len(shape)
        for axis, size in enumerate(shape):
            if size == "?" and names[axis] == "_":
                names[axis] = f"s{number}_{axis}"
            value = sizes.get(f"arg{number}.{axis}", sizes.get(names[axis]))
            if size == "?" and value:
                named[names[axis]] = value
        if all(name == "_" for name in names):
            return match[0]
        quoted = ", ".join(f'"{name}"' for name in names)
        others = (match[3] or "").replace(given[0] if given else "", "")
        marks = ", ".join(filter(None, [f"fusion.dims = [{quoted}]", others]))
        return f"%x{number}: tensor<{match[2]}> {{{marks}}}"

    head, brace, tail = text.partition(") -> (")
    head = re.sub(r"%x(\d+): tensor<([^>]*)>(?: \{([^}]*)\})?", add_names, head)
    options = [o for o in options if not o.startswith("--dim=")]
    options += [f"--dim={name}={size}" for name, size in sorted(named.items())]
    body = re.sub(r"\A// fuzz:.*\n", "", head + brace + tail)
    return options, body


def fitting(options, text):
    """The options without sizes that the program does not name."""
    return [o for o in options if not o.startswith("--dim=") or
            f'"{o.split("=")[1]}"' in text]


def run_text(runner, options, text):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(f"// fuzz: {' '.join(fitting(options, text))}\n{text}")
        file.flush()
        return runner.run(file.name)


def check(arguments):
    """The test of fusion-reduce: status 1 if the outcome is still the same."""
    folder, seconds, device, wanted, options, path = arguments
    with open(path, encoding="utf-8") as file:
        text = file.read()
    outcome = run_text(Runner(folder, device, float(seconds)),
                       shlex.split(options), text)
    return 1 if signature(outcome) == wanted else 0


def write_test(runner, wanted, options):
    """A script for fusion-reduce that asks `check`."""
    words = [sys.executable, os.path.abspath(__file__), "--check",
             os.path.dirname(runner.tool), str(runner.seconds), runner.device,
             wanted, shlex.join(options)]
    handle, path = tempfile.mkstemp(suffix=".sh")
    with os.fdopen(handle, "w") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(words)} "$1"\n')
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def reduce_program(path, output, runner):
    """Writes the smaller program; returns its number of lines."""
    with open(path, encoding="utf-8") as file:
        options, text = name_sizes(file.read())
    outcome = run_text(runner, options, text)
    wanted = signature(outcome)
    if outcome.kind == "verified":
        raise SystemExit(f"reduce.py: error: {path} is verified")
    print(f"{path}: {wanted}", flush=True)
    test = write_test(runner, wanted, options)
    try:
        with tempfile.TemporaryDirectory() as folder:
            small = os.path.join(folder, "small.mlir")
            large = os.path.join(folder, "large.mlir")
            with open(large, "w", encoding="utf-8") as file:
                file.write(text)
            subprocess.run([find_tool(os.path.dirname(runner.tool),
                                      "fusion-reduce"), large, "--test=" + test,
                            "-o", small], check=True)
            with open(small, encoding="utf-8") as file:
                body = file.read()
    finally:
        os.unlink(test)
    body = re.sub(r"\Amodule \{\n(.*)\n\}\n*\Z",
                  lambda m: re.sub(r"(?m)^  ", "", m[1]) + "\n", body,
                  flags=re.DOTALL)
    with open(output, "w", encoding="utf-8") as file:
        file.write(f"// fuzz: {' '.join(fitting(options, body))}\n"
                   f"// {outcome.label}: {outcome.message}\n{body}")
    return len(body.splitlines())


def main(arguments):
    if arguments[:1] == ["--check"]:
        return check(arguments[1:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", metavar="FILE.mlir")
    parser.add_argument("-o", dest="output", metavar="OUT.mlir")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"),
                        metavar="FOLDER")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--timeout", type=float, default=20, metavar="SECONDS",
                        help="of one candidate")
    options = parser.parse_args(arguments)
    output = options.output or options.file.replace(".mlir", "") + ".small.mlir"
    runner = Runner(os.path.abspath(options.bin), options.device,
                    options.timeout)
    lines = reduce_program(options.file, output, runner)
    print(f"{output}: {lines} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
