"""A StableHLO program, compiled by XLA for several devices."""
import jax
import ml_dtypes
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy

from hlo import collectives

DTYPES = {"i1": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
DTYPES |= {"complex<f32>": np.complex64, "complex<f64>": np.complex128}
for bits in (8, 16, 32, 64):
    DTYPES |= {f"i{bits}": np.dtype(f"int{bits}"), f"ui{bits}": np.dtype(f"uint{bits}")}


class Program:
    """A program on devices in the order of its mesh."""

    def __init__(self, text, axes, devices):
        self.devices = devices
        # Integers of 64 bits are what they are.
        jax.config.update("jax_enable_x64", True)
        shape = tuple(size for _, size in axes)
        self.mesh = Mesh(np.array(devices).reshape(shape or (len(devices),)), tuple(name for name, _ in axes) or ("x",))
        context = mlir.make_ir_context()
        with context, ir.Location.unknown(context):
            module = ir.Module.parse(text)
            functions = [op for op in module.body.operations if op.operation.name == "func.func"]
            main = next((op for op in functions if op.name.value == "main"), functions[0])
            # XLA begins with the function of this name.
            main.attributes["sym_name"] = ir.StringAttr.get("main")
            main.attributes["sym_visibility"] = ir.StringAttr.get("public")
            self.arguments = self.types(main, "arg_attrs", main.type.inputs)
            self.results = self.types(main, "res_attrs", main.type.results)
            code = mlir.module_to_bytecode(module)
        placement = np.array([[device.id for device in devices]])
        compile_options = compiler.get_compile_options(
            num_replicas=1, num_partitions=len(devices), device_assignment=placement
        )
        build = compile_options.executable_build_options
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
        build.allow_spmd_sharding_propagation_to_parameters = [False] * len(self.arguments)
        build.allow_spmd_sharding_propagation_to_output = [False] * len(self.results)
        self.executable = devices[0].client.compile_and_load(code, _jax.DeviceList(tuple(devices)), compile_options)
        self.hlo = self.executable.hlo_modules()[0].to_string()

    def types(self, function, list_name, types):
        """Shape, dtype and sharding of each argument or result, and its shape without padding."""
        attributes = function.attributes[list_name] if list_name in function.attributes else [{}] * len(types)
        found = []
        for ty, own in zip(types, attributes):
            ty = ir.RankedTensorType(ty)
            spec = [None] * ty.rank
            if "sdy.sharding" in own:
                sharding = sdy.TensorShardingAttr(own["sdy.sharding"])
                for number, dim in enumerate(sharding.dimension_shardings):
                    axes = sdy.DimensionShardingAttr(dim).axes
                    spec[number] = tuple(sdy.AxisRefAttr(axis).name for axis in axes) or None
            sharding = NamedSharding(self.mesh, PartitionSpec(*spec))
            extents = own["tofu.extents"] if "tofu.extents" in own else ty.shape
            extents = tuple(int(getattr(extent, "value", extent)) for extent in extents)
            found.append((tuple(ty.shape), np.dtype(DTYPES[str(ty.element_type)]), sharding, extents))
        return found

    def figures(self):
        """What the compiled program sends and holds on a device."""
        memory = self.executable.get_compiled_memory_stats()
        found = collectives(self.hlo, len(self.devices))
        return {
            "collectives": {kind: (count, max(sent)) for kind, (count, sent) in found.items()},
            # Of the device that sends most.
            "sent_bytes": max(map(sum, zip(*(sent for _, sent in found.values()))), default=0),
            "argument_bytes": memory.argument_size_in_bytes,
            "output_bytes": memory.output_size_in_bytes,
            "alias_bytes": memory.alias_size_in_bytes,
            "temp_bytes": memory.temp_size_in_bytes,
        }

    def drawn(self, seed):
        """Arguments: floats of the size of weights, small integers that are indices, too."""
        rng = np.random.default_rng(seed)

        def one(shape, dtype):
            if dtype == np.bool_:
                return rng.random(shape) < 0.5
            if np.issubdtype(dtype, np.integer):
                return rng.integers(0, 2, shape).astype(dtype)
            return (0.02 * rng.standard_normal(shape)).astype(dtype)

        return [one(extents, dtype) for _, dtype, _, extents in self.arguments]

    def placed(self, arrays):
        """Arrays on the devices, each as the program wants it."""

        def one(array, shape, dtype, sharding, extents):
            array = np.asarray(array).astype(dtype).reshape(extents)
            array = np.pad(array, [(0, whole - own) for whole, own in zip(shape, extents)])
            return jax.make_array_from_callback(shape, sharding, lambda index: array[index])

        return [one(array, *ty) for array, ty in zip(arrays, self.arguments, strict=True)]

    def run(self, arguments):
        """The results, when all of them are there."""
        results = self.executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        made = []
        for buffers, (shape, _, sharding, _) in zip(results, self.results, strict=True):
            made.append(jax.make_array_from_single_device_arrays(shape, sharding, buffers))
        return jax.block_until_ready(made)
