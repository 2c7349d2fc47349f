#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the way from a wheel to a result: pip install, README's lines.

    time_wheel.py [BUILD]

The wheel is made of the libraries of BUILD (build/ by default; `ninja fusion-rt
fusion-native fusion-c-wheel`) by build/venv, and installed with its
dependencies, from the package index, into a fresh environment. There, far from
the source tree, the program and the Python lines of README are run twice: the
first run finds nothing in memory. Prints seconds and sizes.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **keywords):
    """The seconds that a command takes, which has to succeed."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("FUSION_", "PYTHON", "LD_"))}
    start = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, timeout=600,
                   env=environment, stdout=subprocess.DEVNULL, **keywords)
    return time.perf_counter() - start


def readme_lines():
    """README's first program as a file would have it, and its Python lines."""
    text = (ROOT / "README.md").read_text()
    path, program = re.search(r"cat > (\S+) <<'MLIR'\n(.*?)^MLIR$", text,
                              re.S | re.M).groups()
    lines = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    return program, lines.replace(path, "first.mlir")


def main(arguments):
    build = pathlib.Path(arguments[0] if arguments else ROOT / "build").resolve()
    program, lines = readme_lines()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        run(build / "venv/bin/python", "-m", "pip", "wheel", "--no-deps",
            "--no-build-isolation", "--quiet", "--wheel-dir", folder,
            ROOT / "python", f"-Ccmake.define.FUSION_PREBUILT={build}")
        wheel, = folder.glob("*.whl")
        print(f"wheel: {wheel.stat().st_size / 1e6:.0f} MB")
        environment = folder / "environment"
        print(f"fresh environment: {run(sys.executable, '-m', 'venv', environment):.1f} s")
        python = environment / "bin/python"
        print("pip install, with NumPy: %.1f s" % run(
            python, "-m", "pip", "install", "--quiet",
            "--disable-pip-version-check", wheel))
        (folder / "first.mlir").write_text(program)
        (folder / "first.py").write_text(lines)
        for which in ("first", "second"):
            print(f"README's lines, {which} run: "
                  f"{run(python, 'first.py', cwd=folder):.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
