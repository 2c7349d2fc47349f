# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts an ONNX model or a StableHLO program to MLIR for fusion-compile.

    python -m fusion_compiler.importing FILE.onnx|FILE.mlir -o OUT.mlir

The weights of an ONNX model become arguments behind its inputs; with
--weights=FOLDER they are written there as .npy files, numbered as arguments.
"""

import argparse
import pathlib
import sys

import numpy as np

from fusion_compiler.errors import FusionError
from fusion_compiler.files import write_whole
from fusion_compiler.importing import onnx_lowering, stablehlo


def _convert_onnx(path, static, weights):
    importer = onnx_lowering.Importer(path)
    values = {}
    for one in static:
        name, _, value = one.partition("=")
        values[name] = np.load(value)
    missing = [name for name in importer.static_inputs if name not in values]
    if missing:
        raise FusionError.of(
            "FUS-1307", f"sizes depend on the value of the input {missing[0]}",
            f"give it: --static={missing[0]}=FILE.npy")
    program = importer.lower(values)
    if weights:
        weights.mkdir(parents=True, exist_ok=True)
        for i, array in enumerate(program.weights.values(),
                                  len(program.inputs)):
            np.save(weights / f"{i}.npy", array)
    return program.text


def main():
    parser = argparse.ArgumentParser(
        prog="python -m fusion_compiler.importing",
        description=__doc__.splitlines()[0])
    parser.add_argument("input", type=pathlib.Path)
    parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
    parser.add_argument("--static", action="append", default=[],
                        metavar="NAME=FILE.npy", help="the value of an input "
                        "that sizes depend on")
    parser.add_argument("--weights", type=pathlib.Path, metavar="FOLDER",
                        help="where the weights of an ONNX model go")
    options = parser.parse_args()
    try:
        if options.input.suffix == ".onnx":
            text = _convert_onnx(options.input, options.static,
                                 options.weights)
        else:
            text = stablehlo.lower(options.input.read_text())
        write_whole(options.output, text.encode())
    except FusionError as error:
        print(f"error: {options.input}: {error}", file=sys.stderr)
        return 1
    except (OSError, UnicodeDecodeError) as error:
        print(f"error: {options.input}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
