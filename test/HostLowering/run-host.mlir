// Modules of any dialects, with tensor programs in them, through upstream's
// lowering and its runner, on the emulator.
// REQUIRES: mlir-runner

// RUN: fusion-opt %s --fusion-to-host="find-all" | mlir-opt %bufferize --buffer-deallocation-pipeline %lower_host | %run_host -e main --shared-libs=%runtime | FileCheck %s
// RUN: fusion-opt %s --fusion-to-host="find-all form=gpu" | mlir-opt %bufferize --convert-scf-to-cf --gpu-to-llvm %lower_host | %run_host -e main --shared-libs=%mgpu | FileCheck %s

func.func private @printF32(f32)
func.func private @printNewline()

// Rows by weights through tensor copies and warpgroups, and a size that only the
// run knows.
func.func @layer(%x: tensor<?x128xbf16>, %w: tensor<128x256xbf16>) -> tensor<?x256xf32> attributes {fusion.offload} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x128xbf16>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x128xbf16>, tensor<128x256xbf16>) outs(%f : tensor<?x256xf32>) -> tensor<?x256xf32>
  %s = fusion.gelu %p : tensor<?x256xf32>
  return %s : tensor<?x256xf32>
}

// Memory, a loop and calls stay. 128 * 0.5 * 0.03125 + 1 is 3, whose gelu is
// 2.99595; twice that and 1 are 6.9919.
// CHECK: 6.9919
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %last = arith.constant 299 : index
  %rows = arith.constant 300 : index
  %half = arith.constant 0.5 : bf16
  %w32 = arith.constant 0.03125 : bf16
  %one = arith.constant 1.0 : f32
  %mem = memref.alloc(%rows) : memref<?x128xbf16>
  %weights = memref.alloc() : memref<128x256xbf16>
  linalg.fill ins(%half : bf16) outs(%mem : memref<?x128xbf16>)
  linalg.fill ins(%w32 : bf16) outs(%weights : memref<128x256xbf16>)
  %x = bufferization.to_tensor %mem restrict : memref<?x128xbf16> to tensor<?x128xbf16>
  %w = bufferization.to_tensor %weights restrict : memref<128x256xbf16> to tensor<128x256xbf16>
  %init = tensor.splat %one[%rows] : tensor<?x256xf32>
  %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %init) -> tensor<?x256xf32> {
    %y = func.call @layer(%x, %w) : (tensor<?x128xbf16>, tensor<128x256xbf16>) -> tensor<?x256xf32>
    %n = arith.addf %acc, %y : tensor<?x256xf32>
    scf.yield %n : tensor<?x256xf32>
  }
  %v = tensor.extract %sum[%last, %c0] : tensor<?x256xf32>
  call @printF32(%v) : (f32) -> ()
  call @printNewline() : () -> ()
  return
}
