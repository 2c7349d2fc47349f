// Tensors on the device: what the module allocates with gpu ops is passed, and
// the result stays there.
// REQUIRES: mlir-runner

// RUN: fusion-opt %s --fusion-to-host="form=gpu memory=device" | mlir-opt %bufferize --convert-linalg-to-loops --convert-scf-to-cf --gpu-to-llvm %lower_host | %run_host -e main --shared-libs=%mgpu | FileCheck %s
// RUN: fusion-opt %s --fusion-to-host="form=runtime memory=device" | mlir-opt %bufferize --convert-linalg-to-loops --convert-scf-to-cf --gpu-to-llvm %lower_host | %run_host -e main --shared-libs=%mgpu | FileCheck %s

func.func private @printF32(f32)
func.func private @printNewline()

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

// CHECK: 2.99595
func.func @main() {
  %c0 = arith.constant 0 : index
  %last = arith.constant 299 : index
  %rows = arith.constant 300 : index
  %half = arith.constant 0.5 : bf16
  %w32 = arith.constant 0.03125 : bf16
  %mem = memref.alloc(%rows) : memref<?x128xbf16>
  %weights = memref.alloc() : memref<128x256xbf16>
  linalg.fill ins(%half : bf16) outs(%mem : memref<?x128xbf16>)
  linalg.fill ins(%w32 : bf16) outs(%weights : memref<128x256xbf16>)
  %s0 = gpu.wait async
  %xd, %s1 = gpu.alloc async [%s0] (%rows) : memref<?x128xbf16>
  %wd, %s2 = gpu.alloc async [%s1] () : memref<128x256xbf16>
  %s3 = gpu.memcpy async [%s2] %xd, %mem : memref<?x128xbf16>, memref<?x128xbf16>
  %s4 = gpu.memcpy async [%s3] %wd, %weights : memref<128x256xbf16>, memref<128x256xbf16>
  gpu.wait [%s4]
  %x = bufferization.to_tensor %xd restrict : memref<?x128xbf16> to tensor<?x128xbf16>
  %w = bufferization.to_tensor %wd restrict : memref<128x256xbf16> to tensor<128x256xbf16>
  %y = func.call @layer(%x, %w) : (tensor<?x128xbf16>, tensor<128x256xbf16>) -> tensor<?x256xf32>
  %yd = bufferization.to_buffer %y read_only : tensor<?x256xf32> to memref<?x256xf32>
  %back = memref.alloc(%rows) : memref<?x256xf32>
  %s5 = gpu.wait async
  %s6 = gpu.memcpy async [%s5] %back, %yd : memref<?x256xf32>, memref<?x256xf32>
  gpu.wait [%s6]
  %v = memref.load %back[%last, %c0] : memref<?x256xf32>
  call @printF32(%v) : (f32) -> ()
  call @printNewline() : () -> ()
  return
}
