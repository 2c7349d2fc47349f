// Operands of products with several sources: small ones are computed in the
// kernel, on warps' tensor cores, and the remark says why not on warpgroups';
// large ones are put together by a kernel of their own first.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=gather | FileCheck %s
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=gather | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=along_k | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=along_m | FileCheck %s
// CHECK: launches: 1,
// CHECK: verified

// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>&1 >%t | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=PLAN < %t

// REMARK: several-sources {{.*}}Function=gather
func.func @gather(%table: tensor<1000x256xbf16>, %rows: tensor<192xi32>, %w: tensor<256x128xbf16>) -> tensor<192x128xf32> {
  %zero = arith.constant 0.0 : f32
  %eg = tensor.empty() : tensor<192x256xbf16>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<192xi32>) outs(%eg : tensor<192x256xbf16>) {
  ^bb0(%r: i32, %o: bf16):
    %k = arith.constant 999 : i32
    %l = arith.constant 0 : i32
    %c = arith.maxsi %r, %l : i32
    %d = arith.minsi %c, %k : i32
    %i = arith.index_cast %d : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<1000x256xbf16>
    linalg.yield %v : bf16
  } -> tensor<192x256xbf16>
  %e = tensor.empty() : tensor<192x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<192x128xf32>) -> tensor<192x128xf32>
  %m = linalg.matmul ins(%g, %w : tensor<192x256xbf16>, tensor<256x128xbf16>) outs(%f : tensor<192x128xf32>) -> tensor<192x128xf32>
  return %m : tensor<192x128xf32>
}

// REMARK: not-profitable {{.*}}Function=gather_large
// PLAN-LABEL: func @gather_large(
// PLAN: %[[G:.*]] = fusion.kernel {{.*}} -> (tensor<8192x4096xbf16>)
// PLAN: fusion.kernel {{.*}} ins(%[[G]],
// PLAN: return
func.func @gather_large(%table: tensor<32000x4096xbf16>, %rows: tensor<8192xi32>, %w: tensor<4096x4096xbf16>) -> tensor<8192x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %eg = tensor.empty() : tensor<8192x4096xbf16>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<8192xi32>) outs(%eg : tensor<8192x4096xbf16>) {
  ^bb0(%r: i32, %o: bf16):
    %k = arith.constant 31999 : i32
    %l = arith.constant 0 : i32
    %c = arith.maxsi %r, %l : i32
    %d = arith.minsi %c, %k : i32
    %i = arith.index_cast %d : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<32000x4096xbf16>
    linalg.yield %v : bf16
  } -> tensor<8192x4096xbf16>
  %e = tensor.empty() : tensor<8192x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %m = linalg.matmul ins(%g, %w : tensor<8192x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  return %m : tensor<8192x4096xf32>
}

// Two tensors one after the other along the contracted dimension.
// REMARK: several-sources {{.*}}Function=along_k
func.func @along_k(%a: tensor<192x64xbf16>, %b: tensor<192x96xbf16>, %w: tensor<160x128xbf16>) -> tensor<192x128xf32> {
  %zero = arith.constant 0.0 : f32
  %x = tensor.concat dim(1) %a, %b : (tensor<192x64xbf16>, tensor<192x96xbf16>) -> tensor<192x160xbf16>
  %e = tensor.empty() : tensor<192x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<192x128xf32>) -> tensor<192x128xf32>
  %m = linalg.matmul ins(%x, %w : tensor<192x160xbf16>, tensor<160x128xbf16>) outs(%f : tensor<192x128xf32>) -> tensor<192x128xf32>
  return %m : tensor<192x128xf32>
}

// Along the rows.
// REMARK: several-sources {{.*}}Function=along_m
func.func @along_m(%a: tensor<64x128xbf16>, %b: tensor<128x128xbf16>, %w: tensor<128x128xbf16>) -> tensor<192x128xf32> {
  %zero = arith.constant 0.0 : f32
  %x = tensor.concat dim(0) %a, %b : (tensor<64x128xbf16>, tensor<128x128xbf16>) -> tensor<192x128xbf16>
  %e = tensor.empty() : tensor<192x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<192x128xf32>) -> tensor<192x128xf32>
  %m = linalg.matmul ins(%x, %w : tensor<192x128xbf16>, tensor<128x128xbf16>) outs(%f : tensor<192x128xf32>) -> tensor<192x128xf32>
  return %m : tensor<192x128xf32>
}
