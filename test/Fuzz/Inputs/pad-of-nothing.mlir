// fuzz: --dim=n=0 --seed=1
// outcome: verified
// A pad reads the first element where its check fails, and there is none.
func.func @main(%x: tensor<?xi8> {fusion.dims = ["n"]}) -> tensor<?xi8> {
  %zero = arith.constant 0 : i8
  %r = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : i8
  } : tensor<?xi8> to tensor<?xi8>
  return %r : tensor<?xi8>
}
