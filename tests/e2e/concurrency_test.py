"""One compile per key however many ask, and no trace of who was killed while asking."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from project import Project, end_group, kernel_text

MANY = 32
PATIENCE_S = 20


def arguments(kernel, prelude, double):
    return ["compile", "--source", kernel, "--type", "f32", "--constant", "BLOCK_SIZE=128", "--prelude", prelude,
            "--compiler", double.path]  # fmt: skip


@pytest.fixture
def kernel(sandbox):
    return sandbox.write("vector_add.rs", kernel_text())


def wait_until(condition):
    """Polls, for a bounded time."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def is_running(pid):
    """A dead process that nobody has collected yet does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        if Path("/proc/self").exists():
            return False
    return subprocess.run(["ps", "-p", str(pid)], stdout=subprocess.DEVNULL, check=False).returncode == 0


def finish(children):
    """Waits for all; nobody is left behind when one hangs."""
    try:
        return [(child.communicate(timeout=60), child.returncode) for child in children]
    finally:
        for child in children:
            if child.poll() is None:
                end_group(child)


def compiles_by_cpu(double):
    counts = {}
    for call in double.calls():
        counts[call["target_cpu"]] = counts.get(call["target_cpu"], 0) + 1
    return counts


# ---- Many at once ---------------------------------------------------------------------------------------------


def test_many_compiles_of_one_kernel_are_one(sandbox, double, prelude, kernel):
    double.configure(sleep_mid=0.2, nonce=True)
    outputs = [sandbox.root / f"out/{number}.ptx" for number in range(MANY)]
    children = [
        sandbox.start(sandbox.installation.tool, *arguments(kernel, prelude, double), "--output", path, "--arch", "90",
                      "--stamp", f"{path}.stamp", "--mlir-output", f"{path}.mlir", "--id", "AUTO")
        for path in outputs
    ]  # fmt: skip
    for (stdout, stderr), code in finish(children):
        assert (code, stdout, stderr) == (0, "", "")
    assert compiles_by_cpu(double) == {"sm_90": 1}
    assert len({path.read_bytes() for path in outputs}) == 1
    assert len({Path(f"{path}.mlir").read_bytes() for path in outputs}) == 1
    assert all(Path(f"{path}.stamp").exists() for path in outputs)
    assert sandbox.temporaries() == []


def test_different_kernels_do_not_wait_for_each_other(sandbox, double, prelude, kernel):
    double.configure(sleep=60)
    children = [sandbox.start(sandbox.installation.tool, *arguments(kernel, prelude, double), "--output", f"{arch}.ptx",
                              "--arch", arch) for arch in ("80", "90")]  # fmt: skip
    try:
        wait_until(lambda: len(double.calls()) == 2)
    finally:
        for child in children:
            child.terminate()
        finish(children)


def test_make_with_the_kernel_on_two_targets_compiles_once_for_each_architecture(sandbox, double, prelude):
    double.configure(sleep_mid=0.1, nonce=True)
    project = Project(sandbox, "Unix Makefiles", double=double)
    project.write("vector_add.rs", kernel_text())
    project.write("library.cpp", "")
    project.write("main.cpp", '#include "two_kernels.hpp"\nint main() { return two_kernels::vector_add.images().size() == 2 ? 0 : 1; }\n')
    call = f'SOURCE vector_add.rs TYPES f32 CONSTANTS BLOCK_SIZE=128 ARCHITECTURES 80 90 PRELUDE "{prelude}")\n'
    project.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(P CXX)\nfind_package(Teeny REQUIRED)\n"
                  "add_library(one STATIC library.cpp)\nadd_executable(two main.cpp)\n"
                  f"set(CMAKE_CXX_STANDARD 17)\nteeny_add_kernel(one {call}teeny_add_kernel(two {call}")  # fmt: skip
    project.configure("-DCMAKE_CXX_STANDARD=17")
    project.build(jobs=16)
    assert compiles_by_cpu(double) == {"sm_80": 1, "sm_90": 1}
    for arch in ("80", "90"):
        images = [path.read_bytes() for path in project.binary.rglob(f"vector_add.sm_{arch}.ptx")]
        assert len(images) == 2 and images[0] == images[1]
    project.run(name="two")
    assert project.is_quiet(jobs=16) and len(double.calls()) == 2


def test_ctest_in_two_build_trees_compiles_once_for_each_architecture(sandbox, double, prelude, kernel):
    double.configure(sleep_mid=0.1, nonce=True)
    trees = []
    for name in ("first", "second"):
        project = Project(sandbox, "Ninja", name=name, double=double)
        command = " ".join(f'"{word}"' for word in arguments(kernel, prelude, double))
        project.write("CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.25)
project(P NONE)
enable_testing()
find_package(Teeny REQUIRED)
foreach(number RANGE 1 {MANY})
  math(EXPR arch "80 + 10 * (${{number}} % 2)")
  add_test(NAME t${{number}}
    COMMAND Teeny::teeny-kernel {command} --arch ${{arch}} --output ${{CMAKE_BINARY_DIR}}/${{number}}.${{arch}}.ptx)
endforeach()
""")
        project.configure()
        trees.append(project)
    children = [sandbox.start("ctest", f"-j{MANY}", "--output-on-failure", "--timeout", "60", cwd=p.binary, stderr=subprocess.STDOUT)
                for p in trees]  # fmt: skip
    for (output, _), code in finish(children):
        assert code == 0 and f"100% tests passed, 0 tests failed out of {MANY}" in output, output
    assert compiles_by_cpu(double) == {"sm_80": 1, "sm_90": 1}
    for arch in ("80", "90"):
        images = [path.read_bytes() for tree in trees for path in tree.binary.glob(f"*.{arch}.ptx")]
        assert len(images) == MANY and len(set(images)) == 1
    assert sandbox.temporaries() == []


# ---- Ended from outside ---------------------------------------------------------------------------------------


@pytest.fixture
def slow(sandbox, double, prelude, kernel):
    """Starts a compile that would take a minute, and returns it when the compiler runs."""
    started = []

    def start(**settings):
        double.configure(**(settings or {"sleep": 60}))
        child = sandbox.start(sandbox.installation.tool, *arguments(kernel, prelude, double), "--output", sandbox.root / "out.ptx",
                              "--stamp", sandbox.root / "out.stamp")  # fmt: skip
        started.append(child)
        wait_until(lambda: double.calls() or child.poll() is not None)
        assert child.poll() is None
        return child, double.calls()[-1]["pid"]

    yield start
    for child in started:
        end_group(child)
    for call in double.calls():
        if is_running(call["pid"]):
            os.kill(call["pid"], signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
@pytest.mark.parametrize("settings", [{"sleep": 60}, {"sleep_mid": 60}], ids=["before", "while writing"])
def test_a_signal_ends_the_compiler_too_and_leaves_nothing(sandbox, double, prelude, kernel, slow, number, settings):
    child, compiler = slow(**settings)
    os.kill(child.pid, number)  # the helper alone, as `kill` does it
    child.wait(timeout=PATIENCE_S)
    assert child.returncode == -number
    assert not is_running(compiler)
    assert sandbox.temporaries() == []
    assert not (sandbox.root / "out.ptx").exists() and not (sandbox.root / "out.stamp").exists()
    assert sandbox.members() == []
    double.configure(sleep=0, sleep_mid=0)
    sandbox.tool(*arguments(kernel, prelude, double), "--output", sandbox.root / "out.ptx")
    assert len(double.calls()) == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux ends a child with its parent")
def test_a_killed_helper_leaves_no_compiler_and_no_lock(sandbox, double, prelude, kernel, slow):
    child, compiler = slow()
    child.kill()
    child.wait(timeout=PATIENCE_S)
    wait_until(lambda: not is_running(compiler))
    assert not (sandbox.root / "out.ptx").exists() and not (sandbox.root / "out.stamp").exists()
    double.configure(sleep=0)
    result = sandbox.tool(*arguments(kernel, prelude, double), "--output", sandbox.root / "out.ptx", timeout=PATIENCE_S)
    assert result.stderr == "" and len(double.calls()) == 2
    sandbox.tool(*arguments(kernel, prelude, double), "--output", sandbox.root / "out.ptx")
    assert len(double.calls()) == 2


def test_who_waits_compiles_when_the_one_in_front_is_ended(sandbox, double, prelude, kernel, slow):
    child, _ = slow()
    double.configure(sleep=0)
    waiting = [sandbox.start(sandbox.installation.tool, *arguments(kernel, prelude, double), "--output", f"{number}.ptx")
               for number in range(4)]  # fmt: skip
    child.terminate()
    assert [code for _, code in finish(waiting)] == [0] * 4
    assert len(double.calls()) == 2
    assert len({(sandbox.root / f"{number}.ptx").read_bytes() for number in range(4)}) == 1


def test_a_failing_compile_is_tried_by_each_and_blocks_nobody(sandbox, double, prelude, kernel):
    double.configure(mode="exit1")
    children = [sandbox.start(sandbox.installation.tool, *arguments(kernel, prelude, double), "--output", f"{number}.ptx")
                for number in range(4)]  # fmt: skip
    for (_, stderr), code in finish(children):
        assert code == 1 and "mode exit1 of the double" in stderr
    assert len(double.calls()) == 4 and sandbox.members() == [] and sandbox.temporaries() == []
