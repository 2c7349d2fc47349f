// A product of few results that contracts dimensions apart from each other, images
// and pixels with channels between them, is made in parts that a reduction adds up.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --remarks-filter='fusion.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Passed{{.*}}sum-of-parts{{.*}}Function=filter
// CHECK-LABEL: func.func @filter(
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<32x64x256xf32>)
// CHECK: fusion.kernel @sum
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @filter(%x: tensor<128x64x3136xbf16>, %dy: tensor<128x256x3136xbf16>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x64x3136xbf16>, tensor<128x256x3136xbf16>) outs(%f : tensor<64x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x256xf32>
  return %g : tensor<64x256xf32>
}

// As many parts as divide the images.
// CHECK-LABEL: func.func @other_number(
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<25x64x256xf32>)
// CHECK: fusion.kernel @sum
// CHECK: return
func.func @other_number(%x: tensor<100x64x3136xbf16>, %dy: tensor<100x256x3136xbf16>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<100x64x3136xbf16>, tensor<100x256x3136xbf16>) outs(%f : tensor<64x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x256xf32>
  return %g : tensor<64x256xf32>
}

// One walk runs through what lies side by side, whose chunks blocks share.
// CHECK-LABEL: func.func @side_by_side(
// CHECK: fusion.kernel @matmul
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @side_by_side(%x: tensor<128x3136x64xbf16>, %dy: tensor<128x3136x256xbf16>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, p, c)>, affine_map<(c, k, n, p) -> (n, p, k)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x3136x64xbf16>, tensor<128x3136x256xbf16>) outs(%f : tensor<64x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x256xf32>
  return %g : tensor<64x256xf32>
}

// CHECK-LABEL: func.func @one_dimension(
// CHECK: fusion.kernel @matmul
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @one_dimension(%x: tensor<64x401408xbf16>, %dy: tensor<256x401408xbf16>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n) -> (c, n)>, affine_map<(c, k, n) -> (k, n)>, affine_map<(c, k, n) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %dy : tensor<64x401408xbf16>, tensor<256x401408xbf16>) outs(%f : tensor<64x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x256xf32>
  return %g : tensor<64x256xf32>
}

// Parts of many results would be more than the factors.
// CHECK-LABEL: func.func @many_results(
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<1024x1024xf32>)
// CHECK-NOT: fusion.kernel @sum
// CHECK: return
func.func @many_results(%x: tensor<128x1024x64xbf16>, %dy: tensor<128x1024x64xbf16>) -> tensor<1024x1024xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x1024x64xbf16>, tensor<128x1024x64xbf16>) outs(%f : tensor<1024x1024xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  return %g : tensor<1024x1024xf32>
}

// Of rows that no copy takes the factors are laid out anew instead, and are one
// walk then.
// CHECK-LABEL: func.func @odd_rows(
// CHECK-NOT: fusion.kernel @sum
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<64x256xf32>)
// CHECK-NOT: fusion.kernel @sum
// CHECK: return
func.func @odd_rows(%x: tensor<128x64x169xbf16>, %dy: tensor<128x256x169xbf16>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x64x169xbf16>, tensor<128x256x169xbf16>) outs(%f : tensor<64x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x256xf32>
  return %g : tensor<64x256xf32>
}

// Each part would begin with the number that the sum begins with.
// CHECK-LABEL: func.func @begins_with_one(
// CHECK: fusion.kernel @matmul
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @begins_with_one(%x: tensor<128x64x3136xbf16>, %dy: tensor<128x256x3136xbf16>) -> tensor<64x256xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x64x3136xbf16>, tensor<128x256x3136xbf16>) outs(%f : tensor<64x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x256xf32>
  return %g : tensor<64x256xf32>
}

// One walk whose tile a single block would add up for all others.
// CHECK-LABEL: func.func @single_tile(
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<128x64x64xf32>)
// CHECK: fusion.kernel @sum
// CHECK: return
func.func @single_tile(%x: tensor<262144x64xf16>, %dy: tensor<262144x64xf16>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n) -> (n, c)>, affine_map<(c, k, n) -> (n, k)>, affine_map<(c, k, n) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %dy : tensor<262144x64xf16>, tensor<262144x64xf16>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %g : tensor<64x64xf32>
}

// Rows that tensor copies cannot take, and so few columns that single warps
// multiply all that memory gives: no kernel lays factors out anew.
// CHECK-LABEL: func.func @read_bound(
// CHECK-NOT: fusion.kernel @pad{{ }}
// CHECK: fusion.kernel @pad_matmul{{.*}}-> (tensor<{{[0-9]+}}x466x8xf32>)
// CHECK: fusion.kernel @sum
// CHECK: return
func.func @read_bound(%x: tensor<118576x466xf16>, %dy: tensor<118576x8xf16>) -> tensor<466x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<466x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<466x8xf32>) -> tensor<466x8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n) -> (n, c)>, affine_map<(c, k, n) -> (n, k)>, affine_map<(c, k, n) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %dy : tensor<118576x466xf16>, tensor<118576x8xf16>) outs(%f : tensor<466x8xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<466x8xf32>
  return %g : tensor<466x8xf32>
}

// The same of as many columns as rows: these are padded for warpgroups.
// CHECK-LABEL: func.func @product_bound(
// CHECK: fusion.kernel @pad
// CHECK: fusion.kernel @{{.*}}matmul{{.*}}-> (tensor<466x466xf32>)
// CHECK: return
func.func @product_bound(%x: tensor<118576x466xf16>, %dy: tensor<118576x466xf16>) -> tensor<466x466xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<466x466xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<466x466xf32>) -> tensor<466x466xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n) -> (n, c)>, affine_map<(c, k, n) -> (n, k)>, affine_map<(c, k, n) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %dy : tensor<118576x466xf16>, tensor<118576x466xf16>) outs(%f : tensor<466x466xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<466x466xf32>
  return %g : tensor<466x466xf32>
}

// Windows of few channels: each image and row gives parts, which none of the
// sizes has to divide.
// CHECK-LABEL: func.func @windows(
// CHECK: fusion.kernel @{{.*}}conv{{.*}}-> (tensor<2x3x3x5x1077x13xf32>)
// CHECK: fusion.kernel @sum
// CHECK: return
#x = affine_map<(c, k, r, s, n, p, q) -> (n, c, p + r, q + s)>
#dy = affine_map<(c, k, r, s, n, p, q) -> (n, k, p, q)>
#w = affine_map<(c, k, r, s, n, p, q) -> (c, k, r, s)>
func.func @windows(%x: tensor<5x2x1079x42xf32>, %dy: tensor<5x13x1077x40xf32>) -> tensor<2x13x3x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x13x3x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x13x3x3xf32>) -> tensor<2x13x3x3xf32>
  %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<5x2x1079x42xf32>, tensor<5x13x1077x40xf32>) outs(%f : tensor<2x13x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x13x3x3xf32>
  return %g : tensor<2x13x3x3xf32>
}

// Images of unknown number are no batch of a known size.
// CHECK-LABEL: func.func @unknown_number(
// CHECK: fusion.kernel @{{.*}}conv{{.*}}-> (tensor<2x13x3x3xf32>)
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @unknown_number(%x: tensor<?x2x1079x42xf32>, %dy: tensor<?x13x1077x40xf32>) -> tensor<2x13x3x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x13x3x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x13x3x3xf32>) -> tensor<2x13x3x3xf32>
  %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<?x2x1079x42xf32>, tensor<?x13x1077x40xf32>) outs(%f : tensor<2x13x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x13x3x3xf32>
  return %g : tensor<2x13x3x3xf32>
}

// Sums of 16 bits would be rounded for each part.
// CHECK-LABEL: func.func @narrow_sums(
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<64x256xf16>)
// CHECK-NOT: fusion.kernel @sum
// CHECK: return
func.func @narrow_sums(%x: tensor<128x64x3136xf16>, %dy: tensor<128x256x3136xf16>) -> tensor<64x256xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x256xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<64x256xf16>) -> tensor<64x256xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x64x3136xf16>, tensor<128x256x3136xf16>) outs(%f : tensor<64x256xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %m = arith.mulf %a, %b : f16
    %s = arith.addf %o, %m : f16
    linalg.yield %s : f16
  } -> tensor<64x256xf16>
  return %g : tensor<64x256xf16>
}

// Of images of two channels the elements of filters are no batch before them:
// tiles of channels would be empty for the most part, and not worth the parts.
// CHECK-LABEL: func.func @two_channels(
// CHECK: fusion.kernel @{{.*}}conv{{.*}}-> (tensor<2x7x7x34x2x448xf32>)
// CHECK: fusion.kernel @sum
func.func @two_channels(%x: tensor<34x2x98x22xf32>, %dy: tensor<34x448x92x16xf32>) -> tensor<2x448x7x7xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x448x7x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x448x7x7xf32>) -> tensor<2x448x7x7xf32>
  %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<34x2x98x22xf32>, tensor<34x448x92x16xf32>) outs(%f : tensor<2x448x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x448x7x7xf32>
  return %g : tensor<2x448x7x7xf32>
}
