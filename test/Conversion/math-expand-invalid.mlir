// RUN: fusion-opt %s --fusion-expand-math --split-input-file --verify-diagnostics

func.func @format(%x: f128) -> f128 {
  // expected-error @+1 {{'math.exp' op FUS-0720: has no expansion for 'f128'; use f64, f32, f16, bf16}}
  %y = math.exp %x : f128
  return %y : f128
}

// -----

func.func @wide_integer(%x: i128) -> i128 {
  // expected-error @+1 {{'math.ctpop' op FUS-0720: has no expansion for 'i128'}}
  %y = math.ctpop %x : i128
  return %y : i128
}

// -----

func.func @scalable(%x: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error @+1 {{'math.exp' op FUS-0720: has no expansion for 'vector<[4]xf32>'}}
  %y = math.exp %x : vector<[4]xf32>
  return %y : vector<[4]xf32>
}
