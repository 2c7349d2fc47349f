// RUN: fusion-opt %s --split-input-file --verify-diagnostics

func.func @f(%o: tensor<1xi32>) {
  // expected-error@+1 {{'fusion.row_groups' op 'offsets' must have one element more than there are groups, of which there is at least one, got 'tensor<1xi32>'}}
  %0 = fusion.row_groups %o : tensor<1xi32> -> tensor<8xi32>
  return
}

// -----

func.func @f(%o: tensor<3xi32>) {
  // expected-error@+1 {{'fusion.row_groups' op takes 'rows' when the result has a dynamic size, and only then}}
  %0 = fusion.row_groups %o : tensor<3xi32> -> tensor<?xi32>
  return
}

// -----

func.func @f(%o: tensor<3x1xi32>) {
  // expected-error@+1 {{'fusion.row_groups' op 'offsets' must have rank 1 (groups + 1), got 'tensor<3x1xi32>'}}
  %0 = fusion.row_groups %o : tensor<3x1xi32> -> tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<16x8xf32>, %w: tensor<2x9x4xf32>, %o: tensor<3xi32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op 'weight' must have size 8 in dimension 1 (groups, depth, columns), got 'tensor<2x9x4xf32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<16x8xf32>, tensor<2x9x4xf32>, tensor<3xi32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @f(%x: tensor<16x8xf32>, %w: tensor<2x4x9xf32>, %o: tensor<3xi32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op 'weight' must have size 8 in dimension 2 (groups, columns, depth), got 'tensor<2x4x9xf32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) transposed : (tensor<16x8xf32>, tensor<2x4x9xf32>, tensor<3xi32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @f(%x: tensor<16x8xf32>, %w: tensor<0x8x4xf32>, %o: tensor<1xi32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op must have at least one group, got 'tensor<0x8x4xf32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<16x8xf32>, tensor<0x8x4xf32>, tensor<1xi32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @f(%x: tensor<16x8xf32>, %w: tensor<2x8x4xf32>, %o: tensor<2xi32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op 'offsets' must have size 3 in dimension 0 (groups + 1), got 'tensor<2xi32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<16x8xf32>, tensor<2x8x4xf32>, tensor<2xi32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @f(%x: tensor<16x8xf32>, %w: tensor<2x8x4xf32>, %o: tensor<3xi32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op 'bias' must have rank 2 (groups, columns), got 'tensor<4xf32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) bias(%b) : (tensor<16x8xf32>, tensor<2x8x4xf32>, tensor<3xi32>, tensor<4xf32>) -> tensor<16x4xf32>
  return
}

// -----

func.func @f(%x: tensor<16x8xf32>, %w: tensor<2x8x4xf32>, %o: tensor<3xi32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op 'result' must have size 16 in dimension 0 (rows, columns), got 'tensor<15x4xf32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<16x8xf32>, tensor<2x8x4xf32>, tensor<3xi32>) -> tensor<15x4xf32>
  return
}

// -----

func.func @f(%x: tensor<16x8xf32>, %w: tensor<2x8x4xf32>, %o: tensor<3xi32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op the result must be static where its operands are, got 'tensor<?x4xf32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<16x8xf32>, tensor<2x8x4xf32>, tensor<3xi32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: tensor<16x8xi8>, %w: tensor<2x8x4xi8>, %o: tensor<3xi32>) {
  // expected-error@+1 {{'fusion.grouped_matmul' op takes either floats or integers everywhere, got 'tensor<16x8xi8>', 'tensor<2x8x4xi8>' and 'tensor<16x4xf32>'}}
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<16x8xi8>, tensor<2x8x4xi8>, tensor<3xi32>) -> tensor<16x4xf32>
  return
}
