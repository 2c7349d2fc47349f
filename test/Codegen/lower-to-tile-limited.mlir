// Walks that a mask of positions limits: the first and the last step are computed
// from where the block's rows are, in 64 bits.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --split-input-file | FileCheck %s

// From the first key that the first row of 64 sees, whole steps of 32, to the last
// one that the last row sees. Tiles of rows come from the last to the first.

// CHECK-LABEL: fusion_tile.program @window
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[LAST:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[ALL:.*]] = arith.constant 200 : index
// CHECK-DAG: %[[PAST:.*]] = arith.constant 64 : i64
// CHECK-DAG: %[[BEFORE:.*]] = arith.constant -49 : i64
// CHECK-DAG: %[[END:.*]] = arith.constant 200 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[TILE:.*]] = arith.subi %[[LAST]], %[[BLOCK]] : index
// CHECK: %[[ROW:.*]] = arith.muli %[[TILE]], %[[ROWS]] : index
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[ROW]] : index to i64
// CHECK: %[[NEAR:.*]] = arith.addi %[[WIDE]], %[[BEFORE]] : i64
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[NEAR]], %[[ZERO]] : i64
// CHECK: %[[WIDE2:.*]] = arith.index_cast %[[ROW]] : index to i64
// CHECK: %[[SEEN:.*]] = arith.addi %[[WIDE2]], %[[PAST]] : i64
// CHECK: %[[MOST:.*]] = arith.maxsi %[[SEEN]], %[[ZERO]] : i64
// CHECK: %[[FIRST:.*]] = arith.minsi %[[LEAST]], %[[END]] : i64
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[FIRST]] : i64 to index
// CHECK: %[[LEAD:.*]] = arith.remui %[[INDEX]], %[[STEP]] : index
// CHECK: %[[FROM:.*]] = arith.subi %[[INDEX]], %[[LEAD]] : index
// CHECK: %[[WITHIN:.*]] = arith.minsi %[[MOST]], %[[END]] : i64
// CHECK: %[[OWN:.*]] = arith.index_cast %[[WITHIN]] : i64 to index
// CHECK: %[[TO:.*]] = arith.minui %[[OWN]], %[[ALL]] : index
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %[[STEP]]
// CHECK-NOT: scf.for
#mnk_mk = affine_map<(m, n, k) -> (m, k)>
#mnk_nk = affine_map<(m, n, k) -> (n, k)>
#mnk_kn = affine_map<(m, n, k) -> (k, n)>
#mnk_mn = affine_map<(m, n, k) -> (m, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @window(%q: tensor<200x64xf16>, %k: tensor<200x64xf16>, %v: tensor<200x64xf16>) -> tensor<200x64xf32> {
  %0 = fusion.kernel @window ins(%q, %k, %v : tensor<200x64xf16>, tensor<200x64xf16>, tensor<200x64xf16>) -> (tensor<200x64xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64, descending>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 32, limited>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 2>>} {
  ^bb0(%a: tensor<200x64xf16>, %b: tensor<200x64xf16>, %c: tensor<200x64xf16>):
    %zero = arith.constant 0.0 : f32
    %size = arith.constant 50 : index
    %se = tensor.empty() : tensor<200x200xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<200x200xf32>) -> tensor<200x200xf32>
    %s = linalg.matmul indexing_maps = [#mnk_mk, #mnk_nk, #mnk_mn] ins(%a, %b : tensor<200x64xf16>, tensor<200x64xf16>) outs(%s0 : tensor<200x200xf32>) -> tensor<200x200xf32>
    %ge = tensor.empty() : tensor<200x200xf16>
    %g = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<200x200xf32>) outs(%ge : tensor<200x200xf16>) {
    ^bb1(%in: f32, %out: f16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %before = arith.subi %i, %size : index
      %isSeen = arith.cmpi sle, %j, %i : index
      %isNear = arith.cmpi sgt, %j, %before : index
      %isIn = arith.andi %isSeen, %isNear : i1
      %r = arith.select %isIn, %in, %zero : f32
      %t = arith.truncf %r : f32 to f16
      linalg.yield %t : f16
    } -> tensor<200x200xf16>
    %oe = tensor.empty() : tensor<200x64xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<200x64xf32>) -> tensor<200x64xf32>
    %o = linalg.matmul indexing_maps = [#mnk_mk, #mnk_kn, #mnk_mn] ins(%g, %c : tensor<200x200xf16>, tensor<200x64xf16>) outs(%o0 : tensor<200x64xf32>) -> tensor<200x64xf32>
    fusion.yield %o : tensor<200x64xf32>
  }
  return %0 : tensor<200x64xf32>
}

// -----

// Sizes and a position that the run knows. Keys have every second place: half of what
// the last row sees. Positions further away than anything say the same as nearer ones.

// CHECK-LABEL: fusion_tile.program @position
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[NEAR:.*]] = arith.constant 4398046511104 : i64
// CHECK-DAG: %[[BACK:.*]] = arith.constant -4398046511104 : i64
// CHECK-DAG: %[[LAST:.*]] = arith.constant 63 : i64
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[ROWS]] : index
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[ROW]] : index to i64
// CHECK: %[[KNOWN:.*]] = arith.addi %[[WIDE]], %[[LAST]] : i64
// CHECK: %[[AT:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[LESS:.*]] = arith.minsi %[[AT]], %[[NEAR]] : i64
// CHECK: %[[MORE:.*]] = arith.maxsi %[[LESS]], %[[BACK]] : i64
// CHECK: %[[MOST:.*]] = arith.addi %[[KNOWN]], %[[MORE]] : i64
// CHECK: %[[ROUND:.*]] = arith.addi %[[MOST]], %[[TWO]] : i64
// CHECK: %[[NATURAL:.*]] = arith.maxsi %[[ROUND]], %[[ZERO]] : i64
// CHECK: %[[HALF:.*]] = arith.divui %[[NATURAL]], %[[TWO]] : i64
// CHECK: %[[WITHIN:.*]] = arith.minsi %[[HALF]], %{{.*}} : i64
// CHECK: %[[OWN:.*]] = arith.index_cast %[[WITHIN]] : i64 to index
// CHECK: %[[TO:.*]] = arith.minui %[[OWN]], %{{.*}} : index
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[TO]] step
#mnk_mk = affine_map<(m, n, k) -> (m, k)>
#mnk_nk = affine_map<(m, n, k) -> (n, k)>
#mnk_kn = affine_map<(m, n, k) -> (k, n)>
#mnk_mn = affine_map<(m, n, k) -> (m, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @position(%q: tensor<?x64xf16>, %k: tensor<?x64xf16>, %v: tensor<?x64xf16>, %p: i32) -> tensor<?x64xf32> {
  %0 = fusion.kernel @position ins(%q, %k, %v, %p : tensor<?x64xf16>, tensor<?x64xf16>, tensor<?x64xf16>, i32) -> (tensor<?x64xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 32, limited>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 2>>} {
  ^bb0(%a: tensor<?x64xf16>, %b: tensor<?x64xf16>, %c: tensor<?x64xf16>, %at: i32):
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %m = tensor.dim %a, %c0 : tensor<?x64xf16>
    %n = tensor.dim %b, %c0 : tensor<?x64xf16>
    %first = arith.index_cast %at : i32 to index
    %se = tensor.empty(%m, %n) : tensor<?x?xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<?x?xf32>) -> tensor<?x?xf32>
    %s = linalg.matmul indexing_maps = [#mnk_mk, #mnk_nk, #mnk_mn] ins(%a, %b : tensor<?x64xf16>, tensor<?x64xf16>) outs(%s0 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %ge = tensor.empty(%m, %n) : tensor<?x?xf16>
    %g = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x?xf32>) outs(%ge : tensor<?x?xf16>) {
    ^bb1(%in: f32, %out: f16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %two = arith.constant 2 : index
      %place = arith.muli %j, %two : index
      %last = arith.addi %i, %first : index
      %isSeen = arith.cmpi sle, %place, %last : index
      %r = arith.select %isSeen, %in, %zero : f32
      %t = arith.truncf %r : f32 to f16
      linalg.yield %t : f16
    } -> tensor<?x?xf16>
    %oe = tensor.empty(%m) : tensor<?x64xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<?x64xf32>) -> tensor<?x64xf32>
    %o = linalg.matmul indexing_maps = [#mnk_mk, #mnk_kn, #mnk_mn] ins(%g, %c : tensor<?x?xf16>, tensor<?x64xf16>) outs(%o0 : tensor<?x64xf32>) -> tensor<?x64xf32>
    fusion.yield %o : tensor<?x64xf32>
  }
  return %0 : tensor<?x64xf32>
}
