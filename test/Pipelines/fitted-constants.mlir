// Constants of the chip that a module has count for more than those of the table.

// RUN: fusion-opt %s --split-input-file --fusion-to-schedule --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @short_chunks
// CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 2048, vector = 4>]
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {reductions = {rowChunk = 2048.0 : f64}}>} {
func.func @short_chunks(%x: tensor<4096x25089xf32>) -> tensor<4096x25089xf32> {
  %y = fusion.softmax %x axis(1) : tensor<4096x25089xf32>
  return %y : tensor<4096x25089xf32>
}
}

// -----

// expected-error@+1 {{FUS-2008: there is no constant reductions.rowChunks; measure the chip again, or leave them out}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {reductions = {rowChunks = 2048.0 : f64}}>} {
}

// -----

// expected-error@+1 {{FUS-2008: reductions.rowChunk is a positive number, not nan}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {reductions = {rowChunk = "long"}}>} {
}

// -----

// expected-error@+1 {{FUS-2008: 'reductions' is no group of constants}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {reductions = 1.0 : f64}>} {
}

// -----

// Another part with the same instructions, and a share of one: the blocks that
// walk the tiles are as many as it has multiprocessors.

// CHECK-LABEL: func.func @smaller_part
// CHECK: mma = #fusion.mma<wgmma, {{.*}}blocks = 114
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {chip = {clockHz = 1.75e9 : f64, numSMs = 114 : i64}}>} {
func.func @smaller_part(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %d = arith.truncf %c : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  return %d : tensor<4096x4096xbf16>
}
}

// -----

// expected-error@+1 {{FUS-2008: chip.numSMs is a whole number, not 1.5; measure the chip again, or leave them out}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {chip = {numSMs = 1.5 : f64}}>} {
}

// -----

// expected-error@+1 {{FUS-2008: chip.clockHz is a positive number, not -1}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {chip = {clockHz = -1 : i64}}>} {
}

// -----

// What code of the chip may use is not more elsewhere.

// expected-error@+1 {{FUS-2008: chip.maxThreadsPerBlock is at most 1024 on sm_90a, not 2048}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {chip = {maxThreadsPerBlock = 2048 : i64}}>} {
}

// -----

// expected-error@+1 {{FUS-2008: there is no constant chip.numSM}}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {chip = {numSM = 132 : i64}}>} {
}
