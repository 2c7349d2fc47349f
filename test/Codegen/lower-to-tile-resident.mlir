// Blocks that a multiprocessor holds get registers: of no more blocks than there
// are multiprocessors each is alone; else ptxas decides where the estimate may
// be off by as much as makes the difference.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o - | FileCheck %s --check-prefix=PTX

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// 132 blocks on 132 multiprocessors; one more.
// CHECK: fusion_tile.program @alone
// CHECK-SAME: resident = 1
// PTX: .entry alone(
// PTX: .minnctapersm 1
// CHECK: fusion_tile.program @others
// CHECK-SAME: resident = 2
// PTX: .entry others(
// PTX: .minnctapersm 2
// 60 registers may be more than the 64 of two blocks.
// CHECK: fusion_tile.program @unknown
// CHECK-NOT: resident
// CHECK: fusion_tile.return
// PTX: .entry unknown(
// PTX-NOT: .minnctapersm
func.func @main(%x: tensor<132x8192xf32>, %y: tensor<133x8192xf32>) -> (tensor<132xf32>, tensor<133xf32>, tensor<133xf32>) {
  %alone = fusion.kernel @alone ins(%x : tensor<132x8192xf32>) -> (tensor<132xf32>)
      attributes {estimate = #fusion.estimate<time_us = 1.0, dram_bytes = 0, flops = 0, registers = 50, shared_bytes = 0, saved_bytes = 0, saved_launches = 0>,
                  schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 8192>], warps = 16>} {
  ^bb0(%a: tensor<132x8192xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<132xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<132xf32>) -> tensor<132xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<132x8192xf32>) outs(%f : tensor<132xf32>) {
    ^bb1(%u: f32, %o: f32):
      %t = arith.addf %u, %o : f32
      linalg.yield %t : f32
    } -> tensor<132xf32>
    fusion.yield %s : tensor<132xf32>
  }
  %others = fusion.kernel @others ins(%y : tensor<133x8192xf32>) -> (tensor<133xf32>)
      attributes {estimate = #fusion.estimate<time_us = 1.0, dram_bytes = 0, flops = 0, registers = 50, shared_bytes = 0, saved_bytes = 0, saved_launches = 0>,
                  schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 8192>], warps = 16>} {
  ^bb0(%a: tensor<133x8192xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<133xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<133xf32>) -> tensor<133xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<133x8192xf32>) outs(%f : tensor<133xf32>) {
    ^bb1(%u: f32, %o: f32):
      %t = arith.addf %u, %o : f32
      linalg.yield %t : f32
    } -> tensor<133xf32>
    fusion.yield %s : tensor<133xf32>
  }
  %unknown = fusion.kernel @unknown ins(%y : tensor<133x8192xf32>) -> (tensor<133xf32>)
      attributes {estimate = #fusion.estimate<time_us = 1.0, dram_bytes = 0, flops = 0, registers = 60, shared_bytes = 0, saved_bytes = 0, saved_launches = 0>,
                  schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 8192>], warps = 16>} {
  ^bb0(%a: tensor<133x8192xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<133xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<133xf32>) -> tensor<133xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<133x8192xf32>) outs(%f : tensor<133xf32>) {
    ^bb1(%u: f32, %o: f32):
      %t = arith.addf %u, %o : f32
      linalg.yield %t : f32
    } -> tensor<133xf32>
    fusion.yield %s : tensor<133xf32>
  }
  return %alone, %others, %unknown : tensor<132xf32>, tensor<133xf32>, tensor<133xf32>
}
