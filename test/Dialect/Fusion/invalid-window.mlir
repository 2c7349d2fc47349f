// RUN: fusion-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<1x4x2x2xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op the window does not fit into spatial dimension 0 of 'tensor<1x4x2x2xf32>'}}
  %0 = fusion.conv nchw %x, %w : (tensor<1x4x2x2xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x0x0xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op filter must have size 4 in dimension 1, got 'tensor<4x3x3x3xf32>'}}
  %0 = fusion.conv nchw %x, %w : (tensor<1x4x9x9xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op the number of input channels, 4, is not a multiple of 'groups', 3}}
  %0 = fusion.conv nchw %x, %w {groups = 3 : i64} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op 'strides' must have 2 numbers, got 1}}
  %0 = fusion.conv nchw %x, %w {strides = array<i64: 2>} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op 'strides' must be between 1 and 1073741824, got 0}}
  %0 = fusion.conv nchw %x, %w {strides = array<i64: 0, 1>} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op inferred type(s) 'tensor<1x4x7x7xf32>' are incompatible with return type(s) of operation 'tensor<1x4x8x8xf32>'}}
  %0 = fusion.conv nchw %x, %w : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x3x3xf16>) {
  // expected-error@+1 {{'fusion.conv' op input and filter must have one element type, got 'f32' and 'f16'}}
  %0 = fusion.conv nchw %x, %w : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf16>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x3x3xf32>, %b: tensor<4xi32>) {
  // expected-error@+1 {{'fusion.conv' op 'bias' of 'i32' does not fit an input of 'f32'}}
  %0 = fusion.conv nchw %x, %w bias(%b) : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>, tensor<4xi32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x?x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op a transposed convolution needs a static window, got 'tensor<4x4x?x3xf32>'}}
  %0 = fusion.conv nchw transposed %x, %w : (tensor<1x4x9x9xf32>, tensor<4x4x?x3xf32>) -> tensor<1x4x?x11xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+1 {{'fusion.conv' op 'output_padding' is only for transposed convolution}}
  %0 = fusion.conv nchw %x, %w {output_padding = array<i64: 1, 1>} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>) {
  // expected-error@+1 {{'fusion.conv' op input must have one to three spatial dimensions, got 'tensor<1x4xf32>'}}
  %0 = fusion.conv nchw %x, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xi32>) {
  // expected-error@+1 {{'fusion.pool' op 'avg' needs floats, got 'tensor<1x4x9x9xi32>'}}
  %0 = fusion.pool avg nchw %x window [3, 3] : (tensor<1x4x9x9xi32>) -> tensor<1x4x7x7xi32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>) {
  // expected-error@+1 {{'fusion.pool' op padding 3 of spatial dimension 1 leaves a window of span 3 empty}}
  %0 = fusion.pool max nchw %x window [3, 3] {padding = array<i64: 0, 0, 3, 0>} : (tensor<1x4x9x9xf32>) -> tensor<1x4x7x10xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>) {
  // expected-error@+1 {{'fusion.pool' op 'window' must have 2 numbers, got 3}}
  %0 = fusion.pool max nchw %x window [3, 3, 3] : (tensor<1x4x9x9xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>) {
  // expected-error@+1 {{'fusion.pool' op 'count_include_pad' is only for 'avg'}}
  %0 = fusion.pool max nchw %x window [3, 3] {count_include_pad} : (tensor<1x4x9x9xf32>) -> tensor<1x4x7x7xf32>
  return
}
