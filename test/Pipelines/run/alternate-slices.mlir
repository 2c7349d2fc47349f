// Rows of the slices of several dimensions alternate: of two times three the first
// four, then the two that are left. Every tile of every one is made once.

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%S/Inputs/alternate-slices.mlir --device=emulator --random --seed=1 --verify | FileCheck %s --check-prefix=RIGHT

// RIGHT: {{^}}verified

// CHECK-LABEL: fusion_tile.program @causal
// CHECK-DAG: %[[GROUP:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[AREA:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[ALL:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[HEADS:.*]] = arith.constant 3 : index
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[WITHIN:.*]] = arith.remui %[[BLOCK]], %[[AREA]]
// CHECK: %[[NUMBER:.*]] = arith.divui %[[BLOCK]], %[[AREA]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[GROUP]]
// CHECK: %[[REST:.*]] = arith.subi %[[ALL]], %[[FIRST]]
// CHECK: %[[HEIGHT:.*]] = arith.minui %[[REST]], %[[GROUP]]
// CHECK: %[[IN:.*]] = arith.remui %[[WITHIN]], %[[HEIGHT]]
// CHECK: %[[TILE:.*]] = arith.divui %[[WITHIN]], %[[HEIGHT]]
// CHECK: %[[SLICE:.*]] = arith.addi %[[FIRST]], %[[IN]]
// CHECK: %{{.*}} = arith.remui %[[SLICE]], %[[HEADS]]
// CHECK: %{{.*}} = arith.divui %[[SLICE]], %[[HEADS]]
// CHECK: %{{.*}} = arith.subi %{{.*}}, %[[TILE]]
#q = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#k = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#v = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#s = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#p = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#o = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
func.func @causal(%q0: tensor<2x3x128x64xf16>, %k0: tensor<2x3x128x64xf16>, %v0: tensor<2x3x128x64xf16>) -> tensor<2x3x128x64xf32> {
  %0 = fusion.kernel @causal ins(%q0, %k0, %v0 : tensor<2x3x128x64xf16>, tensor<2x3x128x64xf16>, tensor<2x3x128x64xf16>) -> (tensor<2x3x128x64xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 64, descending>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 32, limited>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 2, group = 4>>} {
  ^bb0(%q: tensor<2x3x128x64xf16>, %k: tensor<2x3x128x64xf16>, %v: tensor<2x3x128x64xf16>):
    %zero = arith.constant 0.0 : f32
    %se = tensor.empty() : tensor<2x3x128x128xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x128x128xf32>) -> tensor<2x3x128x128xf32>
    %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x3x128x64xf16>, tensor<2x3x128x64xf16>) outs(%s0 : tensor<2x3x128x128xf32>) {
    ^bb1(%a: f16, %b: f16, %sum: f32):
      %a1 = arith.extf %a : f16 to f32
      %b1 = arith.extf %b : f16 to f32
      %product = arith.mulf %a1, %b1 : f32
      %r = arith.addf %sum, %product : f32
      linalg.yield %r : f32
    } -> tensor<2x3x128x128xf32>
    %ge = tensor.empty() : tensor<2x3x128x128xf16>
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%s : tensor<2x3x128x128xf32>) outs(%ge : tensor<2x3x128x128xf16>) {
    ^bb1(%x: f32, %out: f16):
      %i = linalg.index 2 : index
      %j = linalg.index 3 : index
      %isSeen = arith.cmpi sle, %j, %i : index
      %r = arith.select %isSeen, %x, %zero : f32
      %t = arith.truncf %r : f32 to f16
      linalg.yield %t : f16
    } -> tensor<2x3x128x128xf16>
    %oe = tensor.empty() : tensor<2x3x128x64xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x128x64xf32>) -> tensor<2x3x128x64xf32>
    %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%g, %v : tensor<2x3x128x128xf16>, tensor<2x3x128x64xf16>) outs(%o0 : tensor<2x3x128x64xf32>) {
    ^bb1(%a: f16, %b: f16, %sum: f32):
      %a1 = arith.extf %a : f16 to f32
      %b1 = arith.extf %b : f16 to f32
      %product = arith.mulf %a1, %b1 : f32
      %r = arith.addf %sum, %product : f32
      linalg.yield %r : f32
    } -> tensor<2x3x128x64xf32>
    fusion.yield %o : tensor<2x3x128x64xf32>
  }
  return %0 : tensor<2x3x128x64xf32>
}
