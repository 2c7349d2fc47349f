# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's own operations on tensors, as operations of the compiler.

The text is that of torch-mlir-opt, whose form does not vary: operations and
the ends of their regions have lines of their own.
"""

import re

_SCAN = re.compile(
    r"^(?P<indent> *)%(?P<name>\w+):2 = tm_tensor\.scan "
    r"dimension\((?P<axis>\d+)\) inclusive\(true\) "
    r"ins\((?P<input>%[\w#]+) : (?P<type>tensor<[^>]*>)\) "
    r"outs\(%[\w#]+, (?P<state>%[\w#]+) : [^)]*\) \{\n"
    r"(?P<body>.*?)"
    r"^(?P=indent)\} -> tensor<[^>]*>, tensor<[^>]*>(?P<loc>[^\n]*)$",
    re.M | re.S)


def map_scans(text):
    """`tm_tensor.scan` becomes `fusion.scan` where only the sums are used, not
    the last of them, and the initial state is one number."""
    def rewrite(match):
        name, state = match.group("name"), re.escape(match.group("state"))
        init = re.search(rf"^ *{state} = linalg\.fill ins\((%\w+ : \w+)\)",
                         text, re.M)
        if init is None or re.search(rf"%{name}#1\b", text):
            return match.group(0)
        mapped.add(name)
        body = match.group("body").replace("tm_tensor.yield", "fusion.yield")
        return (f"{match.group('indent')}%{name} = fusion.scan "
                f"ins({match.group('input')} : {match.group('type')}) "
                f"inits({init.group(1)}) axis({match.group('axis')}) -> "
                f"{match.group('type')} {{\n{body}{match.group('indent')}}}"
                f"{match.group('loc')}")

    mapped = set()
    result = _SCAN.sub(rewrite, text)
    for name in mapped:
        result = re.sub(rf"%{name}#0\b", f"%{name}", result)
    return result
