// A sum over the matrices of a batched product is a product that contracts them
// as well; one over an outer dimension of its rows is not: no tile of the product
// has several of these, so that another kernel adds them up.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=batch | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=batch | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=outer | FileCheck %s
// ONE: launches: 1,
// ONE: verified
// CHECK: launches: 2,
// CHECK: verified

// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// REMARK: reduction-of-contraction {{.*}}Function=outer

func.func @batch(%x: tensor<17x17x2xf32>) -> tensor<17x17xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<17x17x17xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<17x17x17xf32>) -> tensor<17x17x17xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<17x17x2xf32>, tensor<17x17x2xf32>) outs(%f : tensor<17x17x17xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<17x17x17xf32>
  %e2 = tensor.empty() : tensor<17x17xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<17x17xf32>) -> tensor<17x17xf32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<17x17x17xf32>) outs(%f2 : tensor<17x17xf32>) dimensions = [0]
  return %r : tensor<17x17xf32>
}

func.func @outer(%x: tensor<20x24x40xf32>, %y: tensor<40x32xf32>) -> tensor<24x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x24x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x24x32xf32>) -> tensor<20x24x32xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<20x24x40xf32>, tensor<40x32xf32>) outs(%f : tensor<20x24x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<20x24x32xf32>
  %e2 = tensor.empty() : tensor<24x32xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<24x32xf32>) -> tensor<24x32xf32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<20x24x32xf32>) outs(%f2 : tensor<24x32xf32>) dimensions = [0]
  return %r : tensor<24x32xf32>
}
