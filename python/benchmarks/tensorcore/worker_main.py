# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that checks and times packages; workers.py starts it."""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

import torch  # noqa: E402

import fusion_compiler as fusion  # noqa: E402
from tensorcore import measure  # noqa: E402
from tensorcore.cases import Case  # noqa: E402


def main():
    answers = os.fdopen(int(sys.argv[1]), "w")

    def answer(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    settings = json.loads(sys.stdin.readline())
    if settings["library"]:
        fusion.set_runtime_library(settings["library"])
    on_gpu = settings["device"] == "cuda"
    if on_gpu and not torch.cuda.is_available():
        answer({"error": "PyTorch sees no GPU on this machine; remedy: run on "
                         "one with an NVIDIA GPU, or check small cases with "
                         "--device=emulator"})
        return
    torch.manual_seed(settings["seed"])
    bench = measure.Bench(settings)
    answer(bench.machine())
    for line in sys.stdin:
        question = json.loads(line)
        case = Case.from_json(question["case"])
        for row in bench.rows(case, [pathlib.Path(settings["packages"]) / name
                                     for name in question["packages"]]):
            answer(row)
        answer({"end": True})


if __name__ == "__main__":
    main()
