// What layouts weigh is the chip's: tiles that are not worth an exchange through
// shared memory are read as they are used.

// RUN: fusion-compile %s --compile-to=tile -o - | FileCheck %s
// RUN: sed 's/leastExchanged = 1.0e9/leastExchanged = 128.0/' %s > %t.mlir
// RUN: fusion-compile %t.mlir --compile-to=tile -o - | FileCheck %s --check-prefix=EXCHANGED

// CHECK: fusion_tile.program @transpose_add({{.*}} shared_bytes = 0 :
// CHECK-NOT: fusion_tile.local_store
// EXCHANGED: fusion_tile.program @transpose_add({{.*}} shared_bytes = 16384 :
// EXCHANGED: fusion_tile.local_store
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {layouts = {leastExchanged = 1.0e9 : f64}}>} {
func.func @transpose(%x: tensor<4096x4096xf32>, %y: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %t = linalg.transpose ins(%x : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) permutation = [1, 0]
  %z = arith.addf %t, %y : tensor<4096x4096xf32>
  return %z : tensor<4096x4096xf32>
}
}
