// RUN: fusion-opt %s -split-input-file --fusion-to-tile | FileCheck %s
// RUN: fusion-opt %s -split-input-file --fusion-to-plan | grep -o "registers = [0-9]*, shared_bytes = [0-9]*" > %t.plan
// RUN: fusion-opt %s -split-input-file --fusion-to-schedule | grep -o "registers = [0-9]*, shared_bytes = [0-9]*" > %t.schedule
// RUN: diff %t.plan %t.schedule

// Planning and scheduling predict the same for kernels on tensor cores, and the
// shared memory that they predict is what allocation arrives at.

// Plain: one buffer of results in several chunks.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %eo = tensor.empty() : tensor<4096x4096xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<4096x4096xf32>) outs(%eo : tensor<4096x4096xbf16>) {
  ^bb0(%v0: f32, %oo: bf16):
    %o = arith.truncf %v0 : f32 to bf16
    linalg.yield %o : bf16
  } -> tensor<4096x4096xbf16>
  return %z : tensor<4096x4096xbf16>
}
}

// -----

// Both operands along the depth, a vector in the epilogue.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<1000x1024xbf16>, %w: tensor<2048x1024xbf16>, %b: tensor<2048xbf16>) -> tensor<1000x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000x2048xf32>
  %eo = tensor.empty() : tensor<1000x2048xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000x2048xf32>) -> tensor<1000x2048xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<1000x1024xbf16>, tensor<2048x1024xbf16>) outs(%f : tensor<1000x2048xf32>) -> tensor<1000x2048xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<1000x2048xf32>, tensor<2048xbf16>) outs(%eo : tensor<1000x2048xbf16>) {
  ^bb0(%v0: f32, %bb: bf16, %oo: bf16):
    %bbw = arith.extf %bb : bf16 to f32
    %q = arith.addf %v0, %bbw : f32
    %o = arith.truncf %q : f32 to bf16
    linalg.yield %o : bf16
  } -> tensor<1000x2048xbf16>
  return %z : tensor<1000x2048xbf16>
}
}

// -----

// A tensor in the epilogue has a ring of its own.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<4096x4096xbf16>, %w: tensor<4096x14336xbf16>, %b: tensor<14336xbf16>, %r: tensor<4096x14336xbf16>) -> tensor<4096x14336xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x14336xf32>
  %eo = tensor.empty() : tensor<4096x14336xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>) outs(%f : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %b, %r : tensor<4096x14336xf32>, tensor<14336xbf16>, tensor<4096x14336xbf16>) outs(%eo : tensor<4096x14336xbf16>) {
  ^bb0(%v0: f32, %bb: bf16, %rr: bf16, %oo: bf16):
    %bbw = arith.extf %bb : bf16 to f32
    %q = arith.addf %v0, %bbw : f32
    %rrw = arith.extf %rr : bf16 to f32
    %s = arith.addf %q, %rrw : f32
    %o = arith.truncf %s : f32 to bf16
    linalg.yield %o : bf16
  } -> tensor<4096x14336xbf16>
  return %z : tensor<4096x14336xbf16>
}
}

// -----

// Results of f32.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %m : tensor<1024x1024xf32>
}
}

// -----

// Two products.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>, %u: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x1024xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m2 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%x, %u : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %m2 : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%eo : tensor<1024x1024xbf16>) {
  ^bb0(%v0: f32, %d: f32, %oo: bf16):
    %t = math.tanh %v0 : f32
    %p = arith.mulf %t, %d : f32
    %o = arith.truncf %p : f32 to bf16
    linalg.yield %o : bf16
  } -> tensor<1024x1024xbf16>
  return %z : tensor<1024x1024xbf16>
}
}

// -----

// Products in tf32.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %m : tensor<1024x1024xf32>
}
}

// -----

// The depth shared by a cluster: partial sums of each block.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<128x4096xbf16>, %w: tensor<4096x4096xbf16>, %b: tensor<4096xbf16>, %r: tensor<128x4096xbf16>) -> tensor<128x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x4096xf32>
  %eo = tensor.empty() : tensor<128x4096xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x4096xf32>) -> tensor<128x4096xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<128x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<128x4096xf32>) -> tensor<128x4096xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %b, %r : tensor<128x4096xf32>, tensor<4096xbf16>, tensor<128x4096xbf16>) outs(%eo : tensor<128x4096xbf16>) {
  ^bb0(%v0: f32, %bb: bf16, %rr: bf16, %oo: bf16):
    %bbw = arith.extf %bb : bf16 to f32
    %q = arith.addf %v0, %bbw : f32
    %rrw = arith.extf %rr : bf16 to f32
    %s = arith.addf %q, %rrw : f32
    %o = arith.truncf %s : f32 to bf16
    linalg.yield %o : bf16
  } -> tensor<128x4096xbf16>
  return %z : tensor<128x4096xbf16>
}
}

// -----

// Small tiles.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>, %b: tensor<512xbf16>, %r: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x512xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %b, %r : tensor<512x512xf32>, tensor<512xbf16>, tensor<512x512xbf16>) outs(%eo : tensor<512x512xbf16>) {
  ^bb0(%v0: f32, %bb: bf16, %rr: bf16, %oo: bf16):
    %bbw = arith.extf %bb : bf16 to f32
    %q = arith.addf %v0, %bbw : f32
    %rrw = arith.extf %rr : bf16 to f32
    %s = arith.addf %q, %rrw : f32
    %o = arith.truncf %s : f32 to bf16
    linalg.yield %o : bf16
  } -> tensor<512x512xbf16>
  return %z : tensor<512x512xbf16>
}
}

// -----

// Few rows.
// CHECK-LABEL: func.func @f
// CHECK: shared_bytes = [[BYTES:[0-9]+]], {{.*}}mma = #fusion.mma<wgmma
// CHECK: fusion_tile.program {{.*}} shared_bytes = [[BYTES]] : i64
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
func.func @f(%x: tensor<64x8192xbf16>, %w: tensor<8192x8192xbf16>) -> tensor<64x8192xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8192xf32>
  %eo = tensor.empty() : tensor<64x8192xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32} ins(%x, %w : tensor<64x8192xbf16>, tensor<8192x8192xbf16>) outs(%f : tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<64x8192xf32>) outs(%eo : tensor<64x8192xbf16>) {
  ^bb0(%v0: f32, %oo: bf16):
    %o = arith.truncf %v0 : f32 to bf16
    linalg.yield %o : bf16
  } -> tensor<64x8192xbf16>
  return %z : tensor<64x8192xbf16>
}
}
