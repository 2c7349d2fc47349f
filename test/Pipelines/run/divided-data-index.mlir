// An index that is read from a tensor and is negative is divided as the 64 bits
// that it has, though the kernel's own indices fit in 32.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s --check-prefix=TILE

// CHECK: {{^}}verified
// TILE: index_bits = 64

func.func @gather(%x: tensor<13xf32>) -> tensor<16xf32> {
  %places = arith.constant dense<[-3, -3, -3, 3, -2, -1, 4, 4, -1, -3, -2, -3, -4, -4, 3, 4]> : tensor<16xi32>
  %size = arith.constant 13 : index
  %e = tensor.empty() : tensor<16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%places : tensor<16xi32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: i32, %o: f32):
    %i = arith.index_cast %a : i32 to index
    %n = arith.remui %i, %size : index
    %v = tensor.extract %x[%n] : tensor<13xf32>
    linalg.yield %v : f32
  } -> tensor<16xf32>
  return %y : tensor<16xf32>
}
