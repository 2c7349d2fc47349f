// RUN: fusion-opt %s --fusion-plan-form-kernels | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// A linear recurrence takes the gate before it and the product after it.
// CHECK-LABEL: func @recurrence
// CHECK-SAME: kernels_after = 1 : i64, kernels_before = 3 : i64
// CHECK: fusion.kernel @exp_scan_mul
// CHECK: fusion.scan
func.func @recurrence(%a: tensor<64x256xf32>, %b: tensor<64x256xf32>, %c: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %g = linalg.exp ins(%a : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %h:2 = fusion.scan ins(%g, %b : tensor<64x256xf32>, tensor<64x256xf32>) inits(%one, %zero : f32, f32) axis(0)
      -> tensor<64x256xf32>, tensor<64x256xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %y = linalg.mul ins(%h#1, %c : tensor<64x256xf32>, tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}

// The sum of a scan along its axis is another kernel.
// CHECK-LABEL: func @scan_then_sum
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel @scan
// CHECK: fusion.kernel @sum
func.func @scan_then_sum(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %h = fusion.scan ins(%x : tensor<64x256xf32>) inits(%zero : f32) axis(1) -> tensor<64x256xf32> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    fusion.yield %0 : f32
  }
  %s = linalg.reduce { arith.addf } ins(%h : tensor<64x256xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  return %s : tensor<64xf32>
}

// A scan of logarithms of sums takes approximations where nothing reads more of
// its results than 16 bits.
// CHECK-LABEL: func @rounded_logarithms
// CHECK: math.exp %{{.*}} fastmath<afn> : f32
// CHECK: math.log1p %{{.*}} fastmath<afn> : f32
// CHECK-LABEL: func @logarithms
// CHECK-NOT: fastmath
func.func @rounded_logarithms(%x: tensor<64x256xf32>) -> tensor<64x256xf16> {
  %lowest = arith.constant -1.0e+30 : f32
  %h = fusion.scan ins(%x : tensor<64x256xf32>) inits(%lowest : f32) axis(1) -> tensor<64x256xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    %d = arith.subf %a, %b : f32
    %p = math.absf %d : f32
    %q = arith.negf %p : f32
    %e = math.exp %q : f32
    %l = math.log1p %e : f32
    %s = arith.addf %m, %l : f32
    fusion.yield %s : f32
  }
  %o = tensor.empty() : tensor<64x256xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<64x256xf32>) outs(%o : tensor<64x256xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}

func.func @logarithms(%x: tensor<64x256xf32>) -> (tensor<64x256xf16>, tensor<64x256xf32>) {
  %lowest = arith.constant -1.0e+30 : f32
  %h = fusion.scan ins(%x : tensor<64x256xf32>) inits(%lowest : f32) axis(1) -> tensor<64x256xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    %d = arith.subf %a, %b : f32
    %p = math.absf %d : f32
    %q = arith.negf %p : f32
    %e = math.exp %q : f32
    %l = math.log1p %e : f32
    %s = arith.addf %m, %l : f32
    fusion.yield %s : f32
  }
  %o = tensor.empty() : tensor<64x256xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<64x256xf32>) outs(%o : tensor<64x256xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x256xf16>
  return %y, %h : tensor<64x256xf16>, tensor<64x256xf32>
}

// The sum of a recurrence along another dimension is made in each of its steps:
// its states are never stored.
// CHECK-LABEL: func @scan_reduced
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @scan_sum
func.func @scan_reduced(%a: tensor<4x512x2048x16xf32>, %b: tensor<4x512x2048x16xf32>) -> tensor<4x512x2048xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %h:2 = fusion.scan ins(%a, %b : tensor<4x512x2048x16xf32>, tensor<4x512x2048x16xf32>) inits(%one, %zero : f32, f32) axis(1)
      -> tensor<4x512x2048x16xf32>, tensor<4x512x2048x16xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %e = tensor.empty() : tensor<4x512x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x512x2048xf32>) -> tensor<4x512x2048xf32>
  %s = linalg.reduce { arith.addf } ins(%h#1 : tensor<4x512x2048x16xf32>) outs(%f : tensor<4x512x2048xf32>) dimensions = [3]
  return %s : tensor<4x512x2048xf32>
}

// Not of sums, each of which would be rounded 512 times, one after the other.
// CHECK-LABEL: func @long_sums_reduced
// CHECK-SAME: kernels_after = 2 : i64
func.func @long_sums_reduced(%x: tensor<4x512x2048x16xf32>) -> tensor<4x512x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %h = fusion.scan ins(%x : tensor<4x512x2048x16xf32>) inits(%zero : f32) axis(1) -> tensor<4x512x2048x16xf32> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    fusion.yield %0 : f32
  }
  %e = tensor.empty() : tensor<4x512x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x512x2048xf32>) -> tensor<4x512x2048xf32>
  %s = linalg.reduce { arith.addf } ins(%h : tensor<4x512x2048x16xf32>) outs(%f : tensor<4x512x2048xf32>) dimensions = [3]
  return %s : tensor<4x512x2048xf32>
}

// 64 of them may be.
// CHECK-LABEL: func @short_sums_reduced
// CHECK-SAME: kernels_after = 1 : i64
func.func @short_sums_reduced(%x: tensor<32x64x2048x16xf32>) -> tensor<32x64x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %h = fusion.scan ins(%x : tensor<32x64x2048x16xf32>) inits(%zero : f32) axis(1) -> tensor<32x64x2048x16xf32> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    fusion.yield %0 : f32
  }
  %e = tensor.empty() : tensor<32x64x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64x2048xf32>) -> tensor<32x64x2048xf32>
  %s = linalg.reduce { arith.addf } ins(%h : tensor<32x64x2048x16xf32>) outs(%f : tensor<32x64x2048xf32>) dimensions = [3]
  return %s : tensor<32x64x2048xf32>
}

// What a step reduces has to fit the lanes of a warp.
// CHECK-LABEL: func @wide_reduced
// CHECK-SAME: kernels_after = 2 : i64
func.func @wide_reduced(%x: tensor<4096x64x1024xf32>) -> tensor<4096x64xf32> {
  %zero = arith.constant 0.0 : f32
  %h = fusion.scan ins(%x : tensor<4096x64x1024xf32>) inits(%zero : f32) axis(1) -> tensor<4096x64x1024xf32> {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    fusion.yield %0 : f32
  }
  %e = tensor.empty() : tensor<4096x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %s = linalg.reduce { arith.addf } ins(%h : tensor<4096x64x1024xf32>) outs(%f : tensor<4096x64xf32>) dimensions = [2]
  return %s : tensor<4096x64xf32>
}
