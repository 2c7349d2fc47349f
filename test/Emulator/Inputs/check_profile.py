"""Checks the profile of axpy on 1024 elements against its arithmetic."""

import json
import sys

profile = json.load(open(sys.argv[1]))
assert profile["version"] == 1
(kernel,) = profile["kernels"]
assert kernel["name"] == "axpy" and kernel["launches"] == 1
assert kernel["grid"] == [4, 1, 1] and kernel["block"] == [256, 1, 1]
warps = 4 * 256 // 32
assert sum(kernel["pipes"].values()) == kernel["instructions"] == 16 * warps
for access, count in (("global_loads", 2), ("global_stores", 1)):
    found = kernel[access]
    assert found["requests"] == count * warps
    assert found["sectors_per_request"] == 4
    assert found["bytes"] == count * 4096
assert kernel["distinct_load_bytes"] == 2 * 4096
assert kernel["distinct_store_bytes"] == 4096
assert kernel["traffic_bytes"] == 3 * 4096
assert kernel["predicted_bytes"] is None
assert kernel["shared"]["bank_conflicts"] == 0

by_line = {line["ptx_line"]: line for line in kernel["lines"]}
load = by_line[27]
assert load["instruction"] == "ld.global.f32" and load["pipe"] == "lsu"
assert load["source"] == "axpy.mlir:4"
assert load["executions"] == warps and load["lanes"] == 32 * warps
assert load["global"]["sectors_per_request"] == 4
total = profile["total"]
assert total["traffic_bytes"] == kernel["traffic_bytes"]
