// RUN: fusion-opt %s --fusion-to-host=partial 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS --input-file=%t.err
// RUN: fusion-opt %s --fusion-to-host=find-all 2>%t.all | FileCheck %s --check-prefix=ALL
// RUN: FileCheck %s --check-prefix=FOUND --input-file=%t.all
// RUN: not fusion-opt %s --fusion-to-host 2>&1 | FileCheck %s --check-prefix=STRICT

// What is marked and is refused stays as it is, with partial; what is found
// always does.

// REMARKS: remark: FUS-1402: 'memory' takes a value of type memref<4xf32>
// REMARKS: note: 'memory' is not compiled
// REMARKS: remark: FUS-1012: 'scf.for' is not supported
// REMARKS: note: 'loop' is not compiled
// REMARKS-NOT: {{remark|error}}
// STRICT: error: FUS-1402: 'memory' takes

// CHECK-LABEL: func.func @good
// CHECK: fusionRtCallPackage
func.func @good(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fusion.offload} {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @memory(
// CHECK-NOT: fusion.offload
// CHECK: return
func.func @memory(%m: memref<4xf32>) attributes {fusion.offload} {
  return
}

// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {fusion.offload} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// An op that the compiler knows, with more loops than it takes.
// ALL-LABEL: func.func @found(
// ALL: memref.copy
// ALL: call @found_offload_0
// ALL: func.func private @found_offload_0
// ALL: linalg.generic
// FOUND: remark: FUS-1014: 'linalg.generic' has 33 loops, the limit is 32
// FOUND: note: 'found_offload_0' is not compiled
func.func @found(%x: tensor<1x1x1x1x1x1x1x1x1x1x1xf32>, %m: memref<4xf32>, %n: memref<4xf32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1xf32> {
  memref.copy %m, %n : memref<4xf32> to memref<4xf32>
  %e = tensor.empty() : tensor<1x1x1x1x1x1x1x1x1x1x1xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, d32) -> (d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10)>,
                     affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, d32) -> (d11, d12, d13, d14, d15, d16, d17, d18, d19, d20, d21)>,
                     affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, d32) -> (d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, d32)>],
    iterator_types = ["reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %x : tensor<1x1x1x1x1x1x1x1x1x1x1xf32>, tensor<1x1x1x1x1x1x1x1x1x1x1xf32>) outs(%e : tensor<1x1x1x1x1x1x1x1x1x1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x1x1x1x1x1x1x1x1x1x1xf32>
  return %0 : tensor<1x1x1x1x1x1x1x1x1x1x1xf32>
}
