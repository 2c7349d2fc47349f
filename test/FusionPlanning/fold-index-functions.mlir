// A mask that two operations read is made inside both of them, also where integers
// with fewer dimensions take part; a tensor of indices that takes long to compute is
// not.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @mask
// CHECK-NOT: tensor<{{[0-9x]*}}xi1>
// CHECK: arith.cmpi sgt
// CHECK: arith.select
// CHECK-NOT: tensor<{{[0-9x]*}}xi1>
// CHECK: return
func.func @mask(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>) -> (tensor<64xf32>, tensor<64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %pe = tensor.empty() : tensor<96xi64>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%pe : tensor<96xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    linalg.yield %c : i64
  } -> tensor<96xi64>
  %me = tensor.empty() : tensor<64x96xi1>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<96xi64>) outs(%me : tensor<64x96xi1>) {
  ^bb0(%a: i64, %o: i1):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    %g = arith.cmpi sgt, %a, %c : i64
    linalg.yield %g : i1
  } -> tensor<64x96xi1>
  %e = tensor.empty() : tensor<64x96xf32>
  %sx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x96xi1>, tensor<64x96xf32>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %zero, %a : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  %sy = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %y : tensor<64x96xi1>, tensor<64x96xf32>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %zero, %a : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  %re = tensor.empty() : tensor<64xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%sx : tensor<64x96xf32>) outs(%rf : tensor<64xf32>) dimensions = [1]
  return %r, %sy : tensor<64xf32>, tensor<64x96xf32>
}

// CHECK-LABEL: func.func @long
// CHECK: math.sin
// CHECK-NOT: math.sin
// CHECK: return
func.func @long(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %te = tensor.empty() : tensor<64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%te : tensor<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i64
    %f = arith.sitofp %c : i64 to f32
    %r = math.tanh %f : f32
    %q = math.erf %r : f32
    %p = math.tan %q : f32
    %s = math.sin %p : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.mulf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %b = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
}

// Places and a length of each row, as a number that is added.
// CHECK-LABEL: func.func @lengths
// CHECK-NOT: tensor<{{[0-9x]*}}xi1>
// CHECK: arith.cmpi slt
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.addf
// CHECK-NOT: tensor<{{[0-9x]*}}xi1>
// CHECK: arith.cmpi slt
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.addf
// CHECK-NOT: tensor<{{[0-9x]*}}xi1>
// CHECK: return
func.func @lengths(%n: tensor<64xi32>, %x: tensor<64x96xf32>, %y: tensor<96x64x96xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %me = tensor.empty() : tensor<64x96xi1>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<64xi32>) outs(%me : tensor<64x96xi1>) {
  ^bb0(%a: i32, %o: i1):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    %g = arith.cmpi slt, %c, %a : i32
    linalg.yield %g : i1
  } -> tensor<64x96xi1>
  %be = tensor.empty() : tensor<64x96xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<64x96xi1>) outs(%be : tensor<64x96xf32>) {
  ^bb0(%c: i1, %o: f32):
    %s = arith.select %c, %zero, %none : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  %sx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %x : tensor<64x96xf32>, tensor<64x96xf32>) outs(%be : tensor<64x96xf32>) {
  ^bb0(%c: f32, %a: f32, %o: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  %re = tensor.empty() : tensor<64xf32>
  %rf = linalg.fill ins(%none : f32) outs(%re : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce { arith.maximumf } ins(%sx : tensor<64x96xf32>) outs(%rf : tensor<64xf32>) dimensions = [1]
  %ye = tensor.empty() : tensor<96x64x96xf32>
  %sy = linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (i, j)>, affine_map<(k, i, j) -> (k, i, j)>, affine_map<(k, i, j) -> (k, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b, %y : tensor<64x96xf32>, tensor<96x64x96xf32>) outs(%ye : tensor<96x64x96xf32>) {
  ^bb0(%c: f32, %a: f32, %o: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<96x64x96xf32>
  %t = linalg.reduce { arith.maximumf } ins(%sy : tensor<96x64x96xf32>) outs(%rf : tensor<64xf32>) dimensions = [0, 2]
  return %r, %t : tensor<64xf32>, tensor<64xf32>
}

// Numbers of all dimensions are compared once.
// CHECK-LABEL: func.func @all
// CHECK: arith.cmpi slt
// CHECK-NOT: arith.cmpi slt
// CHECK: return
func.func @all(%n: tensor<64x96xi32>, %x: tensor<64x96xf32>, %y: tensor<96x64x96xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %none = arith.constant 0xFF800000 : f32
  %me = tensor.empty() : tensor<64x96xi1>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<64x96xi32>) outs(%me : tensor<64x96xi1>) {
  ^bb0(%a: i32, %o: i1):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    %g = arith.cmpi slt, %c, %a : i32
    linalg.yield %g : i1
  } -> tensor<64x96xi1>
  %be = tensor.empty() : tensor<64x96xf32>
  %sx = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x96xi1>, tensor<64x96xf32>) outs(%be : tensor<64x96xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %a, %none : f32
    linalg.yield %s : f32
  } -> tensor<64x96xf32>
  %re = tensor.empty() : tensor<64xf32>
  %rf = linalg.fill ins(%none : f32) outs(%re : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce { arith.maximumf } ins(%sx : tensor<64x96xf32>) outs(%rf : tensor<64xf32>) dimensions = [1]
  %ye = tensor.empty() : tensor<96x64x96xf32>
  %sy = linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (i, j)>, affine_map<(k, i, j) -> (k, i, j)>, affine_map<(k, i, j) -> (k, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %y : tensor<64x96xi1>, tensor<96x64x96xf32>) outs(%ye : tensor<96x64x96xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %a, %none : f32
    linalg.yield %s : f32
  } -> tensor<96x64x96xf32>
  %t = linalg.reduce { arith.maximumf } ins(%sy : tensor<96x64x96xf32>) outs(%rf : tensor<64xf32>) dimensions = [0, 2]
  return %r, %t : tensor<64xf32>, tensor<64xf32>
}
