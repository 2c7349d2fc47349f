// RUN: fusion-opt %s --fusion-plan-flatten-results | FileCheck %s

// Rows of 76 elements are no power of two, and begin at every fourth byte: all
// of the result is one dimension, and what a place reads is found from its
// number.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 76, d0 mod 76 + d2)>
// CHECK-DAG: #[[FLAT:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG: #[[REST:.*]] = affine_map<(d0) -> (d0 mod 7)>
// CHECK-DAG: #[[JOINED:.*]] = affine_map<(d0) -> (d0 floordiv 67, d0 mod 67)>
// CHECK-LABEL: func @pool
// CHECK: %[[K:.*]] = fusion.kernel @pool ins(%arg0 : tensor<399156x77xf32>) -> (tensor<30335856xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], #{{.*}}, #[[FLAT]]]
// CHECK: tensor.expand_shape %[[K]] {{\[}}[0, 1]] output_shape [399156, 76]
func.func @pool(%x: tensor<399156x77xf32>) -> tensor<399156x76xf32> {
  %y = fusion.kernel @pool ins(%x : tensor<399156x77xf32>) -> (tensor<399156x76xf32>) {
  ^bb0(%a: tensor<399156x77xf32>):
    %window = tensor.empty() : tensor<1x2xf32>
    %least = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<399156x76xf32>
    %f = linalg.fill ins(%least : f32) outs(%e : tensor<399156x76xf32>) -> tensor<399156x76xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, u, v) -> (i, j + v)>, affine_map<(i, j, u, v) -> (u, v)>, affine_map<(i, j, u, v) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %window : tensor<399156x77xf32>, tensor<1x2xf32>) outs(%f : tensor<399156x76xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %0 = arith.maximumf %o, %v : f32
      linalg.yield %0 : f32
    } -> tensor<399156x76xf32>
    fusion.yield %r : tensor<399156x76xf32>
  }
  return %y : tensor<399156x76xf32>
}

// What pads the image is computed wherever it is read, and so is what is
// computed of each of its elements; both keep their dimensions.
// CHECK-LABEL: func @padded
// CHECK: fusion.kernel @padded ins(%arg0 : tensor<399156x75xf32>) -> (tensor<30335856xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<399156x75xf32>) outs(%{{.*}} : tensor<399156x75xf32>)
// CHECK: tensor.pad {{.*}}
// CHECK: tensor<399156x75xf32> to tensor<399156x77xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], #{{.*}}, #[[FLAT]]]
func.func @padded(%x: tensor<399156x75xf32>) -> tensor<399156x76xf32> {
  %y = fusion.kernel @padded ins(%x : tensor<399156x75xf32>) -> (tensor<399156x76xf32>) {
  ^bb0(%a: tensor<399156x75xf32>):
    %least = arith.constant 0xFF800000 : f32
    %n = tensor.empty() : tensor<399156x75xf32>
    %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<399156x75xf32>) outs(%n : tensor<399156x75xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.negf %v : f32
      linalg.yield %0 : f32
    } -> tensor<399156x75xf32>
    %p = tensor.pad %m low[0, 1] high[0, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %least : f32
    } : tensor<399156x75xf32> to tensor<399156x77xf32>
    %window = tensor.empty() : tensor<1x2xf32>
    %e = tensor.empty() : tensor<399156x76xf32>
    %f = linalg.fill ins(%least : f32) outs(%e : tensor<399156x76xf32>) -> tensor<399156x76xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, u, v) -> (i, j + v)>, affine_map<(i, j, u, v) -> (u, v)>, affine_map<(i, j, u, v) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %window : tensor<399156x77xf32>, tensor<1x2xf32>) outs(%f : tensor<399156x76xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %0 = arith.maximumf %o, %v : f32
      linalg.yield %0 : f32
    } -> tensor<399156x76xf32>
    fusion.yield %r : tensor<399156x76xf32>
  }
  return %y : tensor<399156x76xf32>
}

// A value for each of seven columns is read at the remainder; the result of an
// operation between has the one dimension too.
// CHECK-LABEL: func @columns
// CHECK: fusion.kernel @columns ins(%{{.*}}, %arg1 : tensor<57344000xbf16>, tensor<7xbf16>) -> (tensor<57344000xbf16>)
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[REST]], #{{.*}}], iterator_types = ["parallel"]}
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<57344000xbf16>)
func.func @columns(%x: tensor<8192000x7xbf16>, %b: tensor<7xbf16>) -> tensor<8192000x7xbf16> {
  %y = fusion.kernel @columns ins(%x, %b : tensor<8192000x7xbf16>, tensor<7xbf16>) -> (tensor<8192000x7xbf16>) {
  ^bb0(%a: tensor<8192000x7xbf16>, %c: tensor<7xbf16>):
    %e = tensor.empty() : tensor<8192000x7xbf16>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a, %c : tensor<8192000x7xbf16>, tensor<7xbf16>) outs(%e : tensor<8192000x7xbf16>) {
    ^bb0(%v: bf16, %w: bf16, %o: bf16):
      %0 = arith.addf %v, %w : bf16
      linalg.yield %0 : bf16
    } -> tensor<8192000x7xbf16>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<8192000x7xbf16>) outs(%e : tensor<8192000x7xbf16>) {
    ^bb0(%v: bf16, %o: bf16):
      %0 = arith.negf %v : bf16
      linalg.yield %0 : bf16
    } -> tensor<8192000x7xbf16>
    fusion.yield %r : tensor<8192000x7xbf16>
  }
  return %y : tensor<8192000x7xbf16>
}

// Elements of a matrix that become columns are read in order by a tile of both.
// CHECK-LABEL: func @transposed
// CHECK: fusion.kernel @transposed ins(%arg0 : tensor<8190x7000xf32>) -> (tensor<7000x8190xf32>)
func.func @transposed(%x: tensor<8190x7000xf32>) -> tensor<7000x8190xf32> {
  %y = fusion.kernel @transposed ins(%x : tensor<8190x7000xf32>) -> (tensor<7000x8190xf32>) {
  ^bb0(%a: tensor<8190x7000xf32>):
    %e = tensor.empty() : tensor<7000x8190xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<8190x7000xf32>) outs(%e : tensor<7000x8190xf32>) {
    ^bb0(%v: f32, %o: f32):
      linalg.yield %v : f32
    } -> tensor<7000x8190xf32>
    fusion.yield %r : tensor<7000x8190xf32>
  }
  return %y : tensor<7000x8190xf32>
}

// The sum of a row is not computed for each of its elements.
// CHECK-LABEL: func @norm
// CHECK: fusion.kernel @norm ins(%arg0 : tensor<1000000x7xf32>) -> (tensor<1000000x7xf32>)
func.func @norm(%x: tensor<1000000x7xf32>) -> tensor<1000000x7xf32> {
  %y = fusion.kernel @norm ins(%x : tensor<1000000x7xf32>) -> (tensor<1000000x7xf32>) {
  ^bb0(%a: tensor<1000000x7xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1000000xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000000xf32>) -> tensor<1000000xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<1000000x7xf32>) outs(%f : tensor<1000000xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.addf %v, %o : f32
      linalg.yield %0 : f32
    } -> tensor<1000000xf32>
    %e2 = tensor.empty() : tensor<1000000x7xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a, %s : tensor<1000000x7xf32>, tensor<1000000xf32>) outs(%e2 : tensor<1000000x7xf32>) {
    ^bb0(%v: f32, %m: f32, %o: f32):
      %0 = arith.subf %v, %m : f32
      linalg.yield %0 : f32
    } -> tensor<1000000x7xf32>
    fusion.yield %r : tensor<1000000x7xf32>
  }
  return %y : tensor<1000000x7xf32>
}

// Nor where its rows are asked for behind what is computed of it.
// CHECK-LABEL: func @behind_norm
// CHECK: fusion.kernel @behind_norm ins(%arg0 : tensor<1000000x7xf32>) -> (tensor<1000000x7xf32>)
func.func @behind_norm(%x: tensor<1000000x7xf32>) -> tensor<1000000x7xf32> {
  %y = fusion.kernel @behind_norm ins(%x : tensor<1000000x7xf32>) -> (tensor<1000000x7xf32>) {
  ^bb0(%a: tensor<1000000x7xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1000000xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000000xf32>) -> tensor<1000000xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<1000000x7xf32>) outs(%f : tensor<1000000xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.addf %v, %o : f32
      linalg.yield %0 : f32
    } -> tensor<1000000xf32>
    %e2 = tensor.empty() : tensor<1000000x7xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a, %s : tensor<1000000x7xf32>, tensor<1000000xf32>) outs(%e2 : tensor<1000000x7xf32>) {
    ^bb0(%v: f32, %m: f32, %o: f32):
      %0 = arith.subf %v, %m : f32
      linalg.yield %0 : f32
    } -> tensor<1000000x7xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%r : tensor<1000000x7xf32>) outs(%e2 : tensor<1000000x7xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = math.cos %v : f32
      linalg.yield %0 : f32
    } -> tensor<1000000x7xf32>
    fusion.yield %t : tensor<1000000x7xf32>
  }
  return %y : tensor<1000000x7xf32>
}

// Windows of factors share these along the image.
// CHECK-LABEL: func @depthwise
// CHECK: fusion.kernel @depthwise {{.*}} -> (tensor<32x110x110x30xf32>)
func.func @depthwise(%x: tensor<32x112x112x30xf32>, %w: tensor<3x3x30xf32>) -> tensor<32x110x110x30xf32> {
  %y = fusion.kernel @depthwise ins(%x, %w : tensor<32x112x112x30xf32>, tensor<3x3x30xf32>) -> (tensor<32x110x110x30xf32>) {
  ^bb0(%a: tensor<32x112x112x30xf32>, %k: tensor<3x3x30xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x110x110x30xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x110x110x30xf32>) -> tensor<32x110x110x30xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, u, v) -> (n, h + u, w + v, c)>, affine_map<(n, h, w, c, u, v) -> (u, v, c)>, affine_map<(n, h, w, c, u, v) -> (n, h, w, c)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %k : tensor<32x112x112x30xf32>, tensor<3x3x30xf32>) outs(%f : tensor<32x110x110x30xf32>) {
    ^bb0(%v: f32, %u: f32, %o: f32):
      %0 = arith.mulf %v, %u : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<32x110x110x30xf32>
    fusion.yield %r : tensor<32x110x110x30xf32>
  }
  return %y : tensor<32x110x110x30xf32>
}

// Rows whose number is not known.
// CHECK-LABEL: func @dynamic
// CHECK: fusion.kernel @dynamic {{.*}} -> (tensor<?x7xf32>)
func.func @dynamic(%x: tensor<?x7xf32>, %b: tensor<7xf32>, %n: index) -> tensor<?x7xf32> {
  %y = fusion.kernel @dynamic ins(%x, %b : tensor<?x7xf32>, tensor<7xf32>) -> (tensor<?x7xf32>) {
  ^bb0(%a: tensor<?x7xf32>, %c: tensor<7xf32>):
    %zero = arith.constant 0 : index
    %rows = tensor.dim %a, %zero : tensor<?x7xf32>
    %e = tensor.empty(%rows) : tensor<?x7xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a, %c : tensor<?x7xf32>, tensor<7xf32>) outs(%e : tensor<?x7xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %0 = arith.addf %v, %w : f32
      linalg.yield %0 : f32
    } -> tensor<?x7xf32>
    fusion.yield %r : tensor<?x7xf32>
  }
  return %y : tensor<?x7xf32>
}

// What is joined keeps its dimensions, and a copy of it, whose loops become one,
// asks for its elements; so does what pads one of its parts.
// CHECK-LABEL: func @joined
// CHECK: %[[K:.*]] = fusion.kernel @joined ins(%arg0, %arg1 : tensor<1513568x26xbf16>, tensor<1617952x37xbf16>) -> (tensor<108402784xbf16>)
// CHECK: tensor.pad {{.*}} low[0, 1] high[104384, 3]
// CHECK: %[[C:.*]] = tensor.concat dim(1) {{.*}} -> tensor<1617952x67xbf16>
// CHECK: linalg.generic {indexing_maps = [#[[JOINED]], #{{.*}}], iterator_types = ["parallel"]} ins(%[[C]] : tensor<1617952x67xbf16>)
// CHECK: tensor.expand_shape %[[K]] {{\[}}[0, 1]] output_shape [1617952, 67]
func.func @joined(%x: tensor<1513568x26xbf16>, %y: tensor<1617952x37xbf16>) -> tensor<1617952x67xbf16> {
  %r = fusion.kernel @joined ins(%x, %y : tensor<1513568x26xbf16>, tensor<1617952x37xbf16>) -> (tensor<1617952x67xbf16>) {
  ^bb0(%a: tensor<1513568x26xbf16>, %b: tensor<1617952x37xbf16>):
    %z = arith.constant 0.0 : bf16
    %p = tensor.pad %a low[0, 1] high[104384, 3] {
    ^bb0(%i: index, %j: index):
      tensor.yield %z : bf16
    } : tensor<1513568x26xbf16> to tensor<1617952x30xbf16>
    %c = tensor.concat dim(1) %p, %b : (tensor<1617952x30xbf16>, tensor<1617952x37xbf16>) -> tensor<1617952x67xbf16>
    fusion.yield %c : tensor<1617952x67xbf16>
  }
  return %r : tensor<1617952x67xbf16>
}

// Rows of six of which each thread has its own are as they are, without a copy.
// CHECK-LABEL: func @short_rows
// CHECK: fusion.kernel @short_rows {{.*}} -> (tensor<12625990x6xf16>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @short_rows(%x: tensor<12625990x3xf16>, %y: tensor<12625990x3xf16>) -> tensor<12625990x6xf16> {
  %r = fusion.kernel @short_rows ins(%x, %y : tensor<12625990x3xf16>, tensor<12625990x3xf16>) -> (tensor<12625990x6xf16>) {
  ^bb0(%a: tensor<12625990x3xf16>, %b: tensor<12625990x3xf16>):
    %c = tensor.concat dim(1) %a, %b : (tensor<12625990x3xf16>, tensor<12625990x3xf16>) -> tensor<12625990x6xf16>
    fusion.yield %c : tensor<12625990x6xf16>
  }
  return %r : tensor<12625990x6xf16>
}

// That the dimensions of two results are one is said by what is read alone.
// CHECK-LABEL: func @several
// CHECK: fusion.kernel @several {{.*}} -> (tensor<8190x77xf32>, tensor<8190x77xi8>)
func.func @several(%x: tensor<8190x77xf32>, %b: tensor<77xf32>) -> (tensor<8190x77xf32>, tensor<8190x77xi8>) {
  %y:2 = fusion.kernel @several ins(%x, %b : tensor<8190x77xf32>, tensor<77xf32>) -> (tensor<8190x77xf32>, tensor<8190x77xi8>) {
  ^bb0(%a: tensor<8190x77xf32>, %c: tensor<77xf32>):
    %e = tensor.empty() : tensor<8190x77xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a, %c : tensor<8190x77xf32>, tensor<77xf32>) outs(%e : tensor<8190x77xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %0 = arith.addf %v, %w : f32
      linalg.yield %0 : f32
    } -> tensor<8190x77xf32>
    %e2 = tensor.empty() : tensor<8190x77xi8>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<8190x77xf32>) outs(%e2 : tensor<8190x77xi8>) {
    ^bb0(%v: f32, %o: i8):
      %0 = arith.fptosi %v : f32 to i8
      linalg.yield %0 : i8
    } -> tensor<8190x77xi8>
    fusion.yield %r, %s : tensor<8190x77xf32>, tensor<8190x77xi8>
  }
  return %y#0, %y#1 : tensor<8190x77xf32>, tensor<8190x77xi8>
}
