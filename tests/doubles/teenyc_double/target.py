"""GPU architectures and PTX ISA versions: the compiler's tables."""

import re

from .arguments import Fatal

DEFAULT_VERSIONS = {75: 63, 80: 70, 86: 71, 87: 74, 89: 78, 90: 80, 100: 86, 103: 88, 110: 90, 120: 87}
CB3_VERSIONS = {88: 90, 101: 86, 107: 86, 121: 88}
# The PTX ISA version that introduced a target, from the PTX ISA manual; for 90 and above that of the `a` target.
MINIMUM_VERSIONS = {70: 60, 72: 61, 75: 63, 80: 70, 86: 71, 87: 74, 88: 90, 89: 78, 90: 80, 100: 86, 101: 86,
                    103: 88, 107: 86, 110: 90, 120: 87, 121: 88}  # fmt: skip
KNOWN_TO_LLVM = {20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103,
                 110, 120, 121}  # fmt: skip
INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def parse_i32(text):
    """Rust's str::parse::<i32>: no blanks, in range; else None."""
    if text is None or not INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        return None
    return int(text)


def capability(cpu, generation):
    if cpu is None:
        return 70
    number = parse_i32(cpu.removeprefix("sm_").removesuffix("a")) if cpu.startswith("sm_") else None
    if number is None and generation == "CB1":
        return 90
    if number is None:
        raise Fatal(
            f"invalid `-C target-cpu` value `{cpu}` for the `mlir` codegen backend's CUDA target: expected an NVIDIA SM"
            " version in the form `sm_<NN>` or `sm_<NN>a` (e.g. `sm_90`, `sm_90a`)"
        )
    return number


def default_version(sm, generation):
    table = {**DEFAULT_VERSIONS, **CB3_VERSIONS} if generation == "CB3" else DEFAULT_VERSIONS
    return table.get(sm, 80)


def version_text(version):
    """`%d.%d` in a buffer of eight characters, with C's division."""
    whole = abs(version) // 10 * (1 if version >= 0 else -1)
    return f"{whole}.{version - whole * 10}"[:7]


def target_name(sm):
    return f"sm_{sm}a" if sm >= 90 else f"sm_{sm}"
