// Every phase is for one chip: the one named, or the module's, or sm_90a.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_80 --fusion-schedule \
// RUN:   | FileCheck %s --check-prefix=SM80
// RUN: fusion-opt %s --fusion-to-schedule=target=sm_90a | FileCheck %s --check-prefix=SM90
// RUN: fusion-opt %s --fusion-to-schedule | FileCheck %s --check-prefix=MODULE
// RUN: fusion-opt %s --fusion-to-ptx | FileCheck %s --check-prefix=PTX
// RUN: fusion-compile %s -o %t.fpk --compile-to=schedule
// RUN: FileCheck %s --check-prefix=MODULE < %t.fpk
// RUN: fusion-compile %s -o %t.fpk --compile-to=schedule --target=sm_90a
// RUN: FileCheck %s --check-prefix=SM90 < %t.fpk

// SM80: fusion.target = #fusion.target<chip = "sm_80">
// SM80: #fusion.mma<mma_sync
// SM90: fusion.target = #fusion.target<chip = "sm_90a">
// SM90: #fusion.mma<wgmma
// MODULE: fusion.target = #fusion.target<chip = "sm_86">
// MODULE: #fusion.mma<mma_sync
// PTX: .target sm_86
module attributes {fusion.target = #fusion.target<chip = "sm_86">} {
  func.func @main(%x: tensor<2048x2048xbf16>, %w: tensor<2048x2048xbf16>) -> tensor<2048x2048xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2048x2048xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %a = linalg.matmul ins(%x, %w : tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    return %a : tensor<2048x2048xf32>
  }
}
