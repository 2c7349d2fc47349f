// Variances in one sweep: of one row in parts of many blocks, of rows at odd
// addresses, of columns, and of values far from zero.

// RUN: fusion-run %s --entry=row --device=emulator --random --seed=1 --explain --verify | FileCheck %s
// RUN: fusion-run %s --entry=odd --device=emulator --random --seed=1 --explain --verify | FileCheck %s
// RUN: fusion-run %s --entry=columns --device=emulator --random --seed=1 --explain --verify | FileCheck %s
// RUN: fusion-run %s --entry=far --device=emulator --random --seed=1 --explain --verify | FileCheck %s
// CHECK: centered-sum
// CHECK: verified

// What is no number makes the variance none, as it does in two sweeps.
// RUN: fusion-run %s --entry=infinite --device=emulator --random --explain --output=%t | FileCheck %s --check-prefix=INFINITE
// INFINITE: centered-sum
// RUN: od -A n -f -w8 -j 128 %t/output0.npy | FileCheck %s --check-prefix=MEAN
// MEAN: inf
// RUN: od -A n -f -w8 -j 128 %t/output1.npy | FileCheck %s --check-prefix=VARIANCE
// VARIANCE: nan

func.func @row(%x: tensor<600011xbf16>) -> (tensor<f32>, tensor<f32>) {
  %z = arith.constant 0.0 : f32
  %c = arith.constant dense<600011.0> : tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %w = arith.extf %x : tensor<600011xbf16> to tensor<600011xf32>
  %s = linalg.reduce { arith.addf } ins(%w : tensor<600011xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %m = arith.divf %s, %c : tensor<f32>
  %g = tensor.empty() : tensor<600011xf32>
  %b = linalg.broadcast ins(%m : tensor<f32>) outs(%g : tensor<600011xf32>) dimensions = [0]
  %d = arith.subf %w, %b : tensor<600011xf32>
  %q = arith.mulf %d, %d : tensor<600011xf32>
  %v = linalg.reduce { arith.addf } ins(%q : tensor<600011xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %r = arith.divf %v, %c : tensor<f32>
  return %m, %r : tensor<f32>, tensor<f32>
}

func.func @odd(%x: tensor<3x200003xf32>) -> tensor<3x200003xf32> {
  %y = fusion.layer_norm %x axis(1) eps(1.0e-5) : (tensor<3x200003xf32>) -> tensor<3x200003xf32>
  return %y : tensor<3x200003xf32>
}

func.func @columns(%x: tensor<70001x9xf16>) -> (tensor<9xf32>, tensor<9xf32>) {
  %z = arith.constant 0.0 : f32
  %c = arith.constant dense<70001.0> : tensor<9xf32>
  %e = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %w = arith.extf %x : tensor<70001x9xf16> to tensor<70001x9xf32>
  %s = linalg.reduce { arith.addf } ins(%w : tensor<70001x9xf32>) outs(%f : tensor<9xf32>) dimensions = [0]
  %m = arith.divf %s, %c : tensor<9xf32>
  %g = tensor.empty() : tensor<70001x9xf32>
  %b = linalg.broadcast ins(%m : tensor<9xf32>) outs(%g : tensor<70001x9xf32>) dimensions = [0]
  %d = arith.subf %w, %b : tensor<70001x9xf32>
  %q = arith.mulf %d, %d : tensor<70001x9xf32>
  %v = linalg.reduce { arith.addf } ins(%q : tensor<70001x9xf32>) outs(%f : tensor<9xf32>) dimensions = [0]
  %r = arith.divf %v, %c : tensor<9xf32>
  return %m, %r : tensor<9xf32>, tensor<9xf32>
}

// A sum of squares less the square of the sum would have no digit left.
func.func @far(%x: tensor<600000xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %c = arith.constant dense<600000.0> : tensor<f32>
  %far = arith.constant dense<1000.0> : tensor<600000xf32>
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %w = arith.addf %x, %far : tensor<600000xf32>
  %s = linalg.reduce { arith.addf } ins(%w : tensor<600000xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %m = arith.divf %s, %c : tensor<f32>
  %g = tensor.empty() : tensor<600000xf32>
  %b = linalg.broadcast ins(%m : tensor<f32>) outs(%g : tensor<600000xf32>) dimensions = [0]
  %d = arith.subf %w, %b : tensor<600000xf32>
  %q = arith.mulf %d, %d : tensor<600000xf32>
  %v = linalg.reduce { arith.addf } ins(%q : tensor<600000xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %r = arith.divf %v, %c : tensor<f32>
  return %r : tensor<f32>
}

func.func @infinite(%x: tensor<600000xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %z = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %c = arith.constant dense<600000.0> : tensor<1xf32>
  %g = tensor.empty() : tensor<600000xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<600000xf32>) outs(%g : tensor<600000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %at = arith.constant 300007 : index
    %is = arith.cmpi eq, %i, %at : index
    %r = arith.select %is, %inf, %a : f32
    linalg.yield %r : f32
  } -> tensor<600000xf32>
  %wide = tensor.expand_shape %w [[0, 1]] output_shape [1, 600000] : tensor<600000xf32> into tensor<1x600000xf32>
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.reduce { arith.addf } ins(%wide : tensor<1x600000xf32>) outs(%f : tensor<1xf32>) dimensions = [1]
  %m = arith.divf %s, %c : tensor<1xf32>
  %gg = tensor.empty() : tensor<1x600000xf32>
  %b = linalg.broadcast ins(%m : tensor<1xf32>) outs(%gg : tensor<1x600000xf32>) dimensions = [1]
  %d = arith.subf %wide, %b : tensor<1x600000xf32>
  %q = arith.mulf %d, %d : tensor<1x600000xf32>
  %v = linalg.reduce { arith.addf } ins(%q : tensor<1x600000xf32>) outs(%f : tensor<1xf32>) dimensions = [1]
  %r = arith.divf %v, %c : tensor<1xf32>
  return %m, %r : tensor<1xf32>, tensor<1xf32>
}
