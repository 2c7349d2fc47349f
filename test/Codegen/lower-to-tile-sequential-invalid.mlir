// Schedules that walk a dimension once where a reduction needs the whole result
// of another.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics

// Distances from a mean are squared.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @variance(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @variance ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0.0 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.addf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    // expected-error @below {{FUS-3130: the schedule walks a dimension once for all reductions along it ('sequential'), but this one needs the whole result of another}}
    %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %y = arith.mulf %d, %d : f32
      %q = arith.addf %o, %y : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A sum in the exponent has no bound: factors might overflow.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @by_sum(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @by_sum ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0.0 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.addf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    // expected-error @below {{FUS-3130: the schedule walks a dimension once for all reductions along it ('sequential'), but this one needs the whole result of another}}
    %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %y = math.exp %d : f32
      %q = arith.addf %o, %y : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// The exponent grows with the maximum.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @growing(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @growing ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    // expected-error @below {{FUS-3130: the schedule walks a dimension once for all reductions along it ('sequential'), but this one needs the whole result of another}}
    %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %b, %a : f32
      %y = math.exp %d : f32
      %q = arith.addf %o, %y : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// Not only a factor depends on the maximum.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @added(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @added ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    // expected-error @below {{FUS-3130: the schedule walks a dimension once for all reductions along it ('sequential'), but this one needs the whole result of another}}
    %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      %y = arith.addf %e, %a : f32
      %q = arith.addf %o, %y : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A choice may hide that an element is no number.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @chosen(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @chosen ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    // expected-error @below {{FUS-3130: the schedule walks a dimension once for all reductions along it ('sequential'), but this one needs the whole result of another}}
    %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      %none = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %a, %none : f32
      %y = arith.select %c, %e, %none : f32
      %q = arith.addf %o, %y : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A maximum is not repaired by a factor.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @maximum(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @maximum ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    // expected-error @below {{FUS-3130: the schedule walks a dimension once for all reductions along it ('sequential'), but this one needs the whole result of another}}
    %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %y = math.exp %d : f32
      %q = arith.maximumf %o, %y : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// The first maximum begins with a number of its own.
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @begun(%x: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @begun ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 1.0 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    // expected-error @below {{FUS-3130: the schedule walks a dimension once for all reductions along it ('sequential'), but this one needs the whole result of another}}
    %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %y = math.exp %d : f32
      %q = arith.addf %o, %y : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
