// RUN: fusion-opt %s --split-input-file --verify-diagnostics

func.func @bytes(%x: tensor<3x5xi4>) {
  // expected-error@+1 {{'fusion.int4_bytes' op has 'tensor<7xi8>' for the bytes of 'tensor<3x5xi4>'}}
  %b = fusion.int4_bytes %x : tensor<3x5xi4> -> tensor<7xi8>
  return
}

// -----

func.func @elements(%b: tensor<?xi8>) {
  // expected-error@+1 {{'fusion.int4_elements' op takes one size for each dynamic dimension of 'tensor<?x5xi4>'}}
  %x = fusion.int4_elements %b[] : tensor<?xi8> -> tensor<?x5xi4>
  return
}

// -----

func.func @dynamic(%b: tensor<?xi8>) {
  // expected-error@+1 {{'fusion.int4_elements' op has 'tensor<?xi8>' for the bytes of 'tensor<5xi4>'}}
  %x = fusion.int4_elements %b[] : tensor<?xi8> -> tensor<5xi4>
  return
}
