// Which products have the depth of their tiles shared by blocks that are no
// cluster.

// RUN: fusion-opt %s -split-input-file --fusion-to-schedule | FileCheck %s

// 16 tiles of 128x128 for 132 multiprocessors.
// CHECK-LABEL: func.func @deep
// CHECK: #fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 128>, {{.*}}#fusion.mma<wgmma, {{.*}}split = 8, {{.*}}apart = 1>
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @deep(%a: tensor<512x16384xbf16>, %b: tensor<512x16384xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x512xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<512x16384xbf16>, tensor<512x16384xbf16>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x512xf32>) outs(%eo : tensor<512x512xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %y = arith.truncf %i : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<512x512xbf16>
  return %t : tensor<512x512xbf16>
}
}

// -----

// Tiles enough for all, in several rounds.
// CHECK-LABEL: func.func @many
// CHECK: #fusion.mma<wgmma
// CHECK-NOT: apart
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @many(%a: tensor<2048x16384xbf16>, %b: tensor<4096x16384xbf16>) -> tensor<2048x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x4096xf32>
  %eo = tensor.empty() : tensor<2048x4096xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<2048x16384xbf16>, tensor<4096x16384xbf16>) outs(%f : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2048x4096xf32>) outs(%eo : tensor<2048x4096xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %y = arith.truncf %i : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<2048x4096xbf16>
  return %t : tensor<2048x4096xbf16>
}
}

// -----

// How many blocks there are is known at launch: too many could not run at once.
// CHECK-LABEL: func.func @dynamic
// CHECK: #fusion.mma<
// CHECK-NOT: apart
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @dynamic(%a: tensor<?x16384xbf16>, %b: tensor<512x16384xbf16>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x16384xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%rows) : tensor<?x512xf32>
  %eo = tensor.empty(%rows) : tensor<?x512xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<?x16384xbf16>, tensor<512x16384xbf16>) outs(%f : tensor<?x512xf32>) -> tensor<?x512xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x512xf32>) outs(%eo : tensor<?x512xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %y = arith.truncf %i : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x512xbf16>
  return %t : tensor<?x512xbf16>
}
}
