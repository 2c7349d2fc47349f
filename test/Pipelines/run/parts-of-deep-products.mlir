// Products of few results that no warpgroup makes, f32 here: parts of the
// dimension that they walk fill the chip, of one that windows slide over too.

// RUN: fusion-run %s --entry=single --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --entry=batches --device=emulator --random --seed=2 --verify
// RUN: fusion-run %s --entry=strided --device=emulator --random --seed=3 --verify
// RUN: fusion-run %s --entry=windows --device=emulator --random --seed=4 --verify
// RUN: fusion-run %s --entry=prime --device=emulator --random --seed=5 --verify
// RUN: fusion-run %s --entry=images --device=emulator --random --seed=6 --verify
// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  // CHECK-LABEL: func.func @single
  // CHECK: fusion.kernel @matmul{{.*}}-> (tensor<8x40x24xf32>)
  // CHECK: fusion.kernel @sum
  func.func @single(%x: tensor<40x4096xf32>, %y: tensor<24x4096xf32>) -> tensor<40x24xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40x24xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, p) -> (c, p)>, affine_map<(c, k, p) -> (k, p)>, affine_map<(c, k, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<40x4096xf32>, tensor<24x4096xf32>) outs(%f : tensor<40x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<40x24xf32>
    return %g : tensor<40x24xf32>
  }

  // All of the outer dimension, and parts of the inner one.
  // CHECK-LABEL: func.func @batches
  // CHECK: fusion.kernel @matmul{{.*}}-> (tensor<2x4x40x24xf32>)
  // CHECK: fusion.kernel @sum
  func.func @batches(%x: tensor<2x40x2048xf32>, %y: tensor<2x24x2048xf32>) -> tensor<40x24xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40x24xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %y : tensor<2x40x2048xf32>, tensor<2x24x2048xf32>) outs(%f : tensor<40x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<40x24xf32>
    return %g : tensor<40x24xf32>
  }

  // CHECK-LABEL: func.func @strided
  // CHECK: fusion.kernel @{{.*}}conv{{.*}}-> (tensor<{{.*}}2x4x{{.*}}24xf32>)
  // CHECK: fusion.kernel @sum
  func.func @strided(%x: tensor<2x4095x40xf32>, %y: tensor<2x2048x24xf32>) -> tensor<40x24xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40x24xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, 2 * p, c)>, affine_map<(c, k, n, p) -> (n, p, k)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %y : tensor<2x4095x40xf32>, tensor<2x2048x24xf32>) outs(%f : tensor<40x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<40x24xf32>
    return %g : tensor<40x24xf32>
  }

  // Parts of rows of an image under a filter's windows.
  // CHECK-LABEL: func.func @windows
  // CHECK: fusion.kernel @{{.*}}conv{{.*}}-> (tensor<{{(4x3x8|3x8x4)}}x24xf32>)
  // CHECK: fusion.kernel @sum
  func.func @windows(%x: tensor<1026x2x8xf32>, %y: tensor<1024x2x24xf32>) -> tensor<8x24x3xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x24x3xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x24x3xf32>) -> tensor<8x24x3xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, r, p, q) -> (p + r, q, c)>, affine_map<(c, k, r, p, q) -> (p, q, k)>, affine_map<(c, k, r, p, q) -> (c, k, r)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %y : tensor<1026x2x8xf32>, tensor<1024x2x24xf32>) outs(%f : tensor<8x24x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x24x3xf32>
    return %g : tensor<8x24x3xf32>
  }

  // Images are shared out: parts are no more than blocks that are of use.
  // CHECK-LABEL: func.func @images
  // CHECK: fusion.kernel @matmul{{.*}}-> (tensor<12x40x24xf32>)
  // CHECK: fusion.kernel @sum
  func.func @images(%x: tensor<96x40x64xf32>, %y: tensor<96x24x64xf32>) -> tensor<40x24xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40x24xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %y : tensor<96x40x64xf32>, tensor<96x24x64xf32>) outs(%f : tensor<40x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<40x24xf32>
    return %g : tensor<40x24xf32>
  }

  // Nothing divides 4099: the last part ends in zeros.
  // CHECK-LABEL: func.func @prime
  // CHECK: fusion.kernel @pad_matmul{{.*}}-> (tensor<8x40x24xf32>)
  // CHECK: fusion.kernel @sum
  func.func @prime(%x: tensor<40x4099xf32>, %y: tensor<24x4099xf32>) -> tensor<40x24xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40x24xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, p) -> (c, p)>, affine_map<(c, k, p) -> (k, p)>, affine_map<(c, k, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<40x4099xf32>, tensor<24x4099xf32>) outs(%f : tensor<40x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<40x24xf32>
    return %g : tensor<40x24xf32>
  }

  // Parts would be too short.
  // CHECK-LABEL: func.func @short
  // CHECK: fusion.kernel @matmul{{.*}}-> (tensor<40x24xf32>)
  // CHECK-NOT: fusion.kernel
  // CHECK: return
  func.func @short(%x: tensor<40x384xf32>, %y: tensor<24x384xf32>) -> tensor<40x24xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40x24xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, p) -> (c, p)>, affine_map<(c, k, p) -> (k, p)>, affine_map<(c, k, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<40x384xf32>, tensor<24x384xf32>) outs(%f : tensor<40x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<40x24xf32>
    return %g : tensor<40x24xf32>
  }
}
