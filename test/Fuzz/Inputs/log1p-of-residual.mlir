// fuzz: --seed=927
// outcome: verified
// log1p is off by 1.6001 units at one of these numbers.
func.func @main(%x: tensor<129x13xf32>) -> tensor<129x13xf32> {
  %n = arith.negf %x : tensor<129x13xf32>
  %least = arith.constant dense<-0.5> : tensor<129x13xf32>
  %m = arith.maximumf %n, %least : tensor<129x13xf32>
  %l = math.log1p %m : tensor<129x13xf32>
  %nl = arith.negf %l : tensor<129x13xf32>
  %one = arith.constant dense<1.0> : tensor<129x13xf32>
  %a = math.absf %n : tensor<129x13xf32>
  %d = arith.addf %a, %one : tensor<129x13xf32>
  %q = arith.divf %nl, %d : tensor<129x13xf32>
  %r = arith.addf %q, %x : tensor<129x13xf32>
  return %r : tensor<129x13xf32>
}
