"""The example project as a stranger uses it: by find_package and as part of one's own tree, with and without teenyc."""

import re

import pytest
from project import Project

RUST_KERNELS = ("block_sum", "saxpy", "vector_add")


@pytest.fixture
def example(sandbox, double, rustc, prelude):
    """The example's own folder, built elsewhere."""

    def make(with_teenyc):
        project = Project(sandbox, "Ninja", double=double if with_teenyc else None, rustc=rustc)
        project.source = sandbox.installation.source / "example-project"
        if with_teenyc:
            project.definitions["TEENY_PRELUDE"] = prelude
        return project

    return make


def table_of(output):
    """{(kernel, architecture): (PTX version, bytes, entry, threads)}"""
    head, *rows = output.split("\n\n")[0].splitlines()
    assert head.split() == ["kernel", "arch", "PTX", "bytes", "entry", "threads"]
    return {tuple(row.split()[:2]): tuple(row.split()[2:]) for row in rows}


def check_table(output, with_teenyc):
    table = table_of(output)
    wanted = {(kernel, arch) for kernel in RUST_KERNELS for arch in ("sm_80", "sm_90")}
    if with_teenyc:
        wanted |= {("tile_add_f32", arch) for arch in ("sm_80", "sm_90a")}
    assert set(table) == wanted
    for (kernel, arch), (version, size, entry, threads) in table.items():
        assert re.fullmatch(r"\d+\.\d", version) and int(size) > 500
        if kernel == "tile_add_f32":
            assert (entry, threads) == ("tile_add_entry_point", "128")
        else:
            assert (entry, threads) == (kernel, "any")
    assert re.search(r"\nA device of compute capability 9\.0 would load saxpy for sm_90 \(\d+ bytes of PTX\)\n$", output)


@pytest.mark.parametrize("with_teenyc", [True, False], ids=["with teenyc", "without"])
def test_by_find_package(example, double, with_teenyc):
    project = example(with_teenyc)
    output = project.configure().output
    said = [line for line in output.splitlines() if "tile_add is left out" in line]
    assert len(said) == (0 if with_teenyc else 1)
    assert with_teenyc or "TEENYC_EXECUTABLE" in output
    project.build()
    check_table(project.run(name="teeny-example").stdout, with_teenyc)
    assert sorted(call["target_cpu"] for call in double.calls()) == (["sm_80", "sm_90"] if with_teenyc else [])
    assert project.is_quiet()


def test_as_a_part_of_ones_own_tree(sandbox, double, rustc, prelude):
    """add_subdirectory() of the whole repository; the helper is given, so that it is not built once more."""
    project = Project(sandbox, "Ninja", double=double, rustc=rustc)
    project.write("CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.25)
project(P CXX)
set(CMAKE_CXX_STANDARD 17)
add_subdirectory("{sandbox.installation.source}" teeny)
add_subdirectory("{sandbox.installation.source}/example-project" example)
""")
    project.definitions.update(TEENY_PRELUDE=prelude, TEENY_KERNEL_EXECUTABLE=sandbox.installation.tool)
    project.configure()
    output = project.build("--target", "teeny-example").stdout
    assert "teeny_core" not in output and not list(project.binary.rglob("libteeny_core*"))
    check_table(project.run(name="teeny-example", directory="example").stdout, True)
    assert len(double.calls()) == 2
