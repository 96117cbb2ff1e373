"""Real PTX: what a stock rustc makes of the example's kernels through teeny-kernel, checked by ptxas where there is one."""

import json
import re
import shutil

import pytest
from project import RUST_KERNEL

KERNELS = ("vector_add", "saxpy", "block_sum")
ARCHITECTURES = ("75", "80", "86", "87", "89", "90", "90a", "100", "120", "120f")


@pytest.fixture(scope="session")
def ptxas():
    """Path of ptxas, or None."""
    return shutil.which("ptxas")


@pytest.fixture
def compile_(sandbox, rustc):
    """Compiles a file for an architecture and returns the image's path."""

    def run(source, arch, *arguments):
        output = sandbox.root / f"{source.stem}.{arch}.ptx"
        result = sandbox.tool("compile", "--frontend", "rust", "--compiler", rustc, "--source", source, "--arch", arch, "--output",
                              output, *arguments)  # fmt: skip
        assert result.output == ""  # the compiler has nothing to say that a user could act upon
        return output

    return run


def check(sandbox, ptxas, image, arch, entry):
    (row,) = json.loads(sandbox.tool("inspect", "--json", image).stdout)
    assert (row["entry"], row["architecture"], row["bytes"]) == (entry, f"sm_{arch}", image.stat().st_size)
    assert not re.search(r"\.loc\b|\.file\b|\.debug_|\.extern", image.read_text())
    # An older ptxas does not know every architecture; those it knows are listed by its help.
    if ptxas and f"'sm_{arch}'" in sandbox.run(ptxas, "--help").stdout:
        sandbox.run(ptxas, f"-arch=sm_{arch}", image, "-o", sandbox.root / "checked.cubin")
    return row


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_example_kernels_for_every_architecture(sandbox, ptxas, compile_, kernel):
    source = sandbox.installation.source / "example-project/kernels" / f"{kernel}.rs"
    for arch in ARCHITECTURES:
        check(sandbox, ptxas, compile_(source, arch), arch, kernel)


def test_the_ptx_version_that_was_asked_for(sandbox, ptxas, compile_):
    source = sandbox.write("scale.rs", RUST_KERNEL)
    for arch, asked, wanted in (("80", "7.8", "7.8"), ("80", "83", "8.3"), ("90", "8.6", "8.6"), ("90", "default", None)):
        row = check(sandbox, ptxas, compile_(source, arch, "--ptx-version", asked), arch, "scale")
        assert wanted is None or row["ptx_version"] == wanted


def test_equal_inputs_give_equal_images_in_any_place(sandbox, compile_):
    """No path of the machine is in an image, not even with debug information."""
    images = set()
    for folder in ("one", "another place é"):
        source = sandbox.write(f"{folder}/scale.rs", RUST_KERNEL)
        images.add(compile_(source, "80", "--force", "--option=-Cdebuginfo=1").read_bytes())
    assert len(images) == 1 and str(sandbox.root).encode() not in images.pop()


def test_a_kernel_that_does_not_compile(sandbox, rustc):
    source = sandbox.write("scale.rs", RUST_KERNEL.replace("2.0", "two"))
    result = sandbox.tool("compile", "--frontend", "rust", "--compiler", rustc, "--source", source, "--arch", "80", "--output", "o.ptx",
                          check=False)  # fmt: skip
    assert result.returncode == 1 and result.stdout == ""
    assert "error[E0425]: cannot find value `two`" in result.stderr and "kernel scale for sm_80 does not compile" in result.stderr
    assert not (sandbox.root / "o.ptx").exists() and sandbox.temporaries() == []


def test_an_architecture_that_rustc_does_not_know_is_no_silent_substitute(sandbox, rustc):
    source = sandbox.write("scale.rs", RUST_KERNEL)
    result = sandbox.tool("compile", "--frontend", "rust", "--compiler", rustc, "--source", source, "--arch", "999", "--output", "o.ptx",
                          check=False)  # fmt: skip
    assert result.returncode == 1 and "sm_999" in result.stderr and not (sandbox.root / "o.ptx").exists()


def test_edition_and_prelude_are_the_users_to_choose(sandbox, compile_):
    device = (sandbox.installation.source / "modules/device/prelude.rs").read_text(encoding="utf-8")
    whole = sandbox.write("whole.rs", device + RUST_KERNEL.replace("scale", "whole"))
    image = compile_(whole, "80", "--prelude", "NONE")
    assert ".visible .entry whole(" in image.read_text()
    of_2024 = """#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn one(x: *mut f32) {
    unsafe { *x = 1.0 }
}
"""
    compile_(sandbox.write("one.rs", of_2024), "80", "--option=--edition=2024")


def test_find_compiler_takes_a_rustc(sandbox, rustc):
    found = sandbox.tool("find-compiler", "--frontend", "rust", env={"TEENY_RUSTC_EXECUTABLE": rustc, "PATH": "/nowhere"}).stdout
    assert found == f"{rustc}\n"
    result = sandbox.tool("find-compiler", "--frontend", "rust", env={"PATH": "/nowhere"}, check=False)
    assert result.returncode == 3 and "TEENY_RUSTC_EXECUTABLE" in result.stderr
