// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file | FileCheck %s

// States that are dear to combine: threads reduce what they have of a chunk
// before they do. Of 256 elements a lane has four side by side and four half a
// chunk further on.

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: fusion_tile.program @rescaled
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (tensor<32xf32>, tensor<32xf32>)
// CHECK:   %[[X:.*]] = fusion_tile.load
// CHECK:   %[[PARTS:.*]] = fusion_tile.reshape %[[X]] : tensor<256xf32> -> tensor<2x32x4xf32>
// CHECK:   %[[FOURS:.*]] = fusion_tile.reduce %[[PARTS]] along 2 : tensor<2x32x4xf32> -> tensor<2x32xf32>
// CHECK:   %[[OWN:.*]] = fusion_tile.reduce %[[FOURS]] along 0 : tensor<2x32xf32> -> tensor<32xf32>
// CHECK:   %[[MAX:.*]] = arith.maximumf %[[M]], %[[OWN]]
// CHECK:   %[[BASE:.*]] = arith.select
// CHECK:   fusion_tile.broadcast %[[BASE]] dims [1] : tensor<32xf32> -> tensor<2x32x4xf32>
// CHECK:   math.exp %{{.*}} : tensor<256xf32>
// CHECK:   arith.mulf %[[S]], %{{.*}} : tensor<32xf32>
// CHECK:   scf.yield %[[MAX]]
// CHECK: fusion_tile.reduce %{{.*}}, %{{.*}} along 0 : tensor<32xf32>, tensor<32xf32> -> f32, f32
func.func @rescaled(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %0 = fusion.kernel @rescaled ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 256, vector = 4>], warps = 1>} {
  ^bb0(%a: tensor<8x4096xf32>):
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %r:2 = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x4096xf32>) outs(%m0, %s0 : tensor<8xf32>, tensor<8xf32>) {
    ^bb1(%in: f32, %m: f32, %s: f32):
      %one = arith.constant 1.0 : f32
      %hi = arith.maximumf %m, %in : f32
      %lo = arith.minimumf %m, %in : f32
      %d = arith.subf %lo, %hi : f32
      %p = math.exp %d : f32
      %isnone = arith.cmpf oeq, %lo, %ninf : f32
      %f = arith.select %isnone, %zero, %p : f32
      %where = arith.cmpf ogt, %in, %m : f32
      %larger = arith.select %where, %one, %s : f32
      %smaller = arith.select %where, %s, %one : f32
      %scaled = arith.mulf %smaller, %f : f32
      %sum = arith.addf %scaled, %larger : f32
      linalg.yield %hi, %sum : f32, f32
    } -> (tensor<8xf32>, tensor<8xf32>)
    fusion.yield %r#1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// A sum q - u (x - m), and that of u, with the statistics of x: distances are from
// the maximum of all that a thread has, and moved to it with the sums so far.

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: fusion_tile.program @linear
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
// CHECK:   %[[BASE:.*]] = arith.select
// CHECK:   %[[BASES:.*]] = fusion_tile.reshape {{.*}} : tensor<2x32x4xf32> -> tensor<256xf32>
// CHECK:   %[[D:.*]] = arith.subf %[[BASES]], %{{.*}} : tensor<256xf32>
// CHECK:   %[[UD:.*]] = arith.mulf %{{.*}}, %[[D]] fastmath<contract> : tensor<256xf32>
// CHECK:   arith.addf %{{.*}}, %[[UD]] fastmath<contract> : tensor<256xf32>
// CHECK:   %[[SHIFT:.*]] = arith.subf %[[BASE]], %{{.*}} : tensor<32xf32>
// CHECK:   %[[MOVED:.*]] = arith.mulf %[[B]], %[[SHIFT]] fastmath<contract> : tensor<32xf32>
// CHECK:   arith.addf %[[A]], %[[MOVED]] fastmath<contract> : tensor<32xf32>
// CHECK: fusion_tile.reduce %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} along 0
func.func @linear(%x: tensor<8x4096xf32>, %y: tensor<8x4096xf32>, %z: tensor<8x4096xf32>) -> tensor<8xf32> {
  %0 = fusion.kernel @linear ins(%x, %y, %z : tensor<8x4096xf32>, tensor<8x4096xf32>, tensor<8x4096xf32>) -> (tensor<8xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 256, vector = 4>], warps = 1>} {
  ^bb0(%a: tensor<8x4096xf32>, %b: tensor<8x4096xf32>, %c: tensor<8x4096xf32>):
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %r:4 = linalg.generic {indexing_maps = [#full, #full, #full, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a, %b, %c : tensor<8x4096xf32>, tensor<8x4096xf32>, tensor<8x4096xf32>) outs(%m0, %s0, %s0, %s0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    ^bb1(%in: f32, %u: f32, %q: f32, %m: f32, %s: f32, %A: f32, %B: f32):
      %one = arith.constant 1.0 : f32
      %isown = arith.cmpf oeq, %in, %ninf : f32
      %own = arith.select %isown, %zero, %in : f32
      %self = arith.subf %own, %in : f32
      %uself = arith.mulf %u, %self : f32
      %element = arith.addf %q, %uself : f32
      %hi = arith.maximumf %m, %in : f32
      %lo = arith.minimumf %m, %in : f32
      %d = arith.subf %lo, %hi : f32
      %p = math.exp %d : f32
      %isnone = arith.cmpf oeq, %lo, %ninf : f32
      %f = arith.select %isnone, %zero, %p : f32
      %where = arith.cmpf ogt, %in, %m : f32
      %larger = arith.select %where, %one, %s : f32
      %smaller = arith.select %where, %s, %one : f32
      %scaled = arith.mulf %smaller, %f : f32
      %sum = arith.addf %scaled, %larger : f32
      %ishi = arith.cmpf oeq, %hi, %ninf : f32
      %base = arith.select %ishi, %zero, %hi : f32
      %ism = arith.cmpf oeq, %m, %ninf : f32
      %mbase = arith.select %ism, %zero, %m : f32
      %shift = arith.subf %base, %mbase : f32
      %moved = arith.mulf %B, %shift : f32
      %kept = arith.addf %A, %moved : f32
      %ushift = arith.subf %base, %own : f32
      %umoved = arith.mulf %u, %ushift : f32
      %next = arith.addf %element, %umoved : f32
      %a1 = arith.addf %kept, %next : f32
      %b1 = arith.addf %B, %u : f32
      linalg.yield %hi, %sum, %a1, %b1 : f32, f32, f32, f32
    } -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    fusion.yield %r#2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// What is moved by the wrong distance is no such sum: elements are combined one
// after the other.

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: fusion_tile.program @otherDistance
// CHECK-NOT: fusion_tile.reduce
func.func @otherDistance(%x: tensor<8x4096xf32>, %y: tensor<8x4096xf32>, %z: tensor<8x4096xf32>) -> tensor<8xf32> {
  %0 = fusion.kernel @otherDistance ins(%x, %y, %z : tensor<8x4096xf32>, tensor<8x4096xf32>, tensor<8x4096xf32>) -> (tensor<8xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 256, vector = 4>], warps = 1>} {
  ^bb0(%a: tensor<8x4096xf32>, %b: tensor<8x4096xf32>, %c: tensor<8x4096xf32>):
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %r:4 = linalg.generic {indexing_maps = [#full, #full, #full, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a, %b, %c : tensor<8x4096xf32>, tensor<8x4096xf32>, tensor<8x4096xf32>) outs(%m0, %s0, %s0, %s0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    ^bb1(%in: f32, %u: f32, %q: f32, %m: f32, %s: f32, %A: f32, %B: f32):
      %one = arith.constant 1.0 : f32
      %isown = arith.cmpf oeq, %in, %ninf : f32
      %own = arith.select %isown, %zero, %in : f32
      %self = arith.subf %own, %in : f32
      %uself = arith.mulf %u, %self : f32
      %element = arith.addf %q, %uself : f32
      %hi = arith.maximumf %m, %in : f32
      %lo = arith.minimumf %m, %in : f32
      %d = arith.subf %lo, %hi : f32
      %p = math.exp %d : f32
      %isnone = arith.cmpf oeq, %lo, %ninf : f32
      %f = arith.select %isnone, %zero, %p : f32
      %where = arith.cmpf ogt, %in, %m : f32
      %larger = arith.select %where, %one, %s : f32
      %smaller = arith.select %where, %s, %one : f32
      %scaled = arith.mulf %smaller, %f : f32
      %sum = arith.addf %scaled, %larger : f32
      %ishi = arith.cmpf oeq, %hi, %ninf : f32
      %base = arith.select %ishi, %zero, %hi : f32
      %ism = arith.cmpf oeq, %m, %ninf : f32
      %mbase = arith.select %ism, %zero, %m : f32
      %shift = arith.subf %base, %own : f32
      %moved = arith.mulf %B, %shift : f32
      %kept = arith.addf %A, %moved : f32
      %ushift = arith.subf %base, %own : f32
      %umoved = arith.mulf %u, %ushift : f32
      %next = arith.addf %element, %umoved : f32
      %a1 = arith.addf %kept, %next : f32
      %b1 = arith.addf %B, %u : f32
      linalg.yield %hi, %sum, %a1, %b1 : f32, f32, f32, f32
    } -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    fusion.yield %r#2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// A thread that has one element of a chunk combines it as it is.

#full = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: fusion_tile.program @single
// CHECK: scf.for {{.*}} -> (tensor<32xf32>, tensor<32xf32>)
// CHECK-NOT: fusion_tile.reshape
// CHECK:   arith.minimumf
// CHECK:   scf.yield
func.func @single(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %0 = fusion.kernel @single ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 32, vector = 4>], warps = 1>} {
  ^bb0(%a: tensor<8x4096xf32>):
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %r:2 = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x4096xf32>) outs(%m0, %s0 : tensor<8xf32>, tensor<8xf32>) {
    ^bb1(%in: f32, %m: f32, %s: f32):
      %one = arith.constant 1.0 : f32
      %hi = arith.maximumf %m, %in : f32
      %lo = arith.minimumf %m, %in : f32
      %d = arith.subf %lo, %hi : f32
      %p = math.exp %d : f32
      %isnone = arith.cmpf oeq, %lo, %ninf : f32
      %f = arith.select %isnone, %zero, %p : f32
      %where = arith.cmpf ogt, %in, %m : f32
      %larger = arith.select %where, %one, %s : f32
      %smaller = arith.select %where, %s, %one : f32
      %scaled = arith.mulf %smaller, %f : f32
      %sum = arith.addf %scaled, %larger : f32
      linalg.yield %hi, %sum : f32, f32
    } -> (tensor<8xf32>, tensor<8xf32>)
    fusion.yield %r#1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// Rows of 18 begin at every second element, so that two are side by side;
// elements past the end of a row are counted by no thread.

#full = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i)>

// CHECK-LABEL: fusion_tile.program @moments
// CHECK: scf.for {{.*}} -> (tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>)
// CHECK: scf.for {{.*}} iter_args(%[[N:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}}) -> (tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>)
// CHECK:   fusion_tile.reshape %{{.*}} : tensor<8x32xf32> -> tensor<4x2x16x2xf32>
// CHECK:   fusion_tile.reduce %{{.*}} along 3 : tensor<4x2x16x2xf32> -> tensor<4x2x16xf32>
// CHECK:   fusion_tile.reduce %{{.*}} along 0 : tensor<4x2x16xf32> -> tensor<2x16xf32>
// CHECK:   %[[MEAN:.*]] = arith.divf %{{.*}} : tensor<2x16xf32>
// CHECK:   fusion_tile.broadcast %[[MEAN]] dims [1, 2] : tensor<2x16xf32> -> tensor<4x2x16x2xf32>
// CHECK:   arith.addf %[[N]], %{{.*}} : tensor<2x16xf32>
// CHECK:   scf.yield
func.func @moments(%x: tensor<8x1024x18xf32>) -> tensor<8xf32> {
  %0 = fusion.kernel @moments ins(%x : tensor<8x1024x18xf32>) -> (tensor<8xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 8>, #fusion.axis<loop, tile = 32, vector = 4>], warps = 1>} {
  ^bb0(%a: tensor<8x1024x18xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %r:3 = linalg.generic {indexing_maps = [#full, #row, #row, #row], iterator_types = ["parallel", "reduction", "reduction"]} ins(%a : tensor<8x1024x18xf32>) outs(%z, %z, %z : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    ^bb1(%in: f32, %n: f32, %s: f32, %q: f32):
      %one = arith.constant 1.0 : f32
      %count = arith.addf %n, %one : f32
      %sum = arith.addf %s, %in : f32
      %mean = arith.divf %s, %n : f32
      %d = arith.subf %in, %mean : f32
      %square = arith.mulf %d, %d : f32
      %w = arith.divf %n, %count : f32
      %t = arith.mulf %square, %w : f32
      %first = arith.cmpf oeq, %n, %zero : f32
      %term = arith.select %first, %zero, %t : f32
      %next = arith.addf %q, %term : f32
      linalg.yield %count, %sum, %next : f32, f32, f32
    } -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    fusion.yield %r#2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
