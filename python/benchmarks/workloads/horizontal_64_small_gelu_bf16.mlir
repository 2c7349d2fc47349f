// gelu (erf form) of 64 independent tensors of 64 x 1024: one kernel for all.
func.func @gelus(%x0: tensor<64x1024xbf16>,
                 %x1: tensor<64x1024xbf16>,
                 %x2: tensor<64x1024xbf16>,
                 %x3: tensor<64x1024xbf16>,
                 %x4: tensor<64x1024xbf16>,
                 %x5: tensor<64x1024xbf16>,
                 %x6: tensor<64x1024xbf16>,
                 %x7: tensor<64x1024xbf16>,
                 %x8: tensor<64x1024xbf16>,
                 %x9: tensor<64x1024xbf16>,
                 %x10: tensor<64x1024xbf16>,
                 %x11: tensor<64x1024xbf16>,
                 %x12: tensor<64x1024xbf16>,
                 %x13: tensor<64x1024xbf16>,
                 %x14: tensor<64x1024xbf16>,
                 %x15: tensor<64x1024xbf16>,
                 %x16: tensor<64x1024xbf16>,
                 %x17: tensor<64x1024xbf16>,
                 %x18: tensor<64x1024xbf16>,
                 %x19: tensor<64x1024xbf16>,
                 %x20: tensor<64x1024xbf16>,
                 %x21: tensor<64x1024xbf16>,
                 %x22: tensor<64x1024xbf16>,
                 %x23: tensor<64x1024xbf16>,
                 %x24: tensor<64x1024xbf16>,
                 %x25: tensor<64x1024xbf16>,
                 %x26: tensor<64x1024xbf16>,
                 %x27: tensor<64x1024xbf16>,
                 %x28: tensor<64x1024xbf16>,
                 %x29: tensor<64x1024xbf16>,
                 %x30: tensor<64x1024xbf16>,
                 %x31: tensor<64x1024xbf16>,
                 %x32: tensor<64x1024xbf16>,
                 %x33: tensor<64x1024xbf16>,
                 %x34: tensor<64x1024xbf16>,
                 %x35: tensor<64x1024xbf16>,
                 %x36: tensor<64x1024xbf16>,
                 %x37: tensor<64x1024xbf16>,
                 %x38: tensor<64x1024xbf16>,
                 %x39: tensor<64x1024xbf16>,
                 %x40: tensor<64x1024xbf16>,
                 %x41: tensor<64x1024xbf16>,
                 %x42: tensor<64x1024xbf16>,
                 %x43: tensor<64x1024xbf16>,
                 %x44: tensor<64x1024xbf16>,
                 %x45: tensor<64x1024xbf16>,
                 %x46: tensor<64x1024xbf16>,
                 %x47: tensor<64x1024xbf16>,
                 %x48: tensor<64x1024xbf16>,
                 %x49: tensor<64x1024xbf16>,
                 %x50: tensor<64x1024xbf16>,
                 %x51: tensor<64x1024xbf16>,
                 %x52: tensor<64x1024xbf16>,
                 %x53: tensor<64x1024xbf16>,
                 %x54: tensor<64x1024xbf16>,
                 %x55: tensor<64x1024xbf16>,
                 %x56: tensor<64x1024xbf16>,
                 %x57: tensor<64x1024xbf16>,
                 %x58: tensor<64x1024xbf16>,
                 %x59: tensor<64x1024xbf16>,
                 %x60: tensor<64x1024xbf16>,
                 %x61: tensor<64x1024xbf16>,
                 %x62: tensor<64x1024xbf16>,
                 %x63: tensor<64x1024xbf16>)
    -> (tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>) {
  %half = arith.constant dense<0.5> : tensor<64x1024xf32>
  %one = arith.constant dense<1.0> : tensor<64x1024xf32>
  %root_half = arith.constant dense<0.70710678> : tensor<64x1024xf32>
  %wide0 = arith.extf %x0 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled0 = arith.mulf %wide0, %root_half : tensor<64x1024xf32>
  %erf0 = math.erf %scaled0 : tensor<64x1024xf32>
  %gate0 = arith.addf %erf0, %one : tensor<64x1024xf32>
  %halved0 = arith.mulf %wide0, %half : tensor<64x1024xf32>
  %gelu0 = arith.mulf %halved0, %gate0 : tensor<64x1024xf32>
  %y0 = arith.truncf %gelu0 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide1 = arith.extf %x1 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled1 = arith.mulf %wide1, %root_half : tensor<64x1024xf32>
  %erf1 = math.erf %scaled1 : tensor<64x1024xf32>
  %gate1 = arith.addf %erf1, %one : tensor<64x1024xf32>
  %halved1 = arith.mulf %wide1, %half : tensor<64x1024xf32>
  %gelu1 = arith.mulf %halved1, %gate1 : tensor<64x1024xf32>
  %y1 = arith.truncf %gelu1 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide2 = arith.extf %x2 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled2 = arith.mulf %wide2, %root_half : tensor<64x1024xf32>
  %erf2 = math.erf %scaled2 : tensor<64x1024xf32>
  %gate2 = arith.addf %erf2, %one : tensor<64x1024xf32>
  %halved2 = arith.mulf %wide2, %half : tensor<64x1024xf32>
  %gelu2 = arith.mulf %halved2, %gate2 : tensor<64x1024xf32>
  %y2 = arith.truncf %gelu2 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide3 = arith.extf %x3 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled3 = arith.mulf %wide3, %root_half : tensor<64x1024xf32>
  %erf3 = math.erf %scaled3 : tensor<64x1024xf32>
  %gate3 = arith.addf %erf3, %one : tensor<64x1024xf32>
  %halved3 = arith.mulf %wide3, %half : tensor<64x1024xf32>
  %gelu3 = arith.mulf %halved3, %gate3 : tensor<64x1024xf32>
  %y3 = arith.truncf %gelu3 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide4 = arith.extf %x4 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled4 = arith.mulf %wide4, %root_half : tensor<64x1024xf32>
  %erf4 = math.erf %scaled4 : tensor<64x1024xf32>
  %gate4 = arith.addf %erf4, %one : tensor<64x1024xf32>
  %halved4 = arith.mulf %wide4, %half : tensor<64x1024xf32>
  %gelu4 = arith.mulf %halved4, %gate4 : tensor<64x1024xf32>
  %y4 = arith.truncf %gelu4 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide5 = arith.extf %x5 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled5 = arith.mulf %wide5, %root_half : tensor<64x1024xf32>
  %erf5 = math.erf %scaled5 : tensor<64x1024xf32>
  %gate5 = arith.addf %erf5, %one : tensor<64x1024xf32>
  %halved5 = arith.mulf %wide5, %half : tensor<64x1024xf32>
  %gelu5 = arith.mulf %halved5, %gate5 : tensor<64x1024xf32>
  %y5 = arith.truncf %gelu5 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide6 = arith.extf %x6 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled6 = arith.mulf %wide6, %root_half : tensor<64x1024xf32>
  %erf6 = math.erf %scaled6 : tensor<64x1024xf32>
  %gate6 = arith.addf %erf6, %one : tensor<64x1024xf32>
  %halved6 = arith.mulf %wide6, %half : tensor<64x1024xf32>
  %gelu6 = arith.mulf %halved6, %gate6 : tensor<64x1024xf32>
  %y6 = arith.truncf %gelu6 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide7 = arith.extf %x7 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled7 = arith.mulf %wide7, %root_half : tensor<64x1024xf32>
  %erf7 = math.erf %scaled7 : tensor<64x1024xf32>
  %gate7 = arith.addf %erf7, %one : tensor<64x1024xf32>
  %halved7 = arith.mulf %wide7, %half : tensor<64x1024xf32>
  %gelu7 = arith.mulf %halved7, %gate7 : tensor<64x1024xf32>
  %y7 = arith.truncf %gelu7 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide8 = arith.extf %x8 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled8 = arith.mulf %wide8, %root_half : tensor<64x1024xf32>
  %erf8 = math.erf %scaled8 : tensor<64x1024xf32>
  %gate8 = arith.addf %erf8, %one : tensor<64x1024xf32>
  %halved8 = arith.mulf %wide8, %half : tensor<64x1024xf32>
  %gelu8 = arith.mulf %halved8, %gate8 : tensor<64x1024xf32>
  %y8 = arith.truncf %gelu8 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide9 = arith.extf %x9 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled9 = arith.mulf %wide9, %root_half : tensor<64x1024xf32>
  %erf9 = math.erf %scaled9 : tensor<64x1024xf32>
  %gate9 = arith.addf %erf9, %one : tensor<64x1024xf32>
  %halved9 = arith.mulf %wide9, %half : tensor<64x1024xf32>
  %gelu9 = arith.mulf %halved9, %gate9 : tensor<64x1024xf32>
  %y9 = arith.truncf %gelu9 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide10 = arith.extf %x10 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled10 = arith.mulf %wide10, %root_half : tensor<64x1024xf32>
  %erf10 = math.erf %scaled10 : tensor<64x1024xf32>
  %gate10 = arith.addf %erf10, %one : tensor<64x1024xf32>
  %halved10 = arith.mulf %wide10, %half : tensor<64x1024xf32>
  %gelu10 = arith.mulf %halved10, %gate10 : tensor<64x1024xf32>
  %y10 = arith.truncf %gelu10 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide11 = arith.extf %x11 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled11 = arith.mulf %wide11, %root_half : tensor<64x1024xf32>
  %erf11 = math.erf %scaled11 : tensor<64x1024xf32>
  %gate11 = arith.addf %erf11, %one : tensor<64x1024xf32>
  %halved11 = arith.mulf %wide11, %half : tensor<64x1024xf32>
  %gelu11 = arith.mulf %halved11, %gate11 : tensor<64x1024xf32>
  %y11 = arith.truncf %gelu11 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide12 = arith.extf %x12 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled12 = arith.mulf %wide12, %root_half : tensor<64x1024xf32>
  %erf12 = math.erf %scaled12 : tensor<64x1024xf32>
  %gate12 = arith.addf %erf12, %one : tensor<64x1024xf32>
  %halved12 = arith.mulf %wide12, %half : tensor<64x1024xf32>
  %gelu12 = arith.mulf %halved12, %gate12 : tensor<64x1024xf32>
  %y12 = arith.truncf %gelu12 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide13 = arith.extf %x13 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled13 = arith.mulf %wide13, %root_half : tensor<64x1024xf32>
  %erf13 = math.erf %scaled13 : tensor<64x1024xf32>
  %gate13 = arith.addf %erf13, %one : tensor<64x1024xf32>
  %halved13 = arith.mulf %wide13, %half : tensor<64x1024xf32>
  %gelu13 = arith.mulf %halved13, %gate13 : tensor<64x1024xf32>
  %y13 = arith.truncf %gelu13 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide14 = arith.extf %x14 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled14 = arith.mulf %wide14, %root_half : tensor<64x1024xf32>
  %erf14 = math.erf %scaled14 : tensor<64x1024xf32>
  %gate14 = arith.addf %erf14, %one : tensor<64x1024xf32>
  %halved14 = arith.mulf %wide14, %half : tensor<64x1024xf32>
  %gelu14 = arith.mulf %halved14, %gate14 : tensor<64x1024xf32>
  %y14 = arith.truncf %gelu14 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide15 = arith.extf %x15 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled15 = arith.mulf %wide15, %root_half : tensor<64x1024xf32>
  %erf15 = math.erf %scaled15 : tensor<64x1024xf32>
  %gate15 = arith.addf %erf15, %one : tensor<64x1024xf32>
  %halved15 = arith.mulf %wide15, %half : tensor<64x1024xf32>
  %gelu15 = arith.mulf %halved15, %gate15 : tensor<64x1024xf32>
  %y15 = arith.truncf %gelu15 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide16 = arith.extf %x16 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled16 = arith.mulf %wide16, %root_half : tensor<64x1024xf32>
  %erf16 = math.erf %scaled16 : tensor<64x1024xf32>
  %gate16 = arith.addf %erf16, %one : tensor<64x1024xf32>
  %halved16 = arith.mulf %wide16, %half : tensor<64x1024xf32>
  %gelu16 = arith.mulf %halved16, %gate16 : tensor<64x1024xf32>
  %y16 = arith.truncf %gelu16 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide17 = arith.extf %x17 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled17 = arith.mulf %wide17, %root_half : tensor<64x1024xf32>
  %erf17 = math.erf %scaled17 : tensor<64x1024xf32>
  %gate17 = arith.addf %erf17, %one : tensor<64x1024xf32>
  %halved17 = arith.mulf %wide17, %half : tensor<64x1024xf32>
  %gelu17 = arith.mulf %halved17, %gate17 : tensor<64x1024xf32>
  %y17 = arith.truncf %gelu17 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide18 = arith.extf %x18 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled18 = arith.mulf %wide18, %root_half : tensor<64x1024xf32>
  %erf18 = math.erf %scaled18 : tensor<64x1024xf32>
  %gate18 = arith.addf %erf18, %one : tensor<64x1024xf32>
  %halved18 = arith.mulf %wide18, %half : tensor<64x1024xf32>
  %gelu18 = arith.mulf %halved18, %gate18 : tensor<64x1024xf32>
  %y18 = arith.truncf %gelu18 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide19 = arith.extf %x19 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled19 = arith.mulf %wide19, %root_half : tensor<64x1024xf32>
  %erf19 = math.erf %scaled19 : tensor<64x1024xf32>
  %gate19 = arith.addf %erf19, %one : tensor<64x1024xf32>
  %halved19 = arith.mulf %wide19, %half : tensor<64x1024xf32>
  %gelu19 = arith.mulf %halved19, %gate19 : tensor<64x1024xf32>
  %y19 = arith.truncf %gelu19 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide20 = arith.extf %x20 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled20 = arith.mulf %wide20, %root_half : tensor<64x1024xf32>
  %erf20 = math.erf %scaled20 : tensor<64x1024xf32>
  %gate20 = arith.addf %erf20, %one : tensor<64x1024xf32>
  %halved20 = arith.mulf %wide20, %half : tensor<64x1024xf32>
  %gelu20 = arith.mulf %halved20, %gate20 : tensor<64x1024xf32>
  %y20 = arith.truncf %gelu20 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide21 = arith.extf %x21 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled21 = arith.mulf %wide21, %root_half : tensor<64x1024xf32>
  %erf21 = math.erf %scaled21 : tensor<64x1024xf32>
  %gate21 = arith.addf %erf21, %one : tensor<64x1024xf32>
  %halved21 = arith.mulf %wide21, %half : tensor<64x1024xf32>
  %gelu21 = arith.mulf %halved21, %gate21 : tensor<64x1024xf32>
  %y21 = arith.truncf %gelu21 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide22 = arith.extf %x22 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled22 = arith.mulf %wide22, %root_half : tensor<64x1024xf32>
  %erf22 = math.erf %scaled22 : tensor<64x1024xf32>
  %gate22 = arith.addf %erf22, %one : tensor<64x1024xf32>
  %halved22 = arith.mulf %wide22, %half : tensor<64x1024xf32>
  %gelu22 = arith.mulf %halved22, %gate22 : tensor<64x1024xf32>
  %y22 = arith.truncf %gelu22 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide23 = arith.extf %x23 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled23 = arith.mulf %wide23, %root_half : tensor<64x1024xf32>
  %erf23 = math.erf %scaled23 : tensor<64x1024xf32>
  %gate23 = arith.addf %erf23, %one : tensor<64x1024xf32>
  %halved23 = arith.mulf %wide23, %half : tensor<64x1024xf32>
  %gelu23 = arith.mulf %halved23, %gate23 : tensor<64x1024xf32>
  %y23 = arith.truncf %gelu23 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide24 = arith.extf %x24 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled24 = arith.mulf %wide24, %root_half : tensor<64x1024xf32>
  %erf24 = math.erf %scaled24 : tensor<64x1024xf32>
  %gate24 = arith.addf %erf24, %one : tensor<64x1024xf32>
  %halved24 = arith.mulf %wide24, %half : tensor<64x1024xf32>
  %gelu24 = arith.mulf %halved24, %gate24 : tensor<64x1024xf32>
  %y24 = arith.truncf %gelu24 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide25 = arith.extf %x25 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled25 = arith.mulf %wide25, %root_half : tensor<64x1024xf32>
  %erf25 = math.erf %scaled25 : tensor<64x1024xf32>
  %gate25 = arith.addf %erf25, %one : tensor<64x1024xf32>
  %halved25 = arith.mulf %wide25, %half : tensor<64x1024xf32>
  %gelu25 = arith.mulf %halved25, %gate25 : tensor<64x1024xf32>
  %y25 = arith.truncf %gelu25 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide26 = arith.extf %x26 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled26 = arith.mulf %wide26, %root_half : tensor<64x1024xf32>
  %erf26 = math.erf %scaled26 : tensor<64x1024xf32>
  %gate26 = arith.addf %erf26, %one : tensor<64x1024xf32>
  %halved26 = arith.mulf %wide26, %half : tensor<64x1024xf32>
  %gelu26 = arith.mulf %halved26, %gate26 : tensor<64x1024xf32>
  %y26 = arith.truncf %gelu26 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide27 = arith.extf %x27 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled27 = arith.mulf %wide27, %root_half : tensor<64x1024xf32>
  %erf27 = math.erf %scaled27 : tensor<64x1024xf32>
  %gate27 = arith.addf %erf27, %one : tensor<64x1024xf32>
  %halved27 = arith.mulf %wide27, %half : tensor<64x1024xf32>
  %gelu27 = arith.mulf %halved27, %gate27 : tensor<64x1024xf32>
  %y27 = arith.truncf %gelu27 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide28 = arith.extf %x28 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled28 = arith.mulf %wide28, %root_half : tensor<64x1024xf32>
  %erf28 = math.erf %scaled28 : tensor<64x1024xf32>
  %gate28 = arith.addf %erf28, %one : tensor<64x1024xf32>
  %halved28 = arith.mulf %wide28, %half : tensor<64x1024xf32>
  %gelu28 = arith.mulf %halved28, %gate28 : tensor<64x1024xf32>
  %y28 = arith.truncf %gelu28 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide29 = arith.extf %x29 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled29 = arith.mulf %wide29, %root_half : tensor<64x1024xf32>
  %erf29 = math.erf %scaled29 : tensor<64x1024xf32>
  %gate29 = arith.addf %erf29, %one : tensor<64x1024xf32>
  %halved29 = arith.mulf %wide29, %half : tensor<64x1024xf32>
  %gelu29 = arith.mulf %halved29, %gate29 : tensor<64x1024xf32>
  %y29 = arith.truncf %gelu29 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide30 = arith.extf %x30 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled30 = arith.mulf %wide30, %root_half : tensor<64x1024xf32>
  %erf30 = math.erf %scaled30 : tensor<64x1024xf32>
  %gate30 = arith.addf %erf30, %one : tensor<64x1024xf32>
  %halved30 = arith.mulf %wide30, %half : tensor<64x1024xf32>
  %gelu30 = arith.mulf %halved30, %gate30 : tensor<64x1024xf32>
  %y30 = arith.truncf %gelu30 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide31 = arith.extf %x31 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled31 = arith.mulf %wide31, %root_half : tensor<64x1024xf32>
  %erf31 = math.erf %scaled31 : tensor<64x1024xf32>
  %gate31 = arith.addf %erf31, %one : tensor<64x1024xf32>
  %halved31 = arith.mulf %wide31, %half : tensor<64x1024xf32>
  %gelu31 = arith.mulf %halved31, %gate31 : tensor<64x1024xf32>
  %y31 = arith.truncf %gelu31 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide32 = arith.extf %x32 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled32 = arith.mulf %wide32, %root_half : tensor<64x1024xf32>
  %erf32 = math.erf %scaled32 : tensor<64x1024xf32>
  %gate32 = arith.addf %erf32, %one : tensor<64x1024xf32>
  %halved32 = arith.mulf %wide32, %half : tensor<64x1024xf32>
  %gelu32 = arith.mulf %halved32, %gate32 : tensor<64x1024xf32>
  %y32 = arith.truncf %gelu32 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide33 = arith.extf %x33 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled33 = arith.mulf %wide33, %root_half : tensor<64x1024xf32>
  %erf33 = math.erf %scaled33 : tensor<64x1024xf32>
  %gate33 = arith.addf %erf33, %one : tensor<64x1024xf32>
  %halved33 = arith.mulf %wide33, %half : tensor<64x1024xf32>
  %gelu33 = arith.mulf %halved33, %gate33 : tensor<64x1024xf32>
  %y33 = arith.truncf %gelu33 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide34 = arith.extf %x34 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled34 = arith.mulf %wide34, %root_half : tensor<64x1024xf32>
  %erf34 = math.erf %scaled34 : tensor<64x1024xf32>
  %gate34 = arith.addf %erf34, %one : tensor<64x1024xf32>
  %halved34 = arith.mulf %wide34, %half : tensor<64x1024xf32>
  %gelu34 = arith.mulf %halved34, %gate34 : tensor<64x1024xf32>
  %y34 = arith.truncf %gelu34 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide35 = arith.extf %x35 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled35 = arith.mulf %wide35, %root_half : tensor<64x1024xf32>
  %erf35 = math.erf %scaled35 : tensor<64x1024xf32>
  %gate35 = arith.addf %erf35, %one : tensor<64x1024xf32>
  %halved35 = arith.mulf %wide35, %half : tensor<64x1024xf32>
  %gelu35 = arith.mulf %halved35, %gate35 : tensor<64x1024xf32>
  %y35 = arith.truncf %gelu35 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide36 = arith.extf %x36 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled36 = arith.mulf %wide36, %root_half : tensor<64x1024xf32>
  %erf36 = math.erf %scaled36 : tensor<64x1024xf32>
  %gate36 = arith.addf %erf36, %one : tensor<64x1024xf32>
  %halved36 = arith.mulf %wide36, %half : tensor<64x1024xf32>
  %gelu36 = arith.mulf %halved36, %gate36 : tensor<64x1024xf32>
  %y36 = arith.truncf %gelu36 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide37 = arith.extf %x37 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled37 = arith.mulf %wide37, %root_half : tensor<64x1024xf32>
  %erf37 = math.erf %scaled37 : tensor<64x1024xf32>
  %gate37 = arith.addf %erf37, %one : tensor<64x1024xf32>
  %halved37 = arith.mulf %wide37, %half : tensor<64x1024xf32>
  %gelu37 = arith.mulf %halved37, %gate37 : tensor<64x1024xf32>
  %y37 = arith.truncf %gelu37 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide38 = arith.extf %x38 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled38 = arith.mulf %wide38, %root_half : tensor<64x1024xf32>
  %erf38 = math.erf %scaled38 : tensor<64x1024xf32>
  %gate38 = arith.addf %erf38, %one : tensor<64x1024xf32>
  %halved38 = arith.mulf %wide38, %half : tensor<64x1024xf32>
  %gelu38 = arith.mulf %halved38, %gate38 : tensor<64x1024xf32>
  %y38 = arith.truncf %gelu38 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide39 = arith.extf %x39 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled39 = arith.mulf %wide39, %root_half : tensor<64x1024xf32>
  %erf39 = math.erf %scaled39 : tensor<64x1024xf32>
  %gate39 = arith.addf %erf39, %one : tensor<64x1024xf32>
  %halved39 = arith.mulf %wide39, %half : tensor<64x1024xf32>
  %gelu39 = arith.mulf %halved39, %gate39 : tensor<64x1024xf32>
  %y39 = arith.truncf %gelu39 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide40 = arith.extf %x40 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled40 = arith.mulf %wide40, %root_half : tensor<64x1024xf32>
  %erf40 = math.erf %scaled40 : tensor<64x1024xf32>
  %gate40 = arith.addf %erf40, %one : tensor<64x1024xf32>
  %halved40 = arith.mulf %wide40, %half : tensor<64x1024xf32>
  %gelu40 = arith.mulf %halved40, %gate40 : tensor<64x1024xf32>
  %y40 = arith.truncf %gelu40 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide41 = arith.extf %x41 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled41 = arith.mulf %wide41, %root_half : tensor<64x1024xf32>
  %erf41 = math.erf %scaled41 : tensor<64x1024xf32>
  %gate41 = arith.addf %erf41, %one : tensor<64x1024xf32>
  %halved41 = arith.mulf %wide41, %half : tensor<64x1024xf32>
  %gelu41 = arith.mulf %halved41, %gate41 : tensor<64x1024xf32>
  %y41 = arith.truncf %gelu41 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide42 = arith.extf %x42 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled42 = arith.mulf %wide42, %root_half : tensor<64x1024xf32>
  %erf42 = math.erf %scaled42 : tensor<64x1024xf32>
  %gate42 = arith.addf %erf42, %one : tensor<64x1024xf32>
  %halved42 = arith.mulf %wide42, %half : tensor<64x1024xf32>
  %gelu42 = arith.mulf %halved42, %gate42 : tensor<64x1024xf32>
  %y42 = arith.truncf %gelu42 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide43 = arith.extf %x43 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled43 = arith.mulf %wide43, %root_half : tensor<64x1024xf32>
  %erf43 = math.erf %scaled43 : tensor<64x1024xf32>
  %gate43 = arith.addf %erf43, %one : tensor<64x1024xf32>
  %halved43 = arith.mulf %wide43, %half : tensor<64x1024xf32>
  %gelu43 = arith.mulf %halved43, %gate43 : tensor<64x1024xf32>
  %y43 = arith.truncf %gelu43 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide44 = arith.extf %x44 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled44 = arith.mulf %wide44, %root_half : tensor<64x1024xf32>
  %erf44 = math.erf %scaled44 : tensor<64x1024xf32>
  %gate44 = arith.addf %erf44, %one : tensor<64x1024xf32>
  %halved44 = arith.mulf %wide44, %half : tensor<64x1024xf32>
  %gelu44 = arith.mulf %halved44, %gate44 : tensor<64x1024xf32>
  %y44 = arith.truncf %gelu44 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide45 = arith.extf %x45 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled45 = arith.mulf %wide45, %root_half : tensor<64x1024xf32>
  %erf45 = math.erf %scaled45 : tensor<64x1024xf32>
  %gate45 = arith.addf %erf45, %one : tensor<64x1024xf32>
  %halved45 = arith.mulf %wide45, %half : tensor<64x1024xf32>
  %gelu45 = arith.mulf %halved45, %gate45 : tensor<64x1024xf32>
  %y45 = arith.truncf %gelu45 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide46 = arith.extf %x46 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled46 = arith.mulf %wide46, %root_half : tensor<64x1024xf32>
  %erf46 = math.erf %scaled46 : tensor<64x1024xf32>
  %gate46 = arith.addf %erf46, %one : tensor<64x1024xf32>
  %halved46 = arith.mulf %wide46, %half : tensor<64x1024xf32>
  %gelu46 = arith.mulf %halved46, %gate46 : tensor<64x1024xf32>
  %y46 = arith.truncf %gelu46 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide47 = arith.extf %x47 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled47 = arith.mulf %wide47, %root_half : tensor<64x1024xf32>
  %erf47 = math.erf %scaled47 : tensor<64x1024xf32>
  %gate47 = arith.addf %erf47, %one : tensor<64x1024xf32>
  %halved47 = arith.mulf %wide47, %half : tensor<64x1024xf32>
  %gelu47 = arith.mulf %halved47, %gate47 : tensor<64x1024xf32>
  %y47 = arith.truncf %gelu47 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide48 = arith.extf %x48 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled48 = arith.mulf %wide48, %root_half : tensor<64x1024xf32>
  %erf48 = math.erf %scaled48 : tensor<64x1024xf32>
  %gate48 = arith.addf %erf48, %one : tensor<64x1024xf32>
  %halved48 = arith.mulf %wide48, %half : tensor<64x1024xf32>
  %gelu48 = arith.mulf %halved48, %gate48 : tensor<64x1024xf32>
  %y48 = arith.truncf %gelu48 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide49 = arith.extf %x49 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled49 = arith.mulf %wide49, %root_half : tensor<64x1024xf32>
  %erf49 = math.erf %scaled49 : tensor<64x1024xf32>
  %gate49 = arith.addf %erf49, %one : tensor<64x1024xf32>
  %halved49 = arith.mulf %wide49, %half : tensor<64x1024xf32>
  %gelu49 = arith.mulf %halved49, %gate49 : tensor<64x1024xf32>
  %y49 = arith.truncf %gelu49 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide50 = arith.extf %x50 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled50 = arith.mulf %wide50, %root_half : tensor<64x1024xf32>
  %erf50 = math.erf %scaled50 : tensor<64x1024xf32>
  %gate50 = arith.addf %erf50, %one : tensor<64x1024xf32>
  %halved50 = arith.mulf %wide50, %half : tensor<64x1024xf32>
  %gelu50 = arith.mulf %halved50, %gate50 : tensor<64x1024xf32>
  %y50 = arith.truncf %gelu50 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide51 = arith.extf %x51 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled51 = arith.mulf %wide51, %root_half : tensor<64x1024xf32>
  %erf51 = math.erf %scaled51 : tensor<64x1024xf32>
  %gate51 = arith.addf %erf51, %one : tensor<64x1024xf32>
  %halved51 = arith.mulf %wide51, %half : tensor<64x1024xf32>
  %gelu51 = arith.mulf %halved51, %gate51 : tensor<64x1024xf32>
  %y51 = arith.truncf %gelu51 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide52 = arith.extf %x52 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled52 = arith.mulf %wide52, %root_half : tensor<64x1024xf32>
  %erf52 = math.erf %scaled52 : tensor<64x1024xf32>
  %gate52 = arith.addf %erf52, %one : tensor<64x1024xf32>
  %halved52 = arith.mulf %wide52, %half : tensor<64x1024xf32>
  %gelu52 = arith.mulf %halved52, %gate52 : tensor<64x1024xf32>
  %y52 = arith.truncf %gelu52 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide53 = arith.extf %x53 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled53 = arith.mulf %wide53, %root_half : tensor<64x1024xf32>
  %erf53 = math.erf %scaled53 : tensor<64x1024xf32>
  %gate53 = arith.addf %erf53, %one : tensor<64x1024xf32>
  %halved53 = arith.mulf %wide53, %half : tensor<64x1024xf32>
  %gelu53 = arith.mulf %halved53, %gate53 : tensor<64x1024xf32>
  %y53 = arith.truncf %gelu53 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide54 = arith.extf %x54 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled54 = arith.mulf %wide54, %root_half : tensor<64x1024xf32>
  %erf54 = math.erf %scaled54 : tensor<64x1024xf32>
  %gate54 = arith.addf %erf54, %one : tensor<64x1024xf32>
  %halved54 = arith.mulf %wide54, %half : tensor<64x1024xf32>
  %gelu54 = arith.mulf %halved54, %gate54 : tensor<64x1024xf32>
  %y54 = arith.truncf %gelu54 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide55 = arith.extf %x55 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled55 = arith.mulf %wide55, %root_half : tensor<64x1024xf32>
  %erf55 = math.erf %scaled55 : tensor<64x1024xf32>
  %gate55 = arith.addf %erf55, %one : tensor<64x1024xf32>
  %halved55 = arith.mulf %wide55, %half : tensor<64x1024xf32>
  %gelu55 = arith.mulf %halved55, %gate55 : tensor<64x1024xf32>
  %y55 = arith.truncf %gelu55 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide56 = arith.extf %x56 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled56 = arith.mulf %wide56, %root_half : tensor<64x1024xf32>
  %erf56 = math.erf %scaled56 : tensor<64x1024xf32>
  %gate56 = arith.addf %erf56, %one : tensor<64x1024xf32>
  %halved56 = arith.mulf %wide56, %half : tensor<64x1024xf32>
  %gelu56 = arith.mulf %halved56, %gate56 : tensor<64x1024xf32>
  %y56 = arith.truncf %gelu56 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide57 = arith.extf %x57 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled57 = arith.mulf %wide57, %root_half : tensor<64x1024xf32>
  %erf57 = math.erf %scaled57 : tensor<64x1024xf32>
  %gate57 = arith.addf %erf57, %one : tensor<64x1024xf32>
  %halved57 = arith.mulf %wide57, %half : tensor<64x1024xf32>
  %gelu57 = arith.mulf %halved57, %gate57 : tensor<64x1024xf32>
  %y57 = arith.truncf %gelu57 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide58 = arith.extf %x58 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled58 = arith.mulf %wide58, %root_half : tensor<64x1024xf32>
  %erf58 = math.erf %scaled58 : tensor<64x1024xf32>
  %gate58 = arith.addf %erf58, %one : tensor<64x1024xf32>
  %halved58 = arith.mulf %wide58, %half : tensor<64x1024xf32>
  %gelu58 = arith.mulf %halved58, %gate58 : tensor<64x1024xf32>
  %y58 = arith.truncf %gelu58 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide59 = arith.extf %x59 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled59 = arith.mulf %wide59, %root_half : tensor<64x1024xf32>
  %erf59 = math.erf %scaled59 : tensor<64x1024xf32>
  %gate59 = arith.addf %erf59, %one : tensor<64x1024xf32>
  %halved59 = arith.mulf %wide59, %half : tensor<64x1024xf32>
  %gelu59 = arith.mulf %halved59, %gate59 : tensor<64x1024xf32>
  %y59 = arith.truncf %gelu59 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide60 = arith.extf %x60 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled60 = arith.mulf %wide60, %root_half : tensor<64x1024xf32>
  %erf60 = math.erf %scaled60 : tensor<64x1024xf32>
  %gate60 = arith.addf %erf60, %one : tensor<64x1024xf32>
  %halved60 = arith.mulf %wide60, %half : tensor<64x1024xf32>
  %gelu60 = arith.mulf %halved60, %gate60 : tensor<64x1024xf32>
  %y60 = arith.truncf %gelu60 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide61 = arith.extf %x61 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled61 = arith.mulf %wide61, %root_half : tensor<64x1024xf32>
  %erf61 = math.erf %scaled61 : tensor<64x1024xf32>
  %gate61 = arith.addf %erf61, %one : tensor<64x1024xf32>
  %halved61 = arith.mulf %wide61, %half : tensor<64x1024xf32>
  %gelu61 = arith.mulf %halved61, %gate61 : tensor<64x1024xf32>
  %y61 = arith.truncf %gelu61 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide62 = arith.extf %x62 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled62 = arith.mulf %wide62, %root_half : tensor<64x1024xf32>
  %erf62 = math.erf %scaled62 : tensor<64x1024xf32>
  %gate62 = arith.addf %erf62, %one : tensor<64x1024xf32>
  %halved62 = arith.mulf %wide62, %half : tensor<64x1024xf32>
  %gelu62 = arith.mulf %halved62, %gate62 : tensor<64x1024xf32>
  %y62 = arith.truncf %gelu62 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  %wide63 = arith.extf %x63 : tensor<64x1024xbf16> to tensor<64x1024xf32>
  %scaled63 = arith.mulf %wide63, %root_half : tensor<64x1024xf32>
  %erf63 = math.erf %scaled63 : tensor<64x1024xf32>
  %gate63 = arith.addf %erf63, %one : tensor<64x1024xf32>
  %halved63 = arith.mulf %wide63, %half : tensor<64x1024xf32>
  %gelu63 = arith.mulf %halved63, %gate63 : tensor<64x1024xf32>
  %y63 = arith.truncf %gelu63 : tensor<64x1024xf32> to tensor<64x1024xbf16>
  return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7,
         %y8, %y9, %y10, %y11, %y12, %y13, %y14, %y15,
         %y16, %y17, %y18, %y19, %y20, %y21, %y22, %y23,
         %y24, %y25, %y26, %y27, %y28, %y29, %y30, %y31,
         %y32, %y33, %y34, %y35, %y36, %y37, %y38, %y39,
         %y40, %y41, %y42, %y43, %y44, %y45, %y46, %y47,
         %y48, %y49, %y50, %y51, %y52, %y53, %y54, %y55,
         %y56, %y57, %y58, %y59, %y60, %y61, %y62, %y63
      : tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>,
        tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>, tensor<64x1024xbf16>
}
