"""Prints small programs as StableHLO, nearly one for each primitive of JAX, into one compressed file.

Usage: XLA_FLAGS=--xla_force_host_platform_device_count=8 python print_programs.py testdata/stablehlo/jax.mlir.gz
"""
import gzip
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax, shard_map
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

jax.config.update("jax_enable_x64", True)
# Locations name files without their directories.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

programs = {}


def add(name, function, *arguments, debug=False, **options):
    lowered = jax.jit(function, **options).lower(*arguments)
    programs[name] = lowered.as_text(debug_info=debug)


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


def elementwise():
    for name in (
        "abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos cosh digamma erf erf_inv erfc exp "
        "exp2 expm1 floor is_finite lgamma log log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh"
    ).split():
        add(name, getattr(lax, name), X)
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
        add(f"constant_{name}", lambda a: a + jnp.array(np.arange(6) % 2, dtype).astype(F32), V)
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
    programs["polymorphic"] = polymorphic.mlir_module()


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
    add("jvp", lambda a: jax.jvp(jnp.tanh, (a,), (a,)), X)


for family in (
    elementwise, element_types, reductions, products, windows, indexing, control, linear_algebra, random, signatures,
    shardings, functions,
):
    family()
text = "// -----\n".join(f"// {name}\n{program}" for name, program in programs.items())
with open(sys.argv[1], "wb") as file:
    file.write(gzip.compress(text.encode(), mtime=0))
print(f"{len(programs)} programs")
