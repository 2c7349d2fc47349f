// RUN: fusion-opt %s --fusion-expand-math | FileCheck %s
// RUN: fusion-opt %s --fusion-expand-math=fast | FileCheck %s --check-prefix=FAST
// RUN: fusion-opt %s --fusion-expand-math=alone | FileCheck %s --check-prefix=ALONE

// The exponential is six instructions.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:         %[[SCALE:.*]] = arith.constant 1.442694{{.*}} : f32
// CHECK:         %[[HI:.*]] = arith.mulf %[[X]], %[[SCALE]]
// CHECK:         %[[C:.*]] = llvm.intr.fma(%[[HI]], %{{.*}}, %[[X]])
// CHECK:         %[[D:.*]] = llvm.intr.fma(%[[HI]], %{{.*}}, %[[C]])
// CHECK:         %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         %[[E:.*]] = llvm.intr.minnum(%[[D]], %[[ONE]])
// CHECK:         %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[HI]])
// CHECK:         %[[Y:.*]] = llvm.intr.fma(%[[P]], %[[E]], %[[P]])
// CHECK-NEXT:    return %[[Y]]
// FAST-LABEL: func.func @exp(
// FAST:         arith.mulf
// FAST-NEXT:    llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// FAST-NEXT:    return
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// An operation's own leave to approximate is enough.
// CHECK-LABEL: func.func @exp_afn(
// CHECK:         arith.mulf
// CHECK-NEXT:    llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK-NEXT:    return
func.func @exp_afn(%x: f32) -> f32 {
  %y = math.exp %x fastmath<afn> : f32
  return %y : f32
}

// bf16 is computed in f32 and rounded once.
// CHECK-LABEL: func.func @tanh_bf16(
// CHECK:         %[[W:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NOT:     bf16
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT:    return
func.func @tanh_bf16(%x: bf16) -> bf16 {
  %y = math.tanh %x : bf16
  return %y : bf16
}

// Vectors stay vectors; approximate instructions alone go element by element.
// CHECK-LABEL: func.func @erf_vector(
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%{{.*}}) : (f32) -> f32
// CHECK-NOT:     llvm.nvvm
// CHECK:         vector.from_elements {{.*}} : vector<4xf32>
// CHECK:         arith.select {{.*}} : vector<4xi1>, vector<4xf32>
func.func @erf_vector(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.erf %x : vector<4xf32>
  return %y : vector<4xf32>
}

// CHECK-LABEL: func.func @log_shape(
// CHECK:         vector.shape_cast %{{.*}} : vector<2x3xf32> to vector<6xf32>
// CHECK:         vector.shape_cast %{{.*}} : vector<6xf32> to vector<2x3xf32>
func.func @log_shape(%x: vector<2x3xf32>) -> vector<2x3xf32> {
  %y = math.log %x : vector<2x3xf32>
  return %y : vector<2x3xf32>
}

// Huge angles take a branch; f16 has none.
// CHECK-LABEL: func.func @sin(
// CHECK:         scf.if
// FAST-LABEL: func.func @sin(
// FAST-NEXT:    llvm.call_intrinsic "llvm.nvvm.sin.approx.f"
// FAST-NEXT:    return
func.func @sin(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @sin_f16(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @sin_f16(%x: f16) -> f16 {
  %y = math.sin %x : f16
  return %y : f16
}

// Neighbours share the branch on huge angles; one that follows from another has
// its own, and f16 has none.
// CHECK-LABEL: func.func @neighbours(
// CHECK:         scf.if
// CHECK:         } else {
// CHECK-NOT:     scf.if
// CHECK:         vector.extract
// CHECK:         scf.if
// CHECK-NOT:     scf.if
// CHECK:         return
// ALONE-LABEL: func.func @neighbours(
// ALONE-COUNT-3: scf.if
// ALONE:         return
func.func @neighbours(%x: f32, %y: f32, %h: f16) -> (f32, f32, f16, f16) {
  %a = math.cos %x : f32
  %b = math.cos %y : f32
  %c = math.cos %a : f32
  %d = math.sin %h : f16
  %e = math.sin %d : f16
  return %b, %c, %d, %e : f32, f32, f16, f16
}

// The logarithm of a sum of exponentials: one plus what is at most one has no
// exponent to split off, and no special cases. Alone, nothing is known of the
// operand; nor is it where the exponent may be positive.
// CHECK-LABEL: func.func @log1p_of_fraction(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK-NEXT:    %[[E:.*]] = llvm.intr.fma
// CHECK-NOT:     llvm.call_intrinsic
// CHECK-NOT:     bitcast
// CHECK:         return
// ALONE-LABEL: func.func @log1p_of_fraction(
// ALONE:         llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
func.func @log1p_of_fraction(%x: f32) -> f32 {
  %a = math.absf %x : f32
  %n = arith.negf %a : f32
  %e = math.exp %n : f32
  %y = math.log1p %e : f32
  return %y : f32
}

// In a sum the logarithm's last product is the sum's, with fewer terms where
// approximations are allowed.
// CHECK-LABEL: func.func @log_of_sum(
// CHECK:         %[[M:.*]] = arith.maximumf
// CHECK:         %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK-COUNT-7: llvm.intr.fma
// CHECK:         %[[R:.*]] = llvm.intr.fma(%[[E]], %{{.*}}, %[[M]])
// CHECK-NEXT:    return %[[R]]
func.func @log_of_sum(%x: f32, %y: f32) -> f32 {
  %m = arith.maximumf %x, %y : f32
  %d = arith.subf %x, %y : f32
  %a = math.absf %d : f32
  %n = arith.negf %a : f32
  %e = math.exp %n fastmath<afn> : f32
  %l = math.log1p %e fastmath<afn> : f32
  %s = arith.addf %m, %l : f32
  return %s : f32
}

// CHECK-LABEL: func.func @log_sigmoid(
// CHECK:         %[[M:.*]] = arith.minimumf
// CHECK:         %[[E:.*]] = llvm.intr.fma
// CHECK:         %[[N:.*]] = arith.negf %[[T:.*]] : f32
// CHECK-NEXT:    %[[R:.*]] = llvm.intr.fma(%[[N]], %{{.*}}, %[[M]])
// CHECK-NEXT:    return %[[R]]
func.func @log_sigmoid(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %m = arith.minimumf %x, %zero : f32
  %a = math.absf %x : f32
  %n = arith.negf %a : f32
  %e = math.exp %n : f32
  %l = math.log1p %e : f32
  %s = arith.subf %m, %l : f32
  return %s : f32
}

// CHECK-LABEL: func.func @log1p_of_positive(
// CHECK:         llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
// ALONE-LABEL: func.func @log1p_of_positive(
func.func @log1p_of_positive(%x: f32) -> f32 {
  %a = math.absf %x : f32
  %e = math.exp %a : f32
  %y = math.log1p %e : f32
  return %y : f32
}

// The exact division stays; a logistic function's is a reciprocal, unless
// operations are expanded alone.
// CHECK-LABEL: func.func @divisions(
// CHECK:         arith.divf
// CHECK-NOT:     arith.divf
// CHECK:         llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK-NOT:     arith.divf
// CHECK:         %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK:         %[[SILU:.*]] = arith.mulf %{{.*}}, %[[R]] : f32
// CHECK-NOT:     arith.divf
// CHECK:         llvm.call_intrinsic "llvm.nvvm.div.full"
// ALONE-LABEL: func.func @divisions(
// ALONE-COUNT-4: arith.divf
// ALONE-LABEL: func.func @gelu(
// FAST-LABEL: func.func @divisions(
// FAST-NOT:     arith.divf
// FAST:         return
func.func @divisions(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %q = arith.divf %x, %y : f32
  %n = arith.negf %x : f32
  %e = math.exp %n : f32
  %d = arith.addf %one, %e : f32
  %sigmoid = arith.divf %one, %d : f32
  %silu = arith.divf %x, %d : f32
  %other = arith.divf %y, %d : f32
  return %q, %sigmoid, %silu, %other : f32, f32, f32, f32
}

// Other quotients by exponentials: a reciprocal where the divisor is known to
// have a normal one, the approximate division where it may be too large, the
// exact one where the divisor may be 0.
// CHECK-LABEL: func.func @quotients_by_exponentials(
// CHECK:         %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK-NEXT:    arith.mulf %{{.*}}, %[[R]]
// CHECK:         llvm.call_intrinsic "llvm.nvvm.div.full"
// CHECK:         arith.divf
func.func @quotients_by_exponentials(%x: f32, %y: f32) -> (f32, f32, f32) {
  %two = arith.constant 2.0 : f32
  %twenty = arith.constant 20.0 : f32
  %least = arith.minimumf %y, %twenty : f32
  %a = math.exp %least : f32
  %b = arith.mulf %a, %a : f32
  %c = arith.addf %b, %two : f32
  %bounded = arith.divf %x, %c : f32
  %d = math.exp %y : f32
  %e = arith.addf %d, %two : f32
  %unbounded = arith.divf %x, %e : f32
  %small = arith.divf %x, %d : f32
  return %bounded, %unbounded, %small : f32, f32, f32
}

// By counts: a product by the reciprocal and its correction, which powers of two
// need not; exact otherwise, also where a count may be negative or large.
// CHECK-LABEL: func.func @counts(
// CHECK-SAME:    %[[X:.*]]: f32, %{{.*}}: i32)
// CHECK:         %[[Q:.*]] = arith.mulf %[[X]], %[[R:.*]] : f32
// CHECK:         %[[REST:.*]] = llvm.intr.fma(%{{.*}}, %{{.*}}, %[[X]])
// CHECK:         llvm.intr.fma(%[[REST]], %[[R]], %[[Q]])
// CHECK-NOT:     divf
// CHECK:         %[[QUARTER:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK-NOT:     divf
// CHECK:         llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK-COUNT-3: arith.divf
// CHECK:         return %{{.*}}, %[[QUARTER]],
func.func @counts(%x: f32, %i: i32) -> (f32, f32, f32, f32, f32, f32) {
  %seven = arith.constant 7.0 : f32
  %four = arith.constant 4.0 : f32
  %tenth = arith.constant 0.1 : f32
  %zero = arith.constant 0 : i32
  %c9 = arith.constant 9 : i32
  %mean = arith.divf %x, %seven : f32
  %quarter = arith.divf %x, %four : f32
  %least = arith.minsi %i, %c9 : i32
  %count = arith.maxsi %least, %zero : i32
  %n = arith.sitofp %count : i32 to f32
  %ofWindow = arith.divf %x, %n : f32
  %any = arith.sitofp %least : i32 to f32
  %ofAny = arith.divf %x, %any : f32
  %large = arith.maxsi %i, %zero : i32
  %m = arith.sitofp %large : i32 to f32
  %ofLarge = arith.divf %x, %m : f32
  %byTenth = arith.divf %x, %tenth : f32
  return %mean, %quarter, %ofWindow, %ofAny, %ofLarge, %byTenth : f32, f32, f32, f32, f32, f32
}

// A count is what its operations say of it.
// CHECK-LABEL: func.func @counted(
// CHECK-NOT:     divf
// CHECK:         arith.divf
// CHECK-NOT:     divf
// CHECK:         return
func.func @counted(%x: f32, %i: i32) -> (f32, f32) {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %place = arith.remui %i, %c3 : i32
  %count = arith.addi %place, %c1 : i32
  %n = arith.sitofp %count : i32 to f32
  %mean = arith.divf %x, %n : f32
  %next = arith.addi %i, %c1 : i32
  %any = arith.sitofp %next : i32 to f32
  %ofAny = arith.divf %x, %any : f32
  return %mean, %ofAny : f32, f32
}

// The half of one factor and the two of the other cancel.
// CHECK-LABEL: func.func @gelu(
// CHECK-SAME:    %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK:         %[[A:.*]] = arith.mulf %[[Y]]
// CHECK-NEXT:    %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[A]])
// CHECK:         %[[D:.*]] = arith.addf %[[E]]
// CHECK-NEXT:    %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[D]])
// CHECK-NOT:     %[[R]], %[[R]]
// CHECK:         %[[G:.*]] = arith.mulf %[[X]], %[[R]] : f32
// CHECK:         return %[[G]]
func.func @gelu(%x: f32, %y: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %h = arith.mulf %x, %half : f32
  %t = math.tanh %y : f32
  %s = arith.addf %t, %one : f32
  %g = arith.mulf %h, %s : f32
  return %g : f32
}

// The argument is evaluated by Horner's rule, its constants folded.
// CHECK-LABEL: func.func @gelu_polynomial(
// CHECK-SAME:    %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK:         arith.constant -0.102943242 : f32
// CHECK-NEXT:    %[[XX:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT:    %[[C:.*]] = arith.constant -2.30220819 : f32
// CHECK-NEXT:    %[[V:.*]] = llvm.intr.fma(%[[XX]], %{{.*}}, %[[C]])
// CHECK-NEXT:    %[[A:.*]] = arith.mulf %[[X]], %[[V]]
// CHECK-NEXT:    %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[A]])
// CHECK:         arith.constant -0.102943242 : f32
// CHECK-NEXT:    %[[YY:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK-NEXT:    %[[D:.*]] = arith.constant -2.30220819 : f32
// CHECK-NEXT:    llvm.intr.fma(%[[YY]], %{{.*}}, %[[D]])
func.func @gelu_polynomial(%x: f32, %y: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %cubic = arith.constant 0.044715 : f32
  %root = arith.constant 0.797884583 : f32
  %three = arith.constant 3.0 : f32
  %a = arith.mulf %x, %x : f32
  %b = arith.mulf %a, %x : f32
  %c = arith.mulf %b, %cubic : f32
  %d = arith.addf %x, %c : f32
  %e = arith.mulf %d, %root : f32
  %b1 = math.powf %y, %three : f32
  %c1 = arith.mulf %b1, %cubic : f32
  %d1 = arith.addf %y, %c1 : f32
  %e1 = arith.mulf %d1, %root : f32
  %t = math.tanh %e : f32
  %t1 = math.tanh %e1 : f32
  %s = arith.addf %t, %one : f32
  %s1 = arith.addf %t1, %one : f32
  %h = arith.mulf %x, %half : f32
  %h1 = arith.mulf %y, %half : f32
  %g = arith.mulf %h, %s : f32
  %g1 = arith.mulf %h1, %s1 : f32
  return %g, %g1 : f32, f32
}

// Terms that cancel are left in their order, and so is what is no polynomial of
// the other factor.
// CHECK-LABEL: func.func @gelu_other(
// CHECK-SAME:    %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK:         %[[U:.*]] = arith.addf %[[X]], %{{.*}} : f32
// CHECK:         arith.mulf %[[U]], %{{.*}} : f32
// CHECK-NEXT:    llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK:         arith.mulf %[[X]], %{{.*}} : f32
// CHECK-NEXT:    llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"
// CHECK-NOT:     fma
// CHECK:         return
func.func @gelu_other(%x: f32, %y: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %cubic = arith.constant -0.01 : f32
  %xx = arith.mulf %x, %x : f32
  %xxx = arith.mulf %xx, %x : f32
  %xc = arith.mulf %xxx, %cubic : f32
  %u = arith.addf %x, %xc : f32
  %t = math.tanh %u : f32
  %w = math.tanh %x : f32
  %t1 = arith.addf %t, %one : f32
  %w1 = arith.addf %w, %one : f32
  %p = arith.mulf %x, %t1 : f32
  %q = arith.mulf %y, %w1 : f32
  return %p, %q : f32, f32
}

// ALONE-LABEL: func.func @powers(
// ALONE: arith.extf %{{.*}} : f32 to f64
// ALONE-LABEL: func.func @remainder(
// CHECK-LABEL: func.func @powers(
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    return
func.func @powers(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %y = math.powf %x, %two : f32
  return %y : f32
}

// CHECK-LABEL: func.func @remainder(
// CHECK:         scf.while
// CHECK-NOT:     arith.remf
// CHECK:         return
func.func @remainder(%x: f32, %y: f32) -> f32 {
  %r = arith.remf %x, %y : f32
  return %r : f32
}

// CHECK-LABEL: func.func @float8(
// CHECK-NOT:     arith.extf %{{.*}} : vector<4xf8E4M3FN>
// CHECK:         arith.bitcast %{{.*}} : vector<4xf8E4M3FN> to vector<4xi8>
// CHECK:         arith.bitcast %{{.*}} : vector<4xi8> to vector<4xf8E5M2>
func.func @float8(%x: vector<4xf8E4M3FN>) -> (vector<4xf16>, vector<4xf8E5M2>) {
  %w = arith.extf %x : vector<4xf8E4M3FN> to vector<4xf16>
  %n = arith.truncf %w : vector<4xf16> to vector<4xf8E5M2>
  return %w, %n : vector<4xf16>, vector<4xf8E5M2>
}

// Arithmetic on 8-bit floats is in f32.
// CHECK-LABEL: func.func @float8_arithmetic(
// CHECK:         arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK:         arith.sitofp %{{.*}} : i32 to f32
// CHECK:         arith.select %{{.*}} : f8E5M2
func.func @float8_arithmetic(%x: f8E5M2, %y: f8E5M2, %n: i32) -> f8E5M2 {
  %a = arith.addf %x, %y : f8E5M2
  %c = arith.cmpf olt, %a, %y : f8E5M2
  %i = arith.sitofp %n : i32 to f8E5M2
  %s = arith.select %c, %a, %i : f8E5M2
  return %s : f8E5M2
}

// A byte is the low mantissa of 2^23.
// CHECK-LABEL: func.func @bytes(
// CHECK-DAG:     %[[SIGN:.*]] = arith.constant 1258291328 : i32
// CHECK-DAG:     %[[BIASED:.*]] = arith.constant 0x4B000080 : f32
// CHECK-DAG:     %[[POWER:.*]] = arith.constant 0x4B000000 : f32
// CHECK-DAG:     %[[W:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK-DAG:     %[[O:.*]] = arith.xori %[[W]], %[[SIGN]] : i32
// CHECK-DAG:     %[[F:.*]] = arith.bitcast %[[O]] : i32 to f32
// CHECK-DAG:     %[[S:.*]] = arith.subf %[[F]], %[[BIASED]] : f32
// CHECK-DAG:     arith.truncf %[[S]] : f32 to bf16
// CHECK-DAG:     arith.subf %{{.*}}, %[[POWER]] : f32
// CHECK:         arith.sitofp %{{.*}} : i8 to f64
func.func @bytes(%x: i8) -> (bf16, f32, f64) {
  %s = arith.sitofp %x : i8 to bf16
  %u = arith.uitofp %x : i8 to f32
  %d = arith.sitofp %x : i8 to f64
  return %s, %u, %d : bf16, f32, f64
}

// 23 bits are what the mantissa holds around 3 * 2^22; 24 are too many.
// ALONE-LABEL: func.func @bytes(
// ALONE: arith.sitofp %{{.*}} : i8 to bf16
// ALONE-LABEL: func.func @few_bits(
// ALONE: arith.sitofp
// CHECK-LABEL: func.func @few_bits(
// CHECK-DAG:     %[[BIAS:.*]] = arith.constant 1262485504 : i32
// CHECK-DAG:     %[[MIDDLE:.*]] = arith.constant 0x4B400000 : f32
// CHECK-DAG:     %[[S:.*]] = arith.shrsi %{{.*}}, %c9
// CHECK-DAG:     %[[W:.*]] = arith.addi %[[S]], %[[BIAS]] : i32
// CHECK-DAG:     %[[F:.*]] = arith.bitcast %[[W]] : i32 to f32
// CHECK-DAG:     arith.subf %[[F]], %[[MIDDLE]] : f32
// CHECK-DAG:     %[[T:.*]] = arith.shrsi %{{.*}}, %c8
// CHECK-DAG:     arith.sitofp %[[T]] : i32 to f32
func.func @few_bits(%x: i32) -> (f32, f32) {
  %c9 = arith.constant 9 : i32
  %c8 = arith.constant 8 : i32
  %s = arith.shrsi %x, %c9 : i32
  %f = arith.sitofp %s : i32 to f32
  %t = arith.shrsi %x, %c8 : i32
  %g = arith.sitofp %t : i32 to f32
  return %f, %g : f32, f32
}

// Tensors are another phase's.
// CHECK-LABEL: func.func @tensors(
// CHECK-NEXT:    math.exp %{{.*}} : tensor<4xf32>
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Both halves of a product of 32-bit numbers, by one instruction.
// CHECK-LABEL: func.func @wide_product(
// CHECK-SAME:    %[[X:.*]]: i32)
// CHECK:         %[[C:.*]] = arith.constant -766435501 : i32
// CHECK:         %[[P:.*]] = llvm.inline_asm "{ .reg .b64 wide; mul.wide.u32 wide, $2, $3; mov.b64 {$0, $1}, wide; }", "=r,=r,r,r" %[[X]], %[[C]]
// CHECK-DAG:     llvm.extractvalue %[[P]][1]
// CHECK-DAG:     llvm.extractvalue %[[P]][0]
func.func @wide_product(%x: i32) -> (i32, i32) {
  %c = arith.constant 3528531795 : i64
  %c32 = arith.constant 32 : i64
  %w = arith.extui %x : i32 to i64
  %p = arith.muli %w, %c : i64
  %l = arith.trunci %p : i64 to i32
  %s = arith.shrui %p, %c32 : i64
  %h = arith.trunci %s : i64 to i32
  return %l, %h : i32, i32
}

// Not one of which a sum takes more, only the low half is used, a factor has a
// sign or more than 32 bits.
// CHECK-LABEL: func.func @other_products(
// CHECK-NOT:     llvm.inline_asm
// CHECK:         return
func.func @other_products(%x: i32, %y: i64) -> (i64, i32, i64, i64, i64) {
  %c = arith.constant 3528531795 : i64
  %big = arith.constant 4294967296 : i64
  %c32 = arith.constant 32 : i64
  %w = arith.extui %x : i32 to i64
  %i = arith.extsi %x : i32 to i64
  %p = arith.muli %w, %c : i64
  %s = arith.shrui %p, %c32 : i64
  %a = arith.addi %p, %s : i64
  %q = arith.muli %w, %c : i64
  %l = arith.trunci %q : i64 to i32
  %r = arith.muli %i, %c : i64
  %rs = arith.shrui %r, %c32 : i64
  %t = arith.muli %w, %big : i64
  %ts = arith.shrui %t, %c32 : i64
  %u = arith.muli %w, %y : i64
  %us = arith.shrui %u, %c32 : i64
  return %a, %l, %rs, %ts, %us : i64, i32, i64, i64, i64
}

// Rounding to bf16 and back is the upper half of a pair.
// CHECK-LABEL: func.func @round_to_bf16(
// CHECK-SAME:    %[[X:.*]]: f32)
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK:         %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%[[X]], %[[ZERO]]) : (f32, f32) -> vector<2xbf16>
// CHECK:         %[[Y:.*]] = llvm.bitcast %[[P]] : vector<2xbf16> to f32
// CHECK:         return %[[Y]]
// ALONE-LABEL: func.func @round_to_bf16(
// ALONE-NOT:     call_intrinsic
// ALONE:         arith.extf
func.func @round_to_bf16(%x: f32) -> f32 {
  %n = arith.truncf %x : f32 to bf16
  %y = arith.extf %n : bf16 to f32
  return %y : f32
}

// Not from f64, of which there would be two roundings, nor to f16.
// CHECK-LABEL: func.func @other_roundings(
// CHECK-NOT:     call_intrinsic
// CHECK:         return
func.func @other_roundings(%x: f64, %y: f32) -> (f32, f32, f32) {
  %a = arith.truncf %x : f64 to bf16
  %b = arith.extf %a : bf16 to f32
  %c = arith.truncf %y : f32 to f16
  %d = arith.extf %c : f16 to f32
  %e = arith.truncf %y toward_zero : f32 to bf16
  %f = arith.extf %e : bf16 to f32
  return %b, %d, %f : f32, f32, f32
}

// Four quotients by one divisor share its reciprocal, which is computed where
// the divisor is; three do not, nor do quotients that may be approximate.
// CHECK-LABEL: func.func @shared_divisor(
// CHECK-SAME:    %[[X:.*]]: vector<4xf32>, %[[D:.*]]: f32)
// CHECK:         %[[SCALED:.*]] = arith.mulf %[[D]], %{{.*}} : f32
// CHECK:         %[[R:.*]] = arith.divf %{{.*}}, %[[SCALED]] : f32
// CHECK-NOT:     arith.divf
// CHECK-COUNT-4: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-LABEL: func.func @few_quotients(
// CHECK-COUNT-3: arith.divf %{{.*}}, %arg1 : f32
// FAST-LABEL: func.func @shared_divisor(
// FAST-NOT:     arith.divf
// ALONE-LABEL: func.func @shared_divisor(
// ALONE-COUNT-4: arith.divf %{{.*}}, %arg1 : f32
func.func @shared_divisor(%x: vector<4xf32>, %d: f32) -> (f32, f32, f32, f32) {
  %0 = vector.extract %x[0] : f32 from vector<4xf32>
  %1 = vector.extract %x[1] : f32 from vector<4xf32>
  %2 = vector.extract %x[2] : f32 from vector<4xf32>
  %3 = vector.extract %x[3] : f32 from vector<4xf32>
  %a = arith.divf %0, %d : f32
  %b = arith.divf %1, %d : f32
  %c = arith.divf %2, %d : f32
  %e = arith.divf %3, %d : f32
  return %a, %b, %c, %e : f32, f32, f32, f32
}

func.func @few_quotients(%x: vector<4xf32>, %d: f32) -> (f32, f32, f32) {
  %0 = vector.extract %x[0] : f32 from vector<4xf32>
  %1 = vector.extract %x[1] : f32 from vector<4xf32>
  %2 = vector.extract %x[2] : f32 from vector<4xf32>
  %a = arith.divf %0, %d : f32
  %b = arith.divf %1, %d : f32
  %c = arith.divf %2, %d : f32
  return %a, %b, %c : f32, f32, f32
}
