"""Compares StableHLO texts in pairs, as JAX reads and prints them: the two of a pair must be the same program.

Usage: python compare_stablehlo.py ONE OTHER [ONE OTHER ...]
"""
import difflib
import sys

from jax._src.interpreters import mlir
from jaxlib.mlir import ir


def printed(path):
    with open(path) as file:
        return str(ir.Module.parse(file.read()))


def main():
    paths = sys.argv[1:]
    context = mlir.make_ir_context()
    different = 0
    with context, ir.Location.unknown(context):
        for one, other in zip(paths[::2], paths[1::2]):
            try:
                lines = [printed(path).splitlines() for path in (one, other)]
            except ir.MLIRError as error:
                print(f"{one}: {error}")
                different += 1
                continue
            if lines[0] != lines[1]:
                difference = difflib.unified_diff(*lines, fromfile=one, tofile=other, lineterm="", n=0)
                print("\n".join(list(difference)[:40]))
                different += 1
    print(f"{len(paths) // 2} programs read by JAX, {different} of them wrong")
    sys.exit(different > 0)


main()
