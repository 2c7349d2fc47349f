// Rows in the tiles of three blocks, which tell each other what they reduce
// through memory, and as a cluster: schedules by hand, whatever planning prefers.

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%S/Inputs/panels-by-hand.mlir --device=emulator --random --seed=1 --verify --entry=memory
// RUN: fusion-run %t.fpk --reference=%S/Inputs/panels-by-hand.mlir --device=emulator --random --seed=1 --asynchrony=early --verify --entry=memory
// RUN: fusion-run %t.fpk --reference=%S/Inputs/panels-by-hand.mlir --device=emulator --random --seed=1 --verify --entry=cluster
// RUN: fusion-run %t.fpk --reference=%S/Inputs/panels-by-hand.mlir --device=emulator --random --seed=1 --asynchrony=early --verify --entry=cluster
// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s

// CHECK-LABEL: fusion_tile.program @memory
// CHECK-SAME: together = 3
// CHECK: fusion_tile.panel_leave
// CHECK-LABEL: fusion_tile.program @cluster
// CHECK-SAME: cluster = 3
// CHECK-NOT: fusion_tile.panel_leave
func.func @memory(%x: tensor<8x3000xf32>) -> tensor<8x3000xf32> {
  %r = fusion.kernel @memory ins(%x : tensor<8x3000xf32>) -> (tensor<8x3000xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 1024, vector = 4>], warps = 4>} {
  ^bb0(%u: tensor<8x3000xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x3000xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    %e = tensor.empty() : tensor<8x3000xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%u, %m : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %c = arith.subf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<8x3000xf32>
    %s = linalg.reduce { arith.addf } ins(%d : tensor<8x3000xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %c = arith.divf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<8x3000xf32>
    fusion.yield %y : tensor<8x3000xf32>
  }
  return %r : tensor<8x3000xf32>
}

func.func @cluster(%x: tensor<8x3000xf32>) -> tensor<8x3000xf32> {
  %r = fusion.kernel @cluster ins(%x : tensor<8x3000xf32>) -> (tensor<8x3000xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 1024, vector = 4, cluster = 3>], warps = 4>} {
  ^bb0(%u: tensor<8x3000xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x3000xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    %e = tensor.empty() : tensor<8x3000xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%u, %m : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %c = arith.subf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<8x3000xf32>
    %s = linalg.reduce { arith.addf } ins(%d : tensor<8x3000xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %c = arith.divf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<8x3000xf32>
    fusion.yield %y : tensor<8x3000xf32>
  }
  return %r : tensor<8x3000xf32>
}
