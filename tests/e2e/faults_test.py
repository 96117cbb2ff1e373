"""C3: a fault at any system call of the helper, and damage to any published file. The whole sweep is tests/fault_sweep.py."""

import os
import random
import re
import time

import pytest
from fault_harness import KERNEL, KILL, SCENARIOS, FastTeenyc, Harness, Missing, open_directory, preloadable

# Of each scenario; all of them are some 6,500 and take minutes.
SAMPLE = 60
POSITIONS = 200


@pytest.fixture(scope="module")
def harness(installation):
    with open_directory() as directory:
        try:
            made = Harness(installation.tool, directory)
        except Missing as missing:
            pytest.skip(str(missing))
        yield made


@pytest.fixture(scope="module")
def planted_fault(tmp_path_factory):
    try:
        return preloadable("planted_fault.c", tmp_path_factory.mktemp("planted"))
    except Missing as missing:
        pytest.skip(str(missing))


def looks_for_what_was_compiled(injection):
    """A fault when the compiler's outputs are looked for, which must not be taken for their absence."""
    return injection.fault != KILL and injection.call.name == "newfstatat" and re.match(r"tmp/.*\.(o|mlir)$", injection.call.path)


def delivers_mlir_without_a_stamp(injection):
    call = injection.call
    return (injection.fault != KILL and injection.scenario == "hit without a stamp" and call.path.startswith("out/kernel.mlir")
            and call.name != "unlink")  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_C3_a_sample_of_faults_leaves_every_promise_kept(harness, name):
    injections = harness.injections(SCENARIOS[name])
    sample = random.Random(name).sample(injections, SAMPLE)
    violations, unreached = harness.sweep(sample)
    assert violations == [] and unreached == []


def test_C3_death_at_every_rename_and_removal(harness):
    """The steps by which an entry appears, is replaced, and goes."""
    injections = [
        injection
        for name in ("miss with id", "repair with id", "prune")
        for injection in harness.injections(SCENARIOS[name])
        if injection.fault == KILL and injection.call.name in ("rename", "unlink", "mkdir")
    ]
    assert len(injections) > 30
    violations, unreached = harness.sweep(injections)
    assert violations == [] and unreached == []


def test_C3_an_output_that_can_t_be_looked_at_is_not_an_absent_one(harness):
    injections = list(filter(looks_for_what_was_compiled, harness.injections(SCENARIOS["miss"])))
    violations, unreached = harness.sweep(injections)
    assert violations == [] and unreached == []


def test_C3_the_image_is_delivered_last(harness):
    injections = list(filter(delivers_mlir_without_a_stamp, harness.injections(SCENARIOS["hit without a stamp"])))
    violations, unreached = harness.sweep(injections)
    assert violations == [] and unreached == []


# ---- The harness sees defects -------------------------------------------------------------------------------------


def found_by(harness, library, defect, scenario, wanted):
    """Invariants that an injection violates when the helper has the defect."""
    broken = harness.with_defect(library, f"PLANTED_FAULT={defect}")
    injections = [injection for injection in broken.injections(SCENARIOS[scenario]) if wanted(injection)]
    assert injections
    violations, _ = broken.sweep(injections)
    return {text.split(" ", 1)[0] for text in violations}


@pytest.mark.parametrize(
    "defect, scenario, faults, calls, invariant",
    [
        ("manifest_first", "miss", (KILL,), ("rename",), "I2"),
        ("keep_temporaries", "miss", ("ENOSPC",), ("write", "fdatasync", "rename"), "I5"),
        ("keep_output", "miss", ("ENOSPC", KILL), ("mkdir", "write", "rename"), "I4"),
        ("output_in_place", "hit", (KILL,), ("write",), "I1"),
        ("reopen", "miss", ("EIO", "ESTALE"), ("openat",), "I1"),
    ],
)
def test_the_harness_finds_planted_defects(harness, planted_fault, defect, scenario, faults, calls, invariant):
    found = found_by(harness, planted_fault, defect, scenario, lambda i: i.fault in faults and i.call.name in calls)
    assert invariant in found


# ---- Damage -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fast_compiler(tmp_path_factory):
    try:
        compiler = FastTeenyc(tmp_path_factory.mktemp("compiler"))
    except Missing as missing:
        pytest.skip(str(missing))
    time.sleep(2.1)  # so that its identity is remembered
    return compiler


@pytest.fixture
def build(sandbox, fast_compiler, prelude):
    """Builds, and says how often the compiler ran for it."""
    kernel = sandbox.write("kernel.rs", KERNEL)

    def run(*arguments):
        before = len(fast_compiler.compiles())
        sandbox.tool("compile", "--source", kernel, "--type", "f32", "--constant", "BLOCK_SIZE=128", "--prelude", prelude,
                     "--compiler", fast_compiler.path, "--arch", "90", "--output", sandbox.root / "out.ptx", "--mlir-output",
                     sandbox.root / "out.mlir", *arguments)  # fmt: skip
        return len(fast_compiler.compiles()) - before

    return run


@pytest.fixture
def entry(sandbox, build):
    """{path: bytes} of a published entry's members and manifest."""
    assert build() == 1 and build() == 0
    paths = sandbox.members()
    assert sorted(path.suffix for path in paths) == [".json", ".mlir", ".o", ".rs"]
    return {path: path.read_bytes() for path in paths}


def outputs(sandbox):
    return (sandbox.root / "out.ptx").read_bytes(), (sandbox.root / "out.mlir").read_bytes()


@pytest.mark.parametrize("ending", [".json", ".mlir", ".o", ".rs"])
@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: bytes(len(data)), lambda data: data[: len(data) // 2], lambda data: data + b"\n",
     lambda data: None],
    ids=["empty", "zeros", "half", "longer", "gone"],
)  # fmt: skip
def test_C22_a_damaged_file_is_a_miss_that_repairs(sandbox, build, entry, damage, ending):
    right = outputs(sandbox)
    path = next(path for path in entry if path.suffix == ending)
    damaged = damage(entry[path])
    if damaged is None:
        path.unlink()
    else:
        path.write_bytes(damaged)
        assert sandbox.tool("cache", "verify", check=False).returncode == 3
    assert build() == 1 and outputs(sandbox) == right
    for other, content in entry.items():  # the manifest holds how long it took
        assert other.suffix == ".json" or other.read_bytes() == content
    assert build() == 0 and outputs(sandbox) == right
    assert sandbox.tool("cache", "verify").stdout == "1 sound, 0 damaged\n"


def test_C22_one_changed_byte_anywhere_is_found_and_repaired(sandbox, build, entry):
    """200 positions, seeded, over all members and the manifest; size and time stay."""
    right, chance = outputs(sandbox), random.Random(200)
    for _ in range(POSITIONS):
        path = chance.choice(sorted(entry))
        status, data = path.stat(), bytearray(path.read_bytes())
        position, change = chance.randrange(len(data)), chance.randrange(1, 256)
        data[position] ^= change
        with open(path, "r+b") as file:
            file.write(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        where = f"{path.suffix} at {position} ^ {change}"
        assert build() == 1, where
        assert outputs(sandbox) == right, where
        assert build() == 0, where
    assert sandbox.tool("cache", "verify").stdout == "1 sound, 0 damaged\n"
