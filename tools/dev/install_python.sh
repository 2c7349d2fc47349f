#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes build/venv, a Python environment with the releases of PyTorch, JAX, ONNX
# and torch-mlir that the tests of the importers run with, and prints its
# interpreter. With everything installed it touches no network.
#
# Usage: tools/dev/install_python.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
  echo "install_python.sh: error: $1" >&2
  echo "  remedy: $2" >&2
  exit 1
}

wanted=python/requirements-test.txt
venv=build/venv
if ! cmp -s "$wanted" "$venv/installed.txt"; then
  mkdir -p build
  rm -rf "$venv"
  python3 -m venv "$venv" >&2 ||
    fail "python3 makes no virtual environment" "apt-get install python3-venv"
  # PyTorch for CPUs alone: the tests run on the emulator.
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" \
    >&2 || fail "pip could not install $wanted" \
                "look at pip's message above; Python 3.11 is what was tried"
  cp "$wanted" "$venv/installed.txt"
fi
echo "$PWD/$venv/bin/python"
