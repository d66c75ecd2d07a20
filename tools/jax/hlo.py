"""What a program that XLA has compiled sends: its collectives, read from the text of its HLO.

A ring of k devices sends, from each of them and for a tensor of B bytes on the whole group, (k - 1) / k * B for an all-gather or a
reduce-scatter, twice that for an all-reduce, and a k-th of it for an all-to-all. A permutation sends what a device holds, from
those devices that send something.
"""
import collections
import math
import re

BITS = {"pred": 8, "token": 0, "f8e4m3b11fnuz": 8, "f8e4m3fn": 8, "f8e4m3fnuz": 8, "f8e5m2": 8, "f8e5m2fnuz": 8}
SHAPE = re.compile(r"(\w+)\[([\d,]*)\]")
KINDS = ("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter", "collective-broadcast")
# The start of an op that runs beside others has operands and results in its type.
OP = re.compile(r"^\s*(?:ROOT )?%?([\w.-]+) = (\(.*?\)|\S+) (" + "|".join(KINDS) + r")(-start)?\((.*)$")
COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.-]+) \(.*\) -> .* \{$")
CALLS = re.compile(r"(?:body|to_apply|calls|true_computation|false_computation)=%?([\w.-]+)")
BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


def shapes(text):
    """The bytes of each shape in a text."""
    found = []
    for element, dims in SHAPE.findall(text):
        digits = re.sub(r"\D", "", element)
        bits = BITS.get(element, int(digits) if digits else 0)
        elements = math.prod(int(dim) for dim in dims.split(",") if dim)
        found.append(elements * bits // 8)
    return found


def group_size(rest, devices):
    """How many devices take part in each group."""
    listed = re.search(r"replica_groups=\{\{([\d,]*)\}", rest)
    if listed:
        return len(listed.group(1).split(","))
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]", rest)
    if iota:
        return int(iota.group(2))
    named = re.search(r"replica_groups=mesh\[(.*?)\] \{(.*?)\}", rest)
    if named:
        sizes = dict(re.findall(r"'([^']*)'=(\d+)", named.group(1)))
        return math.prod(int(sizes[axis]) for axis in re.findall(r"'([^']*)'", named.group(2)))
    return devices


def sent(kind, result, rest, devices):
    """The bytes that each device sends."""
    if kind == "collective-permute":
        pairs = re.search(r"source_target_pairs=\{(.*?)\}\}", rest)
        pairs = re.findall(r"(\d+),(\d+)", pairs.group(1)) if pairs else []
        sources = {int(source) for source, target in pairs if source != target}
        return [result if device in sources else 0 for device in range(devices)]
    size = group_size(rest, devices)
    share = (size - 1) / size
    each = {
        "all-gather": share * result,
        "all-reduce": 2 * share * result,
        "reduce-scatter": share * result * size,
        "all-to-all": share * result,
        "collective-broadcast": result if size > 1 else 0,
    }[kind]
    return [each] * devices


def collectives(text, devices):
    """For each kind of collective how often a step does it, and the bytes that each device sends for it."""
    here, calls, found = None, collections.defaultdict(list), collections.defaultdict(list)
    entry = None
    for line in text.splitlines():
        head = COMPUTATION.match(line)
        if head:
            here = head.group(1)
            entry = here if line.startswith("ENTRY") else entry
            continue
        op = OP.match(line)
        if op:
            _, ty, kind, start, rest = op.groups()
            sizes = shapes(ty)
            if start and ty.startswith("("):
                # Operands first, then as many results, and what only the op itself uses.
                count = len(re.findall(r"%", rest.split(")")[0])) or 1
                sizes = sizes[count : 2 * count]
            found[here].append((kind, sent(kind, sum(sizes), rest, devices)))
            # What combines two elements sends nothing.
            continue
        trips = TRIPS.search(line)
        times = int(trips.group(1)) if trips and " while(" in line else 1
        called = CALLS.findall(line)
        for branches in BRANCHES.findall(line):
            called += re.findall(r"[\w.-]+", branches)
        for name in called:
            calls[here].append((name, times))
    counted = collections.defaultdict(lambda: [0, [0.0] * devices])

    def walk(name, times):
        for kind, size in found[name]:
            counted[kind][0] += times
            counted[kind][1] = [before + times * more for before, more in zip(counted[kind][1], size)]
        for callee, more in calls[name]:
            walk(callee, times * more)

    walk(entry, 1)
    return {kind: tuple(counted[kind]) for kind in sorted(counted)}
