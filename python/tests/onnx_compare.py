# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of results with those that a test case of ONNX expects."""

import numpy as np

# Two units in the last place: intermediate values may be kept wider.
_SMALL_FLOATS = {"bfloat16": 2.0 ** -6, "float16": 2.0 ** -9}


def arrays(values):
    """The arrays of a data set, which may be TensorProto."""
    import onnx
    return [onnx.numpy_helper.to_array(value)
            if isinstance(value, onnx.TensorProto) else value
            for value in values]


def difference(results, expected, case):
    """What is wrong with the results, or ""."""
    if len(results) != len(expected):
        return f"{len(results)} results, expected {len(expected)}"
    for result, wanted in zip(results, expected):
        result, wanted = np.asarray(result), np.asarray(wanted)
        if result.shape != wanted.shape or result.dtype != wanted.dtype:
            return (f"{result.dtype}{result.shape}, expected "
                    f"{wanted.dtype}{wanted.shape}")
        rtol = max(case.rtol, _SMALL_FLOATS.get(result.dtype.name, 0))
        if result.dtype.kind not in "biuf":  # A type of ml_dtypes.
            result, wanted = (one.astype(np.float32)
                              for one in (result, wanted))
        try:
            np.testing.assert_allclose(result, wanted, rtol=rtol,
                                       atol=case.atol)
        except AssertionError as error:
            return " ".join(str(error).split())
    return ""
