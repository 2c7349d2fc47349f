// Scans whose results are reduced in each step, in one kernel: states that lanes
// share, sizes past the ends of tiles, steps that are written out and those that
// are left, in both directions, and lengths that are known at run time only.

// RUN: fusion-run %s --entry=gated --device=emulator --random --verify --float-std=0.3 --dim=b=3 | FileCheck %s
// RUN: fusion-run %s --entry=before --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %s --entry=along --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %s --entry=many_states --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %s --entry=few_steps --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %s --entry=sequential --device=emulator --random --verify --float-std=0.01 | FileCheck %s
// RUN: fusion-run %s --entry=softmax --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %s --entry=any_length --device=emulator --random --verify --float-std=0.3 --dim=b=1 --dim=l=1 | FileCheck %s
// RUN: fusion-run %s --entry=any_length --device=emulator --random --verify --float-std=0.3 --dim=b=1 --dim=l=37 | FileCheck %s

// Those below are too small to be worth one kernel, but in which they are.
// RUN: fusion-compile %S/Inputs/selective-scan.mlir --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=narrow_states --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=integers --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=doubles --device=emulator --random --verify --float-std=0.3 | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=largest --device=emulator --random --verify --float-std=0.3 | FileCheck %s

// CHECK: launches: 1,
// CHECK: {{^}}verified

#bld = affine_map<(b, l, d, n) -> (b, l, d)>
#dn = affine_map<(b, l, d, n) -> (d, n)>
#bln = affine_map<(b, l, d, n) -> (b, l, n)>
#bdl = affine_map<(b, l, d, n) -> (b, d, l)>
#all = affine_map<(b, l, d, n) -> (b, l, d, n)>
#id = affine_map<(b, l, d) -> (b, l, d)>
#d = affine_map<(b, l, d) -> (d)>

// Gated, with a multiple of what goes in, of 13 states and any number of rows.
func.func @gated(%x: tensor<?x37x50xbf16> {fusion.dims = ["b", "_", "_"]}, %dt: tensor<?x37x50xbf16> {fusion.dims = ["b", "_", "_"]}, %a: tensor<50x13xf32>, %bb: tensor<?x37x13xbf16> {fusion.dims = ["b", "_", "_"]}, %c: tensor<?x37x13xbf16> {fusion.dims = ["b", "_", "_"]}, %z: tensor<?x37x50xbf16> {fusion.dims = ["b", "_", "_"]}, %dd: tensor<50xf32>) -> tensor<?x37x50xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x37x50xbf16>
  %e = tensor.empty(%n) : tensor<?x37x50x13xf32>
  %f:2 = linalg.generic {indexing_maps = [#bld, #bld, #dn, #bln, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %dt, %a, %bb : tensor<?x37x50xbf16>, tensor<?x37x50xbf16>, tensor<50x13xf32>, tensor<?x37x13xbf16>) outs(%e, %e : tensor<?x37x50x13xf32>, tensor<?x37x50x13xf32>) {
  ^bb0(%xv: bf16, %dtv: bf16, %av: f32, %bv: bf16, %o0: f32, %o1: f32):
    %0 = arith.extf %dtv : bf16 to f32
    %1 = arith.mulf %0, %av : f32
    %2 = math.exp %1 : f32
    %3 = arith.extf %xv : bf16 to f32
    %4 = arith.extf %bv : bf16 to f32
    %5 = arith.mulf %0, %3 : f32
    %6 = arith.mulf %5, %4 : f32
    linalg.yield %2, %6 : f32, f32
  } -> (tensor<?x37x50x13xf32>, tensor<?x37x50x13xf32>)
  %h:2 = fusion.scan ins(%f#0, %f#1 : tensor<?x37x50x13xf32>, tensor<?x37x50x13xf32>) inits(%one, %zero : f32, f32) axis(1) -> tensor<?x37x50x13xf32>, tensor<?x37x50x13xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = math.fma %a2, %b1, %b2 : f32
    fusion.yield %0, %1 : f32, f32
  }
  %ye = tensor.empty(%n) : tensor<?x37x50xf32>
  %yf = linalg.fill ins(%zero : f32) outs(%ye : tensor<?x37x50xf32>) -> tensor<?x37x50xf32>
  %hc = linalg.generic {indexing_maps = [#all, #bln, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%h#1, %c : tensor<?x37x50x13xf32>, tensor<?x37x13xbf16>) outs(%e : tensor<?x37x50x13xf32>) {
  ^bb0(%hv: f32, %cv: bf16, %o: f32):
    %0 = arith.extf %cv : bf16 to f32
    %1 = arith.mulf %hv, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x37x50x13xf32>
  %y = linalg.reduce { arith.addf } ins(%hc : tensor<?x37x50x13xf32>) outs(%yf : tensor<?x37x50xf32>) dimensions = [3]
  %re = tensor.empty(%n) : tensor<?x37x50xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #d, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %x, %z, %dd : tensor<?x37x50xf32>, tensor<?x37x50xbf16>, tensor<?x37x50xbf16>, tensor<50xf32>) outs(%re : tensor<?x37x50xbf16>) {
  ^bb0(%yv: f32, %xv: bf16, %zv: bf16, %dv: f32, %o: bf16):
    %0 = arith.extf %xv : bf16 to f32
    %1 = arith.mulf %0, %dv : f32
    %2 = arith.addf %yv, %1 : f32
    %3 = arith.extf %zv : bf16 to f32
    %4 = arith.negf %3 : f32
    %5 = math.exp %4 : f32
    %6 = arith.addf %one, %5 : f32
    %7 = arith.divf %3, %6 : f32
    %8 = arith.mulf %2, %7 : f32
    %9 = arith.truncf %8 : f32 to bf16
    linalg.yield %9 : bf16
  } -> tensor<?x37x50xbf16>
  return %r : tensor<?x37x50xbf16>
}

// The states before each element, from behind.
func.func @before(%x: tensor<2x18x40xf32>, %dt: tensor<2x18x40xf32>, %A: tensor<40x16xf32>, %B: tensor<2x18x16xf32>, %C: tensor<2x18x16xf32>) -> tensor<2x18x40xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x18x40x16xf32>
  %f:2 = linalg.generic {indexing_maps = [#bld, #bld, #dn, #bln, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %dt, %A, %B : tensor<2x18x40xf32>, tensor<2x18x40xf32>, tensor<40x16xf32>, tensor<2x18x16xf32>) outs(%e, %e : tensor<2x18x40x16xf32>, tensor<2x18x40x16xf32>) {
  ^bb0(%xv: f32, %dv: f32, %av: f32, %bv: f32, %o0: f32, %o1: f32):
    %exv = arith.mulf %xv, %one : f32
    %edv = arith.mulf %dv, %one : f32
    %ebv = arith.mulf %bv, %one : f32
    %1 = arith.mulf %edv, %av : f32
    %2 = math.exp %1 : f32
    %3 = arith.mulf %edv, %exv : f32
    %4 = arith.mulf %3, %ebv : f32
    linalg.yield %2, %4 : f32, f32
  } -> (tensor<2x18x40x16xf32>, tensor<2x18x40x16xf32>)
  %h:2 = fusion.scan exclusive reverse ins(%f#0, %f#1 : tensor<2x18x40x16xf32>, tensor<2x18x40x16xf32>) inits(%one, %zero : f32, f32) axis(1) -> tensor<2x18x40x16xf32>, tensor<2x18x40x16xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %ye = tensor.empty() : tensor<2x18x40xf32>
  %yf = linalg.fill ins(%zero : f32) outs(%ye : tensor<2x18x40xf32>) -> tensor<2x18x40xf32>
  %y = linalg.generic {indexing_maps = [#all, #bln, #bld], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h#1, %C : tensor<2x18x40x16xf32>, tensor<2x18x16xf32>) outs(%yf : tensor<2x18x40xf32>) {
  ^bb0(%hv: f32, %cv: f32, %o: f32):
    %ecv = arith.mulf %cv, %one : f32
    %1 = arith.mulf %hv, %ecv : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x18x40xf32>

  return %y : tensor<2x18x40xf32>
}

// Operands run along what is scanned.
func.func @along(%x: tensor<2x40x45xf32>, %dt: tensor<2x40x45xf32>, %A: tensor<40x16xf32>, %B: tensor<2x45x16xf32>, %C: tensor<2x45x16xf32>) -> tensor<2x40x45xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x45x40x16xf32>
  %f:2 = linalg.generic {indexing_maps = [#bdl, #bdl, #dn, #bln, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %dt, %A, %B : tensor<2x40x45xf32>, tensor<2x40x45xf32>, tensor<40x16xf32>, tensor<2x45x16xf32>) outs(%e, %e : tensor<2x45x40x16xf32>, tensor<2x45x40x16xf32>) {
  ^bb0(%xv: f32, %dv: f32, %av: f32, %bv: f32, %o0: f32, %o1: f32):
    %exv = arith.mulf %xv, %one : f32
    %edv = arith.mulf %dv, %one : f32
    %ebv = arith.mulf %bv, %one : f32
    %1 = arith.mulf %edv, %av : f32
    %2 = math.exp %1 : f32
    %3 = arith.mulf %edv, %exv : f32
    %4 = arith.mulf %3, %ebv : f32
    linalg.yield %2, %4 : f32, f32
  } -> (tensor<2x45x40x16xf32>, tensor<2x45x40x16xf32>)
  %h:2 = fusion.scan  ins(%f#0, %f#1 : tensor<2x45x40x16xf32>, tensor<2x45x40x16xf32>) inits(%one, %zero : f32, f32) axis(1) -> tensor<2x45x40x16xf32>, tensor<2x45x40x16xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %ye = tensor.empty() : tensor<2x40x45xf32>
  %yf = linalg.fill ins(%zero : f32) outs(%ye : tensor<2x40x45xf32>) -> tensor<2x40x45xf32>
  %y = linalg.generic {indexing_maps = [#all, #bln, #bdl], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h#1, %C : tensor<2x45x40x16xf32>, tensor<2x45x16xf32>) outs(%yf : tensor<2x40x45xf32>) {
  ^bb0(%hv: f32, %cv: f32, %o: f32):
    %ecv = arith.mulf %cv, %one : f32
    %1 = arith.mulf %hv, %ecv : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x40x45xf32>

  return %y : tensor<2x40x45xf32>
}

// Lanes share 128 states.
func.func @many_states(%x: tensor<2x21x40xbf16>, %dt: tensor<2x21x40xbf16>, %A: tensor<40x128xf32>, %B: tensor<2x21x128xbf16>, %C: tensor<2x21x128xbf16>) -> tensor<2x21x40xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x21x40x128xf32>
  %f:2 = linalg.generic {indexing_maps = [#bld, #bld, #dn, #bln, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %dt, %A, %B : tensor<2x21x40xbf16>, tensor<2x21x40xbf16>, tensor<40x128xf32>, tensor<2x21x128xbf16>) outs(%e, %e : tensor<2x21x40x128xf32>, tensor<2x21x40x128xf32>) {
  ^bb0(%xv: bf16, %dv: bf16, %av: f32, %bv: bf16, %o0: f32, %o1: f32):
    %exv = arith.extf %xv : bf16 to f32
    %edv = arith.extf %dv : bf16 to f32
    %ebv = arith.extf %bv : bf16 to f32
    %1 = arith.mulf %edv, %av : f32
    %2 = math.exp %1 : f32
    %3 = arith.mulf %edv, %exv : f32
    %4 = arith.mulf %3, %ebv : f32
    linalg.yield %2, %4 : f32, f32
  } -> (tensor<2x21x40x128xf32>, tensor<2x21x40x128xf32>)
  %h:2 = fusion.scan  ins(%f#0, %f#1 : tensor<2x21x40x128xf32>, tensor<2x21x40x128xf32>) inits(%one, %zero : f32, f32) axis(1) -> tensor<2x21x40x128xf32>, tensor<2x21x40x128xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %ye = tensor.empty() : tensor<2x21x40xf32>
  %yf = linalg.fill ins(%zero : f32) outs(%ye : tensor<2x21x40xf32>) -> tensor<2x21x40xf32>
  %y = linalg.generic {indexing_maps = [#all, #bln, #bld], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h#1, %C : tensor<2x21x40x128xf32>, tensor<2x21x128xbf16>) outs(%yf : tensor<2x21x40xf32>) {
  ^bb0(%hv: f32, %cv: bf16, %o: f32):
    %ecv = arith.extf %cv : bf16 to f32
    %1 = arith.mulf %hv, %ecv : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x21x40xf32>

  %r = arith.truncf %y : tensor<2x21x40xf32> to tensor<2x21x40xbf16>
  return %r : tensor<2x21x40xbf16>
}

// One step is left of those that are written out, and one column is no power of
// two.
func.func @few_steps(%x: tensor<1x17x7xf32>, %dt: tensor<1x17x7xf32>, %A: tensor<7x64xf32>, %B: tensor<1x17x64xf32>, %C: tensor<1x17x64xf32>) -> tensor<1x17x7xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1x17x7x64xf32>
  %f:2 = linalg.generic {indexing_maps = [#bld, #bld, #dn, #bln, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %dt, %A, %B : tensor<1x17x7xf32>, tensor<1x17x7xf32>, tensor<7x64xf32>, tensor<1x17x64xf32>) outs(%e, %e : tensor<1x17x7x64xf32>, tensor<1x17x7x64xf32>) {
  ^bb0(%xv: f32, %dv: f32, %av: f32, %bv: f32, %o0: f32, %o1: f32):
    %exv = arith.mulf %xv, %one : f32
    %edv = arith.mulf %dv, %one : f32
    %ebv = arith.mulf %bv, %one : f32
    %1 = arith.mulf %edv, %av : f32
    %2 = math.exp %1 : f32
    %3 = arith.mulf %edv, %exv : f32
    %4 = arith.mulf %3, %ebv : f32
    linalg.yield %2, %4 : f32, f32
  } -> (tensor<1x17x7x64xf32>, tensor<1x17x7x64xf32>)
  %h:2 = fusion.scan  ins(%f#0, %f#1 : tensor<1x17x7x64xf32>, tensor<1x17x7x64xf32>) inits(%one, %zero : f32, f32) axis(1) -> tensor<1x17x7x64xf32>, tensor<1x17x7x64xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %ye = tensor.empty() : tensor<1x17x7xf32>
  %yf = linalg.fill ins(%zero : f32) outs(%ye : tensor<1x17x7xf32>) -> tensor<1x17x7xf32>
  %y = linalg.generic {indexing_maps = [#all, #bln, #bld], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h#1, %C : tensor<1x17x7x64xf32>, tensor<1x17x64xf32>) outs(%yf : tensor<1x17x7xf32>) {
  ^bb0(%hv: f32, %cv: f32, %o: f32):
    %ecv = arith.mulf %cv, %one : f32
    %1 = arith.mulf %hv, %ecv : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x17x7xf32>

  return %y : tensor<1x17x7xf32>
}

// Not associative; the states are stored as well.
func.func @sequential(%x: tensor<3x41x20xf32>) -> (tensor<3x41xf32>, tensor<3x41x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<3x41x20xf32>) inits(%zero : f32) axis(1) -> tensor<3x41x20xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = math.tanh %a : f32
    %s = arith.addf %t, %b : f32
    fusion.yield %s : f32
  }
  %e = tensor.empty() : tensor<3x41xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x41xf32>) -> tensor<3x41xf32>
  %r = linalg.reduce { arith.addf } ins(%y : tensor<3x41x20xf32>) outs(%f : tensor<3x41xf32>) dimensions = [2]
  return %r, %y : tensor<3x41xf32>, tensor<3x41x20xf32>
}

// A reduction of what another one is part of.
func.func @softmax(%x: tensor<2x40x96x16xf32>) -> tensor<2x40x96x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %y = fusion.scan ins(%x : tensor<2x40x96x16xf32>) inits(%zero : f32) axis(1) -> tensor<2x40x96x16xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  %e = tensor.empty() : tensor<2x40x96xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<2x40x96xf32>) -> tensor<2x40x96xf32>
  %m = linalg.reduce { arith.maximumf } ins(%y : tensor<2x40x96x16xf32>) outs(%f : tensor<2x40x96xf32>) dimensions = [3]
  %o = tensor.empty() : tensor<2x40x96x16xf32>
  %p = linalg.generic {indexing_maps = [#all, #bld, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %m : tensor<2x40x96x16xf32>, tensor<2x40x96xf32>) outs(%o : tensor<2x40x96x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x40x96x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e : tensor<2x40x96xf32>) -> tensor<2x40x96xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<2x40x96x16xf32>) outs(%f0 : tensor<2x40x96xf32>) dimensions = [3]
  %q = linalg.generic {indexing_maps = [#all, #bld, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %s : tensor<2x40x96x16xf32>, tensor<2x40x96xf32>) outs(%o : tensor<2x40x96x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x40x96x16xf32>
  return %q : tensor<2x40x96x16xf32>
}

// Of any length, from behind.
func.func @any_length(%a: tensor<?x?x300x16xf32> {fusion.dims = ["b", "l", "_", "_"]}, %b: tensor<?x?x300x16xf32> {fusion.dims = ["b", "l", "_", "_"]}) -> tensor<?x?x300xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?x300x16xf32>
  %l = tensor.dim %a, %c1 : tensor<?x?x300x16xf32>
  %h:2 = fusion.scan reverse ins(%a, %b : tensor<?x?x300x16xf32>, tensor<?x?x300x16xf32>) inits(%one, %zero : f32, f32) axis(1)
      -> tensor<?x?x300x16xf32>, tensor<?x?x300x16xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %e = tensor.empty(%n, %l) : tensor<?x?x300xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x300xf32>) -> tensor<?x?x300xf32>
  %s = linalg.reduce { arith.addf } ins(%h#1 : tensor<?x?x300x16xf32>) outs(%f : tensor<?x?x300xf32>) dimensions = [3]
  return %s : tensor<?x?x300xf32>
}

// States are f32 from the first element to the last.
func.func @narrow_states(%x0: tensor<2x90x40x12xbf16>, %x1: tensor<2x90x40x12xbf16>) -> (tensor<2x90x40xbf16>, tensor<2x90x40xbf16>) {
  %i0 = arith.constant 1.0 : bf16
  %i1 = arith.constant 0.0 : bf16
  %h:2 = fusion.scan  ins(%x0, %x1 : tensor<2x90x40x12xbf16>, tensor<2x90x40x12xbf16>) inits(%i0, %i1 : bf16, bf16) axis(1) -> tensor<2x90x40x12xbf16>, tensor<2x90x40x12xbf16> {
  ^bb0(%a0: bf16, %a1: bf16, %b0: bf16, %b1: bf16):
    %p = arith.mulf %a0, %b0 : bf16
    %q = arith.mulf %b0, %a1 : bf16
    %r = arith.addf %q, %b1 : bf16
    fusion.yield %p, %r : bf16, bf16
  }
  %e = tensor.empty() : tensor<2x90x40xbf16>
  %c0 = arith.constant 0.0 : bf16
  %f0 = linalg.fill ins(%c0 : bf16) outs(%e : tensor<2x90x40xbf16>) -> tensor<2x90x40xbf16>
  %r0 = linalg.reduce { arith.addf } ins(%h#1 : tensor<2x90x40x12xbf16>) outs(%f0 : tensor<2x90x40xbf16>) dimensions = [3]
  %c1 = arith.constant 0.0 : bf16
  %f1 = linalg.fill ins(%c1 : bf16) outs(%e : tensor<2x90x40xbf16>) -> tensor<2x90x40xbf16>
  %r1 = linalg.reduce { arith.addf } ins(%h#0 : tensor<2x90x40x12xbf16>) outs(%f1 : tensor<2x90x40xbf16>) dimensions = [3]
  return %r0, %r1 : tensor<2x90x40xbf16>, tensor<2x90x40xbf16>
}

// Not commutative on integers that wrap.
func.func @integers(%x0: tensor<2x35x24x16xi32>, %x1: tensor<2x35x24x16xi32>) -> (tensor<2x35x24xi32>, tensor<2x35x24xi32>) {
  %i0 = arith.constant 1 : i32
  %i1 = arith.constant 0 : i32
  %h:2 = fusion.scan exclusive ins(%x0, %x1 : tensor<2x35x24x16xi32>, tensor<2x35x24x16xi32>) inits(%i0, %i1 : i32, i32) axis(1) -> tensor<2x35x24x16xi32>, tensor<2x35x24x16xi32> {
  ^bb0(%a0: i32, %a1: i32, %b0: i32, %b1: i32):
    %p = arith.muli %a0, %b0 : i32
    %q = arith.muli %b0, %a1 : i32
    %r = arith.addi %q, %b1 : i32
    fusion.yield %p, %r : i32, i32
  }
  %e = tensor.empty() : tensor<2x35x24xi32>
  %c0 = arith.constant 0 : i32
  %f0 = linalg.fill ins(%c0 : i32) outs(%e : tensor<2x35x24xi32>) -> tensor<2x35x24xi32>
  %r0 = linalg.reduce { arith.addi } ins(%h#1 : tensor<2x35x24x16xi32>) outs(%f0 : tensor<2x35x24xi32>) dimensions = [3]
  %c1 = arith.constant 0 : i32
  %f1 = linalg.fill ins(%c1 : i32) outs(%e : tensor<2x35x24xi32>) -> tensor<2x35x24xi32>
  %r1 = linalg.reduce { arith.xori } ins(%h#0 : tensor<2x35x24x16xi32>) outs(%f1 : tensor<2x35x24xi32>) dimensions = [3]
  return %r0, %r1 : tensor<2x35x24xi32>, tensor<2x35x24xi32>
}

// Of two words.
func.func @doubles(%x0: tensor<2x35x24x16xf64>, %x1: tensor<2x35x24x16xf64>) -> (tensor<2x35x24xf64>) {
  %i0 = arith.constant 1.0 : f64
  %i1 = arith.constant 0.0 : f64
  %h:2 = fusion.scan  ins(%x0, %x1 : tensor<2x35x24x16xf64>, tensor<2x35x24x16xf64>) inits(%i0, %i1 : f64, f64) axis(1) -> tensor<2x35x24x16xf64>, tensor<2x35x24x16xf64> {
  ^bb0(%a0: f64, %a1: f64, %b0: f64, %b1: f64):
    %p = arith.mulf %a0, %b0 : f64
    %q = arith.mulf %b0, %a1 : f64
    %r = arith.addf %q, %b1 : f64
    fusion.yield %p, %r : f64, f64
  }
  %e = tensor.empty() : tensor<2x35x24xf64>
  %c0 = arith.constant 0.0 : f64
  %f0 = linalg.fill ins(%c0 : f64) outs(%e : tensor<2x35x24xf64>) -> tensor<2x35x24xf64>
  %r0 = linalg.reduce { arith.addf } ins(%h#1 : tensor<2x35x24x16xf64>) outs(%f0 : tensor<2x35x24xf64>) dimensions = [3]
  return %r0 : tensor<2x35x24xf64>
}

// One state of f16, from behind.
func.func @largest(%x0: tensor<2x100x21x16xf16>) -> (tensor<2x100x21xf16>) {
  %i0 = arith.constant 0xFC00 : f16
  %h:1 = fusion.scan reverse ins(%x0 : tensor<2x100x21x16xf16>) inits(%i0 : f16) axis(1) -> tensor<2x100x21x16xf16> {
  ^bb0(%a0: f16, %b0: f16):
    %p = arith.maximumf %a0, %b0 : f16
    fusion.yield %p : f16
  }
  %e = tensor.empty() : tensor<2x100x21xf16>
  %c0 = arith.constant 0.0 : f16
  %f0 = linalg.fill ins(%c0 : f16) outs(%e : tensor<2x100x21xf16>) -> tensor<2x100x21xf16>
  %r0 = linalg.reduce { arith.addf } ins(%h#0 : tensor<2x100x21x16xf16>) outs(%f0 : tensor<2x100x21xf16>) dimensions = [3]
  return %r0 : tensor<2x100x21xf16>
}
