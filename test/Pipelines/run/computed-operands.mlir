// Operands of attention that are functions of what is in memory, computed in its
// kernel: rotated queries, keys and values in 8 bits, many queries and few.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s --check-prefix=PLAN
// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=rotated --device=emulator --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=spelled --device=emulator --asynchrony=early --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=causal --device=emulator --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=causal --device=emulator --asynchrony=early --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=decoding --device=emulator --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=decoding --device=emulator --asynchrony=early --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=rows --device=emulator --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=rows --device=emulator --asynchrony=early --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=7 --dim=arg1.2=700 --dim=arg2.2=700 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --asynchrony=early --random --seed=7 --dim=arg1.2=1 --dim=arg2.2=1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=7 --dim=arg1.2=0 --dim=arg2.2=0 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=paged --device=emulator --random --seed=7 --int-range=0:511 --verify | FileCheck %s

// CHECK: {{^}}verified

#all = affine_map<(b, h, i, d) -> (b, h, i, d)>
#head = affine_map<(b, h, i, d) -> (h)>
#row = affine_map<(b, h, i, d) -> (b, h, i)>
#angle = affine_map<(b, h, i, d) -> (i, d)>
#page = affine_map<(b, h, i, d) -> (b, i floordiv 16)>

// PLAN-LABEL: func.func @rotated
// PLAN: fusion.kernel @compare_gather_mul_matmul
func.func @rotated(%q: tensor<1x2x200x128xbf16>, %k: tensor<1x2x200x128xbf16>, %v: tensor<1x2x200x128xbf16>, %cos: tensor<200x64xf32>, %sin: tensor<200x64xf32>) -> tensor<1x2x200x128xbf16> {
  %r = fusion.rope %q, %cos, %sin seq_axis(2) : tensor<1x2x200x128xbf16>, tensor<200x64xf32>, tensor<200x64xf32>
  %o = fusion.attention %r, %k, %v : (tensor<1x2x200x128xbf16>, tensor<1x2x200x128xbf16>, tensor<1x2x200x128xbf16>) -> tensor<1x2x200x128xbf16>
  return %o : tensor<1x2x200x128xbf16>
}

// Halves that are sliced, negated and concatenated; heads of 96.
// PLAN-LABEL: func.func @spelled
// PLAN: fusion.kernel @slice_neg_concat_mul_add_matmul
func.func @spelled(%q: tensor<1x2x130x96xf16>, %k: tensor<1x2x130x96xf16>, %v: tensor<1x2x130x96xf16>, %cos: tensor<130x96xf16>, %sin: tensor<130x96xf16>) -> tensor<1x2x130x96xf16> {
  %he = tensor.empty() : tensor<1x2x130x48xf16>
  %e = tensor.empty() : tensor<1x2x130x96xf16>
  %first = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 130, 48] [1, 1, 1, 1] : tensor<1x2x130x96xf16> to tensor<1x2x130x48xf16>
  %second = tensor.extract_slice %q[0, 0, 0, 48] [1, 2, 130, 48] [1, 1, 1, 1] : tensor<1x2x130x96xf16> to tensor<1x2x130x48xf16>
  %negated = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%second : tensor<1x2x130x48xf16>) outs(%he : tensor<1x2x130x48xf16>) {
  ^bb0(%x: f16, %o: f16):
    %y = arith.negf %x : f16
    linalg.yield %y : f16
  } -> tensor<1x2x130x48xf16>
  %turned = tensor.concat dim(3) %negated, %first : (tensor<1x2x130x48xf16>, tensor<1x2x130x48xf16>) -> tensor<1x2x130x96xf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #angle, #angle, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q, %turned, %cos, %sin : tensor<1x2x130x96xf16>, tensor<1x2x130x96xf16>, tensor<130x96xf16>, tensor<130x96xf16>) outs(%e : tensor<1x2x130x96xf16>) {
  ^bb0(%x: f16, %y: f16, %c: f16, %s: f16, %o: f16):
    %a = arith.mulf %x, %c : f16
    %b = arith.mulf %y, %s : f16
    %z = arith.addf %a, %b : f16
    linalg.yield %z : f16
  } -> tensor<1x2x130x96xf16>
  %o = fusion.attention %r, %k, %v : (tensor<1x2x130x96xf16>, tensor<1x2x130x96xf16>, tensor<1x2x130x96xf16>) -> tensor<1x2x130x96xf16>
  return %o : tensor<1x2x130x96xf16>
}

// A mask that removes some of a step: two loops, each of which begins with
// operands that it prepares.
// PLAN-LABEL: func.func @causal
// PLAN: fusion.kernel @mul_matmul
// PLAN-NOT: fusion.kernel
func.func @causal(%q: tensor<1x2x320x64xf16>, %k: tensor<1x2x320x64xf8E4M3FN>, %v: tensor<1x2x320x64xf8E4M3FN>, %scale: tensor<2xf32>) -> tensor<1x2x320x64xf16> {
  %e = tensor.empty() : tensor<1x2x320x64xf16>
  %kw = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k, %scale : tensor<1x2x320x64xf8E4M3FN>, tensor<2xf32>) outs(%e : tensor<1x2x320x64xf16>) {
  ^bb0(%x: f8E4M3FN, %s: f32, %o: f16):
    %w = arith.extf %x : f8E4M3FN to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to f16
    linalg.yield %z : f16
  } -> tensor<1x2x320x64xf16>
  %vw = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v : tensor<1x2x320x64xf8E4M3FN>) outs(%e : tensor<1x2x320x64xf16>) {
  ^bb0(%x: f8E4M3FN, %o: f16):
    %z = arith.extf %x : f8E4M3FN to f16
    linalg.yield %z : f16
  } -> tensor<1x2x320x64xf16>
  %o = fusion.attention %q, %kw, %vw causal(top_left) : (tensor<1x2x320x64xf16>, tensor<1x2x320x64xf16>, tensor<1x2x320x64xf16>) -> tensor<1x2x320x64xf16>
  return %o : tensor<1x2x320x64xf16>
}

// Blocks share the keys; a scale for each of their rows comes as a row.
// PLAN-LABEL: func.func @decoding
// PLAN: fusion.kernel @mul_matmul
// PLAN-SAME: #fusion.axis<grid, tile = 8>
// PLAN-SAME: stages = 3, split = {{[0-9]+}}, apart = 1
// PLAN-NOT: fusion.kernel
func.func @decoding(%q: tensor<1x8x1x128xf16>, %k: tensor<1x2x4100x128xi8>, %v: tensor<1x2x4100x128xi8>, %scale: tensor<1x2x4100xf32>) -> tensor<1x8x1x128xf16> {
  %e = tensor.empty() : tensor<1x2x4100x128xf16>
  %kw = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k, %scale : tensor<1x2x4100x128xi8>, tensor<1x2x4100xf32>) outs(%e : tensor<1x2x4100x128xf16>) {
  ^bb0(%x: i8, %s: f32, %o: f16):
    %w = arith.sitofp %x : i8 to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to f16
    linalg.yield %z : f16
  } -> tensor<1x2x4100x128xf16>
  %vw = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v, %scale : tensor<1x2x4100x128xi8>, tensor<1x2x4100xf32>) outs(%e : tensor<1x2x4100x128xf16>) {
  ^bb0(%x: i8, %s: f32, %o: f16):
    %w = arith.sitofp %x : i8 to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to f16
    linalg.yield %z : f16
  } -> tensor<1x2x4100x128xf16>
  %o = fusion.attention %q, %kw, %vw : (tensor<1x8x1x128xf16>, tensor<1x2x4100x128xf16>, tensor<1x2x4100x128xf16>) -> tensor<1x8x1x128xf16>
  return %o : tensor<1x8x1x128xf16>
}

// Rows of 11 heads with three queries each are too many for columns.
// PLAN-LABEL: func.func @rows
// PLAN: fusion.kernel @mul_matmul
// PLAN-NOT: fusion.kernel
func.func @rows(%q: tensor<1x11x3x64xbf16>, %k: tensor<1x1x3000x64xf8E5M2>, %v: tensor<1x1x3000x64xf8E5M2>, %scale: tensor<1xf32>) -> tensor<1x11x3x64xbf16> {
  %e = tensor.empty() : tensor<1x1x3000x64xbf16>
  %kw = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k, %scale : tensor<1x1x3000x64xf8E5M2>, tensor<1xf32>) outs(%e : tensor<1x1x3000x64xbf16>) {
  ^bb0(%x: f8E5M2, %s: f32, %o: bf16):
    %w = arith.extf %x : f8E5M2 to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<1x1x3000x64xbf16>
  %vw = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v, %scale : tensor<1x1x3000x64xf8E5M2>, tensor<1xf32>) outs(%e : tensor<1x1x3000x64xbf16>) {
  ^bb0(%x: f8E5M2, %s: f32, %o: bf16):
    %w = arith.extf %x : f8E5M2 to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<1x1x3000x64xbf16>
  %o = fusion.attention %q, %kw, %vw : (tensor<1x11x3x64xbf16>, tensor<1x1x3000x64xbf16>, tensor<1x1x3000x64xbf16>) -> tensor<1x11x3x64xbf16>
  return %o : tensor<1x11x3x64xbf16>
}

// As many keys as the run has, or none.
// PLAN-LABEL: func.func @dynamic
// PLAN: fusion.kernel @mul_matmul
// PLAN-NOT: fusion.kernel
func.func @dynamic(%q: tensor<1x8x1x128xf16>, %k: tensor<1x2x?x128xf8E4M3FN>, %v: tensor<1x2x?x128xf8E4M3FN>, %scale: tensor<2xf32>) -> tensor<1x8x1x128xf16> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %k, %c2 : tensor<1x2x?x128xf8E4M3FN>
  %e = tensor.empty(%n) : tensor<1x2x?x128xf16>
  %kw = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k, %scale : tensor<1x2x?x128xf8E4M3FN>, tensor<2xf32>) outs(%e : tensor<1x2x?x128xf16>) {
  ^bb0(%x: f8E4M3FN, %s: f32, %o: f16):
    %w = arith.extf %x : f8E4M3FN to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to f16
    linalg.yield %z : f16
  } -> tensor<1x2x?x128xf16>
  %vw = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v, %scale : tensor<1x2x?x128xf8E4M3FN>, tensor<2xf32>) outs(%e : tensor<1x2x?x128xf16>) {
  ^bb0(%x: f8E4M3FN, %s: f32, %o: f16):
    %w = arith.extf %x : f8E4M3FN to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to f16
    linalg.yield %z : f16
  } -> tensor<1x2x?x128xf16>
  %o = fusion.attention %q, %kw, %vw : (tensor<1x8x1x128xf16>, tensor<1x2x?x128xf16>, tensor<1x2x?x128xf16>) -> tensor<1x8x1x128xf16>
  return %o : tensor<1x8x1x128xf16>
}

// Keys lie in pages that a table names.
// PLAN-LABEL: func.func @paged
// PLAN: fusion.kernel @gather_mul_matmul
// PLAN-NOT: fusion.kernel
func.func @paged(%q: tensor<2x8x1x64xbf16>, %keys: tensor<512x16x2x64xf8E4M3FN>, %v: tensor<2x2x4096x64xbf16>, %table: tensor<2x256xi32>, %scale: tensor<2xf32>) -> tensor<2x8x1x64xbf16> {
  %c16 = arith.constant 16 : index
  %ge = tensor.empty() : tensor<2x2x4096x64xf8E4M3FN>
  %g = linalg.generic {indexing_maps = [#page, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%table : tensor<2x256xi32>) outs(%ge : tensor<2x2x4096x64xf8E4M3FN>) {
  ^bb0(%number: i32, %o: f8E4M3FN):
    %h = linalg.index 1 : index
    %i = linalg.index 2 : index
    %d = linalg.index 3 : index
    %r = arith.remui %i, %c16 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<512x16x2x64xf8E4M3FN>
    linalg.yield %x : f8E4M3FN
  } -> tensor<2x2x4096x64xf8E4M3FN>
  %e = tensor.empty() : tensor<2x2x4096x64xbf16>
  %kw = linalg.generic {indexing_maps = [#all, #head, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%g, %scale : tensor<2x2x4096x64xf8E4M3FN>, tensor<2xf32>) outs(%e : tensor<2x2x4096x64xbf16>) {
  ^bb0(%x: f8E4M3FN, %s: f32, %o: bf16):
    %w = arith.extf %x : f8E4M3FN to f32
    %y = arith.mulf %w, %s : f32
    %z = arith.truncf %y : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<2x2x4096x64xbf16>
  %o = fusion.attention %q, %kw, %v : (tensor<2x8x1x64xbf16>, tensor<2x2x4096x64xbf16>, tensor<2x2x4096x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}
