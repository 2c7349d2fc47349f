# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_listing.py LIST.json P.fpk: the listing is that of the package."""

import json
import os
import sys

listing = json.load(open(sys.argv[1], encoding="utf-8"))
assert listing["bytes"] == os.path.getsize(sys.argv[2])
assert listing["format"] == 1 and listing["target"] == "sm_90a"
(kernel,), (entry,) = listing["kernels"], listing["entries"]
assert kernel["name"] == "exp" and kernel["ptx_bytes"] > 0
assert entry["sizes"] == {"rows": 64}
assert entry["inputs"][0]["dims"] == ["rows", "8"]
(step,) = entry["steps"]
(variant,) = step["variants"]
assert variant["kernel"] == "exp"
# All elements have a thread, and no block has none.
threads = kernel["block"]
for extent in variant["blocks"]:
    threads *= extent
assert 64 * 8 <= threads * 16 and threads <= 64 * 8 + kernel["block"], threads
