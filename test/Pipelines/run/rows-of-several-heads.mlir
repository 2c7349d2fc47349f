// Attention with its grouped heads' rows in one tile, as many rows as are known
// when it runs: what its positions are is no sum of anything.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=580 --dim=m=33 --dim=n=1 --verify | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=581 --dim=m=40 --dim=n=3 --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%q: tensor<?x4x?x33xbf16> {fusion.dims = ["n", "_", "m", "_"]},
                %k: tensor<?x2x?x33xbf16> {fusion.dims = ["n", "_", "n", "_"]},
                %v: tensor<?x2x?x?xbf16> {fusion.dims = ["n", "_", "n", "m"]})
    -> tensor<?x4x?x?xbf16> {
  %0 = fusion.attention %q, %k, %v causal(top_left) {scale = 0.125 : f64} : (tensor<?x4x?x33xbf16>, tensor<?x2x?x33xbf16>, tensor<?x2x?x?xbf16>) -> tensor<?x4x?x?xbf16>
  return %0 : tensor<?x4x?x?xbf16>
}
