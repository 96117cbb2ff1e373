"""One `.rs` file for Rust and C++: instantiated, typed, checked; and found again in what was linked."""

import json
import re

import pytest
from project import Project

RUST = """/// y[i] += a * x[i]
#[no_mangle]
pub unsafe extern "ptx-kernel" fn axpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
    for i in grid_stride(n as usize) {
        *y.add(i) = a * *x.add(i) + *y.add(i);
    }
}
"""
# As a teenygrad crate has it, for its #[kernel] macro.
TRITON = """use teeny_macros::kernel;
use teeny_triton::triton::*;

/// out[i] = in[i] + bias
#[kernel]
pub fn shift<T: Triton, D: Num, const BLOCK_SIZE: i32, const CLAMP: bool>(
    in_ptr: In<T::Pointer<D>>,
    out_ptr: Out<T::Pointer<D>>,
    bias: f32,
    n: i32,
) {
    let at = T::arange(0, BLOCK_SIZE);
    T::store::<D>(out_ptr, at, n, T::load::<D>(in_ptr, at, n));
}
"""
LISTS = """cmake_minimum_required(VERSION 3.25)
project(P LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Teeny REQUIRED)
add_executable(app main.cpp)
teeny_add_kernel(app SOURCE axpy.rs FRONTEND rust ARCHITECTURES 80 90)
teeny_add_kernel(app NAME shift_f32 SOURCE shift.rs TYPES f32 CONSTANTS CLAMP=true BLOCK_SIZE=1024 ID AUTO
  PRELUDE prelude.rs ARCHITECTURES 89)
"""
MAIN = """#include "app_kernels.hpp"
#include <cstdio>
int main() {
  const teeny::DevicePointer<float> x(0x1000u), y(0x2000u);
  const teeny::DevicePointer<const float> constant = x;
  const std::uint32_t n = 7;
  auto plain = app_kernels::axpy.arguments(n, 2.0f, constant, y);
  auto triton = app_kernels::shift_f32.arguments(x, y, 1.5f, std::int32_t{-3});
  triton.set_scratch(teeny::DevicePointer<void>(0x3000u), nullptr);
  const auto u64 = [](void* p) { return static_cast<unsigned long long>(*static_cast<std::uint64_t*>(p)); };
  std::printf("%zu %u %g %llx %llx\\n", plain.size(), *static_cast<std::uint32_t*>(plain.data()[0]),
              double(*static_cast<float*>(plain.data()[1])), u64(plain.data()[2]), u64(plain.data()[3]));
  std::printf("%zu %llx %llx %g %d %llx %llx\\n", triton.size(), u64(triton.data()[0]), u64(triton.data()[1]),
              double(*static_cast<float*>(triton.data()[2])), *static_cast<std::int32_t*>(triton.data()[3]),
              u64(triton.data()[4]), u64(triton.data()[5]));
  const teeny::Kernel& untyped = app_kernels::axpy;
  std::printf("%s %s\\n", untyped.entry().data(), app_kernels::find("shift_f32")->entry().data());
}
"""


@pytest.fixture
def project(sandbox, double, prelude, rustc):
    project = Project(sandbox, "Ninja", double=double, rustc=rustc)
    project.write("CMakeLists.txt", LISTS)
    project.write("axpy.rs", RUST)
    project.write("shift.rs", TRITON)
    project.write("prelude.rs", prelude.read_text())
    project.write("main.cpp", MAIN)
    return project


def test_arguments_reach_the_launch_as_the_signature_has_them(project):
    project.configure()
    project.build()
    assert project.run().stdout.splitlines() == [
        "4 7 2 1000 2000",
        "6 1000 2000 1.5 -3 3000 0",
        "axpy shift_entry_point",
    ]


def test_the_rust_runtime_finds_the_kernel_under_its_id(project, double):
    project.configure()
    project.build()
    key = project.sandbox.tool("key", "--id", "shift__f32__1024__true", "--name", "shift", "--arch", "sm_89").stdout.strip()
    assert f"{key}.o" in project.sandbox.cached(".o")
    [call] = double.calls()
    text = project.sandbox.cached(".rs")[f"{key}.rs"].decode()
    assert "use teeny_macros" not in text and "#[kernel]" not in text
    assert "shift::<LlvmTriton, f32, 1024, true>(" in text
    assert call["target_cpu"] == "sm_89"


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("arguments(n, 2.0f, constant, y)", "arguments(n, 2.0f, constant)", "the kernel takes another number of arguments"),
        ("arguments(n, 2.0f, constant, y)", "arguments(n, 2.0f, constant, y, y)", "the kernel takes another number of arguments"),
        ("arguments(n, 2.0f, constant, y)", "arguments(2.0f, n, constant, y)", "an argument is not of its parameter's type"),
        ("arguments(n, 2.0f, constant, y)", "arguments(n, 2.0, constant, y)", "an argument is not of its parameter's type"),
        ("arguments(n, 2.0f, constant, y)", "arguments(-1, 2.0f, constant, y)", "an argument is not of its parameter's type"),
        ("arguments(n, 2.0f, constant, y)", "arguments(n, 2.0f, y, constant)", "an argument is not of its parameter's type"),
        ("arguments(n, 2.0f, constant, y)", "arguments(n, 2.0f, teeny::DevicePointer<double>(), y)",
         "an argument is not of its parameter's type"),
        ("arguments(x, y, 1.5f, std::int32_t{-3})", "arguments(x, y, std::int32_t{-3}, 1.5f)",
         "an argument is not of its parameter's type"),
        ("arguments(n, 2.0f, constant, y)", "arguments(n, 2.0f, nullptr, y)", None),
    ],
)  # fmt: skip
def test_a_wrong_call_does_not_compile(project, old, new, message):
    project.replace("main.cpp", old, new)
    project.configure()
    result = project.build(check=False)
    if message is None:
        assert result.returncode == 0, result
    else:
        assert result.returncode != 0
        assert message in result.stdout, result


def test_a_signature_that_the_image_does_not_have_fails_the_build(project, sandbox, rustc):
    # `extern` of a wrong width, behind the compiler's back: the prelude rewrites the type.
    project.write("lie.rs", 'type u16 = u64;\n#[no_mangle]\npub unsafe extern "ptx-kernel" fn lie(n: u16, x: *mut f32) {\n'
                  "    *x = n as f32;\n}\n")  # fmt: skip
    result = sandbox.tool("compile", "--frontend", "rust", "--compiler", rustc, "--source", project.source / "lie.rs", "--arch",
                          "80", "--output", sandbox.root / "lie.ptx", check=False)  # fmt: skip
    assert result.returncode == 1
    assert "parameter n of its entry point" in result.stderr


def test_editing_a_body_leaves_the_header_and_a_signature_changes_it(project):
    project.configure()
    project.build()
    before = project.times()
    project.replace("axpy.rs", "a * *x.add(i)", "a + *x.add(i)")
    project.build()
    rewritten = project.rewritten(before)
    assert "app_kernels.hpp" not in rewritten and "main.cpp.o" not in rewritten
    assert "axpy.sm_80.ptx" in rewritten
    project.replace("axpy.rs", "a: f32", "a: f64")
    project.replace("axpy.rs", "a + *x.add(i)", "a as f32 + *x.add(i)")
    project.replace("main.cpp", "2.0f, constant", "2.0, constant")
    project.replace("main.cpp", "double(*static_cast<float*>(plain.data()[1]))", "*static_cast<double*>(plain.data()[1])")
    project.build()
    assert "double" in (project.binary / "teeny/app/include/app_kernels.hpp").read_text()
    assert project.run().stdout.splitlines()[0] == "4 7 2 1000 2000"


@pytest.mark.parametrize("embed", ["incbin", "literal"])
def test_inspect_finds_the_images_of_a_stripped_program(project, sandbox, embed):
    project.configure(f"-DTEENY_EMBED={embed}")
    project.build()
    sandbox.run("strip", project.program())
    rows = json.loads(sandbox.tool("inspect", "--json", project.program()).stdout)
    assert [(row["kernel"], row["architecture"], row["entry"]) for row in rows] == [
        ("axpy", "sm_80", "axpy"),
        ("axpy", "sm_90", "axpy"),
        ("shift_f32", "sm_89", "shift_entry_point"),
    ]
    files = [project.binary / f"teeny/app/{name}.ptx" for name in ("axpy.sm_80", "axpy.sm_90", "shift_f32.sm_89")]
    single = json.loads(sandbox.tool("inspect", "--json", *files).stdout)
    assert [row["sha256"] for row in rows] == [row["sha256"] for row in single]
    assert rows[2]["num_warps"] == 4 and rows[2]["required_threads"] == [128, 1, 1]
    table = sandbox.tool("inspect", project.program()).stdout
    assert re.search(r"shift_f32 +shift_entry_point +sm_89 ", table), table


def test_rust_project_for_editors(project, rustc):
    project.configure()
    project.build("--target", "teeny-rust-project")
    crates = json.loads((project.binary / "rust-project.json").read_text())["crates"]
    assert [crate["display_name"] for crate in crates] == ["axpy", "shift_f32"]
    # A crate root that the compiler itself takes.
    project.sandbox.run(rustc, crates[0]["root_module"], "--edition=2021", "--target=nvptx64-nvidia-cuda", "--crate-type=lib",
                        "--emit=asm", "-o", project.sandbox.root / "axpy.s", env={"RUSTC_BOOTSTRAP": "1"})  # fmt: skip
