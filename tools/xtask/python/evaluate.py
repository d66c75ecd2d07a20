"""Runs StableHLO texts on the CPU, as XLA compiles them for JAX, on arrays of NumPy."""
import os
import zlib

# As StableHLO says it: every op rounds, though a sequence of them could do without. Without optimizations this takes half
# the time, and instructions that round once for two ops are not made up.
os.environ["XLA_FLAGS"] = (
    "--xla_allow_excess_precision=false --xla_backend_optimization_level=0 "
    "--xla_force_host_platform_device_count=8"
)

import jax
import ml_dtypes
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)

SEPARATOR = "// -----\n"

DTYPES = {
    "i1": np.bool_,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    "bf16": ml_dtypes.bfloat16,
    "i2": ml_dtypes.int2,
    "i4": ml_dtypes.int4,
    "ui2": ml_dtypes.uint2,
    "ui4": ml_dtypes.uint4,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}
for bits in (8, 16, 32, 64):
    DTYPES[f"i{bits}"] = np.dtype(f"int{bits}")
    DTYPES[f"ui{bits}"] = np.dtype(f"uint{bits}")


def parse(text):
    """The module in a text, and the types of the arguments of its main function as pairs of shape and dtype."""
    context = mlir.make_ir_context()
    with context, ir.Location.unknown(context):
        module = ir.Module.parse(text)
        functions = [op for op in module.body.operations if op.operation.name == "func.func"]
        main = next((op for op in functions if op.name.value == "main"), functions[0])
        inputs = [ir.RankedTensorType(ty) for ty in main.type.inputs]
        return module, [(tuple(ty.shape), np.dtype(DTYPES[str(ty.element_type)])) for ty in inputs]


def evaluate(module, arguments):
    """The results of a module for arrays."""
    with module.context, ir.Location.unknown(module.context):
        code = mlir.module_to_bytecode(module)
    device = jax.local_devices()[0]
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    executable = device.client.compile_and_load(code, _jax.DeviceList((device,)), options)
    results = executable.execute([jax.device_put(argument, device) for argument in arguments])
    return [np.asarray(result) for result in results]


def draw(name, shape, dtype):
    """The values of an argument that nothing more is said of: the same for a name in every run."""
    rng = np.random.RandomState(zlib.crc32(name.encode()))
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        values = rng.rand(*shape) > 0.5
    elif dtype.kind == "c":
        values = rng.randn(*shape) + 1j * rng.randn(*shape)
    elif dtype in INTEGERS:
        values = rng.randint(-5, 9, shape)
    else:
        values = rng.randn(*shape)
    return np.asarray(values).astype(dtype)


INTEGERS = {np.dtype(DTYPES[name]) for name in DTYPES if name.lstrip("u").startswith("i")}


def stored(array):
    """The array in which NumPy stores one of another element type."""
    array = np.asarray(array)
    if array.dtype in [DTYPES[name] for name in ("i2", "i4")]:
        return array.astype(np.int8)
    if array.dtype in [DTYPES[name] for name in ("ui2", "ui4")]:
        return array.astype(np.uint8)
    is_native = array.dtype.kind in "biufc" and array.dtype.isbuiltin == 1
    return array if is_native else array.astype(np.float32)


def head(program):
    """The name of a program, the first of the comments before it, and what the others say, each a key and a text."""
    lines = []
    for line in program.splitlines():
        if not line.startswith("// "):
            break
        lines.append(line[3:])
    return lines[0], dict(line.split(": ", 1) for line in lines[1:])
