# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's ONNX importer, in a process of its own: it builds MLIR in C++,
where a graph that it does not foresee can end the process.

`convert` is for the process that asks. The other one, `python -m
fusion_compiler.importing.onnx_worker`, answers until its standard input ends:
a message is eight bytes of length and that many bytes, a ModelProto one way,
"+" and MLIR text of the torch dialect or "-" and a reason the other way.
"""

import os
import pathlib
import struct
import subprocess
import sys
import threading

_LOCK = threading.Lock()
_worker = None


class Died(Exception):
    """The process ended; the argument is its exit code, or minus a signal."""


def _start():
    home = str(pathlib.Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH")
    return subprocess.Popen(
        [sys.executable, "-m", "fusion_compiler.importing.onnx_worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{path}" if path
             else home})


def convert(model):
    """(whether the bytes of a ModelProto were taken, MLIR text or a reason);
    raises Died."""
    global _worker
    with _LOCK:
        if _worker is None or _worker[0] != os.getpid() or (
                _worker[1].poll() is not None):
            _worker = os.getpid(), _start()
        process = _worker[1]
        try:
            _send(process.stdin, model)
            answer = _receive(process.stdout)
        except (BrokenPipeError, EOFError):
            _worker = None
            process.stdin.close()
            raise Died(process.wait()) from None
    return answer[:1] == b"+", answer[1:].decode(errors="replace")


def _send(file, data):
    file.write(struct.pack("<Q", len(data)))
    file.write(data)
    file.flush()


def _receive(file):
    """One message; raises EOFError where the other side is gone."""
    head = file.read(8)
    if len(head) < 8:
        raise EOFError
    size, = struct.unpack("<Q", head)
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _answer(data):
    import onnx
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras import onnx_importer
    from torch_mlir.ir import Context, MLIRError

    model = onnx.load_model_from_string(data)
    context = Context()
    torch_dialect.register_dialect(context)
    # Definitions are put in before, by onnx_graph.py.
    config = onnx_importer.Config(function_expansion_allowlists_by_domain={})
    info = onnx_importer.ModelInfo(model, config=config)
    module = info.create_module(context=context).operation
    try:
        importer = onnx_importer.NodeImporter.define_function(
            info.main_graph, module)
        importer.import_all()
        module.verify()
    except (onnx_importer.OnnxImportError, MLIRError, TypeError, ValueError,
            KeyError) as error:
        return b"-" + " ".join(str(error).split())[:500].encode()
    return b"+" + module.get_asm(enable_debug_info=True).encode()


def main():
    # What libraries print is no answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            data = _receive(sys.stdin.buffer)
        except EOFError:
            return 0
        _send(answers, _answer(data))


if __name__ == "__main__":
    sys.exit(main())
