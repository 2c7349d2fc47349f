// Which products have their tiles shared by the blocks of the grid.

// RUN: fusion-opt %s -split-input-file --fusion-to-schedule | FileCheck %s

// 15.2 rounds of tiles take as long as 16.
// CHECK-LABEL: func.func @rounds
// CHECK: #fusion.mma<wgmma, {{.*}}blocks = 132, stream = {{[1-9]}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @rounds(%a: tensor<2048x4096xbf16>, %b: tensor<32000x4096xbf16>) -> tensor<2048x32000xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x32000xf32>
  %eo = tensor.empty() : tensor<2048x32000xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x32000xf32>) -> tensor<2048x32000xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<2048x4096xbf16>, tensor<32000x4096xbf16>) outs(%f : tensor<2048x32000xf32>) -> tensor<2048x32000xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2048x32000xf32>) outs(%eo : tensor<2048x32000xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %y = arith.truncf %i : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<2048x32000xbf16>
  return %t : tensor<2048x32000xbf16>
}
}

// -----

// 3.9 rounds: less to gain than it costs.
// CHECK-LABEL: func.func @nearly
// CHECK: #fusion.mma<wgmma
// CHECK-NOT: stream
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @nearly(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %eo = tensor.empty() : tensor<4096x4096xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4096x4096xf32>) outs(%eo : tensor<4096x4096xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %y = arith.truncf %i : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<4096x4096xbf16>
  return %t : tensor<4096x4096xbf16>
}
}

// -----

// How many tiles there are is known at launch.
// CHECK-LABEL: func.func @dynamic
// CHECK: #fusion.mma<
// CHECK-NOT: stream
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @dynamic(%a: tensor<?x4096xbf16>, %b: tensor<32000x4096xbf16>) -> tensor<?x32000xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x4096xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%rows) : tensor<?x32000xf32>
  %eo = tensor.empty(%rows) : tensor<?x32000xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32000xf32>) -> tensor<?x32000xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<?x4096xbf16>, tensor<32000x4096xbf16>) outs(%f : tensor<?x32000xf32>) -> tensor<?x32000xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x32000xf32>) outs(%eo : tensor<?x32000xbf16>) {
  ^bb0(%i: f32, %o: bf16):
    %y = arith.truncf %i : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x32000xbf16>
  return %t : tensor<?x32000xbf16>
}
}
