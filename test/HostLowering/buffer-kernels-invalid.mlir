// RUN: fusion-opt %s --split-input-file --verify-diagnostics
// RUN: not fusion-opt %s --one-shot-bufferize=bufferize-function-boundaries=true --split-input-file 2>&1 | FileCheck %s

func.func @gaps(%x: memref<8x4xf32, strided<[8, 1]>>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{FUS-1432: 'copy' is given a memref with gaps or an offset}}
  fusion.buffer_kernel @copy ins(%x : memref<8x4xf32, strided<[8, 1]>>) outs(%y : memref<8x4xf32>) {
  ^bb0(%a: tensor<8x4xf32>):
    fusion.yield %a : tensor<8x4xf32>
  }
  return
}

// -----

func.func @input(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{input #0 has type 'memref<8x4xf32>' but the body takes 'tensor<8xf32>'}}
  fusion.buffer_kernel @copy ins(%x : memref<8x4xf32>) outs(%y : memref<8x4xf32>) {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @output(%x: memref<8x4xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{output #0 has type 'memref<8xf32>' but the body yields 'tensor<8x4xf32>'}}
  fusion.buffer_kernel @copy ins(%x : memref<8x4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: tensor<8x4xf32>):
    fusion.yield %a : tensor<8x4xf32>
  }
  return
}

// -----

func.func @count(%x: memref<8x4xf32>) {
  // expected-error @+1 {{must end in a 'fusion.yield' of 1 values}}
  fusion.buffer_kernel @copy ins(%x : memref<8x4xf32>) outs(%x : memref<8x4xf32>) {
  ^bb0(%a: tensor<8x4xf32>):
    fusion.yield %a, %a : tensor<8x4xf32>, tensor<8x4xf32>
  }
  return
}

// -----

func.func @other_memory(%x: memref<8x4xf32>, %v: memref<1x4xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{output #0 is written in place of input #0, and must be the same memref}}
  fusion.buffer_kernel @write ins(%x, %v : memref<8x4xf32>, memref<1x4xf32>) outs(%y : memref<8x4xf32>) {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<1x4xf32>):
    %0 = tensor.insert_slice %b into %a[3, 0] [1, 4] [1, 1] {fusion.in_place} : tensor<1x4xf32> into tensor<8x4xf32>
    fusion.yield %0 : tensor<8x4xf32>
  }
  return
}

// -----

// No copy would do for what is written.
// CHECK: error: FUS-1432: 'write' would write to memory with gaps or an offset; bufferize with identity layouts
func.func @in_place(%x: tensor<8x4xf32> {bufferization.writable = true}, %v: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %y = fusion.kernel @write ins(%x, %v : tensor<8x4xf32>, tensor<1x4xf32>) -> (tensor<8x4xf32>) {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<1x4xf32>):
    %0 = tensor.insert_slice %b into %a[3, 0] [1, 4] [1, 1] {fusion.in_place} : tensor<1x4xf32> into tensor<8x4xf32>
    fusion.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}
