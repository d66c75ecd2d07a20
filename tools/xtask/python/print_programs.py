"""Prints small programs as StableHLO, nearly one for each primitive of JAX, into one compressed file, and stores what
they compute.

Usage: python print_programs.py testdata/inputs/values

It writes `jax.mlir.gz`, and `jax.npz` with the arguments `NAME/arg0`, … and the results `NAME/res0`, … of each program;
and `written.npz` with those of the programs in `written.mlir`, which JAX does not print. Comments before a program say
its name, why its results are not stored (`not stored: …`), and how many units in the last place of 1 they may be off,
relative or absolute, where that is not what its element types suggest (`rounding: 100, …`).
"""
import gzip
import re
import sys
from pathlib import Path

from evaluate import SEPARATOR, draw, evaluate, head, parse, stored

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax, shard_map
from jax._src.lax.lax import eq_to_p, le_to_p, lt_to_p
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

# Locations name files without their directories.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

programs = {}
# Of programs whose arguments are not all drawn.
given = {}


def add(name, function, *arguments, debug=False, rounding=None, **options):
    """Prints a function. Arguments are types, whose values are drawn, or values."""
    assert name not in programs, name
    lowered = jax.jit(function, keep_unused=True, **options).lower(*arguments)
    text = lowered.as_text(debug_info=debug)
    if not rounding and re.search(r"stablehlo\.(dot_general|convolution|fft)\b", text):
        rounding = SUMS
    note = f"// rounding: {rounding}\n" if rounding else ""
    programs[name] = f"// {name}\n{note}{text}"
    given[name] = jax.tree.leaves(arguments)


def tensor(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


X, V, M, S = tensor(4, 6), tensor(6), tensor(6, 6), tensor()
C = tensor(4, 6, dtype=jnp.complex64)
I = tensor(4, 6, dtype=jnp.int32)
B = tensor(4, 6, dtype=jnp.bool_)
N = tensor(dtype=jnp.int32)
J = tensor(3, dtype=jnp.int32)
KEY = tensor(2, dtype=jnp.uint32)
F32 = jnp.float32
SUMS = "100, sums in another order"


def elementwise():
    for name in (
        "abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos cosh digamma erf erf_inv erfc exp "
        "exp2 expm1 floor is_finite lgamma log log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh"
    ).split():
        add(name, getattr(lax, name), X, rounding=SERIES if name in ("digamma", "lgamma") else None)
    for name in (
        "abs acos asinh atan conj cos exp expm1 imag log log1p logistic neg real rsqrt sign sin sqrt square tan tanh"
    ).split():
        add(f"complex_{name}", getattr(lax, name), C)
    for name in "abs bitwise_not clz neg population_count sign".split():
        add(f"integer_{name}", getattr(lax, name), I)
    for name in (
        "add atan2 complex div eq ge gt le lt max min mul ne nextafter pow rem sub zeta polygamma igamma"
    ).split():
        add(name, getattr(lax, name), X, X)
    for name in (
        "add bitwise_and bitwise_or bitwise_xor div eq lt max rem shift_left shift_right_arithmetic "
        "shift_right_logical"
    ).split():
        add(f"integer_{name}", getattr(lax, name), I, I)
    for name in "bitwise_and bitwise_or eq max".split():
        add(f"boolean_{name}", getattr(lax, name), B, B)
    add("clamp", lambda a: jnp.clip(a, -1.0, 1.0), X)
    add("clamp_tensors", lax.clamp, X, X, X)
    add("select_n", lambda k, a, b, c: lax.select_n(k, a, b, c), I, X, X, X)
    add("where", jnp.where, B, X, X)
    add("where_booleans", jnp.where, B, B, B)
    add("reduce_precision", lambda a: lax.reduce_precision(a, 5, 10), X)
    add("bitcast", lambda a: lax.bitcast_convert_type(a, jnp.int32), X)
    add("bitcast_to_bytes", lambda a: lax.bitcast_convert_type(a, jnp.uint8), X)


def element_types():
    for name in (
        "bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
        "complex64 complex128 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
        "float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn"
    ).split():
        dtype = getattr(jnp, "bool_" if name == "bool" else name)
        add(f"convert_{name}", lambda a: a.astype(dtype), X)
        # One type has no zero.
        constant = np.arange(6) % 2 + (name == "float8_e8m0fnu")
        add(f"constant_{name}", lambda a: a + jnp.array(constant, dtype).astype(F32), V)
        add(f"zeros_{name}", lambda: jnp.zeros((2, 3), dtype))
        if name != "bool":
            add(f"iota_{name}", lambda: lax.iota(dtype, 5))
    rng = np.random.RandomState(0)
    add("constant_large", lambda a: a + jnp.array(rng.randn(9, 9), F32), tensor(9, 9))
    add("constant_large_boolean", lambda a: jnp.where(jnp.array(rng.rand(9, 9) > 0.5), a, 0), tensor(9, 9))
    add("constant_large_complex", lambda a: a * jnp.array(rng.randn(9, 9) + 1j), tensor(9, 9))
    special = [np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38]
    add("constant_special", lambda a: a + jnp.array(special, F32), V)
    add("empty", lambda a: jnp.concatenate([a, jnp.zeros((0, 6), F32)]), X)
    add("scalars", lambda a, b: a * b, S, tensor(dtype=jnp.float64))


def reductions():
    for name in "sum prod max min mean std var".split():
        add(f"reduce_{name}", lambda a: getattr(jnp, name)(a, axis=0), X)
    for name in "any all".split():
        add(f"reduce_{name}", lambda a: getattr(jnp, name)(a, axis=0), B)
    add("reduce_xor", lambda a: lax.reduce_xor(a, (0,)), I)
    add("reduce_function", lambda a: lax.reduce(a, F32(1), lambda u, w: u * w + u, (1,)), X)
    add(
        "reduce_two",
        lambda a, b: lax.reduce(
            (a, b), (F32(0), np.int32(0)), lambda u, w: (u[0] + w[0], jnp.maximum(u[1], w[1])), (0,)
        ),
        X,
        I,
    )
    for name in "cumsum cumprod cummax cumlogsumexp".split():
        add(name, getattr(lax, name), X)
    add("argmax", lambda a: jnp.argmax(a, 1), X)
    add("argmin", jnp.argmin, X)
    add("sort", lambda a: jnp.sort(a, 0), X)
    add("sort_two", lambda a, b: lax.sort((a, b), num_keys=2), X, X)
    add("sort_complex", jnp.sort, C)
    add("argsort", jnp.argsort, X)
    add("top_k", lambda a: lax.top_k(a, 3), X)


def products():
    half = lambda *shape: tensor(*shape, dtype=jnp.bfloat16)
    dot = lambda a, b, **options: lax.dot_general(a, b, (((1,), (0,)), ((), ())), **options)
    add("dot", jnp.dot, X, tensor(6, 3))
    add("einsum", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), tensor(2, 3, 4), tensor(2, 4, 5))
    add("outer", lambda a: lax.dot_general(a, a, (((), ()), ((), ()))), V)
    add("dot_wider", lambda a, b: dot(a, b, preferred_element_type=F32, precision="highest"), half(4, 6), half(6, 3))
    add("dot_algorithm", lambda a, b: dot(a, b, precision=lax.DotAlgorithmPreset.BF16_BF16_F32), X, tensor(6, 3))
    bytes_ = lambda *shape: tensor(*shape, dtype=jnp.int8)
    add("dot_integers", lambda a, b: dot(a, b, preferred_element_type=jnp.int32), bytes_(4, 6), bytes_(6, 3))
    image, kernel = tensor(2, 8, 9, 4), tensor(3, 3, 4, 6)
    conv = lambda a, k, strides=(1, 1), padding="VALID", **options: lax.conv_general_dilated(
        a, k, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options
    )
    add("conv", lambda a, k: conv(a, k, (1, 2), "SAME"), image, kernel)
    dilations = dict(lhs_dilation=(2, 1), rhs_dilation=(1, 2))
    add("conv_dilated", lambda a, k: conv(a, k, padding=[(1, -1), (2, 0)], **dilations), image, kernel)
    add("conv_groups", lambda a, k: conv(a, k, feature_group_count=2), image, tensor(3, 3, 2, 6))
    add("conv_batch_groups", lambda a, k: conv(a, k, batch_group_count=2), image, kernel)
    add("conv_transpose", lambda a, k: lax.conv_transpose(a, k, (2, 2), "SAME"), image, kernel)
    add("conv_gradient", jax.grad(lambda a, k: conv(a, k, (1, 2), "SAME").sum(), (0, 1)), image, kernel)
    for rank in (0, 1, 3):
        pad = [(0, 1)] * rank
        window, size = [2] * rank, [5] * rank
        function = lambda a, k: lax.conv_general_dilated(a, k, [1] * rank, pad)
        add(f"conv_{rank}d", function, tensor(1, 2, *size), tensor(3, 2, *window))


def windows():
    image = tensor(2, 8, 9, 4)
    pool = lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    add("max_pool", pool, image)
    add("max_pool_gradient", jax.grad(lambda a: pool(a).sum()), image)
    padding = [(0, 0), (1, 1), (0, 2), (0, 0)]
    add(
        "window_dilated",
        lambda a: lax.reduce_window(
            a, 0.0, lax.add, (1, 2, 3, 1), (1, 1, 2, 1), padding, base_dilation=(1, 2, 1, 1), window_dilation=(1, 1, 2, 1)
        ),
        image,
    )
    add(
        "window_two",
        lambda a, b: lax.reduce_window(
            (a, b), (F32(0), np.int32(0)), lambda u, w: (u[0] + w[0], u[1] + w[1]), (2, 2), (1, 1), "VALID"
        ),
        X,
        I,
    )


def indexing():
    add("gather", lambda a, j: a[j], X, J)
    add("gather_columns", lambda a, j: a[j, :, j], tensor(3, 4, 5), tensor(2, 2, dtype=jnp.int32))
    add("take_along_axis", lambda a, j: jnp.take_along_axis(a, j, 1), X, I)
    add("gather_fill", lambda a, j: a.at[j].get(mode="fill", fill_value=0), X, J)
    flags = dict(mode="clip", unique_indices=True, indices_are_sorted=True)
    add("gather_clip", lambda a, j: a.at[j].get(**flags), X, J)
    for name in "set add multiply min max".split():
        add(f"scatter_{name}", lambda a, j, u: getattr(a.at[j], name)(u), X, J, tensor(3, 6))
    add("scatter_apply", lambda a, j: a.at[j].apply(jnp.sin), X, J)
    add("gather_batch", jax.vmap(lambda a, j: a[j]), X, tensor(4, 2, dtype=jnp.int32))
    add("scatter_batch", jax.vmap(lambda a, j, u: a.at[j].add(u)), X, tensor(4, 2, dtype=jnp.int32), tensor(4, 2))
    add("dynamic_slice", lambda a, j: lax.dynamic_slice(a, (j, j), (2, 3)), X, N)
    add("dynamic_update_slice", lambda a, b, j: lax.dynamic_update_slice(a, b, (j, j)), X, tensor(2, 3), N)
    add("slice", lambda a: a[1:3, ::2], X)
    add("reverse", lambda a: a[::-1], X)
    add("pad", lambda a: lax.pad(a, F32(0), ((1, -1, 0), (0, 2, 1))), X)
    add("transpose", jnp.transpose, X)
    add("broadcast", lambda a: jnp.broadcast_to(a, (3, 4, 6)), X)
    add("reshape", lambda a: a.reshape(3, 8), X)
    add("concatenate", lambda a: jnp.concatenate([a, a], 1), X)


def control():
    add("cond", lambda p, a: lax.cond(p, jnp.sin, jnp.cos, a), tensor(dtype=jnp.bool_), X)
    add("switch", lambda k, a: lax.switch(k, [jnp.sin, jnp.cos, lambda z: z], a), N, X)
    add("while", lambda a: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 2), (0, a)), X)
    add("scan", lambda a: lax.scan(lambda c, b: (c + b, c * b), jnp.zeros(6, F32), a), X)
    add("associative_scan", lambda a: lax.associative_scan(jnp.add, a), X)
    add("cond_gradient", jax.grad(lambda a: lax.cond(a.sum() > 0, lambda z: (z * z).sum(), jnp.sum, a)), X)
    add("barrier", lambda a, b: lax.optimization_barrier((a, b)), X, I)
    add("checkpoint", jax.grad(jax.checkpoint(lambda a: jnp.sin(jnp.sin(a)).sum())), X)
    add("callback", lambda a: jax.pure_callback(np.sin, X, a), X)
    add("print", lambda a: jax.debug.print("{}", a), X)


def linear_algebra():
    add("cholesky", jnp.linalg.cholesky, M)
    solve = lambda **options: lambda a, b: lax.linalg.triangular_solve(a, b, **options)
    add("triangular_solve", solve(left_side=True, lower=True, transpose_a=True), M, M)
    add("triangular_solve_adjoint", solve(conjugate_a=True, transpose_a=True), tensor(6, 6, dtype=jnp.complex64), C)
    for name in "qr svd eigh inv det eig".split():
        add(name, getattr(jnp.linalg, name), M)
    for name in "fft ifft fft2".split():
        add(name, getattr(jnp.fft, name), C)
    add("rfft", jnp.fft.rfft, X)
    add("irfft", lambda a: jnp.fft.irfft(a, 10), C)


def random():
    add("random_uniform", lambda k: jax.random.uniform(k, (3, 4)), KEY)
    add("random_normal", lambda k: jax.random.normal(k, (3,)), KEY)
    add("random_split", jax.random.split, KEY)
    add("random_permutation", lambda k: jax.random.permutation(k, 10), KEY)
    add("random_categorical", lambda k: jax.random.categorical(k, jnp.zeros((3, 4))), KEY)
    add("rng_bit_generator", lambda k: lax.rng_bit_generator(jnp.concatenate([k, k]), (4,)), KEY)


def signatures():
    add("tree", lambda d: {"a": d["x"] + 1, "b": (d["y"],)}, {"x": X, "y": V})
    add("no_arguments", lambda: 3.0)
    add("no_results", lambda a: (), X)
    add("same_result_twice", lambda a: (a, a, (a,)), X)
    add("donated", lambda a, b: (a + 1, b * 2), X, X, donate_argnums=(0,))
    loss = lambda w, a: jax.nn.softmax(jnp.tanh(a @ w)).sum()
    add("locations", jax.grad(loss), tensor(6, 3), X, debug=True)
    add("locations_in_regions", lambda a: lax.scan(lambda c, b: (c + b, c), jnp.zeros(6, F32), a), X, debug=True)
    (shape,) = export.symbolic_args_specs((X,), ("b, 6",))
    polymorphic = export.export(jax.jit(lambda a: jnp.tanh(a.reshape(-1)).sum() + a.shape[0]))(shape)
    programs["polymorphic"] = f"// polymorphic\n{polymorphic.mlir_module()}"
    given["polymorphic"] = [np.ones((4, 6), F32)]


def shardings():
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    split, square = NamedSharding(mesh, P("x", "y")), tensor(8, 8)
    add("sharded_arguments", lambda a: a @ a, square, in_shardings=split, out_shardings=NamedSharding(mesh, P("x")))
    add("sharding_constraint", lambda a: lax.with_sharding_constraint(jnp.sin(a), split) * 2, square)
    mapped = lambda function, inputs, outputs, **options: shard_map(
        function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False, **options
    )
    both = P("x", "y")
    add("psum", mapped(lambda a: lax.psum(a, "x"), both, P(None, "y")), square)
    add("all_gather", mapped(lambda a: lax.all_gather(a, "y", axis=1, tiled=True), both, P("x", None)), square)
    add("ppermute", mapped(lambda a: lax.ppermute(a, "x", [(0, 1), (1, 0)]), both, both), square)
    add("psum_scatter", mapped(lambda a: lax.psum_scatter(a, "y", tiled=True), both, P(("x", "y"))), tensor(16, 8))
    add("all_to_all", mapped(lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True), both, both), square)
    add("axis_index", mapped(lambda a: a * lax.axis_index("x"), both, both), square)
    add("partly_manual", mapped(lambda a: lax.psum(a, "x"), P("x"), P(), axis_names={"x"}), square)


def functions():
    for name in "gelu relu6 softmax logsumexp silu".split():
        add(name, getattr(jax.nn, name), X)
    add("one_hot", lambda a: jax.nn.one_hot(a, 5), J)
    add("attention", lambda q: jax.nn.dot_product_attention(q, q, q), tensor(2, 5, 3, 4))
    add("median", jnp.median, X)
    add("unique", lambda a: jnp.unique(a, size=4), X)
    add("searchsorted", jnp.searchsorted, V, V)
    add("roll", lambda a: jnp.roll(a, 2), X)
    add("resize", lambda a: jax.image.resize(a, (8, 12), "bilinear"), X)
    add("hessian", jax.hessian(lambda a: (a**3).sum()), V)
    add("jvp", lambda a: jax.jvp(jnp.tanh, (a,), (a,)), X, rounding="100, small differences")


WHOLE = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 int2 int4 uint2 uint4".split()
SIGNED = [name for name in WHOLE if name.startswith("int")]
WIDE = "float16 bfloat16 float32 float64".split()
NARROW = (
    "float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu "
    "float4_e2m1fn"
).split()
COMPLEX = ["complex64", "complex128"]
EVERY = ["bool_", *WHOLE, *WIDE, *NARROW, *COMPLEX]
SERIES = "1000, each series ends in its own way"
PARTS = "100, the parts of a complex number are computed in several steps"


def values_of(name, turn=0):
    """24 values of a type that tell functions apart; another order for another `turn`."""
    dtype = np.dtype(getattr(jnp, name))
    if name == "bool_":
        values = np.arange(24) % 3 == 0
    elif name in WHOLE:
        info = jnp.iinfo(dtype)
        values = [0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 100, info.min, info.max, info.max - 1, info.max // 2]
        values += [-value for value in values[:9]]
        values = [min(max(value, int(info.min)), int(info.max)) for value in values]
    elif name in COMPLEX:
        parts = [0, 1, -1, 0.5, -2.5]
        values = [complex(re, im) for re in parts for im in parts][:24]
    else:
        values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3.75, 0.125, 0.9, -0.9, 10, -20, 90, 300]
        values += [1e-3, -1e-2, 6e4, np.nan, np.inf, -np.inf]
    values = np.array([values[(index * (1 + 4 * turn) + turn) % 24] for index in range(24)])
    with np.errstate(all="ignore"):
        return values.astype(dtype).reshape(4, 6)


def each(name, function, types, count=1, rounding=None):
    """A program that applies a function to values of each type."""
    arguments = [[values_of(ty, turn) for turn in range(count)] for ty in types]
    add(name, lambda *all: [function(*some) for some in all], *arguments, rounding=rounding)


def every_type():
    """Each op on each element type for which JAX has it."""
    floats = [*WIDE, *NARROW]
    for names, types in (
        ("abs", [*SIGNED[:4], *floats]),
        ("bitwise_not", ["bool_", *WHOLE]),
        ("cbrt ceil cos exp exp2 expm1 floor log log1p logistic rsqrt sin sqrt tan tanh", floats),
        ("bessel_i0e is_finite round", floats),
        # XLA takes these apart into ops of the type itself, and of narrow ones nothing is left.
        ("acos acosh asin asinh atan atanh erf erfc", WIDE),
        ("clz", WHOLE),
        # XLA counts the bits of a wider type.
        ("population_count", [name for name in WHOLE if name not in ("int2", "int4")]),
        ("neg square", [*WHOLE, *floats, *COMPLEX]),
        ("sign", [*WHOLE, *floats]),
    ):
        for name in names.split():
            each(f"types_{name}", getattr(lax, name), types)
    for name in "cosh sinh".split():
        each(f"types_{name}", getattr(lax, name), WIDE, rounding="32, sums of two exponentials")
    for name in "bessel_i1e digamma erf_inv lgamma".split():
        each(f"types_{name}", getattr(lax, name), WIDE, rounding=SERIES)
    for name in (
        "abs conj cos exp expm1 imag log log1p logistic real rsqrt sign sin sqrt tan tanh"
    ).split():
        each(f"types_complex_{name}", getattr(lax, name), COMPLEX, rounding=PARTS)
    for names, types in (
        ("add max min mul sub", [*WHOLE, *floats]),
        ("atan2 div pow rem", floats),
        ("nextafter", [name for name in floats if name != "float8_e8m0fnu"]),
        ("bitwise_and bitwise_or bitwise_xor", ["bool_", *WHOLE]),
        ("eq ne", EVERY),
        ("ge gt le lt", ["bool_", *WHOLE, *floats]),
        ("div rem shift_left shift_right_arithmetic shift_right_logical", WHOLE),
        ("complex", ["float32", "float64"]),
    ):
        for name in names.split():
            kind = "whole_" if types is WHOLE else ""
            each(f"types_{kind}{name}", getattr(lax, name), types, 2)
    for name in "add sub mul div pow".split():
        each(f"types_complex_{name}", getattr(lax, name), COMPLEX, 2, rounding=PARTS)
    each("types_clamp", lax.clamp, [*WHOLE, *floats], 3)
    for source in EVERY:
        to = [name for name in EVERY if (name in COMPLEX) >= (source in COMPLEX)]
        values = values_of(source)
        if source == "float4_e2m1fn":
            # XLA compares with the limits of the other type as rounded to this one: 6 is as large as any.
            values = np.clip(values.astype(F32), -4, 4).astype(values.dtype)
        add(f"types_convert_{source}", lambda a: [a.astype(getattr(jnp, ty)) for ty in to], values)
    for name, function in (
        ("transpose", jnp.transpose),
        ("reshape", lambda a: a.reshape(2, 12)),
        ("broadcast", lambda a: jnp.broadcast_to(a[0], (2, 6))),
        ("reverse", lambda a: lax.rev(a, (0, 1))),
        ("slice", lambda a: lax.slice(a, (1, 0), (4, 6), (2, 3))),
        ("pad", lambda a: lax.pad(a, a[0, 1], ((1, -1, 0), (-1, 2, 1)))),
        ("concatenate", lambda a: lax.concatenate([a, a[:, :2]], 1)),
        ("gather", lambda a: a[jnp.array([3, -1, 9])]),
        ("scatter", lambda a: a.at[jnp.array([3, 1])].set(a[:2])),
        ("dynamic_slice", lambda a: lax.dynamic_slice(a, (1, 7), (2, 3))),
        ("dynamic_update_slice", lambda a: lax.dynamic_update_slice(a, a[:2, :2], (-7, 3))),
        ("select", lambda a: jnp.where(jnp.array([True, False] * 3), a, a[::-1])),
        ("iota", lambda a: lax.broadcasted_iota(a.dtype, (2, 3), 1)),
        ("while", lambda a: lax.fori_loop(0, 3, lambda i, b: lax.rev(b, (1,)), a)),
    ):
        each(f"types_{name}", function, EVERY if name != "iota" else EVERY[1:])
    for name, function in (
        ("reduce_max", lambda a: jnp.max(a, 0)),
        ("reduce_min", lambda a: jnp.min(a, 0)),
        ("cummax", lambda a: lax.cummax(a, 1)),
    ):
        each(f"types_{name}", function, [*WHOLE, *WIDE])
    # XLA loses elements of two bits.
    each("types_sort", lambda a: jnp.sort(a, 1), [*(name for name in WHOLE if name not in ("int2", "uint2")), *WIDE])
    # XLA refuses a reduction of several results of which one is packed.
    each("types_argmax", lambda a: jnp.argmax(a, 0), [*WHOLE[:8], *WIDE])
    add("types_reduce_sum", lambda *all: [lax.reduce_sum_p.bind(a, axes=(0,), out_sharding=None) for a in all],
        *[values_of(ty) for ty in WHOLE])
    add("types_reduce_prod", lambda *all: [lax.reduce_prod_p.bind(a, axes=(0,), out_sharding=None) for a in all],
        *[values_of(ty) for ty in WHOLE])
    few = [tensor(4, 6, dtype=getattr(jnp, ty)) for ty in [*WIDE, *COMPLEX]]
    for name, function in (
        ("sum", lambda a: jnp.sum(a, 0)),
        ("prod", lambda a: jnp.prod(a, 1)),
        ("window", lambda a: lax.reduce_window(a, np.zeros((), a.dtype), lax.add, (2, 2), (1, 2), "SAME")),
        ("cumsum", lambda a: lax.cumsum(a, 1)),
        ("dot", lambda a: lax.dot_general(a, a, (((1,), (1,)), ((), ())))),
        ("conv", lambda a: lax.conv_general_dilated(a.reshape(1, 2, 12), a.reshape(3, 2, 4), (2,), [(1, 2)])),
        ("scatter_add", lambda a: a.at[jnp.array([1, 1, 9])].add(a[:3])),
    ):
        add(f"types_float_{name}", lambda *all: [function(a) for a in all], *few, rounding=SUMS)
    dot = lambda a: lax.dot_general(a, a, (((1,), (1,)), ((), ())))
    each("types_whole_dot", dot, WHOLE[:8])
    add("types_narrow_dot", lambda *all: [
        lax.dot_general(a, a, (((1,), (1,)), ((), ())), preferred_element_type=F32) for a in all
    ], *[tensor(4, 6, dtype=getattr(jnp, ty)) for ty in NARROW if ty != "float4_e2m1fn"], rounding=SUMS)
    for name, to in (("float32", "int32 uint8 int4 float16"), ("int64", "float64 uint16"), ("uint8", "uint4 int8")):
        add(f"types_bitcast_{name}", lambda a: [
            lax.bitcast_convert_type(a, getattr(jnp, ty)) for ty in to.split()
        ], values_of(name))


def odd_shapes():
    """Empty dimensions, scalars, and indices and windows that lie outside."""
    empty, flat = tensor(0, 6), tensor(4, 0)
    add("empty_elementwise", lambda a: jnp.tanh(a) + 1, empty)
    add("empty_reduce", lambda a: (jnp.sum(a, 0), jnp.prod(a, 0), jnp.sum(a, 1), jnp.all(a > 0)), empty)
    add("empty_dot", lambda a: (a @ a.T, a.T @ a), flat)
    add("empty_conv", lambda a, k: lax.conv_general_dilated(a, k, (1,), [(0, 0)]), tensor(1, 2, 3), tensor(3, 2, 4))
    add("empty_conv_batch", lambda a, k: lax.conv_general_dilated(a, k, (1,), [(0, 0)]), tensor(0, 2, 5), tensor(3, 2, 4))
    add("empty_gather", lambda a, j: a[j], X, tensor(0, dtype=jnp.int32))
    add("empty_scatter", lambda a, j, u: a.at[j].add(u), X, tensor(0, dtype=jnp.int32), empty)
    add("empty_sort", lambda a: (jnp.sort(a, 0), jnp.sort(a, 1)), empty)
    add("empty_pad", lambda a: lax.pad(a, F32(7), ((1, 2, 3), (0, -1, 0))), empty)
    add("empty_pad_away", lambda a: lax.pad(a, F32(7), ((-2, -2, 0), (0, 0, 1))), X)
    add("empty_slice", lambda a: a[2:2], X)
    add("empty_broadcast", lambda a: jnp.broadcast_to(a, (0, 2, 6)), V)
    add("empty_concatenate", lambda a: lax.concatenate([a, a, a], 0), empty)
    add("empty_transpose_reshape", lambda a: a.T.reshape(3, 0, 2), empty)
    add("empty_window", lambda a: lax.reduce_window(a, 0.0, lax.add, (5, 1), (1, 1), "VALID"), X)
    add("empty_window_padded", lambda a: lax.reduce_window(a, 0.0, lax.add, (2, 1), (1, 1), [(2, 1), (0, 0)]), empty)
    add("empty_iota", lambda: lax.broadcasted_iota(jnp.int32, (0, 3), 1))
    add("empty_scan", lambda a: lax.scan(lambda c, b: (c + b.sum(), c), F32(1), a), empty)
    add("empty_dynamic_slice", lambda a, j: lax.dynamic_slice(a, (j, j), (0, 6)), X, N)
    add("empty_select", jnp.where, tensor(0, 6, dtype=jnp.bool_), empty, empty)
    add("scalar_elementwise", lambda a: (jnp.exp(a), a * a, a > 0, jnp.where(a > 0, a, -a)), S)
    add("scalar_layout", lambda a: (
        a.reshape(1, 1), jnp.transpose(a), lax.rev(a, ()), lax.pad(a, a, ()), lax.broadcast(a, (2, 3)),
        lax.slice(a, (), ()),
    ), S)
    add("scalar_reduce", lambda a: (jnp.sum(a), lax.reduce(a, F32(1), lax.mul, ()), jnp.max(a)), S)
    add("scalar_dot", lambda a, b: (jnp.dot(a, a), jnp.dot(b, b)), S, V)
    add("scalar_index", lambda a, j: (a[j, j], a.at[j, j].set(7), lax.dynamic_index_in_dim(a, j)), X, np.int32(3))
    add("scalar_update", lambda a, b: lax.dynamic_update_slice(a, b, ()), S, S)
    add("scalar_while", lambda a: lax.while_loop(lambda b: b < 100, lambda b: b * 2, a), np.float32(3))
    for start in (-9, -1, 3, 9, -(2**31), 2**31 - 1):
        at = np.int32(start)
        add(f"clamped_slice_{start}", lambda a, j: lax.dynamic_slice_in_dim(a, j, 2), X, at)
        add(f"clamped_update_{start}", lambda a, u, j: lax.dynamic_update_slice_in_dim(a, u, j, 0), X, tensor(2, 6), at)
    for ty in "int8 uint8 int64 uint32 uint64".split():
        far = np.array([-1, 3, 100, -100]).astype(ty)
        add(f"clamped_slice_{ty}", lambda a, j: [lax.dynamic_slice_in_dim(a, j[k], 2) for k in range(4)], X, far)
    outside = np.array([0, 3, 4, 99, -1, -4, -5, 2**31 - 1, -(2**31)], np.int32)
    update = tensor(9, 6)
    for mode in "fill clip wrap".split():
        add(f"outside_gather_{mode}", lambda a, j: jnp.take(a, j, 0, mode=mode), X, outside)
    for name in "set add multiply min max".split():
        for mode in "drop clip".split():
            distinct = name != "set" or mode == "drop"
            indices = outside if distinct else outside[:3]
            function = lambda a, j, u: getattr(a.at[j], name)(u[: len(indices)], mode=mode)
            add(f"outside_scatter_{name}_{mode}", function, X, indices, update)
    numbers = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(1, 0))
    corners = np.array([[0, 0], [5, 3], [-1, -1], [2, 9]], np.int32)
    # Of a window that is partly outside, StableHLO drops the elements that are, and XLA all.
    inside_or_not = np.array([[0, 0], [-9, 1], [3, 2], [1, 9], [3, 1]], np.int32)
    add("outside_gather_windows", lambda a, j: lax.gather(
        a, j, numbers, (2, 3), mode=lax.GatherScatterMode.CLIP
    ), X, corners)
    scattered = lax.ScatterDimensionNumbers(
        update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(1, 0)
    )
    add("outside_scatter_windows", lambda a, j, u: lax.scatter_add(a, j, u, scattered), X, inside_or_not, tensor(5, 2, 3))
    add("gather_batching", lambda a, j: jnp.take_along_axis(a, j, 2), tensor(2, 3, 4), np.array([[[1], [3], [0]]] * 2))
    image, kernel = tensor(1, 7, 6, 4), tensor(3, 2, 4, 6)
    conv = lambda a, k, strides, padding, **options: lax.conv_general_dilated(
        a, k, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options
    )
    add("conv_negative_pads", lambda a, k: conv(a, k, (1, 1), [(-2, -1), (-1, 3)]), image, kernel, rounding=SUMS)
    add("conv_base_dilated", lambda a, k: conv(
        a, k, (2, 3), [(-1, 2), (0, -2)], lhs_dilation=(3, 2), rhs_dilation=(2, 1)
    ), image, kernel, rounding=SUMS)
    add("conv_depthwise", lambda a, k: conv(a, k, (1, 1), "VALID", feature_group_count=4), image, tensor(3, 2, 1, 8),
        rounding=SUMS)
    add("conv_batch_groups_dilated", lambda a, k: conv(
        a, k, (1, 2), [(1, 0), (0, 1)], batch_group_count=3, rhs_dilation=(1, 2)
    ), tensor(6, 7, 6, 4), kernel, rounding=SUMS)
    add("conv_groups_gradient", jax.grad(lambda a, k: jnp.sin(
        conv(a, k, (1, 1), "SAME", feature_group_count=2)
    ).sum(), (0, 1)), image, tensor(3, 2, 2, 6), rounding=SUMS)
    add("pad_interior", lambda a: lax.pad(a, F32(9), ((2, 1, 2), (-3, -1, 3))), X)
    add("window_negative_pads", lambda a: lax.reduce_window(
        a, -jnp.inf, lax.max, (2, 2), (1, 1), [(-1, 0), (3, -2)], base_dilation=(1, 2)
    ), X)
    add("window_min_product", lambda a: (
        lax.reduce_window(a, jnp.inf, lax.min, (2, 3), (2, 1), "SAME"),
        lax.reduce_window(a, F32(1), lax.mul, (1, 2), (1, 1), "VALID", window_dilation=(1, 3)),
    ), X)
    add("select_and_scatter", jax.grad(lambda a: (lax.reduce_window(
        a, -jnp.inf, lax.max, (3, 2), (2, 2), [(1, 1), (0, 1)]
    ) ** 2).sum()), X)
    add("slice_steps", lambda a: (a[3:0:-2, 1:6:3], a[:, -1:], a[::3]), X)
    add("sort_equal", lambda a, b: lax.sort((a, b), num_keys=1, dimension=0), I, X)
    zeros = np.array([0.0, -0.0, 1, -np.nan, np.nan, np.inf, -np.inf, 2], F32)
    others = np.array([-0.0, 0.0, np.nan, -np.inf, np.inf, np.inf, -np.nan, 1], F32)
    add("total_order", lambda a, b: [p.bind(a, b) for p in (eq_to_p, le_to_p, lt_to_p)], zeros, others)
    special = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1, -np.nan, -1], F32)
    add("sort_special", lambda a: (jnp.sort(a), jnp.argsort(a), lax.top_k(a, 4), jnp.argmax(a), jnp.argmin(a)), special)
    add("reduce_special", lambda a: (jnp.max(a), jnp.min(a), jnp.nanmax(a), jnp.sum(a)), special)
    add("switch_outside", lambda k, a: [lax.switch(k[i], [jnp.sin, jnp.cos], a) for i in range(3)],
        np.array([-1, 1, 5], np.int32), X)


def why_not_stored(program):
    """Why what a program computes is not stored, if it is not."""
    calls = re.findall(r"custom_call @([\w.]+)", program)
    if calls:
        return f"what `{calls[0]}` computes is the backend's"
    if "manual_computation" in program:
        return "it runs on several devices"
    if "rng_bit_generator" in program and "algorithm = DEFAULT" in program:
        return "the bits of the default generator are the backend's"
    return None


def store(path, programs, given):
    """Writes the arguments and results of programs; gives the programs with notes on those that are left out."""
    arrays = {}
    noted = []
    for program in programs:
        name, _ = head(program)
        module, types = parse(program)
        reason = why_not_stored(program)
        if reason:
            noted.append(program.replace("\n", f"\n// not stored: {reason}\n", 1))
            continue
        noted.append(program)
        arguments = given.get(name, [None] * len(types))
        for number, (argument, (shape, dtype)) in enumerate(zip(arguments, types, strict=True)):
            if argument is None or isinstance(argument, jax.ShapeDtypeStruct):
                argument = draw(f"{name}{number}", shape, dtype)
            arguments[number] = np.asarray(argument, dtype)
            arrays[f"{name}/arg{number}"] = stored(arguments[number])
        for number, result in enumerate(evaluate(module, arguments)):
            arrays[f"{name}/res{number}"] = stored(result)
    np.savez_compressed(path, **arrays)
    return noted


def main():
    directory = Path(sys.argv[1])
    for family in (
        elementwise, element_types, reductions, products, windows, indexing, control, linear_algebra, random, signatures,
        shardings, functions, every_type, odd_shapes,
    ):
        family()
    printed = store(directory / "jax.npz", programs.values(), given)
    (directory / "jax.mlir.gz").write_bytes(gzip.compress(SEPARATOR.join(printed).encode(), mtime=0))
    written = (directory / "written.mlir").read_text().split(SEPARATOR)
    store(directory / "written.npz", written, {})
    print(f"{len(printed)} programs printed, {len(written)} written")


if __name__ == "__main__":
    main()
