"""Prints how many seconds JAX takes to parse and verify each StableHLO text, one a line.

Usage: python time_parse.py FILE...
"""
import sys
import time

from jax._src.interpreters import mlir
from jaxlib.mlir import ir


def main():
    context = mlir.make_ir_context()
    with context, ir.Location.unknown(context):
        # The first text that a context reads loads what all others use.
        ir.Module.parse("func.func @f(%x: tensor<f32>) { %0 = stablehlo.add %x, %x : tensor<f32> return }")
        for path in sys.argv[1:]:
            with open(path) as file:
                text = file.read()
            start = time.perf_counter()
            module = ir.Module.parse(text)
            print(f"{time.perf_counter() - start:.6f}", flush=True)
            del module


main()
