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
