// RUN: fusion-opt %s --fusion-input-generalize --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @matmul
// CHECK-NOT: linalg.matmul
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.extf
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @matmul(%a: tensor<?x8xf16>, %b: tensor<8x4xf16>,
                  %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x8xf16>, tensor<8x4xf16>)
      outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @named
// CHECK-NOT: linalg.{{transpose|broadcast|reduce|map|copy}}
// CHECK-COUNT-4: linalg.generic
func.func @named(%a: tensor<4x8xf32>, %d: tensor<8x4xf32>, %r: tensor<8xf32>,
                 %m: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %t = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%d : tensor<8x4xf32>)
      permutation = [1, 0]
  %s = linalg.reduce {arith.maximumf} ins(%t : tensor<8x4xf32>)
      outs(%r : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<8xf32>) outs(%m : tensor<8x8xf32>)
      dimensions = [1]
  %e = linalg.map {math.absf} ins(%b : tensor<8x8xf32>)
      outs(%m : tensor<8x8xf32>)
  return %e : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @pack
// CHECK-NOT: linalg.pack
// CHECK: tensor.pad
// CHECK: tensor.expand_shape
// CHECK: linalg.generic
func.func @pack(%x: tensor<5x8xf32>, %d: tensor<2x8x4xf32>, %p: f32)
    -> tensor<2x8x4xf32> {
  %0 = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0]
      inner_tiles = [4] into %d : tensor<5x8xf32> -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @unpack
// CHECK-NOT: linalg.unpack
// CHECK: linalg.generic
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice
func.func @unpack(%x: tensor<2x8x4xf32>, %d: tensor<5x8xf32>)
    -> tensor<5x8xf32> {
  %0 = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [4] into %d
      : tensor<2x8x4xf32> -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// CHECK-LABEL: func.func @elementwise
// CHECK: linalg.generic
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: math.exp %{{.*}} : f32
func.func @elementwise(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %y : tensor<?xf32>
  %1 = math.exp %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @generate
// CHECK-SAME: (%[[N:.*]]: index
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xi64>
// CHECK: linalg.generic {{.*}} outs(%[[E]] : tensor<?x4xi64>)
// CHECK: linalg.index 0
// CHECK: arith.addi
func.func @generate(%n: index) -> tensor<?x4xi64> {
  %0 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i64
    tensor.yield %v : i64
  } : tensor<?x4xi64>
  return %0 : tensor<?x4xi64>
}

// CHECK-LABEL: func.func @splat
// CHECK-SAME: (%[[S:.*]]: f32, %[[N:.*]]: index)
// CHECK: %[[E:.*]] = tensor.empty(%[[N]])
// CHECK: linalg.fill ins(%[[S]] : f32) outs(%[[E]] : tensor<?xf32>)
func.func @splat(%s: f32, %n: index) -> tensor<?xf32> {
  %0 = tensor.splat %s[%n] : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @insert
// CHECK-SAME: (%[[S:.*]]: f32, %[[X:.*]]: tensor<4x?xf32>, %[[I:.*]]: index)
// CHECK: linalg.generic {{.*}} ins(%[[X]]
// CHECK: ^bb0(%[[OLD:[a-z0-9_]+]]: f32
// CHECK-DAG: %[[D0:.*]] = linalg.index 0
// CHECK-DAG: %[[A:.*]] = arith.cmpi eq, %[[D0]], %[[I]]
// CHECK-DAG: %[[D1:.*]] = linalg.index 1
// CHECK-DAG: %[[B:.*]] = arith.cmpi eq, %[[D1]], %[[I]]
// CHECK: %[[HERE:.*]] = arith.andi %[[A]], %[[B]]
// CHECK: arith.select %[[HERE]], %[[S]], %[[OLD]]
func.func @insert(%s: f32, %x: tensor<4x?xf32>, %i: index) -> tensor<4x?xf32> {
  %0 = tensor.insert %s into %x[%i, %i] : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @from_elements
// CHECK-SAME: (%[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK: linalg.generic
// CHECK: arith.select %{{.*}}, %[[B]], %[[A]]
func.func @from_elements(%a: f32, %b: f32) -> tensor<2xf32> {
  %0 = tensor.from_elements %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @bitcast_and_rank
// CHECK-DAG: arith.constant 2 : index
// CHECK: arith.bitcast %{{.*}} : f32 to i32
func.func @bitcast_and_rank(%x: tensor<?x4xf32>) -> (tensor<?x4xi32>, index) {
  %0 = tensor.bitcast %x : tensor<?x4xf32> to tensor<?x4xi32>
  %1 = tensor.rank %x : tensor<?x4xf32>
  return %0, %1 : tensor<?x4xi32>, index
}

// The maximum's index is not asked for, and neither is what it is computed of.
// CHECK-LABEL: func.func @unused_index
// CHECK: %[[MAX:.*]] = linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<4xf32>)
// CHECK-NOT: linalg.index
// CHECK: arith.maximumf
// CHECK-NEXT: linalg.yield %{{.*}} : f32
// CHECK: return %[[MAX]]
func.func @unused_index(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %me = tensor.empty() : tensor<4xf32>
  %ie = tensor.empty() : tensor<4xi64>
  %m0 = linalg.fill ins(%lowest : f32) outs(%me : tensor<4xf32>) -> tensor<4xf32>
  %i0 = linalg.fill ins(%none : i64) outs(%ie : tensor<4xi64>) -> tensor<4xi64>
  %m:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%m0, %i0 : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %max: f32, %at: i64):
    %j = linalg.index 1 : index
    %now = arith.index_cast %j : index to i64
    %0 = arith.maximumf %a, %max : f32
    %1 = arith.cmpf ogt, %a, %max : f32
    %2 = arith.select %1, %now, %at : i64
    linalg.yield %0, %2 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %m#0 : tensor<4xf32>
}

// The index alone needs the maximum.
// CHECK-LABEL: func.func @only_index
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi64>)
func.func @only_index(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %lowest = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %me = tensor.empty() : tensor<4xf32>
  %ie = tensor.empty() : tensor<4xi64>
  %m0 = linalg.fill ins(%lowest : f32) outs(%me : tensor<4xf32>) -> tensor<4xf32>
  %i0 = linalg.fill ins(%none : i64) outs(%ie : tensor<4xi64>) -> tensor<4xi64>
  %m:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%m0, %i0 : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %max: f32, %at: i64):
    %j = linalg.index 1 : index
    %now = arith.index_cast %j : index to i64
    %0 = arith.maximumf %a, %max : f32
    %1 = arith.cmpf ogt, %a, %max : f32
    %2 = arith.select %1, %now, %at : i64
    linalg.yield %0, %2 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %m#1 : tensor<4xi64>
}

// The gradient of a 1x1 filter is a convolution whose windows are as large as
// the images: they have one place, and pixels, which lie side by side in both
// images, are one dimension. Images stay one, since what is permuted here has
// channels between them and their pixels.
// CHECK-LABEL: func.func @filter_gradient
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : tensor<6x2x5x4xf32> into tensor<6x2x20xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : tensor<8x2x5x4xf32> into tensor<8x2x20xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<6x2x20xf32>, tensor<8x2x20xf32>)
func.func @filter_gradient(%x: tensor<2x6x5x4xf32>, %y: tensor<8x2x5x4xf32>) -> tensor<6x8x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %te = tensor.empty() : tensor<6x2x5x4xf32>
  %t = linalg.transpose ins(%x : tensor<2x6x5x4xf32>) outs(%te : tensor<6x2x5x4xf32>) permutation = [1, 0, 2, 3]
  %e = tensor.empty() : tensor<6x8x1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8x1x1xf32>) -> tensor<6x8x1x1xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%t, %y : tensor<6x2x5x4xf32>, tensor<8x2x5x4xf32>)
      outs(%f : tensor<6x8x1x1xf32>) -> tensor<6x8x1x1xf32>
  return %r : tensor<6x8x1x1xf32>
}

// A window of several places stays one.
// CHECK-LABEL: func.func @slides
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @slides(%x: tensor<2x6x5x4xf32>, %y: tensor<8x6x4x4xf32>) -> tensor<2x8x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x2x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x2x1xf32>) -> tensor<2x8x2x1xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %y : tensor<2x6x5x4xf32>, tensor<8x6x4x4xf32>)
      outs(%f : tensor<2x8x2x1xf32>) -> tensor<2x8x2x1xf32>
  return %r : tensor<2x8x2x1xf32>
}
