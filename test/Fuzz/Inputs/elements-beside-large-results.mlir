// fuzz: --seed=1
// outcome: verified
// A value that is called like the operation it is of, before large types.
func.func @main(%x: tensor<40x40xf32>, %y: tensor<2xi32>) -> (tensor<40x40xf32>, tensor<2xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = tensor.extract %y[%zero] : tensor<2xi32>
  %b = tensor.extract %y[%one] : tensor<2xi32>
  %from_elements = tensor.from_elements %b, %a : tensor<2xi32>
  %r = arith.addf %x, %x : tensor<40x40xf32>
  return %r, %from_elements : tensor<40x40xf32>, tensor<2xi32>
}
