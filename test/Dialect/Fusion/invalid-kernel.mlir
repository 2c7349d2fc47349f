// RUN: fusion-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @argument_count(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'fusion.kernel' op has 1 inputs but its body takes 2 arguments}}
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @argument_type(%x: tensor<8xf32>) -> tensor<8xf16> {
  // expected-error@+1 {{'fusion.kernel' op input #0 has type 'tensor<8xf32>' but the body takes 'tensor<8xf16>'}}
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf16>) {
  ^bb0(%a: tensor<8xf16>):
    fusion.yield %a : tensor<8xf16>
  }
  return %r : tensor<8xf16>
}

// -----

func.func @yield_count(%x: tensor<8xf32>) {
  // expected-error@+1 {{'fusion.kernel' op has 1 results but its body yields 2 values}}
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a, %a : tensor<8xf32>, tensor<8xf32>
  }
  return
}

// -----

func.func @yield_type(%x: tensor<8xf32>) {
  // expected-error@+1 {{'fusion.kernel' op result #0 has type 'tensor<?xf32>' but the body yields 'tensor<8xf32>'}}
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<?xf32>) {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @terminator(%x: tensor<8xf32>) {
  // expected-error@+1 {{'fusion.kernel' op must end in 'fusion.yield', found 'test.end'}}
  %r = "fusion.kernel"(%x) ({
  ^bb0(%a: tensor<8xf32>):
    "test.end"(%a) : (tensor<8xf32>) -> ()
  }) {kernel_name = "k"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @captures(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    // expected-error@+1 {{using value defined outside the region}}
    fusion.yield %y : tensor<8xf32>
  }
  return
}

// -----

func.func @no_results(%x: tensor<8xf32>) {
  // expected-error@+1 {{'fusion.kernel' op must have at least one result}}
  "fusion.kernel"(%x) ({
  ^bb0(%a: tensor<8xf32>):
    "fusion.yield"() : () -> ()
  }) {kernel_name = "k"} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error@+1 {{'fusion.kernel' op operand #0 must be variadic of ranked tensor, integer, float or index}}
  %r = "fusion.kernel"(%x) ({
  ^bb0(%a: tensor<*xf32>):
    %c = arith.constant dense<0.0> : tensor<4xf32>
    "fusion.yield"(%c) : (tensor<4xf32>) -> ()
  }) {kernel_name = "k"} : (tensor<*xf32>) -> tensor<4xf32>
  return
}
