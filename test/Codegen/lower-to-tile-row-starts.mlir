// Rows of 331 f16 begin at multiples of 16 bytes one time in eight: tiles begin
// at the multiple before, up to 7 elements early.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

// A row that a block holds has one offset. Its elements that do not exist are
// those whose position is no smaller, as an unsigned number, than the length.
// CHECK-LABEL: fusion_tile.program @held
// CHECK-DAG: %[[ROW:.*]] = gpu.block_id x
// CHECK-DAG: %[[START:.*]] = arith.muli %[[ROW]], %c3
// CHECK: %[[LEAD:.*]] = arith.andi %[[START]], %c7
// CHECK: %[[BEGIN:.*]] = arith.subi %c0, %[[LEAD]]
// CHECK: fusion_tile.load %{{.*}}[#[[MAP:.*]]] (%[[ROW]], %[[BEGIN]]) checked [false, true]
// CHECK: arith.cmpi ult
// CHECK: fusion_tile.store %{{.*}} (%[[ROW]], %[[BEGIN]]) checked [false, true]
func.func @held(%a: tensor<40x331xf16>) -> tensor<40x331xf16> {
  %r = fusion.kernel @held ins(%a : tensor<40x331xf16>) -> (tensor<40x331xf16>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 512, vector = 8>], warps = 2>} {
  ^bb0(%x: tensor<40x331xf16>):
    %zero = arith.constant 0.0 : f16
    %v = tensor.empty() : tensor<40xf16>
    %g = linalg.fill ins(%zero : f16) outs(%v : tensor<40xf16>) -> tensor<40xf16>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<40x331xf16>) outs(%g : tensor<40xf16>) dimensions = [1]
    %e = tensor.empty() : tensor<40x331xf16>
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<40x331xf16>, tensor<40xf16>) outs(%e : tensor<40x331xf16>) {
    ^bb1(%i: f16, %j: f16, %o: f16):
      %d = arith.divf %i, %j : f16
      linalg.yield %d : f16
    } -> tensor<40x331xf16>
    fusion.yield %y : tensor<40x331xf16>
  }
  return %r : tensor<40x331xf16>
}

// Of a row that is walked the first and the last tile ask, in one loop, and
// those between them do not.
// CHECK-LABEL: fusion_tile.program @walked
// CHECK: %[[LEAD:.*]] = arith.andi
// CHECK: %[[BEGIN:.*]] = arith.subi %c0, %[[LEAD]]
// CHECK: %[[STEP:.*]] = arith.maxsi
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %c331 step %[[STEP]]
// CHECK: checked [false, true]
// CHECK: scf.for
// CHECK: checked [false, false]
func.func @walked(%a: tensor<40x331xf16>) -> tensor<40xf16> {
  %r = fusion.kernel @walked ins(%a : tensor<40x331xf16>) -> (tensor<40xf16>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 64, vector = 8>], warps = 1>} {
  ^bb0(%x: tensor<40x331xf16>):
    %zero = arith.constant 0.0 : f16
    %v = tensor.empty() : tensor<40xf16>
    %g = linalg.fill ins(%zero : f16) outs(%v : tensor<40xf16>) -> tensor<40xf16>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<40x331xf16>) outs(%g : tensor<40xf16>) dimensions = [1]
    fusion.yield %s : tensor<40xf16>
  }
  return %r : tensor<40xf16>
}

// No room for what would come before: 510 and 7 are more than 512. Rows of 336
// are aligned; those of several in a tile begin in different places.
// CHECK-LABEL: fusion_tile.program @no_room
// CHECK-NOT: arith.andi
// CHECK-LABEL: fusion_tile.program @aligned
// CHECK-NOT: arith.andi
// CHECK-LABEL: fusion_tile.program @several
// CHECK-NOT: arith.andi
// CHECK: fusion_tile.return
func.func @no_room(%a: tensor<40x510xf16>) -> tensor<40xf16> {
  %r = fusion.kernel @no_room ins(%a : tensor<40x510xf16>) -> (tensor<40xf16>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 512, vector = 8>], warps = 2>} {
  ^bb0(%x: tensor<40x510xf16>):
    %zero = arith.constant 0.0 : f16
    %v = tensor.empty() : tensor<40xf16>
    %g = linalg.fill ins(%zero : f16) outs(%v : tensor<40xf16>) -> tensor<40xf16>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<40x510xf16>) outs(%g : tensor<40xf16>) dimensions = [1]
    fusion.yield %s : tensor<40xf16>
  }
  return %r : tensor<40xf16>
}
func.func @aligned(%a: tensor<40x336xf16>) -> tensor<40xf16> {
  %r = fusion.kernel @aligned ins(%a : tensor<40x336xf16>) -> (tensor<40xf16>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 512, vector = 8>], warps = 2>} {
  ^bb0(%x: tensor<40x336xf16>):
    %zero = arith.constant 0.0 : f16
    %v = tensor.empty() : tensor<40xf16>
    %g = linalg.fill ins(%zero : f16) outs(%v : tensor<40xf16>) -> tensor<40xf16>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<40x336xf16>) outs(%g : tensor<40xf16>) dimensions = [1]
    fusion.yield %s : tensor<40xf16>
  }
  return %r : tensor<40xf16>
}
func.func @several(%a: tensor<40x331xf16>) -> tensor<40xf16> {
  %r = fusion.kernel @several ins(%a : tensor<40x331xf16>) -> (tensor<40xf16>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 2>, #fusion.axis<full, tile = 512, vector = 8>], warps = 2>} {
  ^bb0(%x: tensor<40x331xf16>):
    %zero = arith.constant 0.0 : f16
    %v = tensor.empty() : tensor<40xf16>
    %g = linalg.fill ins(%zero : f16) outs(%v : tensor<40xf16>) -> tensor<40xf16>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<40x331xf16>) outs(%g : tensor<40xf16>) dimensions = [1]
    fusion.yield %s : tensor<40xf16>
  }
  return %r : tensor<40xf16>
}
