# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs torch-mlir's ONNX importer: a ModelProto on standard input becomes MLIR
of the torch dialect on standard output.

A process of its own (`python -m fusion_compiler.importing.onnx_worker`), since
the importer builds MLIR in C++, where a graph that it does not foresee can end
the process. Exit code 3: the importer refused, and said why in one line of
standard error.
"""

import sys

REFUSED = 3


def main():
    import onnx
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras import onnx_importer
    from torch_mlir.ir import Context, MLIRError

    model = onnx.load_model_from_string(sys.stdin.buffer.read())
    context = Context()
    torch_dialect.register_dialect(context)
    # Function bodies are expanded before, in onnx_graph.py.
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
        lines = str(error).strip().splitlines() or [""]
        print(f"{type(error).__name__}: {' '.join(lines)[:300]}",
              file=sys.stderr)
        return REFUSED
    print(module.get_asm(enable_debug_info=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
