#!/usr/bin/env python3
"""Compiles programs to packages for fusion-conformance.

    make_packages.py --compiler=build/bin/fusion-compile OUT_DIR
    fusion-conformance OUT_DIR/*.fpk --device=cuda

The programs are those of docs/examples, pointwise functions of every float
type, and reductions. The packages are not kept: they follow the compiler.
"""

import argparse
import pathlib
import subprocess
import sys

# Each line is an operation on %x (a tensor of floats in [-2, 2]) and %y.
POINTWISE = {
    "add": ["%r = arith.addf %x, %y"],
    "sub_mul": ["%a = arith.subf %x, %y", "%r = arith.mulf %a, %x"],
    "div": ["%r = arith.divf %x, %y"],
    "extremes": ["%a = arith.maximumf %x, %y", "%b = arith.minimumf %x, %y",
                 "%r = arith.subf %a, %b"],
    "number_extremes": ["%a = arith.maxnumf %x, %y",
                        "%b = arith.minnumf %x, %y",
                        "%r = arith.addf %a, %b"],
    "negate": ["%a = arith.negf %x", "%r = arith.addf %a, %y"],
    "absolute": ["%r = math.absf %x"],
    "fma": ["%r = math.fma %x, %y, %x"],
    "square_root": ["%a = math.absf %x", "%r = math.sqrt %a"],
    "exponential": ["%r = math.exp %x"],
    "logarithm": ["%a = math.absf %x", "%b = math.log %a",
                  "%r = arith.addf %b, %y"],
    "tanh": ["%r = math.tanh %x"],
    "sine": ["%a = math.sin %x", "%b = math.cos %y",
             "%r = arith.addf %a, %b"],
    "error_function": ["%r = math.erf %x"],
    "reciprocal_root": ["%a = math.absf %y", "%r = math.rsqrt %a"],
    "logistic": ["%a = arith.negf %x", "%b = math.exp %a",
                 "%c = arith.addf %b, %one", "%r = arith.divf %one, %c"],
}
REDUCTIONS = {
    "sum": ("0.0", "arith.addf"),
    "product": ("1.0", "arith.mulf"),
    "largest": ("-10.0", "arith.maximumf"),
    "smallest": ("10.0", "arith.minimumf"),
}
TYPES = ["f32", "f16", "bf16"]


def pointwise(name, lines, kind):
    tensor = f"tensor<37x64x{kind}>"
    text = f"func.func @{name}(%x: {tensor}, %y: {tensor}) -> {tensor} {{\n"
    text += f"  %one = arith.constant dense<1.0> : {tensor}\n"
    for line in lines:
        text += f"  {line} : {tensor}\n"
    return text + f"  return %r : {tensor}\n}}\n"


def reduction(name, start, operation, kind, over_rows):
    whole, part = f"tensor<96x80x{kind}>", f"tensor<{80 if over_rows else 96}x{kind}>"
    kept = "j" if over_rows else "i"
    kinds = '"reduction", "parallel"' if over_rows else '"parallel", "reduction"'
    return f"""#ij = affine_map<(i, j) -> (i, j)>
#k = affine_map<(i, j) -> ({kept})>
func.func @{name}(%x: {whole}) -> {part} {{
  %start = arith.constant {start} : {kind}
  %empty = tensor.empty() : {part}
  %init = linalg.fill ins(%start : {kind}) outs(%empty : {part}) -> {part}
  %r = linalg.generic {{indexing_maps = [#ij, #k], iterator_types = [{kinds}]}}
      ins(%x : {whole}) outs(%init : {part}) {{
  ^bb0(%v: {kind}, %s: {kind}):
    %t = {operation} %v, %s : {kind}
    linalg.yield %t : {kind}
  }} -> {part}
  return %r : {part}
}}
"""


def programs():
    examples = pathlib.Path(__file__).resolve().parents[3] / "docs/examples"
    for path in sorted(examples.glob("*.mlir")):
        yield path.stem, path.read_text()
    for kind in TYPES:
        for name, lines in POINTWISE.items():
            yield f"{name}_{kind}", pointwise(name, lines, kind)
        for name, (start, operation) in REDUCTIONS.items():
            for over_rows in (False, True):
                full = f"{name}_{'columns' if over_rows else 'rows'}_{kind}"
                yield full, reduction(full, start, operation, kind, over_rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="fusion-compile")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, text in programs():
        source = options.out / (name + ".mlir")
        source.write_text(text)
        done = subprocess.run(
            [options.compiler, str(source), "--target=" + options.target, "-o",
             str(options.out / (name + ".fpk"))],
            capture_output=True, text=True, check=False)
        if done.returncode:
            failed += 1
            print(f"{name}: {done.stderr.strip().splitlines()[:2]}",
                  file=sys.stderr)
    print(f"{len(list(options.out.glob('*.fpk')))} packages, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
