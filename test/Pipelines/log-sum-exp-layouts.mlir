// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// What granules of a product's columns were reduced to is spread over them again
// in the layout of the accumulator: nothing goes through shared memory but the
// operands.

// CHECK-LABEL: fusion_tile.program
// CHECK-SAME: wgmma
// CHECK-NOT: fusion_tile.convert_layout
// CHECK-NOT: fusion_tile.alloc
// CHECK: fusion_tile.reshape {{.*}} -> tensor<{{.*}}x1x64xf32
// CHECK-NOT: fusion_tile.convert_layout
// CHECK-NOT: fusion_tile.alloc
// CHECK: fusion_tile.return
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%a: tensor<2048x64xbf16>, %b: tensor<64x8512xbf16>) -> tensor<2048xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2048x8512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x8512xf32>) -> tensor<2048x8512xf32>
  %m = linalg.matmul ins(%a, %b : tensor<2048x64xbf16>, tensor<64x8512xbf16>) outs(%f : tensor<2048x8512xf32>) -> tensor<2048x8512xf32>
  %ev = tensor.empty() : tensor<2048xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<2048xf32>) -> tensor<2048xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<2048xf32>) -> tensor<2048xf32>
  %mx = linalg.reduce { arith.maximumf } ins(%m : tensor<2048x8512xf32>) outs(%fl : tensor<2048xf32>) dimensions = [1]
  %bm = linalg.broadcast ins(%mx : tensor<2048xf32>) outs(%e : tensor<2048x8512xf32>) dimensions = [1]
  %d = arith.subf %m, %bm : tensor<2048x8512xf32>
  %x = math.exp %d : tensor<2048x8512xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<2048x8512xf32>) outs(%fz : tensor<2048xf32>) dimensions = [1]
  %l = math.log %s : tensor<2048xf32>
  %q = arith.addf %l, %mx : tensor<2048xf32>
  return %q : tensor<2048xf32>
}

}
