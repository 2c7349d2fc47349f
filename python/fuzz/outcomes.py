# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one program and says what came of it."""

import os
import re
import resource
import signal
import subprocess

from limits import find_limit, find_pending

# Outcomes that need no attention.
EXPECTED = ("verified", "refused")
ORDER = ("verified", "compiles", "refused", "not-checked", "mismatch",
         "emulator", "refused-valid", "crash", "hang", "memory", "invalid")
MEANINGS = {
    "verified": "every output is right",
    "compiles": "compiled, too large to be emulated",
    "refused": "refused for a documented limit",
    "not-checked": "the reference could not tell right from wrong",
    "mismatch": "an output is wrong, or the reference is",
    "emulator": "the emulator reported a kernel",
    "refused-valid": "a valid program was refused",
    "crash": "a tool ended by a signal or an assertion",
    "hang": "no answer in time",
    "memory": "more memory than allowed",
    "invalid": "the generator wrote what MLIR does not take",
}


class Outcome:
    """What came of a program: a kind of ORDER, a code, and the output."""

    def __init__(self, kind, code, output, limit=None):
        self.kind, self.code, self.output = kind, code, output
        # Why this may be: a documented limit, or a known defect.
        self.limit = limit

    @property
    def expected(self):
        return self.kind in EXPECTED or self.limit is not None

    @property
    def label(self):
        return f"{self.kind} {self.code}".strip()

    @property
    def message(self):
        """The first error, on one line."""
        match = re.search(r"error: (.*)", self.output)
        if match:
            return match[1]
        lines = [line for line in self.output.splitlines() if line.strip()]
        assertion = [line for line in lines if "Assertion" in line]
        return (assertion or lines or [""])[-1]


def read_options(text):
    """The options of fusion-run on the first line of a program."""
    match = re.match(r"// fuzz:(.*)", text)
    return match[1].split() if match else ["--seed=0"]


def read_expectation(text):
    """What a program of the corpus says that comes of it: (kind, code), where
    an empty code is any. A program that says nothing has to be verified."""
    match = re.search(r"(?m)^// outcome: (\S+) ?(FUS-\d+)?$", text)
    return (match[1], match[2] or "") if match else ("verified", "")


def find_tool(folder, name):
    path = os.path.join(folder, name)
    if not os.access(path, os.X_OK):
        raise SystemExit(f"run.py: error: no {name} in {folder}; build it, or "
                         "name its folder with --bin")
    return path


def limited(megabytes):
    """For a child process: its memory, and a group of its own to be ended."""
    def apply():
        os.setsid()
        if megabytes:
            size = megabytes << 20
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def execute(command, seconds, megabytes=0, environment=None):
    """(exit status or None on time-out, output)."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, env=environment,
                               preexec_fn=limited(megabytes))
    try:
        output, _ = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = None
    return status, output.decode("utf-8", "replace")


def classify(status, output, program):
    """The outcome of a run of fusion-run --verify."""
    codes = re.findall(r"FUS-\d{4}", output)
    code = codes[0] if codes else ""
    if status is None:
        return Outcome("hang", "", output)
    if status == 0:
        return Outcome("verified", "", output)
    if status < 0 or status in (70, 134, 139) or "FUS-1070" in output:
        if status == -signal.SIGKILL:
            return Outcome("memory", "", output)
        return Outcome("crash", code, output)
    if code == "FUS-1206":
        return Outcome("not-checked", code, output)
    if code in ("FUS-1203", "FUS-1205"):
        return Outcome("mismatch", code, output)
    if code.startswith("FUS-70"):
        return Outcome("emulator", code, output)
    if code in ("FUS-1013", "FUS-1103"):
        return Outcome("memory", code, output)
    if code == "FUS-1003":
        return Outcome("invalid", code, output)
    match = re.search(r"error: (.*)", output)
    message = match[1] if match else output
    reason = find_limit(code, message, program)
    if reason:
        return Outcome("refused", code, output, limit=reason)
    return Outcome("refused-valid", code, output,
                   limit=find_pending(code, message))


class Runner:
    """How programs are run: which binaries, which device, which limits."""

    def __init__(self, folder, device="emulator", seconds=60, megabytes=4096,
                 extra=(), verify="reference"):
        self.tool = find_tool(folder, "fusion-run")
        self.folder = folder
        self.device, self.seconds = device, seconds
        self.megabytes, self.extra = megabytes, list(extra)
        self.verify = verify

    def command(self, path, options):
        if self.device.startswith("cuda"):
            # A GPU decides these by itself.
            options = [o for o in options
                       if not o.startswith(("--asynchrony", "--target"))]
        return [self.tool, path, f"--device={self.device}", "--random",
                f"--verify={self.verify}", *options, *self.extra]

    def run(self, path):
        """Runs the program in a file with the options on its first line."""
        with open(path, encoding="utf-8") as file:
            program = file.read()
        status, output = execute(self.command(path, read_options(program)),
                                 self.seconds, self.megabytes)
        return classify(status, output, program)

    def run_expecting(self, path):
        """Runs a program of the corpus: its outcome, and what it should be."""
        with open(path, encoding="utf-8") as file:
            program = file.read()
        kind, code = read_expectation(program)
        if kind != "compiles":
            return self.run(path), kind, code
        target = [o for o in read_options(program) if o.startswith("--target")]
        status, output = execute(
            [find_tool(self.folder, "fusion-compile"), path, "-o", os.devnull,
             *target], self.seconds, self.megabytes)
        outcome = classify(status, output, program)
        if outcome.kind == "verified":
            outcome.kind = "compiles"
        return outcome, kind, code


def meets(outcome, kind, code):
    """Whether an outcome is the one that the corpus wants."""
    found = "refused" if outcome.kind == "refused-valid" else outcome.kind
    if kind == "refused" and found == "not-checked":
        return not code
    return found == kind and (not code or outcome.code == code)
