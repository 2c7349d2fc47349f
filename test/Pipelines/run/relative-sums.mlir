// Divergences, losses over probabilities and entropies in one sweep with the
// softmax statistics that they are relative to: of columns far from zero and from
// each other, of which the logarithms of sums would cancel; of rows in parts of
// many blocks; and summed over further dimensions.

// RUN: fusion-run %s --entry=far --device=emulator --random --seed=1 --explain --verify | FileCheck %s --check-prefixes=CHECK,FAR
// RUN: fusion-run %s --entry=rows --target=sm_80 --device=emulator --random --seed=1 --explain --verify | FileCheck %s
// RUN: fusion-run %s --entry=losses --device=emulator --random --seed=1 --explain --verify | FileCheck %s
// CHECK: relative-sum
// FAR: max error: {{[0-9.]+}}e-0{{[6-9]}}
// CHECK: {{^}}verified

// Numbers with few digits, so that all but the sums is exact.
func.func @far(%a: tensor<2x9001x256xf32>, %b: tensor<2x9001x256xf32>) -> tensor<2x256xf32> {
  %unit = arith.constant dense<0.03125> : tensor<2x9001x256xf32>
  %high = arith.constant dense<10000.0> : tensor<2x9001x256xf32>
  %low = arith.constant dense<-20000.0> : tensor<2x9001x256xf32>
  %wa = arith.divf %a, %unit : tensor<2x9001x256xf32>
  %wb = arith.divf %b, %unit : tensor<2x9001x256xf32>
  %ra = math.roundeven %wa : tensor<2x9001x256xf32>
  %rb = math.roundeven %wb : tensor<2x9001x256xf32>
  %sa = arith.mulf %ra, %unit : tensor<2x9001x256xf32>
  %sb = arith.mulf %rb, %unit : tensor<2x9001x256xf32>
  %x = arith.addf %sa, %high : tensor<2x9001x256xf32>
  %y = arith.addf %sb, %low : tensor<2x9001x256xf32>
  %q = fusion.log_softmax %x axis(1) : tensor<2x9001x256xf32>
  %l = fusion.log_softmax %y axis(1) : tensor<2x9001x256xf32>
  %p = math.exp %l : tensor<2x9001x256xf32>
  %d = arith.subf %l, %q : tensor<2x9001x256xf32>
  %t = arith.mulf %p, %d : tensor<2x9001x256xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x256xf32>) -> tensor<2x256xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<2x9001x256xf32>) outs(%f : tensor<2x256xf32>) dimensions = [1]
  return %s : tensor<2x256xf32>
}

func.func @rows(%x: tensor<5x400003xf32>, %y: tensor<5x400003xf32>) -> tensor<f32> {
  %q = fusion.log_softmax %x axis(1) : tensor<5x400003xf32>
  %l = fusion.log_softmax %y axis(1) : tensor<5x400003xf32>
  %p = math.exp %l : tensor<5x400003xf32>
  %d = arith.subf %l, %q : tensor<5x400003xf32>
  %t = arith.mulf %p, %d : tensor<5x400003xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<5x400003xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %s : tensor<f32>
}

// With probabilities that are given, and the entropy of others.
func.func @losses(%x: tensor<2x9001x256xf32>, %y: tensor<2x9001x256xf32>, %v: tensor<2x9001x256xf32>) -> (tensor<2x256xf32>, tensor<2x256xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x256xf32>) -> tensor<2x256xf32>
  %t = math.exp %y : tensor<2x9001x256xf32>
  %q = fusion.log_softmax %x axis(1) : tensor<2x9001x256xf32>
  %d = arith.subf %y, %q : tensor<2x9001x256xf32>
  %m = arith.mulf %t, %d : tensor<2x9001x256xf32>
  %s = linalg.reduce { arith.addf } ins(%m : tensor<2x9001x256xf32>) outs(%f : tensor<2x256xf32>) dimensions = [1]
  %p = fusion.softmax %v axis(1) : tensor<2x9001x256xf32>
  %l = fusion.log_softmax %v axis(1) : tensor<2x9001x256xf32>
  %n = arith.mulf %p, %l : tensor<2x9001x256xf32>
  %h = linalg.reduce { arith.addf } ins(%n : tensor<2x9001x256xf32>) outs(%f : tensor<2x256xf32>) dimensions = [1]
  return %s, %h : tensor<2x256xf32>, tensor<2x256xf32>
}
