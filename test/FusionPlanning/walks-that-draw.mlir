// RUN: split-file %s %t
// RUN: fusion-compile %t/whole.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=WHOLE
// RUN: fusion-compile %t/divided.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=DIVIDED

// Lanes draw for each other where a draw's eight elements are of one row: the walk
// is predicted to take twice the time of one that does not draw, not five times.
// WHOLE: kernels: 7 unfused -> 1
// WHOLE: predicted: {{(8|9|10)[0-9]}}.

//--- whole.mlir
func.func @main(%q: tensor<64x1024x64xf16>, %k: tensor<64x1024x64xf16>, %v: tensor<64x1024x64xf16>, %s: i64) -> tensor<64x1024x64xf16> {
  %0 = fusion.attention %q, %k, %v seed(%s) {dropout = 0.25 : f64} : (tensor<64x1024x64xf16>, tensor<64x1024x64xf16>, tensor<64x1024x64xf16>, i64) -> tensor<64x1024x64xf16>
  return %0 : tensor<64x1024x64xf16>
}

// Rows of which the number of elements is odd begin at any element of a draw:
// each draws for itself.
// DIVIDED: predicted: {{[3-6][0-9][0-9]}}.

//--- divided.mlir
func.func @main(%q: tensor<64x1024x64xf16>, %k: tensor<64x1023x64xf16>, %v: tensor<64x1023x64xf16>, %s: i64) -> tensor<64x1024x64xf16> {
  %0 = fusion.attention %q, %k, %v seed(%s) {dropout = 0.25 : f64} : (tensor<64x1024x64xf16>, tensor<64x1023x64xf16>, tensor<64x1023x64xf16>, i64) -> tensor<64x1024x64xf16>
  return %0 : tensor<64x1024x64xf16>
}
