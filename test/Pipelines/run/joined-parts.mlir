// Blocks go to the parts of a concatenation that their tiles lie in: rows that
// are looked up in tables of their own, parts that begin where tiles do, and
// parts of which a tile has elements of several.

// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s
// RUN: fusion-run %s --device=emulator --random --seed=1 --int-range=0:29 --verify --entry=lookups
// RUN: fusion-run %s --device=emulator --random --seed=2 --verify --entry=ends
// RUN: fusion-run %s --device=emulator --random --seed=3 --verify --entry=nested
// RUN: fusion-run %s --device=emulator --random --seed=4 --dim=n=37 --verify --entry=dynamic
// RUN: fusion-run %s --device=emulator --random --seed=5 --verify --entry=padded
// RUN: fusion-run %s --device=emulator --random --seed=6 --verify --entry=float8

// One kernel looks up and joins.
// CHECK-LABEL: func.func @lookups(
// CHECK: fusion.kernel
// CHECK-SAME: tile = 1, parted>, #fusion.axis<grid, tile = 32, vector = 8>
// CHECK-NOT: fusion.kernel
// CHECK-LABEL: func.func @ends(
// CHECK: fusion.kernel
// CHECK-SAME: parted
// CHECK-LABEL: func.func @nested(

func.func @lookups(%i: tensor<3000x3xi64>, %t: tensor<30x32xf16>, %u: tensor<30x32xf16>, %v: tensor<30x32xf16>, %d: tensor<3000x32xf16>) -> tensor<3000x4x32xf16> {
  %e = tensor.empty() : tensor<3000x32xf16>
  %i0 = tensor.extract_slice %i[0, 0] [3000, 1] [1, 1] : tensor<3000x3xi64> to tensor<3000xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%i0 : tensor<3000xi64>) outs(%e : tensor<3000x32xf16>) {
  ^bb0(%n: i64, %o: f16):
    %r = arith.index_cast %n : i64 to index
    %f = linalg.index 1 : index
    %x = tensor.extract %t[%r, %f] : tensor<30x32xf16>
    linalg.yield %x : f16
  } -> tensor<3000x32xf16>
  %i1 = tensor.extract_slice %i[0, 1] [3000, 1] [1, 1] : tensor<3000x3xi64> to tensor<3000xi64>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%i1 : tensor<3000xi64>) outs(%e : tensor<3000x32xf16>) {
  ^bb0(%n: i64, %o: f16):
    %r = arith.index_cast %n : i64 to index
    %f = linalg.index 1 : index
    %x = tensor.extract %u[%r, %f] : tensor<30x32xf16>
    linalg.yield %x : f16
  } -> tensor<3000x32xf16>
  %i2 = tensor.extract_slice %i[0, 2] [3000, 1] [1, 1] : tensor<3000x3xi64> to tensor<3000xi64>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, f) -> (b)>, affine_map<(b, f) -> (b, f)>], iterator_types = ["parallel", "parallel"]} ins(%i2 : tensor<3000xi64>) outs(%e : tensor<3000x32xf16>) {
  ^bb0(%n: i64, %o: f16):
    %r = arith.index_cast %n : i64 to index
    %f = linalg.index 1 : index
    %x = tensor.extract %v[%r, %f] : tensor<30x32xf16>
    linalg.yield %x : f16
  } -> tensor<3000x32xf16>
  %e0 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [3000, 1, 32] : tensor<3000x32xf16> into tensor<3000x1x32xf16>
  %e1 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [3000, 1, 32] : tensor<3000x32xf16> into tensor<3000x1x32xf16>
  %e2 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [3000, 1, 32] : tensor<3000x32xf16> into tensor<3000x1x32xf16>
  %e3 = tensor.expand_shape %d [[0, 1], [2]] output_shape [3000, 1, 32] : tensor<3000x32xf16> into tensor<3000x1x32xf16>
  %j = tensor.concat dim(1) %e3, %e0, %e1, %e2 : (tensor<3000x1x32xf16>, tensor<3000x1x32xf16>, tensor<3000x1x32xf16>, tensor<3000x1x32xf16>) -> tensor<3000x4x32xf16>
  return %j : tensor<3000x4x32xf16>
}

func.func @ends(%a: tensor<7001xf32>, %b: tensor<3xf32>, %c: tensor<130000xf32>, %d: tensor<1100xf32>, %e: tensor<800xf32>, %f: tensor<140001xf32>, %g: tensor<1xf32>) -> tensor<278906xf32> {
  %j = tensor.concat dim(0) %a, %b, %c, %d, %e, %f, %g : (tensor<7001xf32>, tensor<3xf32>, tensor<130000xf32>, tensor<1100xf32>, tensor<800xf32>, tensor<140001xf32>, tensor<1xf32>) -> tensor<278906xf32>
  %r = math.absf %j : tensor<278906xf32>
  return %r : tensor<278906xf32>
}

func.func @nested(%a: tensor<64x64xf32>, %b: tensor<64x128xf32>, %c: tensor<64x64xf32>, %d: tensor<64x256xf32>) -> tensor<64x640xf32> {
  %i = tensor.concat dim(1) %a, %b : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x192xf32>
  %n = arith.negf %i : tensor<64x192xf32>
  %j = tensor.concat dim(1) %c, %n, %b, %d : (tensor<64x64xf32>, tensor<64x192xf32>, tensor<64x128xf32>, tensor<64x256xf32>) -> tensor<64x640xf32>
  %r = arith.mulf %j, %j : tensor<64x640xf32>
  return %r : tensor<64x640xf32>
}

func.func @dynamic(%a: tensor<?x96xf32> {fusion.dims = ["n", "_"]}, %b: tensor<5x96xf32>) -> tensor<?x96xf32> {
  %j = tensor.concat dim(0) %a, %b : (tensor<?x96xf32>, tensor<5x96xf32>) -> tensor<?x96xf32>
  return %j : tensor<?x96xf32>
}

// A tile lies past all that is joined: it is padded there.
// CHECK-LABEL: func.func @padded(
// CHECK: fusion.kernel
// CHECK-SAME: tile = 16, vector = 8, parted

func.func @padded(%a: tensor<7x16xf16>, %b: tensor<8x20xf16>) -> tensor<10x49xf16> {
  %z = arith.constant 0.0 : f16
  %t = arith.addf %a, %a : tensor<7x16xf16>
  %s = tensor.extract_slice %b[1, 3] [7, 16] [1, 1] : tensor<8x20xf16> to tensor<7x16xf16>
  %j = tensor.concat dim(1) %t, %t, %s : (tensor<7x16xf16>, tensor<7x16xf16>, tensor<7x16xf16>) -> tensor<7x48xf16>
  %r = arith.mulf %j, %j : tensor<7x48xf16>
  %p = tensor.pad %r low[3, 0] high[0, 1] {
  ^bb0(%i: index, %k: index):
    tensor.yield %z : f16
  } : tensor<7x48xf16> to tensor<10x49xf16>
  return %p : tensor<10x49xf16>
}

// Of elements that vectors of LLVM do not have.
func.func @float8(%x: tensor<64xf8E5M2>, %y: tensor<64xf8E4M3FN>) -> (tensor<128xf8E5M2>, tensor<128xf8E4M3FN>) {
  %0 = tensor.concat dim(0) %x, %x : (tensor<64xf8E5M2>, tensor<64xf8E5M2>) -> tensor<128xf8E5M2>
  %1 = tensor.concat dim(0) %y, %y : (tensor<64xf8E4M3FN>, tensor<64xf8E4M3FN>) -> tensor<128xf8E4M3FN>
  return %0, %1 : tensor<128xf8E5M2>, tensor<128xf8E4M3FN>
}
