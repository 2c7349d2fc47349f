// RUN: fusion-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'fusion.softmax' op 'axis' is 2, not a dimension of 'tensor<4x8xf32>'}}
  %0 = fusion.softmax %x axis(2) : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values}}
  %0 = fusion.relu %x : tensor<4x8xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'fusion.softplus' op 'beta' must be finite and not zero}}
  %0 = fusion.softplus %x {beta = 0.0 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x7xf32>, %c: tensor<4x3xf32>) {
  // expected-error@+1 {{'fusion.rope' op the last dimension must be even, got 'tensor<4x7xf32>'}}
  %0 = fusion.rope %x, %c, %c seq_axis(0) : tensor<4x7xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>) {
  // expected-error@+1 {{'fusion.rope' op 'cos' must have size 4 in dimension 1 (sequence, half of the last dimension), got 'tensor<4x8xf32>'}}
  %0 = fusion.rope %x, %c, %c seq_axis(0) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  // expected-error@+1 {{'fusion.rope' op 'seq_axis' is 1, not a dimension of 'tensor<4x8xf32>' before the last}}
  %0 = fusion.rope %x, %c, %c seq_axis(1) : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: i64) {
  // expected-error@+1 {{'fusion.dropout' op 'probability' must be between 0 and 1, got}}
  %0 = fusion.dropout %x, %s probability(1.5) op_id(0) : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{'fusion.layer_norm' op 'scale' must have size 8 in dimension 0 (the normalised dimensions), got 'tensor<4xf32>'}}
  %0 = fusion.layer_norm %x scale(%s) axis(1) eps(1.0e-5) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'fusion.rms_norm' op 'eps' must be finite and not negative}}
  %0 = fusion.rms_norm %x axis(1) eps(-1.0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6x8xf32>) {
  // expected-error@+1 {{'fusion.group_norm' op 6 channels do not divide into 4 groups}}
  %0 = fusion.group_norm %x groups(4) eps(1.0e-5) : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'fusion.instance_norm' op input must have rank 3 or more, got 'tensor<4x6xf32>'}}
  %0 = fusion.instance_norm %x eps(1.0e-5) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %m: tensor<6xf32>, %v: tensor<5xf32>) {
  // expected-error@+1 {{'fusion.batch_norm' op 'variance' must have size 6 in dimension 0 (channels), got 'tensor<5xf32>'}}
  %0 = fusion.batch_norm %x, %m, %v channel_axis(1) eps(1.0e-5) : (tensor<4x6xf32>, tensor<6xf32>, tensor<5xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf16>) {
  // expected-error@+1 {{'fusion.batch_norm_training' op inferred type(s) 'tensor<4x6xf16>', 'tensor<6xf32>', 'tensor<6xf32>' are incompatible with return type(s)}}
  %0, %1, %2 = fusion.batch_norm_training %x channel_axis(1) eps(1.0e-5) : (tensor<4x6xf16>) -> (tensor<4x6xf16>, tensor<6xf16>, tensor<6xf16>)
  return
}

// -----

func.func @f(%x: tensor<4x10xf32>, %t: tensor<5xi64>) {
  // expected-error@+1 {{'fusion.cross_entropy' op 'target' must have size 4 in dimension 0 (the input's dimensions but the class axis), got 'tensor<5xi64>'}}
  %0 = fusion.cross_entropy sum %x, %t axis(1) : (tensor<4x10xf32>, tensor<5xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x10xf32>, %t: tensor<4x1xi64>) {
  // expected-error@+1 {{'fusion.cross_entropy' op 'target' must have rank 1, got 'tensor<4x1xi64>'}}
  %0 = fusion.cross_entropy sum %x, %t axis(1) : (tensor<4x10xf32>, tensor<4x1xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x10xf32>, %t: tensor<4xi64>) {
  // expected-error@+1 {{'fusion.cross_entropy' op 'label_smoothing' must be between 0 and 1}}
  %0 = fusion.cross_entropy sum %x, %t axis(1) {label_smoothing = 2.0 : f64} : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %w: tensor<10x9xf32>, %t: tensor<4xi64>) {
  // expected-error@+1 {{'fusion.linear_cross_entropy' op 'weight' must have size 8 in dimension 1 (classes, features), got 'tensor<10x9xf32>'}}
  %0 = fusion.linear_cross_entropy sum %x, %w, %t : (tensor<4x8xf32>, tensor<10x9xf32>, tensor<4xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<4x4x8xf32>) {
  // expected-error@+1 {{'fusion.attention' op the number of query heads (6) must be a multiple of the number of key heads (4)}}
  %0 = fusion.attention %q, %k, %k : (tensor<6x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<6x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>, %k: tensor<4x4x7xf32>) {
  // expected-error@+1 {{'fusion.attention' op 'key' must have size 8 in dimension 2 (batch, heads, keys, features), got 'tensor<4x4x7xf32>'}}
  %0 = fusion.attention %q, %k, %k : (tensor<4x4x8xf32>, tensor<4x4x7xf32>, tensor<4x4x7xf32>) -> tensor<4x4x7xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>, %m: tensor<3x4xi1>) {
  // expected-error@+1 {{'fusion.attention' op 'mask' must have size 1 or 4 in dimension 0, got 'tensor<3x4xi1>'}}
  %0 = fusion.attention %q, %q, %q mask(%m) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<3x4xi1>) -> tensor<4x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>) {
  // expected-error@+1 {{'fusion.attention' op dropout needs a 'seed'}}
  %0 = fusion.attention %q, %q, %q {dropout = 0.5 : f64} : (tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  return
}

// -----

func.func @f(%q: tensor<4x4x8xf32>) {
  // expected-error@+1 {{'fusion.attention' op the score modification must take a 'f32' and 3 indices}}
  %0 = fusion.attention %q, %q, %q : (tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32> {
  ^bb0(%s: f32):
    fusion.yield %s : f32
  }
  return
}

// -----

func.func @f(%q: tensor<4x8xf32>) {
  // expected-error@+1 {{'fusion.attention' op 'query' must have rank 3 or more, got 'tensor<4x8xf32>'}}
  %0 = fusion.attention %q, %q, %q : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{'fusion.quantize' op format 'float8' is stored as f8E4M3FN or f8E5M2, got 'tensor<4x8xi8>'}}
  %0 = fusion.quantize float8 %x scale(%s) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{'fusion.quantize' op a scale of type 'tensor<4xf32>' needs an 'axis'}}
  %0 = fusion.quantize int8 %x scale(%s) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %s: tensor<f32>) {
  // expected-error@+1 {{'fusion.dequantize' op 'stored tensor' must have size 4 in dimension 1 (two numbers per byte), got 'tensor<4x8xi8>'}}
  %0 = fusion.dequantize int4 %x scale(%s) : (tensor<4x8xi8>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %s: tensor<4x2xf32>) {
  // expected-error@+1 {{'fusion.dequantize' op size 8 along the axis is not a multiple of 'group_size' 3}}
  %0 = fusion.dequantize int8 %x scale(%s) {axis = 1 : i64, group_size = 3 : i64} : (tensor<4x8xi8>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi8>, %i: tensor<2xi64>) {
  // expected-error@+1 {{'fusion.gather' op 'axis' is 2, not a dimension of 'tensor<4x8xi8>'}}
  %0 = fusion.gather %x, %i axis(2) : (tensor<4x8xi8>, tensor<2xi64>) -> tensor<4x2xi8>
  return
}

// -----

func.func @f(%x: tensor<0x8xi8>, %i: tensor<2xi64>) {
  // expected-error@+1 {{'fusion.gather' op has nothing to pick from along axis 0 of 'tensor<0x8xi8>'}}
  %0 = fusion.gather %x, %i axis(0) : (tensor<0x8xi8>, tensor<2xi64>) -> tensor<2x8xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: f16) {
  // expected-error@+1 {{'fusion.scan' op initial value #0 must be a 'f32', got 'f16'}}
  %0 = fusion.scan ins(%x : tensor<4xf32>) inits(%z : f16) axis(0) -> tensor<4xf32> {
  ^bb0(%a: f16, %b: f16):
    fusion.yield %a : f16
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %z: f32) {
  // expected-error@+1 {{'fusion.scan' op the combiner must take two values per state, of the initial values' types}}
  %0 = fusion.scan ins(%x : tensor<4xf32>) inits(%z : f32) axis(0) -> tensor<4xf32> {
  ^bb0(%a: f32):
    fusion.yield %a : f32
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %z: f32) {
  // expected-error@+1 {{'fusion.scan' op input #1 must have the shape of 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0:2 = fusion.scan ins(%x, %y : tensor<4xf32>, tensor<5xf32>) inits(%z, %z : f32, f32) axis(0) -> tensor<4xf32>, tensor<5xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    fusion.yield %a, %b : f32, f32
  }
  return
}
