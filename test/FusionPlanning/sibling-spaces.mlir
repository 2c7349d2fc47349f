// Readers of one tensor share a kernel only where they walk one space: a loop
// over a part of a dimension is another loop, and a dimension without elements
// counts as one.

// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels | FileCheck %s
// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels=representative-size=1 | FileCheck %s --check-prefix=SMALL
// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels --fusion-schedule-select | FileCheck %s --check-prefix=SPACE

// The empty tensor has a dimension that the vector lacks.
// CHECK-LABEL: func @empty_and_vector(
// CHECK-SAME: kernels_after = 2 : i64
func.func @empty_and_vector(%x: tensor<0x64xf32>, %y: tensor<64xf32>) -> (tensor<0x64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<0x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<0x64xf32>, tensor<64xf32>) outs(%e : tensor<0x64xf32>) {
  ^bb0(%p: f32, %q: f32, %z: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<0x64xf32>
  %b_e = tensor.empty() : tensor<64xf32>
  %b = linalg.negf ins(%y : tensor<64xf32>) outs(%b_e : tensor<64xf32>) -> tensor<64xf32>
  return %a, %b : tensor<0x64xf32>, tensor<64xf32>
}

// What is inserted has no loops of its own.
// CHECK-LABEL: func @insert_and_pointwise(
// CHECK-SAME: kernels_after = 1 : i64
// SPACE-LABEL: func @insert_and_pointwise(
// SPACE: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 1024, vector = 4>]
func.func @insert_and_pointwise(%x: tensor<1024x1024xf32>, %u: tensor<1x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %n_e = tensor.empty() : tensor<1024x1024xf32>
  %n = linalg.abs ins(%x : tensor<1024x1024xf32>) outs(%n_e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %v = tensor.insert_slice %u into %x[7, 0][1, 1024][1, 1] : tensor<1x1024xf32> into tensor<1024x1024xf32>
  return %v, %n : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// The tensor that is inserted is shorter than the result.
// CHECK-LABEL: func @insert_and_its_source(
// CHECK-SAME: kernels_after = 2 : i64
func.func @insert_and_its_source(%x: tensor<128xf32>, %u: tensor<64xf32>) -> (tensor<128xf32>, tensor<64xf32>) {
  %v = tensor.insert_slice %u into %x[0][64][1] : tensor<64xf32> into tensor<128xf32>
  %n_e = tensor.empty() : tensor<64xf32>
  %n = linalg.abs ins(%u : tensor<64xf32>) outs(%n_e : tensor<64xf32>) -> tensor<64xf32>
  return %v, %n : tensor<128xf32>, tensor<64xf32>
}

// Padding at the end leaves coordinates as they are, not sizes.
// CHECK-LABEL: func @pad_and_pointwise(
// CHECK-SAME: kernels_after = 2 : i64
func.func @pad_and_pointwise(%x: tensor<64xf32>) -> (tensor<65xf32>, tensor<64xf32>) {
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<64xf32> to tensor<65xf32>
  %n_e = tensor.empty() : tensor<64xf32>
  %n = linalg.negf ins(%x : tensor<64xf32>) outs(%n_e : tensor<64xf32>) -> tensor<64xf32>
  return %p, %n : tensor<65xf32>, tensor<64xf32>
}

// So does the first operand of a concatenation.
// CHECK-LABEL: func @concat_and_pointwise(
// CHECK-SAME: kernels_after = 2 : i64
func.func @concat_and_pointwise(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<128xf32>, tensor<64xf32>) {
  %p = tensor.concat dim(0) %x, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %n_e = tensor.empty() : tensor<64xf32>
  %n = linalg.negf ins(%x : tensor<64xf32>) outs(%n_e : tensor<64xf32>) -> tensor<64xf32>
  return %p, %n : tensor<128xf32>, tensor<64xf32>
}

// And a slice from the beginning.
// CHECK-LABEL: func @slice_and_pointwise(
// CHECK-SAME: kernels_after = 2 : i64
func.func @slice_and_pointwise(%x: tensor<64xf32>) -> (tensor<32xf32>, tensor<64xf32>) {
  %p = tensor.extract_slice %x[0][32][1] : tensor<64xf32> to tensor<32xf32>
  %q_e = tensor.empty() : tensor<32xf32>
  %q = linalg.exp ins(%p : tensor<32xf32>) outs(%q_e : tensor<32xf32>) -> tensor<32xf32>
  %n_e = tensor.empty() : tensor<64xf32>
  %n = linalg.negf ins(%x : tensor<64xf32>) outs(%n_e : tensor<64xf32>) -> tensor<64xf32>
  return %q, %n : tensor<32xf32>, tensor<64xf32>
}

// Two sizes that only the run knows may differ.
// CHECK-LABEL: func @slices_of_dynamic_size(
// CHECK-SAME: kernels_after = 2 : i64
func.func @slices_of_dynamic_size(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %y, %c0 : tensor<?xf32>
  %p = tensor.extract_slice %x[0][%d][1] : tensor<?xf32> to tensor<?xf32>
  %q = arith.mulf %p, %y : tensor<?xf32>
  %n = arith.negf %x : tensor<?xf32>
  return %q, %n : tensor<?xf32>, tensor<?xf32>
}

// A gather may leave elements out.
// CHECK-LABEL: func @gather_and_pointwise(
// CHECK-SAME: kernels_after = 2 : i64
#o = affine_map<(i) -> (i)>
func.func @gather_and_pointwise(%t: tensor<64xf32>) -> (tensor<32xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<32xf32>
  %a = linalg.generic {indexing_maps = [#o], iterator_types = ["parallel"]} outs(%e : tensor<32xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 0 : index
    %v = tensor.extract %t[%j] : tensor<64xf32>
    %w = math.exp %v : f32
    linalg.yield %w : f32
  } -> tensor<32xf32>
  %n_e = tensor.empty() : tensor<64xf32>
  %n = linalg.negf ins(%t : tensor<64xf32>) outs(%n_e : tensor<64xf32>) -> tensor<64xf32>
  return %a, %n : tensor<32xf32>, tensor<64xf32>
}

// All rows of unknown number, some of the columns: the sum of the rows is in
// the kernel that slices them.
// CHECK-LABEL: func @slice_of_all_rows(
// CHECK-SAME: kernels_after = 1 : i64
#map = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
func.func @slice_of_all_rows(%x: tensor<?x64xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %s = tensor.extract_slice %x[0, 0] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<?x32xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A representative stands for a dynamic size in prices; it makes no dimension
// one that has a single element.
// SMALL-LABEL: func @dynamic_and_vector(
// SMALL-SAME: kernels_after = 2 : i64
func.func @dynamic_and_vector(%x: tensor<?x64xf32>, %y: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %ey = tensor.empty() : tensor<64xf32>
  %a = linalg.generic {indexing_maps = [#map, affine_map<(i, j) -> (j)>, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<?x64xf32>, tensor<64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%p: f32, %q: f32, %z: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %b = linalg.exp ins(%y : tensor<64xf32>) outs(%ey : tensor<64xf32>) -> tensor<64xf32>
  return %a, %b : tensor<?x64xf32>, tensor<64xf32>
}

// Readers of one view of what the kernel computes walk it together.
// CHECK-LABEL: func @readers_of_a_view(
// CHECK-SAME: kernels_after = 1 : i64
func.func @readers_of_a_view(%x: tensor<48x8x16xf32>, %y: tensor<48x128xf32>) -> (tensor<48x128xf32>, tensor<48x128xf32>) {
  %e = tensor.empty() : tensor<48x8x16xf32>
  %n = linalg.abs ins(%x : tensor<48x8x16xf32>) outs(%e : tensor<48x8x16xf32>) -> tensor<48x8x16xf32>
  %v = tensor.collapse_shape %n [[0], [1, 2]] : tensor<48x8x16xf32> into tensor<48x128xf32>
  %r_e = tensor.empty() : tensor<48x128xf32>
  %a = linalg.add ins(%v, %y : tensor<48x128xf32>, tensor<48x128xf32>) outs(%r_e : tensor<48x128xf32>) -> tensor<48x128xf32>
  %b = linalg.exp ins(%v : tensor<48x128xf32>) outs(%r_e : tensor<48x128xf32>) -> tensor<48x128xf32>
  return %a, %b : tensor<48x128xf32>, tensor<48x128xf32>
}

// Products of a single row share it too, as the loops that planning prices.
// SPACE-LABEL: func @products_of_a_row(
// SPACE: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = {{[0-9]+}}, vector = 4>, #fusion.axis<full, tile = 128>]
// SPACE-NOT: mma
func.func @products_of_a_row(%a: tensor<1x128xf32>, %b: tensor<1x128xf32>, %w: tensor<128x128xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) attributes {fusion.tf32} {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x128xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x128xf32>) -> tensor<1x128xf32>
  %p = linalg.matmul ins(%a, %w : tensor<1x128xf32>, tensor<128x128xf32>) outs(%f : tensor<1x128xf32>) -> tensor<1x128xf32>
  %q = linalg.matmul ins(%b, %w : tensor<1x128xf32>, tensor<128x128xf32>) outs(%f : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %p, %q : tensor<1x128xf32>, tensor<1x128xf32>
}
