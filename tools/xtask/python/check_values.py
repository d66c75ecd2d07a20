"""Checks that stored results of StableHLO programs are what XLA computes for JAX today.

Usage: python check_values.py TEXT VALUES.npz [TEXT VALUES.npz ...]

Integers and truth values must be equal; floats may differ by what the same functions differ by between processors.
"""
import gzip
import sys

from evaluate import SEPARATOR, evaluate, head, parse, stored

import ml_dtypes
import numpy as np


def text_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        return file.read()


def differences(program, values):
    """What is wrong with the values of a program."""
    name, notes = head(program)
    if "not stored" in notes:
        return
    module, types = parse(program)
    arguments = [values[f"{name}/arg{number}"].astype(dtype) for number, (_, dtype) in enumerate(types)]
    for number, result in enumerate(evaluate(module, arguments)):
        key = f"{name}/res{number}"
        expected, came = values[key], stored(result)
        if came.dtype != expected.dtype or came.shape != expected.shape:
            yield f"{key}: {expected.dtype}{expected.shape} is stored, {came.dtype}{came.shape} came"
        elif came.dtype.kind not in "fc":
            if not np.array_equal(came, expected):
                yield f"{key}: {expected} is stored, {came} came"
        else:
            # What the narrow types are stored in is wider.
            unit = 64 * float(ml_dtypes.finfo(result.dtype).eps)
            if not np.allclose(came, expected, rtol=unit, atol=unit, equal_nan=True):
                yield f"{key}: {expected} is stored, {came} came"


def main():
    wrong = count = 0
    for path, archive in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        with np.load(archive) as file:
            values = dict(file)
        for program in text_of(path).split(SEPARATOR):
            count += 1
            for difference in differences(program, values):
                print(difference)
                wrong += 1
    print(f"{count} programs run by JAX, {wrong} of their results are not what is stored")
    sys.exit(wrong > 0)


main()
