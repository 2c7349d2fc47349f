# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir: where it is, whether it fits, and its lowerings to linalg.

torch-mlir is built on another release of MLIR than this compiler, so that the
two exchange text. Its passes run in a process of their own (`torch-mlir-opt`,
which the wheel has): what ends that process is an error here.
"""

import functools
import importlib.metadata
import importlib.util
import pathlib
import re
import subprocess

from fusion_compiler.errors import Diagnostic, FusionError

# The release that the tests run with. Another is taken if it is newer than
# the oldest that is known to have every pass and option used here.
TESTED = "20261001"
OLDEST = "20261001"
# For one pipeline, in seconds: some of its rewrites do not end.
TIME_LIMIT = 120

_TOO_LONG = "no end after"

# To linalg on tensors, from what each importer begins with.
FROM_TORCH = ("builtin.module(torchdynamo-export-to-torch-backend-pipeline,"
              "torch-backend-to-linalg-on-tensors-backend-pipeline)")
FROM_ONNX = ("builtin.module(torch-onnx-to-torch-backend-pipeline"
             "{backend-legal-ops=aten.flatten.using_ints},"
             "torch-backend-to-linalg-on-tensors-backend-pipeline)")
SIMPLIFY_STABLEHLO = ("builtin.module(inline,func.func("
                      "stablehlo-aggressive-simplification))")
FROM_STABLEHLO = ("builtin.module(stablehlo-legalize-to-linalg,"
                  "stablehlo-convert-to-signless,canonicalize,cse)")


@functools.lru_cache(maxsize=None)
def folder():
    """The folder of the installed torch_mlir package; refuses what is missing
    or too old (FUS-1305, FUS-1306). Does not import it."""
    spec = importlib.util.find_spec("torch_mlir")
    if spec is None or not spec.submodule_search_locations:
        raise FusionError.of("FUS-1305", "torch-mlir is not installed",
                             f"pip install torch-mlir=={TESTED}")
    version = importlib.metadata.version("torch-mlir")
    if version < OLDEST:
        raise FusionError.of(
            "FUS-1306", f"torch-mlir is of release {version}, older than "
            f"{OLDEST}", f"pip install torch-mlir=={TESTED}")
    return pathlib.Path(spec.submodule_search_locations[0])


def library():
    """The file of the shared library that its Python modules load."""
    return folder() / "_mlir_libs" / "libTorchMLIRAggregateCAPI.so"


_CONSTANT = re.compile(r"legalize operation 'torch\.(constant\.|vtensor\.lit)")


def _plain(message):
    """What an error of a conversion says, without the operation as MLIR."""
    failed = re.match(r"failed to legalize operation '([\w.]+)'", message)
    if not failed:
        return message
    name = re.search(r'name = "torch\.([^"]+)"', message)
    return f"no lowering of {name.group(1) if name else failed.group(1)}"


def _first_error(log):
    """(what the program calls the place, the message) of the first error that
    the tool printed."""
    match = re.search(r"^(?:loc\()?\"?([^\"\n]*?)\"?(?::\d+:\d+)?\)?: "
                      r"error: (.*)", log, re.MULTILINE)
    if match and _CONSTANT.search(match.group(2)):
        # Constants are merged: their place may be another operation's.
        return "", "no lowering of an operation"
    if match:
        return match.group(1), _plain(match.group(2).strip())
    return "", log.strip()[:500]


def refused(cause, place="",
            remedy="leave that operation to its own framework"):
    """FUS-1307, with what the program calls the place as the error's file."""
    return refused_all([(cause, place)], remedy)


def refused_all(reasons, remedy="leave that operation to its own framework"):
    """FUS-1307 for one or more (cause, place): the first is the error's own,
    all are its diagnostics."""
    found = [Diagnostic("error", "FUS-1307", cause, remedy, place)
             for cause, place in reasons]
    cause, place = reasons[0]
    where = f"{place}: " if place else ""
    return FusionError(f"{where}FUS-1307: {cause}; {remedy}", "FUS-1307",
                       cause, remedy, found)


_PLACE = re.compile(r'loc\((?:(#loc\d*)|"([^"]*)")')


def left(text, dialects):
    """[(an op of dialects that pipelines left in MLIR text, what the program
    calls it)]. The second is "" where the text does not say."""
    names = "|".join(dialects)
    result = []
    for found in re.finditer(rf"^ *(?:%[^=\n]* = )?\"?((?:{names})\.\w+)\b",
                             text, re.MULTILINE):
        # An op with regions says at its end where it is from; so do those in
        # it.
        place = _PLACE.search(text, found.end())
        name = (place.group(2) or "") if place else ""
        if place and place.group(1):
            place = re.search(rf'^{place.group(1)} = loc\("([^"]*)"', text,
                              re.MULTILINE)
            name = place.group(1) if place else ""
        result.append((found.group(1), name))
    return result


_FUNCTION_OR_CAST = re.compile(
    r"^ *(?:func\.func|(?P<name>%[\w#]+) = tensor\.cast (?P<source>%[\w#]+) : "
    r"tensor<(?P<old>[^>]*)> to tensor<(?P<new>[^>]*)>"
    r"(?: loc\((?P<place>#loc\d*)\))?)", re.MULTILINE)


def contradiction(text):
    """("6x4 to 6x2", what the program calls the place) of casts of a tensor by
    way of unknown sizes to others than it has, which torch-mlir makes where
    its lowering is wrong; None if there is none."""
    sizes = {}
    for match in _FUNCTION_OR_CAST.finditer(text):
        if match["name"] is None:  # Names begin anew.
            sizes.clear()
            continue
        old, new = (re.findall(r"(\d+|\?)x", match[side])
                    for side in ("old", "new"))
        old = sizes.get(match["source"], old)
        if any("?" not in (a, b) and a != b for a, b in zip(old, new)):
            place = re.search(rf'^{match["place"]} = loc\("([^"]*)"', text,
                              re.MULTILINE)
            return (f"{'x'.join(old)} to {'x'.join(new)}",
                    place.group(1) if place else "")
        sizes[match["name"]] = [a if b == "?" else b
                                for a, b in zip(old, new)]
    return None


def run(text, pipeline):
    """(exit code, MLIR text, log) of a pipeline of torch-mlir on MLIR text.

    The code is negative where a signal ended the tool. What the text says of
    places in the program is kept, and so are ops of other dialects in their
    generic form. The log of a pass that failed ends with the
    program as it left it.
    """
    tool = folder() / "_mlir_libs" / "torch-mlir-opt"
    try:
        done = subprocess.run([tool, f"--pass-pipeline={pipeline}",
                               "--mlir-print-debuginfo",
                               "--mlir-print-ir-after-failure",
                               "--allow-unregistered-dialect", "-"],
                              input=text, capture_output=True, text=True,
                              errors="replace", timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return 1, "", f"error: {_TOO_LONG} {TIME_LIMIT} seconds"
    return done.returncode, done.stdout, done.stderr


def is_time_limit(error):
    """Whether an error is that a pipeline did not end in time."""
    return _TOO_LONG in str(error)


@functools.lru_cache(maxsize=None)
def from_torch_with_calls():
    """FROM_TORCH without its last pass, which refuses calls of functions: the
    tool's own list of passes. `left` finds what that pass would have."""
    tool = folder() / "_mlir_libs" / "torch-mlir-opt"
    done = subprocess.run([tool, "--dump-pass-pipeline",
                           f"--pass-pipeline={FROM_TORCH}", "-"],
                          input="module {}", capture_output=True, text=True,
                          timeout=TIME_LIMIT)
    passes = re.search(r"^builtin\.module\(.*^\)$", done.stderr,
                       re.MULTILINE | re.DOTALL)
    last = re.compile(r",\s*torch-verify-linalg-on-tensors-backend-contract")
    if passes is None or not last.search(passes.group()):
        raise FusionError.of("FUS-1306", "torch-mlir lists its passes in "
                             "another way", f"pip install torch-mlir=={TESTED}")
    return " ".join(last.sub("", passes.group()).split())


def lower(text, pipeline):
    """MLIR text after a pipeline of torch-mlir; text in, text out.

    Raises FUS-1307 with what the pipeline said.
    """
    code, lowered, log = run(text, pipeline)
    if code < 0:
        raise refused(f"torch-mlir ended with signal {-code}",
                      remedy="leave the operation that the program was "
                      "imported from to its framework")
    if code:
        place, message = _first_error(log)
        raise refused(f"torch-mlir: {message}", place)
    wrong = contradiction(lowered)
    if wrong:
        sizes, place = wrong
        raise refused(f"torch-mlir casts a tensor of {sizes}", place)
    return lowered
