// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan=target=sm_80 | FileCheck %s --check-prefix=SM80

// Products of one tile with depths of their own, added up: one kernel, which
// walks one depth after the other.

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @added
// CHECK: fusion.kernel
// CHECK-SAME: axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>, #fusion.axis<loop, tile = 64>]
// CHECK-SAME: mma = #fusion.mma<wgmma
// CHECK-NOT: fusion.kernel
// Warps walk one depth only.
// SM80-LABEL: func.func @added
// SM80-COUNT-2: fusion.kernel
func.func @added(%x: tensor<8192x4096xbf16>, %w: tensor<4096x4096xbf16>, %h: tensor<8192x16xbf16>, %b: tensor<16x4096xbf16>) -> tensor<8192x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x4096xf32>
  %eo = tensor.empty() : tensor<8192x4096xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8192x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %z = linalg.matmul ins(%h, %b : tensor<8192x16xbf16>, tensor<16x4096xbf16>) outs(%f : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %z : tensor<8192x4096xf32>, tensor<8192x4096xf32>) outs(%eo : tensor<8192x4096xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %s = arith.addf %p, %q : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8192x4096xbf16>
  return %r : tensor<8192x4096xbf16>
}

// Rounded before they are added: the first one is kept in half the registers,
// and tiles are narrower where it is made wide again.

// CHECK-LABEL: func.func @rounded
// CHECK: fusion.kernel
// CHECK-SAME: axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = {{128|160|192|224}}>, #fusion.axis<loop, tile = 64>, #fusion.axis<loop, tile = 64>]
// CHECK-NOT: fusion.kernel
func.func @rounded(%x: tensor<8192x4096xbf16>, %w: tensor<4096x4096xbf16>, %h: tensor<8192x16xbf16>, %b: tensor<16x4096xbf16>) -> tensor<8192x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x4096xf32>
  %eo = tensor.empty() : tensor<8192x4096xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8192x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %z = linalg.matmul ins(%h, %b : tensor<8192x16xbf16>, tensor<16x4096xbf16>) outs(%f : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %z : tensor<8192x4096xf32>, tensor<8192x4096xf32>) outs(%eo : tensor<8192x4096xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %pn = arith.truncf %p : f32 to bf16
    %qn = arith.truncf %q : f32 to bf16
    %pw = arith.extf %pn : bf16 to f32
    %qw = arith.extf %qn : bf16 to f32
    %s = arith.addf %pw, %qw : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8192x4096xbf16>
  return %r : tensor<8192x4096xbf16>
}

// One operand lies along its rows, the other one along its depth: they have no
// buffers in common.

// CHECK-LABEL: func.func @other_majors
// CHECK-COUNT-2: fusion.kernel
#ik = affine_map<(d0, d1, d2) -> (d0, d2)>
#jk = affine_map<(d0, d1, d2) -> (d1, d2)>
#ij = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @other_majors(%x: tensor<8192x4096xbf16>, %w: tensor<4096x4096xbf16>, %h: tensor<8192x1024xbf16>, %b: tensor<4096x1024xbf16>) -> tensor<8192x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x4096xf32>
  %eo = tensor.empty() : tensor<8192x4096xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8192x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %z = linalg.matmul indexing_maps = [#ik, #jk, #ij] ins(%h, %b : tensor<8192x1024xbf16>, tensor<4096x1024xbf16>) outs(%f : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %z : tensor<8192x4096xf32>, tensor<8192x4096xf32>) outs(%eo : tensor<8192x4096xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %s = arith.addf %p, %q : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8192x4096xbf16>
  return %r : tensor<8192x4096xbf16>
}
