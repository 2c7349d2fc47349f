// Losses of a linear layer: the tiles of the product reduce its results, and what
// targets choose of them is added up for itself, so that the logits are nowhere in
// memory. With ignored targets, smoothing, and targets outside of the classes.

// RUN: fusion-compile %s --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --int-range=0:600 --verify --entry=losses
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --int-range=0:5003 --asynchrony=early --verify --entry=losses
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --int-range=0:600 --verify=payload --entry=losses
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --int-range=0:4000 --dim=arg0.0=200 --verify --entry=smoothed
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=5 --int-range=0:4000 --dim=arg0.0=1 --verify --entry=smoothed
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=3 --int-range=0:5003 --verify --entry=losses

// PLAN: @losses for sm_90a:
// PLAN: kernel {{.*}}matmul, reduce_max, sum;
// PLAN: gathered-product
// PLAN: @smoothed for sm_90a:
// PLAN: kernel {{.*}}matmul, add, reduce_max, sum, sum;
// PLAN: matmul{{.*}} -> all reductions{{.*}}begun-by-tiles
func.func @losses(%x: tensor<256x64xbf16>, %w: tensor<5003x64xbf16>, %t: tensor<256xi64>) -> tensor<256xbf16> {
  %l = fusion.linear_cross_entropy none %x, %w, %t {ignore_index = 7 : i64} : (tensor<256x64xbf16>, tensor<5003x64xbf16>, tensor<256xi64>) -> tensor<256xbf16>
  return %l : tensor<256xbf16>
}

func.func @smoothed(%x: tensor<?x256xf16>, %w: tensor<4000x256xf16>, %b: tensor<4000xf16>, %t: tensor<?xi64>) -> tensor<f16> {
  %l = fusion.linear_cross_entropy mean %x, %w, %t bias(%b) {ignore_index = 7 : i64, label_smoothing = 0.1} : (tensor<?x256xf16>, tensor<4000x256xf16>, tensor<?xi64>, tensor<4000xf16>) -> tensor<f16>
  return %l : tensor<f16>
}
