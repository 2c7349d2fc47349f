// Values between contractions that are made in parts, as they are larger than the
// limit: parts of one size and a smaller last one, results whose parts are written
// beside each other along rows and along columns, sums over parts, positions in
// parts, values that are computed again as others read all of them before.

// RUN: fusion-compile %s --target=sm_90a --largest-value=20000 --explain -o %t.fpk | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --largest-value=20000 -o %t.again.fpk
// RUN: cmp %t.fpk %t.again.fpk
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=1 --int-range=0:301 --verify --entry=loss
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=2 --int-range=0:301 --asynchrony=early --verify --entry=loss
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=1 --verify --entry=layers
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=1 --verify --entry=columns
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=1 --verify --entry=chain
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=1 --verify --entry=batches
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=1 --verify --entry=deep
// RUN: fusion-run %s --target=sm_90a --largest-value=20000 --device=emulator --random --seed=1 --verify=payload --entry=layers
// RUN: fusion-run %s --target=sm_80 --largest-value=20000 --device=emulator --random --seed=1 --int-range=0:301 --verify --entry=loss

#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#ik = affine_map<(d0, d1, d2) -> (d0, d2)>
#jk = affine_map<(d0, d1, d2) -> (d1, d2)>
#kj = affine_map<(d0, d1, d2) -> (d2, d1)>
#ki = affine_map<(d0, d1, d2) -> (d2, d0)>
#ij = affine_map<(d0, d1, d2) -> (d0, d1)>
#bik = affine_map<(b, d0, d1, d2) -> (b, d0, d2)>
#bkj = affine_map<(b, d0, d1, d2) -> (b, d2, d1)>
#bij = affine_map<(b, d0, d1, d2) -> (b, d0, d1)>

// The gradients of a linear layer's loss, and the logarithms of its sums: the
// logits are made once for these and once, in parts, for the gradients.
// CHECK: @loss for sm_90a:
// CHECK: fused sub_exp_compare{{.*}} -> matmul, matmul{{.*}}: in-parts, {{.*}}(37x301xf16 in 7 parts of 48 along dimension 1;
func.func @loss(%h: tensor<37x40xf16>, %w: tensor<301x40xf16>, %t: tensor<37xi64>) -> (tensor<37xf32>, tensor<37x40xf16>, tensor<301x40xf16>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.027027 : f32
  %se = tensor.empty() : tensor<37x301xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<37x301xf32>) -> tensor<37x301xf32>
  %s = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %w : tensor<37x40xf16>, tensor<301x40xf16>) outs(%sz : tensor<37x301xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<37x301xf32>
  %re = tensor.empty() : tensor<37xf32>
  %mi = linalg.fill ins(%least : f32) outs(%re : tensor<37xf32>) -> tensor<37xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<37x301xf32>) outs(%mi : tensor<37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<37xf32>
  %li = linalg.fill ins(%zero : f32) outs(%re : tensor<37xf32>) -> tensor<37xf32>
  %l = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s, %m : tensor<37x301xf32>, tensor<37xf32>) outs(%li : tensor<37xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<37xf32>
  %lse = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%m, %l : tensor<37xf32>, tensor<37xf32>) outs(%re : tensor<37xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.log %b : f32
    %1 = arith.addf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<37xf32>
  %de = tensor.empty() : tensor<37x301xf16>
  %d = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %lse, %t : tensor<37x301xf32>, tensor<37xf32>, tensor<37xi64>) outs(%de : tensor<37x301xf16>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %o: f16):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = linalg.index 1 : index
    %3 = arith.index_cast %c : i64 to index
    %4 = arith.cmpi eq, %2, %3 : index
    %5 = arith.select %4, %one, %zero : f32
    %6 = arith.subf %1, %5 : f32
    %7 = arith.mulf %6, %scale : f32
    %8 = arith.truncf %7 : f32 to f16
    linalg.yield %8 : f16
  } -> tensor<37x301xf16>
  %dhe = tensor.empty() : tensor<37x40xf32>
  %dhz = linalg.fill ins(%zero : f32) outs(%dhe : tensor<37x40xf32>) -> tensor<37x40xf32>
  %dhs = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d, %w : tensor<37x301xf16>, tensor<301x40xf16>) outs(%dhz : tensor<37x40xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<37x40xf32>
  %dhr = tensor.empty() : tensor<37x40xf16>
  %dh = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%dhs : tensor<37x40xf32>) outs(%dhr : tensor<37x40xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<37x40xf16>
  %dwe = tensor.empty() : tensor<301x40xf32>
  %dwz = linalg.fill ins(%zero : f32) outs(%dwe : tensor<301x40xf32>) -> tensor<301x40xf32>
  %dws = linalg.generic {indexing_maps = [#ki, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d, %h : tensor<37x301xf16>, tensor<37x40xf16>) outs(%dwz : tensor<301x40xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<301x40xf32>
  %dwr = tensor.empty() : tensor<301x40xf16>
  %dw = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%dws : tensor<301x40xf32>) outs(%dwr : tensor<301x40xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<301x40xf16>
  return %lse, %dh, %dw : tensor<37xf32>, tensor<37x40xf16>, tensor<301x40xf16>
}

// Two layers: parts of rows need no sums. The result is read by a reduction, which
// finds all of it in memory.
// CHECK: @layers for sm_90a:
// CHECK: in-parts, {{.*}}(333x200xbf16 in {{.*}} along dimension 0;
func.func @layers(%x: tensor<333x64xbf16>, %v: tensor<64x200xbf16>, %w: tensor<200x400xbf16>, %r: tensor<333x400xf32>) -> (tensor<333x400xf32>, tensor<400xf32>) {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<333x200xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<333x200xf32>) -> tensor<333x200xf32>
  %s = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<333x64xbf16>, tensor<64x200xbf16>) outs(%sz : tensor<333x200xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<333x200xf32>
  %ae = tensor.empty() : tensor<333x200xbf16>
  %act = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<333x200xf32>) outs(%ae : tensor<333x200xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.maximumf %a, %zero : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<333x200xbf16>
  %ye = tensor.empty() : tensor<333x400xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<333x400xf32>) -> tensor<333x400xf32>
  %y = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%act, %w : tensor<333x200xbf16>, tensor<200x400xbf16>) outs(%yz : tensor<333x400xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<333x400xf32>
  %sum = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%y, %r : tensor<333x400xf32>, tensor<333x400xf32>) outs(%ye : tensor<333x400xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<333x400xf32>
  %ce = tensor.empty() : tensor<400xf32>
  %cz = linalg.fill ins(%zero : f32) outs(%ce : tensor<400xf32>) -> tensor<400xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%sum : tensor<333x400xf32>) outs(%cz : tensor<400xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<400xf32>
  return %sum, %c : tensor<333x400xf32>, tensor<400xf32>
}

// Columns of operands are no whole pieces of memory: they are copied. Those of
// the second result are written where they lie.
// CHECK: @columns for sm_90a:
// CHECK: in-parts, {{.*}}(32x410xf16 in {{.*}} along dimension 1;
func.func @columns(%h: tensor<32x24xf16>, %w: tensor<24x410xf16>, %g: tensor<32x410xf16>) -> (tensor<32x24xf32>, tensor<24x410xf32>) {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<32x410xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<32x410xf32>) -> tensor<32x410xf32>
  %s = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %w : tensor<32x24xf16>, tensor<24x410xf16>) outs(%sz : tensor<32x410xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x410xf32>
  %de = tensor.empty() : tensor<32x410xf16>
  %d = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %g : tensor<32x410xf32>, tensor<32x410xf16>) outs(%de : tensor<32x410xf16>) {
  ^bb0(%a: f32, %b: f16, %o: f16):
    %0 = arith.extf %b : f16 to f32
    %1 = math.tanh %a : f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<32x410xf16>
  %dhe = tensor.empty() : tensor<32x24xf32>
  %dhz = linalg.fill ins(%zero : f32) outs(%dhe : tensor<32x24xf32>) -> tensor<32x24xf32>
  %dh = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d, %w : tensor<32x410xf16>, tensor<24x410xf16>) outs(%dhz : tensor<32x24xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x24xf32>
  %dwe = tensor.empty() : tensor<24x410xf32>
  %dwz = linalg.fill ins(%zero : f32) outs(%dwe : tensor<24x410xf32>) -> tensor<24x410xf32>
  %dw = linalg.generic {indexing_maps = [#ki, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %d : tensor<32x24xf16>, tensor<32x410xf16>) outs(%dwz : tensor<24x410xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<24x410xf32>
  return %dh, %dw : tensor<32x24xf32>, tensor<24x410xf32>
}

// The value is the result of a contraction itself.
// CHECK: @chain for sm_90a:
// CHECK: in-parts, {{.*}}(250x33xf32 in {{.*}} along dimension 0;
func.func @chain(%x: tensor<250x100xf32>, %v: tensor<100x33xf32>, %w: tensor<33x80xf32>) -> tensor<250x80xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<250x33xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<250x33xf32>) -> tensor<250x33xf32>
  %s = linalg.matmul ins(%x, %v : tensor<250x100xf32>, tensor<100x33xf32>) outs(%sz : tensor<250x33xf32>) -> tensor<250x33xf32>
  %ye = tensor.empty() : tensor<250x80xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<250x80xf32>) -> tensor<250x80xf32>
  %y = linalg.matmul ins(%s, %w : tensor<250x33xf32>, tensor<33x80xf32>) outs(%yz : tensor<250x80xf32>) -> tensor<250x80xf32>
  return %y : tensor<250x80xf32>
}

// One dimension of the value is that of a batch. Masks are bytes in memory.
// CHECK: @batches for sm_90a:
// CHECK: in-parts, {{.*}}(40x24x72xbf16 in {{.*}} along dimension 0;
func.func @batches(%x: tensor<40x24x16xbf16>, %v: tensor<40x16x72xbf16>, %w: tensor<40x72x300xbf16>, %mask: tensor<40x24x72xi1>) -> tensor<40x24x300xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<40x24x72xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<40x24x72xf32>) -> tensor<40x24x72xf32>
  %s = linalg.generic {indexing_maps = [#bik, #bkj, #bij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<40x24x16xbf16>, tensor<40x16x72xbf16>) outs(%sz : tensor<40x24x72xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<40x24x72xf32>
  %ae = tensor.empty() : tensor<40x24x72xbf16>
  %act = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %mask : tensor<40x24x72xf32>, tensor<40x24x72xi1>) outs(%ae : tensor<40x24x72xbf16>) {
  ^bb0(%a: f32, %m: i1, %o: bf16):
    %t = math.tanh %a : f32
    %0 = arith.select %m, %t, %zero : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<40x24x72xbf16>
  %ye = tensor.empty() : tensor<40x24x300xf32>
  %yz = linalg.fill ins(%zero : f32) outs(%ye : tensor<40x24x300xf32>) -> tensor<40x24x300xf32>
  %y = linalg.generic {indexing_maps = [#bik, #bkj, #bij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%act, %w : tensor<40x24x72xbf16>, tensor<40x72x300xbf16>) outs(%yz : tensor<40x24x300xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<40x24x300xf32>
  return %y : tensor<40x24x300xf32>
}

// Three layers: parts of the second value are made of parts of the first.
// CHECK: @deep for sm_90a:
// CHECK: in-parts, {{.*}}(81x320xbf16 in {{.*}} along dimension 0;
// CHECK-NOT: {{parts?-}}
func.func @deep(%x: tensor<81x304xbf16>, %u: tensor<304x304xbf16>, %v: tensor<304x320xbf16>, %w: tensor<320x360xbf16>) -> tensor<81x360xbf16> {
  %zero = arith.constant 0.0 : f32
  %pe = tensor.empty() : tensor<81x304xf32>
  %pz = linalg.fill ins(%zero : f32) outs(%pe : tensor<81x304xf32>) -> tensor<81x304xf32>
  %ps = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %u : tensor<81x304xbf16>, tensor<304x304xbf16>) outs(%pz : tensor<81x304xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<81x304xf32>
  %pr = tensor.empty() : tensor<81x304xbf16>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%ps : tensor<81x304xf32>) outs(%pr : tensor<81x304xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<81x304xbf16>
  %qe = tensor.empty() : tensor<81x320xf32>
  %qz = linalg.fill ins(%zero : f32) outs(%qe : tensor<81x320xf32>) -> tensor<81x320xf32>
  %qs = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<81x304xbf16>, tensor<304x320xbf16>) outs(%qz : tensor<81x320xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<81x320xf32>
  %qr = tensor.empty() : tensor<81x320xbf16>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%qs : tensor<81x320xf32>) outs(%qr : tensor<81x320xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<81x320xbf16>
  %re = tensor.empty() : tensor<81x360xf32>
  %rz = linalg.fill ins(%zero : f32) outs(%re : tensor<81x360xf32>) -> tensor<81x360xf32>
  %rs = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %w : tensor<81x320xbf16>, tensor<320x360xbf16>) outs(%rz : tensor<81x360xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<81x360xf32>
  %rr = tensor.empty() : tensor<81x360xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%rs : tensor<81x360xf32>) outs(%rr : tensor<81x360xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = math.tanh %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<81x360xbf16>
  return %r : tensor<81x360xbf16>
}
