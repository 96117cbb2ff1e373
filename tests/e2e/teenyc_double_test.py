"""What the stand-in for teenyc promises: strict like the compiler, output like the compiler's, faults on demand."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from double import DOUBLES, TeenycDouble

KERNEL = (DOUBLES.parent / "kernels" / "vector_add_entry.rs").read_text(encoding="utf-8")
PRELUDE = (DOUBLES / "triton_prelude.rs").read_text(encoding="utf-8")
FULL = PRELUDE + KERNEL
BASE = ["-Copt-level=3", "-Zcodegen-backend=mlir", "--emit=obj"]
REST = ["--target=nvptx64-nvidia-cuda", "--crate-type=lib", "-C", "overflow-checks=off", "--frontend=triton"]
MINIMAL = '#[no_mangle]\npub extern "C" fn k_entry_point({}) {{\n    body();\n}}\n'
META_KEYS = ["name", "num_warps", "num_ctas", "shared", "tmem_size", "global_scratch_size", "global_scratch_align",
             "profile_scratch_size", "profile_scratch_align"]  # fmt: skip


class Bench:
    """A double, a folder to compile in, and the command line that the helper uses."""

    def __init__(self, directory):
        self.double = TeenycDouble(directory / "compiler")
        self.directory = directory / "out é"
        self.directory.mkdir()
        self.source = self.directory / "vector_add_0123.rs"
        self.output = self.directory / "vector_add_0123.o"
        self.sidecar = self.directory / "vector_add_0123.mlir"
        self.source.write_text(FULL, encoding="utf-8")

    def run(self, arguments, env=None, cwd=None, **options):
        environment = {"PATH": os.defpath, "RUSTC_BOOTSTRAP": "1", "RUSTC_ICE": "0", **(env or {})}
        environment = {name: value for name, value in environment.items() if value is not None}
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        options = {"timeout": 15, **options}
        return subprocess.run([self.double.path, *arguments], env=environment, cwd=cwd or self.directory,
                              encoding="utf-8", errors="replace", check=False, **options)  # fmt: skip

    def argv(self, cpu="sm_80", *more):
        return [self.source, *BASE, f"-o{self.output}", *REST, *([f"-Ctarget-cpu={cpu}"] if cpu else []), *more]

    def compile(self, cpu="sm_80", *more, text=None, **options):
        if text is not None:
            self.source.write_text(text, encoding="utf-8")
        return self.run(self.argv(cpu, *more), **options)

    def ptx(self, cpu="sm_80", *more, **options):
        result = self.compile(cpu, *more, **options)
        assert result.returncode == 0, result.stderr
        return self.output.read_text(encoding="utf-8")


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def refused(result, text, code=1):
    assert result.returncode == code, result.stderr
    assert text in result.stderr, result.stderr


# The command line


@pytest.mark.parametrize(
    "change, text",
    [
        (["--bogus"], "error: Unrecognized option: 'bogus'"),
        (["-x"], "error: Unrecognized option: 'x'"),
        (["--frontend=triton"], "error: Option 'frontend' given more than once"),
        (["--target=nvptx64-nvidia-cuda"], "error: Option 'target' given more than once"),
        (["-oother.o"], "error: Option 'o' given more than once"),
        (["other.rs"], "error: multiple input filenames provided (first two filenames are `"),
        (["--emit=ptx"], "error: unknown emission type: `ptx` - expected one of: `asm`, `llvm-bc`, `dep-info`, `link`,"),
        (["--emit"], "error: Argument to option 'emit' missing"),
        (["-Cfast=1"], "error: unknown codegen option: `fast`"),
        (["-Coverflow-checks=maybe"], "error: incorrect value `maybe` for codegen option `overflow-checks` - one of: `y`"),
        (["-Copt-level=9"], "error: optimization level needs to be between 0-3, s or z (instead was `9`)"),
        (["-Ctarget-cpu"], "error: codegen option `target-cpu` requires a string (`-C target-cpu=<value>`)"),
        (["-Znonsense"], "error: unknown unstable option: `nonsense`"),
        (["--edition=2001"], "error: argument for `--edition` must be one of: <2015|2018|2021|2024|future>. (instead"),
        (["--crate-type=foo"], "error: unknown crate type: `foo`, expected one of: `lib`"),
        (["--remap-path-prefix=x"], "error: --remap-path-prefix must contain '=' between FROM and TO"),
        (["--cfg", "1x"], 'error: invalid `--cfg` argument: `1x` (expected `key` or `key="value"`)'),
        (["--json=artifacts"], "error: using `--json` requires also using `--error-format=json`"),
        (["--crate-name", "a-b"], "error: invalid character '-' in crate name: `a-b`"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_compilers_words(bench, change, text):
    result = bench.compile("sm_80", *change)
    refused(result, text)
    assert result.stdout == ""
    assert not bench.output.exists()


def test_the_input_file_is_required_and_must_exist(bench):
    refused(bench.run(bench.argv()[1:]), "error: no input filename given")
    bench.source.unlink()
    refused(bench.compile(), f"error: couldn't read `{bench.source}`: No such file or directory (os error 2)")


def test_frontends_other_than_triton_are_refused(bench):
    argv = [a for a in bench.argv() if a != "--frontend=triton"]
    refused(bench.run([*argv, "--frontend=cuda"]), "error: unknown frontend: `cuda`. Supported frontends: triton")
    assert bench.run([*argv, "--frontend", "TRITON"]).returncode == 0
    argv.remove("-Zcodegen-backend=mlir")
    refused(bench.run(argv), "not supported by the double")


def test_z_needs_the_bootstrap_variable(bench):
    for value in (None, "", "0", "true"):
        result = bench.compile(env={"RUSTC_BOOTSTRAP": value})
        refused(result, "error: the option `Z` is only accepted on the nightly compiler")


def test_features_need_the_bootstrap_variable_too(bench):
    argv = [a for a in bench.argv() if a != "-Zcodegen-backend=mlir"]
    result = bench.run(argv, env={"RUSTC_BOOTSTRAP": None})
    refused(result, "error[E0554]: `#![feature]` may not be used on the stable release channel")


@pytest.mark.parametrize("cpu", ["sm_90f", "sm_100f", "sm_90aa", "sm_", "SM_90", "90", "sm_ninety", "spacemit-k3", ""])
def test_a_bad_target_cpu_is_refused(bench, cpu):
    argv = [*bench.argv(None), f"-Ctarget-cpu={cpu}"]
    refused(bench.run(argv), f"error: invalid `-C target-cpu` value `{cpu}` for the `mlir` codegen backend's CUDA target:"
            " expected an NVIDIA SM version in the form `sm_<NN>` or `sm_<NN>a` (e.g. `sm_90`, `sm_90a`)")  # fmt: skip


def test_the_first_generation_takes_a_bad_target_cpu_for_90(bench):
    bench.double.configure(generation="CB1")
    assert ".target sm_90a\n" in bench.ptx("sm_ninety")


def test_other_targets_are_refused(bench):
    argv = [a for a in bench.argv() if not str(a).startswith("--target=")]
    words = "the `mlir` codegen backend does not support target architecture `x86_64`"
    refused(bench.run([*argv, "--target=x86_64-unknown-linux-gnu"]), words)
    words = 'error loading target specification: could not find specification for target "nvptx-nope"'
    refused(bench.run([*argv, "--target", "nvptx-nope"]), words)


def test_options_that_rustc_knows_are_taken(bench):
    more = ["-g", "-O", "-v", "--cfg", "fast", "--cfg=kind=\"a\"", "--check-cfg", "cfg(fast)", "-A", "dead_code", "-Wunused",
            "-D", "unsafe_code", "-Fmissing_docs", "--edition=2021", "-Cdebuginfo=1", "-C", "codegen_units=1",
            "--crate-name", "k", "--color=never", "--error-format", "human", "--diagnostic-width=80", "--cap-lints", "warn",
            "--remap-path-prefix=/a=/b", "-L", "native=/x", "-lfoo", "--extern", "dep=/x/libdep.rlib"]  # fmt: skip
    assert bench.compile("sm_80", *more).returncode == 0


def test_the_version_is_rustcs_in_form_and_says_what_it_is(bench):
    short, long = bench.run(["--version"]).stdout, bench.run(["-vV"]).stdout
    assert re.fullmatch(r"rustc 1\.97\.1 \(teenyc double, generation CB3\)\n", short)
    assert long.startswith(short) and re.search(r"^host: \S+-linux-gnu\nrelease: 1\.97\.1\nLLVM version: ", long, re.M)
    assert bench.double.events() == []


def test_print_requests(bench):
    assert "nvptx64-nvidia-cuda\n" in bench.run(["--print", "target-list"]).stdout
    assert bench.run(["--print=target-cpus"]).stdout.startswith("MLIR backend target CPUs:\n  an NVIDIA SM version")
    sysroot = bench.run(["--print", "sysroot"]).stdout.strip()
    assert Path(sysroot) == bench.double.directory
    libdir = bench.run(["--print=target-libdir", "--target=nvptx64-nvidia-cuda"]).stdout
    assert libdir == f"{sysroot}/lib/rustlib/nvptx64-nvidia-cuda/lib\n"
    refused(bench.run(["--print=nope"]), "error: unknown print request: `nope`")
    assert bench.double.events() == []


# The source


@pytest.mark.parametrize(
    "text, head",
    [
        (MINIMAL.format("a: Foo"), "error[E0425]: cannot find type `Foo` in this scope\n --> {}:2:36\n  |\n2 | pub extern"),
        (MINIMAL.format("a: *mut bf16"), "error[E0425]: cannot find type `bf16` in this scope\n --> {}:2:41\n"),
        (MINIMAL.format("a: f16"), "error[E0658]: the type `f16` is unstable\n --> {}:2:36\n"),
        (MINIMAL.format("") + "fn f() {\n", "error: this file contains an unclosed delimiter\n --> {}:5:9\n"),
        (MINIMAL.format("") + "}\n", "error: unexpected closing delimiter: `}}`\n --> {}:5:1\n  |\n5 | }}\n  | ^ unexpected"),
        ("fn f() { (1] }\n", "error: mismatched closing delimiter: `]`\n --> {}:1:12\n"),
        ('fn f() { "x }\n', "error[E0765]: unterminated double quote string\n --> {}:1:10\n"),
        ("/* x\n", "error[E0758]: unterminated block comment\n --> {}:1:1\n"),
        (KERNEL, "error[E0432]: unresolved import `triton`\n  --> {}:15:5\n"),
        (KERNEL + PRELUDE, "error: an inner attribute is not permitted in this context\n"),
        (FULL.replace("fn vector_add<", "fn vector_sub<"), "error[E0425]: cannot find function `vector_add` in this scope\n"),
        (FULL.replace("LlvmTriton, f32, 128>", "LlvmTriton, f32>"),
         "error[E0107]: function takes 3 generic arguments but 2 generic arguments were supplied\n"),
        (FULL.replace("c_ptr, n);", "c_ptr);"), "error[E0061]: this function takes 4 arguments but 3 arguments were supplied"),
    ],
)  # fmt: skip
def test_a_source_that_does_not_compile_is_diagnosed_at_its_place(bench, text, head):
    result = bench.compile(text=text)
    refused(result, head.format(bench.source))
    assert re.search(r"\n\nerror: aborting due to \d previous errors?\n", result.stderr)
    assert not bench.output.exists() and not bench.sidecar.exists()


def test_compile_error_in_rustcs_shape(bench):
    text = FULL.replace("    let start", '\tcompile_error!("no é here"); // compile_error!("comment")\n    let start')
    line = text[: text.index("compile_error!")].count("\n") + 1
    result = bench.compile(text=text)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == (
        f"error: no é here\n  --> {bench.source}:{line}:2\n   |\n{line} |     compile_error!(\"no é here\");"
        f" // compile_error!(\"comment\")\n   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n\nerror: aborting due to 1 previous error\n\n"
    )


def test_diagnostics_in_the_other_forms(bench):
    text = FULL.replace("    let start", '    compile_error!("boom");\n    let start')
    result = bench.compile("sm_80", "--error-format=json", text=text)
    first, last = (json.loads(line) for line in result.stderr.splitlines())
    assert (first["message"], first["level"], first["$message_type"]) == ("boom", "error", "diagnostic")
    span = first["spans"][0]
    line = text[: text.index("compile_error!")].count("\n") + 1
    assert (span["file_name"], span["line_start"], span["column_start"]) == (str(bench.source), line, 5)
    assert text.encode()[span["byte_start"] : span["byte_end"]] == b'compile_error!("boom")'
    assert first["rendered"].startswith("error: boom\n  --> ")
    assert last["message"] == "aborting due to 1 previous error"
    assert "\033[1m\033[91merror\033[0m\033[1m: boom\033[0m\n" in bench.compile("sm_80", "--color=always").stderr
    short = bench.compile("sm_80", "--error-format=short").stderr
    assert short == f"{bench.source}:{line}:5: error: boom\nerror: aborting due to 1 previous error\n"


def test_compile_error_behind_cfg(bench):
    text = FULL.replace("#[no_mangle]", '#[cfg(broken)]\ncompile_error!("broken");\n#[no_mangle]')
    assert bench.compile(text=text).returncode == 0
    refused(bench.compile("sm_80", "--cfg", "broken"), "error: broken\n")


def test_a_warning_leaves_the_exit_code_alone(bench):
    text = FULL.replace("    let start", "    // double: warn slow path\n    let start")
    result = bench.compile(text=text)
    assert result.returncode == 0 and bench.output.exists()
    assert result.stderr.startswith(f"warning: slow path\n  --> {bench.source}:")
    assert result.stderr.endswith("\n\nwarning: 1 warning emitted\n\n")
    assert bench.compile("sm_80", "--cap-lints=allow").stderr == ""
    refused(bench.compile("sm_80", "-Dwarnings"), "error: slow path\n")


def test_a_source_must_be_utf8(bench):
    bench.source.write_bytes(b'fn f() { "\xff" }\n')
    refused(bench.compile(), f"error: couldn't read `{bench.source}`: stream did not contain valid UTF-8\n --> ")


def test_without_an_entry_point_the_compiler_panics(bench):
    bench.double.configure(log=None)
    for text in (
        "pub fn k() {}\n",
        '// #[no_mangle] pub extern "C" fn a_entry_point() {}\n',
        'const A: &str = r#"#[no_mangle] pub extern "C" fn a_entry_point() {}"#;\n',
        '#[no_mangle]\npub extern "system" fn a_entry_point() {}\n',
        'pub extern "C" fn a_entry_point() {}\n',
    ):
        result = bench.compile(text=text, env={"RUSTC_ICE": None})
        refused(result, "Could not find kernel name in PTX output\n", code=101)
        assert 'Triton passes failed: CodegenFailed { err: "Triton compilation failed" }' in result.stderr
        assert not bench.output.exists()
    dropped = list(bench.directory.glob("rustc-ice-*.txt"))
    assert len(dropped) == 5
    for path in dropped:
        path.unlink()
    assert bench.compile(env={"RUSTC_ICE": "0"}).returncode == 101
    assert list(bench.directory.glob("rustc-ice-*.txt")) == []


@pytest.mark.parametrize(
    "head",
    [
        '#[no_mangle] pub extern "C" fn k_entry_point(a: *mut f32) {}\n',
        '#[unsafe(no_mangle)]\n#[inline(never)]\npub unsafe extern "C"\nfn\nk_entry_point\n(\n    mut a: *const f32,\n) {}\n',
        '/* fn x_entry_point( */ #[inline]\n#[no_mangle] /* } */\n// {\npub extern "C" fn k_entry_point(a /* : u8 */: *mut f32) {}\n',
        "const Q: char = '\"'; fn l<'a>(x: &'a u8) { let _ = '{'; let _ = '\\''; let _ = \"\\\"}\"; }\n"
        '#[no_mangle] pub extern "C" fn k_entry_point(a: *mut f32,) {}\n',
    ],
)
def test_the_entry_point_is_found_however_it_is_laid_out(bench, head):
    ptx = bench.ptx(text=head)
    assert ".visible .entry k_entry_point(\n\t.param .u64 .ptr .global .align 1 k_entry_point_param_0,\n" in ptx


# The outputs


def trailer(ptx):
    before, marker, after = ptx.partition("\n// --- triton-metadata ---\n")
    assert marker and before.endswith("\n")
    return [tuple(line.removeprefix("// meta:").split("=", 1)) for line in after.splitlines()]


def test_the_layout_of_the_ptx(bench):
    ptx = bench.ptx("sm_89")
    assert ptx.startswith(
        "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 7.8\n.target sm_89\n.address_size 64\n\n"
        "\t// .globl\tvector_add_entry_point\n.extern .shared .align 16 .b8 global_smem[];\n\n"
        ".visible .entry vector_add_entry_point(\n"
    )
    assert ptx.isascii()
    quoted = str(bench.source).replace("é", r"\303\251")
    assert f'\t.file\t1 "{quoted}"\n\t.section\t.debug_abbrev\n' in ptx
    assert ".b32 .debug_abbrev\n" in ptx
    assert "\n)\n.reqntid 128\n{\n" in ptx
    assert "\t.section\t.debug_macinfo\t{\t}\n\n// --- triton-metadata ---\n" in ptx
    assert re.search(r"^\t\.loc\t1 \d+ \d+$", ptx, re.M)
    assert [key for key, _ in trailer(ptx)] == META_KEYS
    assert dict(trailer(ptx))["name"] == "vector_add_entry_point"
    assert dict(trailer(ptx))["num_warps"] == "4"


def test_parameters_are_typed_and_two_hidden_pointers_follow(bench):
    types = ["*mut f32", "*const i64", "i32", "u32", "i64", "u64", "f32", "f64", "i8", "u8", "bool", "i16", "u16"]
    ptx = bench.ptx(text=MINIMAL.format(", ".join(f"p{i}: {t}" for i, t in enumerate(types))))
    declared = re.findall(r"\t\.param (\.u64 \.ptr \.global \.align 1|\.\w+) k_entry_point_param_(\d+)", ptx)
    pointer = ".u64 .ptr .global .align 1"
    wanted = [pointer, pointer, ".u32", ".u32", ".u64", ".u64", ".f32", ".f64", ".u8", ".u8", ".u8", ".u16", ".u16", pointer,
              pointer]  # fmt: skip
    assert [kind for kind, _ in declared] == wanted
    assert [int(number) for _, number in declared] == list(range(len(wanted)))


def test_equal_inputs_give_equal_bytes_and_a_changed_source_equal_length(bench):
    first, mlir = bench.ptx(), bench.sidecar.read_bytes()
    assert bench.ptx() == first and bench.sidecar.read_bytes() == mlir
    second = bench.ptx(text=FULL.replace("BLOCK_SIZE;", "BLOCK_SIZ2;"))
    assert second != first and len(second) == len(first)
    before = [line for line in first.splitlines() if "0x" in line]
    assert len(before) == 1 and before[0] not in second
    assert bench.ptx("sm_80", "--cfg", "fast") != second


@pytest.mark.parametrize(
    "cpu, target, version",
    [("sm_75", "sm_75", "6.3"), ("sm_80", "sm_80", "7.0"), ("sm_86", "sm_86", "7.1"), ("sm_87", "sm_87", "7.4"),
     ("sm_89", "sm_89", "7.8"), ("sm_90", "sm_90a", "8.0"), ("sm_90a", "sm_90a", "8.0"), ("sm_100", "sm_100a", "8.6"),
     ("sm_100a", "sm_100a", "8.6"), ("sm_103a", "sm_103a", "8.8"), ("sm_110a", "sm_110a", "9.0"),
     ("sm_120", "sm_120a", "8.7"), ("sm_120a", "sm_120a", "8.7"), ("sm_121a", "sm_121a", "8.8")],
)  # fmt: skip
def test_ptxas_takes_the_output_for_every_architecture(bench, cpu, target, version):
    ptx = bench.ptx(cpu)
    assert f"\n.version {version}\n.target {target}\n" in ptx
    assert ptx.count("{") == ptx.count("}") and ptx.count(".visible .entry") == 1
    if ptxas := shutil.which("ptxas"):
        command = [ptxas, f"-arch={target}", bench.output, "-o", bench.directory / "k.cubin"]
        result = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=20, check=False)
        if "is not defined for option" not in result.stderr:  # a ptxas older than the architecture
            assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas on PATH")
@pytest.mark.parametrize(
    "parameters",
    ["", "n: i32", "a: *mut f64", "a: *mut u8, b: *const bool", "a: *mut i16, b: *mut i16, n: u32",
     "x: f32, a: *mut i64, b: *mut f32, c: *mut i64"],
)
def test_ptxas_takes_every_kind_of_parameter(bench, parameters):
    bench.ptx(text=MINIMAL.format(parameters))
    command = [shutil.which("ptxas"), "-arch=sm_80", bench.output, "-o", bench.directory / "k.cubin"]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=20, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "generation, cpu, version, target",
    [("CB2", "sm_121", "8.0", "sm_121a"), ("CB3", "sm_121", "8.8", "sm_121a"), ("CB2", "sm_88", "8.0", "sm_88"),
     ("CB3", "sm_88", "9.0", "sm_88"), ("CB3", "sm_107", "8.6", "sm_107a"), ("CB3", "sm_999", "8.0", "sm_999a"),
     ("CB3", "sm_61", "8.0", "sm_61"), ("CB3", None, "8.0", "sm_70")],
)  # fmt: skip
def test_versions_by_generation(bench, generation, cpu, version, target):
    bench.double.configure(generation=generation)
    assert f"\n.version {version}\n.target {target}\n" in bench.ptx(cpu)


@pytest.mark.parametrize(
    "value, version",
    [("82", "8.2"), ("+82", "8.2"), ("8.2", "7.0"), (" 82", "7.0"), ("x", "7.0"), ("", "7.0"), ("4294967295", "7.0")],
)
def test_the_ptx_version_variable(bench, value, version):
    assert f"\n.version {version}\n" in bench.ptx(env={"TEENYC_PTX_VERSION": value})


def test_a_ptx_version_below_the_targets_minimum(bench):
    result = bench.compile("sm_90", env={"TEENYC_PTX_VERSION": "70"})
    assert result.returncode == -signal.SIGABRT
    assert not bench.output.exists()
    assert bench.double.events("end")[-1]["exit"] == -signal.SIGABRT
    bench.double.configure(generation="CB2")
    for value, version in (("70", "7.0"), ("0", "0.0"), ("-5", "0.-5")):
        assert f"\n.version {version}\n" in bench.ptx("sm_90", env={"TEENYC_PTX_VERSION": value})


@pytest.mark.parametrize(
    "output, sidecar",
    [("a_1.o", "a_1.mlir"), ("a_1.o.tmp.1234", "a_1.o.tmp.mlir"), ("noext", "noext.mlir"), (".hidden", ".hidden.mlir"),
     ("x.d/plain", "x.d/plain.mlir")],
)  # fmt: skip
def test_the_name_of_the_sidecar(bench, output, sidecar):
    bench.output, bench.sidecar = bench.directory / output, bench.directory / sidecar
    bench.output.parent.mkdir(exist_ok=True)
    bench.ptx()
    mlir = bench.sidecar.read_text(encoding="utf-8")
    assert mlir.startswith("module {\n  tt.func private @_RINv") and "_15vector_add_0123_10vector_add" in mlir
    assert "tt.func public @vector_add_entry_point(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, " in mlir
    assert "%arg3: i32 {tt.divisibility = 16 : i32})" in mlir


def test_an_output_that_cannot_be_written(bench):
    bench.output = bench.directory / "missing" / "x.o"
    refused(bench.compile(), "No such file or directory (os error 2)")


def test_standard_output_is_not_empty(bench):
    wanted = "CudaBackend: capability = 89\nCudaBackend: ptx_version = 78\nCudaBackend: ptx_version = 78\n"
    result = bench.compile("sm_89")
    assert (result.stdout, result.stderr) == (wanted, "")


def test_the_log_by_level(bench):
    def log(value):
        return bench.compile(env={"RUSTC_LOG": value}).stderr

    name = "rustc_codegen_llvm::mlir"
    assert log(f"{name}=warn") == "" and log("rustc_interface=trace") == "" and log("") == ""
    info = log(f"{name}=info")
    assert f"{name} === MLIR codegen_crate ===" in info and f"PTX written to {bench.output} (" in info
    assert "stage=" not in info
    debug = log(f"error,{name}=debug")
    assert re.findall(r'stage="(\w+)"', debug) == ["mlir", "ttir", "ttgir", "llir", "llvmir", "asm"]
    for text in ("tt.func", "ttg.", "llvm.func", "define ", ".visible .entry", ".version"):
        assert text in debug
    assert "IR Dump Before" not in debug and "IR Dump Before" in log(f"{name}=trace")
    bench.double.configure(generation="CB1")
    assert re.findall(r'stage="(\w+)"', log("debug"))[-1] == "ptx"
    bench.double.configure(stage_tag="asm", max_level_info=True)
    assert "stage=" not in log("trace")


def test_libdevice(bench):
    text = FULL.replace("    let start", "    __nv_expf();\n    let start")
    bench.double.configure(libdevice="missing")
    result = bench.compile(text=text)
    assert result.returncode == 0
    assert result.stderr.startswith("Warning: module references __nv_* device functions but libdevice.10.bc was not found;")
    assert ".extern .func" in bench.output.read_text(encoding="utf-8")
    bench.double.configure(libdevice=None)
    library = bench.directory / "lib.bc"
    outputs = []
    for content in (b"BC\xc0\xde1", b"BC\xc0\xde2"):
        library.write_bytes(content)
        outputs.append(bench.ptx(env={"CUDA_LIBDEVICE_PATH": str(library)}))
    assert outputs[0] != outputs[1] and ".extern .func" not in outputs[0]
    library.write_bytes(b"text")
    assert bench.compile(env={"CUDA_LIBDEVICE_PATH": str(library)}).returncode == 101


def test_the_figures_of_generate_bin_are_the_first_generations(bench):
    bench.double.configure(generation="CB1", generate_bin=True)
    extra = [key for key, _ in trailer(bench.ptx())][len(META_KEYS) :]
    assert extra == ["num_regs", "spill_stores", "spill_loads", "stack_frame", "cmem"]
    bench.double.configure(generate_bin="no_ptxas")
    refused(bench.compile(), "CudaBackend: generate_bin was requested but `ptxas` could not be found.", code=101)
    bench.double.configure(generation="CB2")
    assert [key for key, _ in trailer(bench.ptx(env={"TEENYC_GENERATE_BIN": "1"}))] == META_KEYS


# Modes and settings


@pytest.mark.parametrize(
    "mode, code",
    [("exit1", 1), ("panic101", 101), ("abort", -signal.SIGABRT), ("segv", -signal.SIGSEGV)],
)
def test_a_failure_leaves_no_output(bench, mode, code):
    bench.double.configure(mode=mode)
    result = bench.compile()
    assert result.returncode == code
    assert sorted(path.name for path in bench.directory.iterdir()) == ["vector_add_0123.rs"]
    assert [event["exit"] for event in bench.double.events("end")] == [code]
    if mode == "exit1":
        assert re.match(rf"error: mode exit1 of the double\n +--> {re.escape(str(bench.source))}:\d+:\d+\n", result.stderr)


def test_outputs_that_are_not_whole(bench):
    whole = bench.ptx()
    bench.sidecar.unlink()
    bench.double.configure(mode="trunc")
    assert bench.ptx() == whole[: len(whole) // 2] and bench.sidecar.exists()
    bench.double.configure(mode="empty")
    assert bench.ptx() == ""
    bench.double.configure(mode="partial_fail")
    assert bench.compile().returncode == 1 and bench.output.read_text(encoding="utf-8") == whole[: len(whole) // 2]
    bench.double.configure(mode="no_entry")
    assert ".entry" not in bench.ptx()
    bench.double.configure(mode="wrong_target")
    assert ".target sm_75\n" in bench.ptx()
    bench.sidecar.unlink()
    bench.double.configure(mode="nosidecar")
    assert bench.ptx() == whole and not bench.sidecar.exists()
    bench.output.unlink()
    bench.double.configure(mode="missing")
    assert bench.compile().returncode == 0 and not bench.output.exists()


@pytest.mark.parametrize("size", [4096, 4097, 4160, 100_003])
def test_huge_has_the_size_that_was_asked_for(bench, size):
    bench.double.configure(mode="huge", bytes=size)
    bench.ptx()
    assert bench.output.stat().st_size == size


def test_noisy_fills_both_pipes(bench):
    bench.double.configure(mode="noisy")
    result = bench.compile()
    assert result.returncode == 0
    assert len(result.stdout) > 1 << 20 and len(result.stderr) >= 1 << 20


def test_scratch_fails_when_another_run_shares_the_folder(bench, tmp_path):
    bench.double.configure(mode="scratch", sleep=0.1)
    assert bench.compile(env={"TMPDIR": str(bench.directory)}).returncode == 0
    (tmp_path / "teenyc-double.scratch").touch()
    assert bench.compile(env={"TMPDIR": str(bench.directory)}).returncode == 0
    refused(bench.compile(env={"TMPDIR": str(tmp_path)}), "is in use by another run")
    assert not list(bench.directory.glob("*.scratch"))


def test_rereadsrc_notices_a_source_that_is_replaced(bench):
    bench.double.configure(mode="rereadsrc", reread_seconds=0.1)
    assert bench.compile().returncode == 0
    bench.double.configure(reread_seconds=10)
    for disturb, words in (
        (lambda: os.replace(shutil.copy(bench.source, f"{bench.source}.new"), bench.source), "was replaced while"),
        (lambda: bench.source.unlink(), "No such file or directory (os error 2)"),
    ):
        bench.double.clear_log()
        command = [bench.double.path, *bench.argv()]
        environment = {"RUSTC_BOOTSTRAP": "1", "RUSTC_ICE": "0"}
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
            while child.poll() is None and not bench.double.calls():
                pass
            disturb()
            assert words in child.communicate(timeout=15)[1]
        assert child.returncode == 1


def test_daemon_leaves_a_process_that_holds_the_pipes(bench):
    bench.double.configure(mode="daemon", daemon_seconds=15)
    with pytest.raises(subprocess.TimeoutExpired):
        bench.compile(timeout=0.7)
    left = [event["daemon"] for event in bench.double.events("daemon")]
    assert len(left) == 1
    os.kill(left[0], signal.SIGKILL)
    assert bench.output.exists() and bench.double.events("end")[-1]["exit"] == 0


def test_a_nonce_ties_the_outputs_of_one_run_together(bench):
    bench.double.configure(nonce=True)
    nonces = []
    for _ in range(2):
        found = [re.findall(r"// double:nonce=(\w{16})\n", text) for text in (bench.ptx(), bench.sidecar.read_text("utf-8"))]
        assert found[0] == found[1] and len(found[0]) == 1
        nonces += found[0]
    assert nonces[0] != nonces[1]


def test_sleep_mid_has_half_the_output_on_disk(bench):
    bench.double.configure(sleep_mid=0.3)
    command = [bench.double.path, *bench.argv()]
    with subprocess.Popen(command, env={"RUSTC_BOOTSTRAP": "1"}, stdout=subprocess.DEVNULL) as child:
        sizes = set()
        while child.poll() is None:
            if bench.output.exists():
                sizes.add(bench.output.stat().st_size)
    whole = bench.output.stat().st_size
    assert child.returncode == 0 and whole // 2 in sizes


def test_settings_by_target_cpu_and_for_the_trailer(bench):
    bench.double.configure(overrides={"sm_90": {"mode": "exit1"}}, meta={"shared": 4096}, ptx_version=81)
    ptx = bench.ptx("sm_80")
    assert dict(trailer(ptx))["shared"] == "4096" and "\n.version 8.1\n" in ptx
    assert bench.compile("sm_90").returncode == 1


@pytest.mark.parametrize("settings", [{"mode": "nope"}, {"speed": 1}, {"sleep": "1"}])
def test_wrong_settings_are_no_answer_of_the_compiler(bench, settings):
    bench.double.configure(**settings)
    assert bench.compile().returncode == 97


# The log, and the installation


def test_a_compile_is_logged_with_all_that_it_was_given(bench):
    read, write = os.pipe()
    result = bench.compile(env={"A": "1"}, pass_fds=[write])
    os.close(read)
    os.close(write)
    assert result.returncode == 0
    (call,) = bench.double.calls()
    assert call["argv"] == [str(a) for a in [bench.double.path, *bench.argv()]]
    assert call["env"] == {"PATH": os.defpath, "RUSTC_BOOTSTRAP": "1", "RUSTC_ICE": "0", "A": "1"}
    assert call["cwd"] == str(bench.directory) and call["stdin"] == "null" and call["descriptors"] == [write]
    assert call["source_sha256"] == hashlib.sha256(FULL.encode()).hexdigest()
    assert (call["output"], call["target_cpu"], call["ppid"]) == (str(bench.output), "sm_80", os.getpid())
    assert bench.double.events("end") == [{"event": "end", "pid": call["pid"], "exit": 0}]
    bench.double.clear_log()
    assert bench.double.calls() == []


def test_a_refused_command_line_is_logged_too(bench):
    bench.compile("sm_80", "--bogus")
    assert len(bench.double.calls()) == 1 and bench.double.events("end")[0]["exit"] == 1


def test_the_log_may_be_named_in_the_environment(bench, tmp_path):
    other = tmp_path / "other.log"
    bench.compile(env={"TEENYC_DOUBLE_LOG": str(other)})
    assert bench.double.calls() == [] and len(other.read_text().splitlines()) == 2


def test_settings_lie_beside_the_path_as_invoked_then_beside_the_file(bench, tmp_path):
    link = tmp_path / "linked"
    link.symlink_to(bench.double.path)
    bench.double.configure(version="1.0.1")
    assert subprocess.check_output([link, "--version"], text=True).startswith("rustc 1.0.1 ")
    Path(f"{link}.json").write_text('{"version": "1.0.2"}')
    assert subprocess.check_output([link, "--version"], text=True).startswith("rustc 1.0.2 ")


def test_the_program_in_the_tree_runs_by_itself(bench):
    command = [DOUBLES / "teenyc", "--version"]
    assert subprocess.check_output(command, text=True, timeout=10).startswith("rustc 1.97.1 ")


def test_another_tag_is_another_compiler_by_content(bench):
    first = bench.double.path.read_bytes()
    bench.double.install("next")
    assert bench.double.path.read_bytes() != first
    assert bench.compile().returncode == 0
