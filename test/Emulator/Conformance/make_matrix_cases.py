#!/usr/bin/env python3
#===- make_matrix_cases.py - Kernels of matrix instructions ---------------===//
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===//
#
# Writes matrix.ptx and wgmma.ptx with their manifests: one kernel for each
# form of a matrix instruction. A block loads fragments from buffers, lane by
# lane, uses the instruction once and stores what it leaves.
#
#===-----------------------------------------------------------------------===//

import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))
BITS = dict(f16=16, bf16=16, tf32=32, f64=64, s8=8, u8=8, e4m3=8, e5m2=8,
            f32=32, s32=32)
# How a manifest calls the elements.
ELEMENT = dict(tf32='f32')
HEADER = '.version 8.7\n.target sm_90a\n.address_size 64\n'


class Module:

    def __init__(self, name, comment):
        self.name = name
        self.ptx = HEADER
        self.cases = f'# {comment}\n# Made by make_matrix_cases.py.\n' \
            f'ptx {name}.ptx\n'

    def case(self, kernel, grid, block, shared, arguments):
        self.cases += f'kernel {kernel}\n  grid {grid}\n  block {block}\n'
        if shared:
            self.cases += f'  shared {shared}\n'
        for argument in arguments:
            self.cases += f'  arg {argument}\n'

    def write(self):
        open(self.name + '.ptx', 'w').write(self.ptx)
        open(self.name + '.cases', 'w').write(self.cases)


def registers(type, elements):
    """Registers of a lane that hold this many elements."""
    return elements if BITS[type] == 64 else max(1, elements * BITS[type] // 32)


def vector(name, count):
    return '{' + ', '.join(f'%{name}{i}' for i in range(count)) + '}'


def fills(a, b, d):
    """What A, B and C hold, from case to case."""
    if d == 's32':
        return [('random', 'random', 'random'),
                ('bits', 'bits', 'uniform 2147400000 2147483647'),
                ('bits', 'bits', 'uniform -2147483648 -2147400000')]
    some = [('uniform -2 2', 'uniform -2 2', 'uniform -4 4'),
            ('bits', 'bits', 'bits'),
            ('bits', 'uniform -1 1', 'bits'),
            ('uniform -1 1', 'uniform 0 1', 'uniform -1000 1000'),
            ('random', 'random', 'random')]
    if a in ('bf16', 'tf32'):
        # Products about the least float: 2^-149 is 1.4e-45.
        some += [('uniform -1e-22 1e-22', 'uniform -1e-22 1e-22', 'const 0'),
                 ('uniform -1e-20 1e-20', 'uniform -1e-21 1e-21',
                  'uniform -1e-41 1e-41')]
    if a in ('f16', 'e5m2'):
        some += [('uniform -0.0001 0.0001', 'uniform -0.0001 0.0001',
                  'const 0')]
    return some


def mma(module, m, k, d, a, b, option=''):
    counts = registers(a, m * k // 32), registers(b, k * 8 // 32), \
        registers(d, m * 8 // 32)
    bits, size = ('b64', 8) if a == 'f64' else ('b32', 4)
    name = f'mma_m{m}n8k{k}_{d}_{a}_{b}' + option.replace('.', '_')
    text = f'.visible .entry {name}(.param .u64 pd, .param .u64 pa,\n' \
        '.param .u64 pb, .param .u64 pc)\n.reqntid 32\n{\n' \
        f'.reg .b64 %p;\n.reg .b32 %t<3>;\n' \
        f'.reg .{bits} %a<{counts[0]}>, %b<{counts[1]}>, %c<{counts[2]}>, ' \
        f'%d<{counts[2]}>;\n' \
        'mov.u32 %t0, %ctaid.x;\nmov.u32 %t1, %tid.x;\n' \
        'mad.lo.u32 %t2, %t0, 32, %t1;\n'
    for x, count in zip('abc', counts):
        text += f'ld.param.u64 %p, [p{x}];\n' \
            f'mad.wide.u32 %p, %t2, {count * size}, %p;\n'
        for r in range(count):
            text += f'ld.global.{bits} %{x}{r}, [%p+{r * size}];\n'
    text += f'mma.sync.aligned.m{m}n8k{k}.row.col{option}.{d}.{a}.{b}.{d}\n' \
        f'{vector("d", counts[2])}, {vector("a", counts[0])}, ' \
        f'{vector("b", counts[1])}, {vector("c", counts[2])};\n' \
        f'ld.param.u64 %p, [pd];\nmad.wide.u32 %p, %t2, {counts[2] * size}, ' \
        '%p;\n'
    for r in range(counts[2]):
        text += f'st.global.{bits} [%p+{r * size}], %d{r};\n'
    module.ptx += text + 'ret;\n}\n'
    grid = 48
    for fill in fills(a, b, d):
        arguments = []
        for x, type, count, how in (('d', d, counts[2], ''),
                                    ('a', a, counts[0], fill[0]),
                                    ('b', b, counts[1], fill[1]),
                                    ('c', d, counts[2], fill[2])):
            total = grid * 32 * count * size * 8 // BITS[type]
            arguments.append(f'{x} {ELEMENT.get(type, type)}[{total}] {how}')
        module.case(name, grid, 32, 0, arguments)


def move(module, count, transposed, isStore):
    """ldmatrix or stmatrix of `count` matrices by way of plain accesses."""
    instruction = 'stmatrix' if isStore else 'ldmatrix'
    trans = '.trans' if transposed else ''
    name = f'{instruction}_x{count}' + trans.replace('.', '_')
    v = vector('r', count)
    text = f'.visible .entry {name}(.param .u64 pd, .param .u64 pa)\n' \
        '.reqntid 32\n{\n.reg .b64 %p;\n.reg .b32 %t, %x, %r<4>;\n' \
        '.shared .align 16 .b8 tile[512];\nmov.u32 %t, %tid.x;\n' \
        'ld.param.u64 %p, [pa];\nmad.wide.u32 %p, %t, 16, %p;\n' \
        'ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%p];\nmov.u32 %x, tile;\n' \
        'mad.lo.u32 %x, %t, 16, %x;\n' \
        'st.shared.v4.b32 [%x], {%r0, %r1, %r2, %r3};\nbar.sync 0;\n'
    operation = f'{instruction}.sync.aligned.m8n8.x{count}{trans}.shared.b16 '
    text += operation + (f'[%x], {v};\nbar.sync 0;\n'
                         'ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%x];\n'
                         if isStore else f'{v}, [%x];\n')
    text += 'ld.param.u64 %p, [pd];\nmad.wide.u32 %p, %t, 16, %p;\n' \
        'st.global.v4.b32 [%p], {%r0, %r1, %r2, %r3};\nret;\n}\n'
    module.ptx += text
    module.case(name, 1, 32, 0, ['d u32[128]', 'a u32[128] random'])


def transpose(module):
    module.ptx += '.visible .entry movmatrix(.param .u64 pd, .param .u64 pa)\n' \
        '.reqntid 32\n{\n.reg .b64 %p;\n.reg .b32 %t, %r<2>;\n' \
        'mov.u32 %t, %tid.x;\nld.param.u64 %p, [pa];\n' \
        'mad.wide.u32 %p, %t, 4, %p;\nld.global.b32 %r0, [%p];\n' \
        'movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;\n' \
        'ld.param.u64 %p, [pd];\nmad.wide.u32 %p, %t, 4, %p;\n' \
        'st.global.b32 [%p], %r1;\nret;\n}\n'
    module.case('movmatrix', 1, 32, 0, ['d u32[32]', 'a u32[32] random'])


TILE = '.extern .shared .align 1024 .b8 tile[];\n'
ISSUE = 'wgmma.commit_group.sync.aligned;\n' \
    'wgmma.wait_group.sync.aligned 0;\n'


def multiplyGroup(n, k, d, a, b, option, operandA, tail):
    return 'wgmma.fence.sync.aligned;\n' \
        f'wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{option}\n' \
        f'{vector("d", registers(d, n // 2))}, {operandA}, %db, 1{tail};\n' \
        + ISSUE


def wgmma(module, n, k, d, a, b, inRegisters=False, option='', signs=(1, 1)):
    """K-major operands without a swizzle; A may come from registers."""
    count = registers(d, n // 2)
    name = f'wgmma_m64n{n}k{k}_{d}_{a}_{b}' + ('_registers' if inRegisters else
                                               '')
    name += option.replace('.', '_') + ('_negated' if signs != (1, 1) else '')
    bytesB = n * 32
    text = f'.visible .entry {name}(.param .u64 pd, .param .u64 pa,\n' \
        '.param .u64 pb, .param .u64 pc)\n.reqntid 128\n{\n' \
        '.reg .b64 %p, %da, %db;\n.reg .b32 %t<6>;\n.reg .pred %q;\n' \
        f'.reg .b32 %a<4>, %x<4>, %d<{count}>;\n' \
        'mov.u32 %t0, %ctaid.x;\nmov.u32 %t1, %tid.x;\n' \
        'mad.lo.u32 %t2, %t0, 128, %t1;\nmov.u32 %t4, tile;\n' \
        'mad.lo.u32 %t3, %t1, 16, %t4;\n' \
        'ld.param.u64 %p, [pa];\nmad.wide.u32 %p, %t2, 16, %p;\n' \
        'ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n'
    if not inRegisters:
        text += 'st.shared.v4.b32 [%t3], {%a0, %a1, %a2, %a3};\n'
    text += f'ld.param.u64 %p, [pb];\nmad.wide.u32 %p, %t0, {bytesB}, %p;\n' \
        'mad.wide.u32 %p, %t1, 16, %p;\nmov.u32 %t5, %t1;\n' \
        f'LOOP: setp.ge.u32 %q, %t5, {bytesB // 16};\n@%q bra DONE;\n' \
        'ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%p];\n' \
        'st.shared.v4.b32 [%t3+2048], {%x0, %x1, %x2, %x3};\n' \
        'add.u64 %p, %p, 2048;\nadd.u32 %t3, %t3, 2048;\n' \
        'add.u32 %t5, %t5, 128;\nbra LOOP;\nDONE:\n' \
        f'ld.param.u64 %p, [pc];\nmad.wide.u32 %p, %t2, {count * 4}, %p;\n'
    for r in range(count):
        text += f'ld.global.b32 %d{r}, [%p+{4 * r}];\n'
    # Leading offset 128, stride 256.
    text += 'fence.proxy.async.shared::cta;\nbar.sync 0;\n' \
        'shr.u32 %t4, %t4, 4;\ncvt.u64.u32 %da, %t4;\n' \
        f'or.b64 %da, %da, {16 << 32 | 8 << 16};\nadd.u64 %db, %da, 128;\n'
    tail = ''
    if d != 's32':
        tail += f', {signs[0]}, {signs[1]}'
    if BITS[a] == 16:
        tail += ', 0' if inRegisters else ', 0, 0'
    text += multiplyGroup(n, k, d, a, b, option,
                          vector('a', 4) if inRegisters else '%da', tail)
    text += f'ld.param.u64 %p, [pd];\nmad.wide.u32 %p, %t2, {count * 4}, %p;\n'
    for r in range(count):
        text += f'st.global.b32 [%p+{4 * r}], %d{r};\n'
    module.ptx += text + 'ret;\n}\n'
    grid = 16
    for fill in fills(a, b, d):
        arguments = []
        for x, type, bytes, how in (('d', d, count * 512, ''),
                                    ('a', a, 2048, fill[0]),
                                    ('b', b, bytesB, fill[1]),
                                    ('c', d, count * 512, fill[2])):
            total = grid * bytes * 8 // BITS[type]
            arguments.append(f'{x} {ELEMENT.get(type, type)}[{total}] {how}')
        module.case(name, grid, 128, 2048 + bytesB, arguments)


def layout(module, type, k, d, transA, transB, descriptors):
    """Operands anywhere in 48 KiB of shared memory, by descriptors."""
    n = 64
    count = registers(d, n // 2)
    name = f'layout_{type}' + ('_ta' if transA else '') + ('_tb' if transB else
                                                           '')
    text = f'.visible .entry {name}(.param .u64 pd, .param .u64 pa,\n' \
        '.param .u64 da, .param .u64 db)\n.reqntid 128\n{\n' \
        '.reg .b64 %p, %da, %db;\n.reg .b32 %t<6>;\n.reg .pred %q;\n' \
        f'.reg .b32 %x<4>, %d<{count}>;\n' \
        'mov.u32 %t1, %tid.x;\nmov.u32 %t4, tile;\n' \
        'mad.lo.u32 %t3, %t1, 16, %t4;\nld.param.u64 %p, [pa];\n' \
        'mad.wide.u32 %p, %t1, 16, %p;\nmov.u32 %t5, 0;\n' \
        'LOOP: ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%p];\n' \
        'st.shared.v4.b32 [%t3], {%x0, %x1, %x2, %x3};\n' \
        'add.u64 %p, %p, 2048;\nadd.u32 %t3, %t3, 2048;\n' \
        'add.u32 %t5, %t5, 1;\nsetp.lt.u32 %q, %t5, 24;\n@%q bra LOOP;\n' \
        'shr.u32 %t4, %t4, 4;\ncvt.u64.u32 %p, %t4;\n' \
        'ld.param.u64 %da, [da];\nadd.u64 %da, %da, %p;\n' \
        'ld.param.u64 %db, [db];\nadd.u64 %db, %db, %p;\n'
    for r in range(count):
        text += f'mov.b32 %d{r}, 0;\n'
    tail = '' if d == 's32' else ', 1, 1'
    if BITS[type] == 16:
        tail += f', {transA}, {transB}'
    text += 'fence.proxy.async.shared::cta;\nbar.sync 0;\n'
    text += multiplyGroup(n, k, d, type, type, '', '%da', tail)
    text += f'ld.param.u64 %p, [pd];\nmad.wide.u32 %p, %t1, {count * 4}, %p;\n'
    for r in range(count):
        text += f'st.global.b32 [%p+{4 * r}], %d{r};\n'
    module.ptx += text + 'ret;\n}\n'
    element = ELEMENT.get(type, type)
    for a, b in descriptors:
        module.case(name, 1, 128, 49152, [
            f'd {d}[{128 * count * 32 // BITS[d]}]',
            f'a {element}[{49152 * 8 // BITS[type]}] uniform -8 8',
            f'da u64 {a}', f'db u64 {b}'])


def descriptor(start, leading, stride, base=0, swizzle=0):
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    return start // 16 | leading // 16 << 16 | stride // 16 << 32 | base << 49 \
        | mode << 62


def main():
    module = Module('matrix', 'mma.sync, ldmatrix, stmatrix and movmatrix.')
    for k in (8, 16):
        mma(module, 16, k, 'f16', 'f16', 'f16')
        mma(module, 16, k, 'f32', 'f16', 'f16')
        mma(module, 16, k, 'f32', 'bf16', 'bf16')
    for k in (4, 8):
        mma(module, 16, k, 'f32', 'tf32', 'tf32')
    mma(module, 8, 4, 'f64', 'f64', 'f64')
    for k in (4, 8, 16):
        mma(module, 16, k, 'f64', 'f64', 'f64')
    for m, k in ((8, 16), (16, 16), (16, 32)):
        mma(module, m, k, 's32', 's8', 'u8')
        mma(module, m, k, 's32', 'u8', 's8')
        mma(module, m, k, 's32', 's8', 's8', '.satfinite')
        mma(module, m, k, 's32', 'u8', 'u8', '.satfinite')
    for k in (16, 32):
        for d in ('f32', 'f16'):
            mma(module, 16, k, d, 'e4m3', 'e4m3')
            mma(module, 16, k, d, 'e4m3', 'e5m2')
            mma(module, 16, k, d, 'e5m2', 'e4m3')
            mma(module, 16, k, d, 'e5m2', 'e5m2')
    for isStore in (False, True):
        for count in (1, 2, 4):
            for transposed in (False, True):
                move(module, count, transposed, isStore)
    transpose(module)
    module.write()

    module = Module('wgmma', 'wgmma in every type, and matrix descriptors.')
    module.ptx += TILE
    for d in ('f32', 'f16'):
        wgmma(module, 8, 16, d, 'f16', 'f16')
        wgmma(module, 8, 16, d, 'f16', 'f16', True)
        wgmma(module, 8, 32, d, 'e4m3', 'e4m3')
        wgmma(module, 8, 32, d, 'e4m3', 'e5m2', True)
        wgmma(module, 8, 32, d, 'e5m2', 'e4m3')
        wgmma(module, 8, 32, d, 'e5m2', 'e5m2', True)
    wgmma(module, 8, 16, 'f32', 'bf16', 'bf16')
    wgmma(module, 24, 16, 'f32', 'bf16', 'bf16', True)
    wgmma(module, 8, 8, 'f32', 'tf32', 'tf32')
    wgmma(module, 16, 8, 'f32', 'tf32', 'tf32', True)
    wgmma(module, 8, 16, 'f32', 'f16', 'f16', signs=(-1, 1))
    wgmma(module, 8, 16, 'f16', 'f16', 'f16', True, signs=(1, -1))
    wgmma(module, 256, 16, 'f32', 'bf16', 'bf16')
    wgmma(module, 16, 32, 's32', 's8', 's8')
    wgmma(module, 16, 32, 's32', 's8', 'u8', True)
    wgmma(module, 16, 32, 's32', 'u8', 's8', option='.satfinite')
    wgmma(module, 32, 32, 's32', 'u8', 'u8', True, option='.satfinite')
    kMajor = [
        (descriptor(0, 128, 256), descriptor(4096, 1024, 128)),
        (descriptor(4112, 2048, 144), descriptor(96, 272, 528)),
        (descriptor(1024, 16, 256, swizzle=32), descriptor(8192, 16, 512, 0,
                                                           64)),
        (descriptor(0, 16, 1024, swizzle=128), descriptor(8192, 16, 1024, 0,
                                                          128)),
        (descriptor(32, 16, 1024, swizzle=128), descriptor(8288, 16, 1024, 0,
                                                           128)),
        (descriptor(384, 16, 1024, 3, 128), descriptor(8832, 16, 1024, 5, 128)),
        (descriptor(640, 16, 528, 5, 64), descriptor(9136, 16, 304, 1, 32)),
        (descriptor(2160, 16, 1040, 7, 128), descriptor(16, 16, 912, 2, 64))]
    mnMajor = [
        (descriptor(0, 1024, 128), descriptor(4096, 2048, 144)),
        (descriptor(0, 2048, 1024, swizzle=128), descriptor(8192, 2048, 1024, 0,
                                                            128)),
        (descriptor(1024, 1024, 512, swizzle=64), descriptor(8192, 512, 256, 0,
                                                             32)),
        (descriptor(384, 1040, 1024, 3, 128), descriptor(9136, 304, 912, 5,
                                                         64)),
        (descriptor(2048, 1040, 528, 1, 32), descriptor(80, 912, 1024, 6, 128))]
    mixed = [(a, b) for a, b in zip(
        [x[0] for x in kMajor], [x[1] for x in mnMajor * 2])]
    layout(module, 'bf16', 16, 'f32', 0, 0, kMajor)
    layout(module, 'bf16', 16, 'f32', 1, 1, mnMajor)
    layout(module, 'bf16', 16, 'f32', 0, 1, mixed)
    layout(module, 'f16', 16, 'f16', 1, 0, [(b, a) for a, b in mixed])
    layout(module, 'tf32', 8, 'f32', 0, 0, kMajor)
    layout(module, 'e4m3', 32, 'f32', 0, 0, kMajor)
    layout(module, 's8', 32, 's32', 0, 0, kMajor)
    module.write()


main()
