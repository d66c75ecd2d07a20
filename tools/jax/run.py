"""Runs a program that `tofu-opt --emit=stablehlo` has written for several devices, as XLA compiles it.

    python tools/jax/run.py PROGRAM.mlir                        # CPU devices of this process, as many as its mesh has
    python tools/jax/run.py PROGRAM.mlir --processes=2          # the same, shared among processes of this machine
    python tools/jax/run.py PROGRAM.mlir --platform=gpu --coordinator=HOST:PORT --processes=4 --process=1      # on a cluster

It says what the compiled program sends and holds, beside a plan if there is one (`--report`), runs it on given or drawn inputs,
and compares the results. The README beside it says more.
"""
import argparse
import json
import os
import re
import socket
import subprocess
import sys
import time

MISSING = """{error}

This needs Python 3 with JAX 0.10 (https://docs.jax.dev): make an environment and install it there,

    python3 -m venv jax-env
    jax-env/bin/pip install "jax>=0.10,<0.11"        # "jax[cuda13]" on NVIDIA GPUs, "jax[tpu]" on TPUs

and run this file with `jax-env/bin/python`. `cargo xtask test` makes such an environment where it builds, in `python`."""


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program, as StableHLO")
    parser.add_argument("--inputs", help="the arguments: an .npz with arg0, arg1, …, or .npy files with commas between them")
    parser.add_argument("--seed", type=int, default=0, help="what random arguments are drawn from, if there are no inputs")
    parser.add_argument("--expected", help="the results that must come: an .npz with res0, res1, …")
    parser.add_argument("--exact", help="more exact results, to judge by: an .npz with res0, res1, …")
    parser.add_argument("--rounding", help="how far from the exact results those expected are, one number a line")
    parser.add_argument("--rtol", type=float, default=2e-4, help="relative difference that is rounding")
    parser.add_argument("--atol", type=float, default=1e-5, help="absolute difference that is rounding")
    parser.add_argument("--outputs", help="where the results are written, as .npz (one process only)")
    parser.add_argument("--report", help="plan.json of `tofu-opt --report`, to show beside what is compiled")
    parser.add_argument("--wire-tolerance", type=float, help="fail if bytes sent differ by more than this part of the plan's")
    parser.add_argument("--compile-only", action="store_true", help="say what the compiled program does, without running it")
    parser.add_argument("--steps", type=int, default=1, help="how often it is run, for the time")
    parser.add_argument("--hlo", help="where the text of what XLA has compiled is written")
    parser.add_argument("--json", help="where the figures are written")
    parser.add_argument("--platform", default="cpu", help="cpu, gpu or tpu")
    parser.add_argument("--processes", type=int, default=1, help="how many processes there are")
    parser.add_argument("--process", type=int, help="which of them this is; without it, all of them are started here")
    parser.add_argument("--coordinator", help="host:port of the first process")
    return parser.parse_args()


def mesh_axes(text):
    """The names and sizes of the axes of the mesh, the slowest first."""
    mesh = re.search(r"sdy\.mesh @\S+ = <\[(.*?)\]", text)
    return [(name, int(size)) for name, size in re.findall(r'"([^"]*)"=(\d+)', mesh.group(1))] if mesh else []


def start_all(given):
    """Starts every process on this machine; the status of the first one that fails."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, *sys.argv, f"--coordinator={coordinator}"]
    running = [subprocess.Popen([*command, f"--process={number}"]) for number in range(given.processes)]
    return next((status for status in [one.wait() for one in running] if status), 0)


def main():
    given = options()
    with open(given.program) as file:
        text = file.read()
    axes = mesh_axes(text)
    count = 1
    for _, size in axes:
        count *= size
    if given.processes > 1 and given.process is None:
        sys.exit(start_all(given))
    if count % given.processes:
        sys.exit(f"{count} devices cannot be shared among {given.processes} processes")
    if given.platform == "cpu":
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={count // given.processes}".strip()
    try:
        import jax
    except ImportError as error:
        sys.exit(MISSING.format(error=error))
    if given.platform != "gpu":
        jax.config.update("jax_platforms", given.platform)
    if given.processes > 1:
        if given.platform == "cpu":
            jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(given.coordinator, given.processes, given.process)
    from program import Program

    devices = jax.devices()
    if len(devices) < count:
        sys.exit(f"the program is for {count} devices, and there are {len(devices)}")
    program = Program(text, axes, devices[:count])
    figures = program.figures()
    if given.report:
        figures["plan"] = plan(given.report)
    is_right = True
    if not given.compile_only:
        results, figures["seconds"] = run(program, given)
        is_right = judge(program, results, given, figures)
    is_right &= show(figures, given) if jax.process_index() == 0 else True
    if given.hlo:
        with open(given.hlo, "w") as file:
            file.write(program.hlo)
    if given.json and jax.process_index() == 0:
        with open(given.json, "w") as file:
            json.dump(figures, file, indent=1)
    sys.exit(0 if is_right else 1)


def plan(path):
    with open(path) as file:
        report = json.load(file)
    partition, memory = report["partition"], report["memory"] or {}
    return {
        "sent_bytes": partition["communication_bytes_per_device"],
        "collectives": {one["op"]: (one["count"], one["bytes"]) for one in partition["collectives"]},
        "peak_bytes": memory.get("peak_bytes"),
    }


def run(program, given):
    """The results of the last step, and the seconds of the fastest one."""
    import numpy as np

    if given.inputs and given.inputs.endswith(".npz"):
        with np.load(given.inputs) as file:
            arrays = [file[f"arg{number}"] for number in range(len(program.arguments))]
    elif given.inputs:
        arrays = [np.load(path) for path in given.inputs.split(",")]
    else:
        arrays = program.drawn(given.seed)
    fastest = float("inf")
    for _ in range(given.steps):
        # A step may take what it is given away.
        arguments = program.placed(arrays)
        start = time.perf_counter()
        results = program.run(arguments)
        fastest = min(fastest, time.perf_counter() - start)
    return results, fastest


def judge(program, results, given, figures):
    """Whether the results are those expected, as far as this process has them."""
    import numpy as np

    if given.outputs:
        def cut(number, array):
            return array[tuple(slice(extent) for extent in program.results[number][3])]

        arrays = {f"res{number}": cut(number, np.asarray(result)) for number, result in enumerate(results)}
        np.savez(given.outputs, **arrays)
    if not given.expected:
        return True
    rounding = None
    if given.exact:
        with open(given.rounding) as file:
            rounding = [float(line.split()[-1]) for line in file if line.strip() and not line.startswith("#")]
    worst = 0.0
    with np.load(given.exact or given.expected) as file:
        for number, result in enumerate(results):
            wanted = file[f"res{number}"]
            for shard in result.addressable_shards:
                part = wanted[shard.index]
                # What stands in the padding does not matter.
                came = np.asarray(shard.data)[tuple(slice(extent) for extent in part.shape)]
                if not np.issubdtype(came.dtype, np.inexact):
                    excess = 0.0 if np.array_equal(came, part) else float("inf")
                elif rounding:
                    # No further from what is exact than some times what another correct run is: sums over devices are in another order.
                    allowed = 8 * rounding[number] + given.atol
                    excess = float(np.max(np.abs(came - part), initial=0)) / allowed
                else:
                    difference = np.abs(came.astype(np.float64) - part.astype(np.float64))
                    excess = np.max(difference / (given.atol + given.rtol * np.abs(part)), initial=0)
                if not excess <= 1:
                    print(f"res{number} on {shard.device}: {excess:.3g} times the difference that is rounding")
                worst = max(worst, float(excess)) if excess == excess else float("inf")
    figures["largest_difference"] = worst
    return worst <= 1


def show(figures, given):
    """Prints the figures; whether what is sent is what the plan says, if that was asked for."""
    mib = 2**20
    plan = figures.get("plan")
    print(f"{'':20} {'compiled':>20}" + (f" {'planned':>20}" if plan else ""))
    of_plan = {name.replace("_", "-"): value for name, value in plan["collectives"].items()} if plan else {}
    # A halo is made of permutations.
    if "halo-exchange" in of_plan or "permute" in of_plan:
        moved = [of_plan.pop(name, (0, 0)) for name in ("halo-exchange", "permute")]
        of_plan["collective-permute"] = tuple(map(sum, zip(*moved)))
    for kind in sorted({*figures["collectives"], *of_plan}):
        row = [figures["collectives"].get(kind, (0, 0)), *([of_plan.get(kind, (0, 0))] if plan else [])]
        print(f"{kind:20}" + "".join(f" {count:>6} {sent / mib:>9.3f} MiB" for count, sent in row))
    print(f"{'sent by a device':20} {figures['sent_bytes'] / mib:>16.3f} MiB", end="")
    print(f" {plan['sent_bytes'] / mib:>16.3f} MiB" if plan else "")
    for name in ("argument", "output", "alias", "temp"):
        print(f"{name + ' bytes':20} {figures[f'{name}_bytes'] / mib:>16.3f} MiB")
    if plan and plan["peak_bytes"]:
        print(f"{'peak of the plan':20} {'':>20} {plan['peak_bytes'] / mib:>16.3f} MiB")
    if "seconds" in figures:
        print(f"{'fastest step':20} {figures['seconds']:>18.4f} s")
    if "largest_difference" in figures:
        print(f"{'largest difference':20} {figures['largest_difference']:>20.3f} of what is rounding")
    if plan and given.wire_tolerance is not None:
        allowed = given.wire_tolerance * plan["sent_bytes"]
        for kind in {*figures["collectives"], *of_plan}:
            more = figures["collectives"].get(kind, (0, 0))[1] - of_plan.get(kind, (0, 0))[1]
            # XLA does equal permutations once, so that halos of one tensor for several readers may take less.
            if more > allowed or more < -allowed and kind != "collective-permute":
                print(f"what is sent by {kind} is not what the plan says")
                return False
    return True


if __name__ == "__main__":
    main()
