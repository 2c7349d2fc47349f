"""Compares the counted traffic of every kernel with the predicted one.

check_traffic.py PROFILE.json [MOST]: no more than MOST bank conflicts, 0 when
it is not given.
"""

import json
import sys

profile = json.load(open(sys.argv[1]))
most_conflicts = int(sys.argv[2]) if len(sys.argv) > 2 else 0
for kernel in profile["kernels"]:
    traffic, predicted = kernel["traffic_bytes"], kernel["predicted_bytes"]
    shared = kernel["shared"]
    requests = sum(shared[x + "_requests"] for x in ("load", "store", "atomic"))
    # Each tensor may end within a sector.
    tensors = 4
    if not predicted <= traffic < predicted + 32 * tensors:
        sys.exit(f"{kernel['name']}: {traffic} bytes, predicted {predicted}")
    if shared["bank_conflicts"] > most_conflicts:
        sys.exit(f"{kernel['name']}: {shared['bank_conflicts']} bank conflicts")
    what = "as predicted" if traffic == predicted else f"beside {predicted} predicted"
    print(f"{kernel['name']}: {traffic} bytes {what}, {requests} shared requests, "
          f"{shared['bank_conflicts']} conflicts")
