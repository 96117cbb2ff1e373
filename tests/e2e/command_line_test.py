"""What teeny-kernel takes on its command line and from its environment, what it prints, and how it exits."""

import hashlib
import json
import re

import pytest
from project import kernel_text

USAGE, ENVIRONMENT = 2, 3
SUBCOMMANDS = ("compile", "source", "key", "declare", "embed", "inspect", "prelude", "find-compiler")
ID, CPU = "vector_add__f32__1024", "sm_90"


@pytest.fixture
def kernel(sandbox):
    return sandbox.write("vector_add.rs", kernel_text())


@pytest.fixture
def compile_(sandbox, double, kernel, prelude):
    """Runs `compile` with the double; more arguments, and the options of Sandbox.tool()."""

    def run(*arguments, **options):
        return sandbox.tool("compile", "--source", kernel, "--type", "f32", "--constant", "BLOCK_SIZE=128", "--prelude", prelude,
                            "--compiler", double.path, "--output", sandbox.root / "out.ptx", *arguments, **options)  # fmt: skip

    return run


# ---- key ------------------------------------------------------------------------------------------------------


def test_every_published_key_comes_out(sandbox):
    golden = json.loads((sandbox.installation.source / "tests/golden/cache_keys.json").read_text(encoding="utf-8"))["keys"]
    assert len(golden) == 114
    for number, vector in enumerate(golden):
        assert vector["ptx_version"] is None
        if number % 2:
            arguments = ["--id", vector["id"], "--arch", vector["target_cpu"]]
        else:
            arguments = [f"--id={vector['id']}", f"--arch={vector['target_cpu']}"]
        assert sandbox.tool("key", *arguments).stdout == vector["sha256"] + "\n", vector["id"]


@pytest.mark.parametrize(
    "version, encoded, key",
    [
        ("8.2", b"\x52\x00\x00\x00", "aba094ccd37ac2071b240c59bd46ce9aec889832b0ae6e70884563834ffdb37a"),
        ("82", b"\x52\x00\x00\x00", "aba094ccd37ac2071b240c59bd46ce9aec889832b0ae6e70884563834ffdb37a"),
        # More than one byte, which shows their order.
        ("302", b"\x2e\x01\x00\x00", "16f27825b313207f6f30e34b78e06fb9d0eb53f838afcee7e017b5e5434e6c82"),
    ],
)
def test_the_ptx_version_is_four_bytes_of_the_key(sandbox, version, encoded, key):
    assert hashlib.sha256(b"vector_add__f32__1024" + b"sm_90" + encoded).hexdigest() == key
    assert sandbox.tool("key", "--id", ID, "--arch", CPU, "--ptx-version", version).stdout == key + "\n"


def test_a_key_without_architecture_is_of_the_id_alone(sandbox):
    assert sandbox.tool("key", "--id", ID).stdout == hashlib.sha256(ID.encode()).hexdigest() + "\n"
    assert sandbox.tool("key", "--id", ID, "--ptx-version", "default").stdout == hashlib.sha256(ID.encode()).hexdigest() + "\n"


def test_the_ptx_version_of_the_environment_counts_by_hand(sandbox):
    def key(value, *arguments):
        return sandbox.tool("key", "--id", ID, *arguments, env={"TEENYC_PTX_VERSION": value})

    plain = hashlib.sha256(ID.encode()).hexdigest() + "\n"
    with_82 = hashlib.sha256(ID.encode() + b"\x52\x00\x00\x00").hexdigest() + "\n"
    for value in ("82", "+82", "082"):  # what Rust's u32 reads
        assert key(value).stdout == with_82
        assert key(value).stderr == ""
    assert key("90", "--ptx-version", "82").stdout == with_82
    assert key("82", "--ptx-version", "default").stdout == plain
    for value in ("8.2", "", " 82", "-1", "0x52", "+", "4294967296", "82 "):
        result = key(value)
        assert result.stdout == plain
        assert f"warning: TEENYC_PTX_VERSION: '{value}' is not a valid u32; ignored" in result.stderr


def test_a_name_with_a_dot_keeps_its_tail(sandbox):
    key = hashlib.sha256(b"x").hexdigest()
    assert sandbox.tool("key", "--name", "a.b", "--id", "x").stdout == f"a.b_{key}\n"


def test_the_architecture_is_spelt_in_one_way(sandbox):
    wanted = sandbox.tool("key", "--id", ID, "--arch", "sm_90").stdout
    for spelling in ("90", "sm-90", "SM90", "90-real", "90-virtual"):
        assert sandbox.tool("key", "--id", ID, "--arch", spelling).stdout == wanted
    assert sandbox.tool("key", "--id", ID, "--arch", "90a").stdout == hashlib.sha256((ID + "sm_90a").encode()).hexdigest() + "\n"


def test_key_of_a_source_names_the_entry(sandbox, double, kernel, prelude, compile_):
    arguments = ["--source", kernel, "--type", "f32", "--constant", "BLOCK_SIZE=128", "--prelude", prelude, "--arch", "80",
                 "--compiler", double.path]  # fmt: skip
    name = sandbox.tool("key", *arguments).stdout.strip()
    assert re.fullmatch(r"vector_add_[0-9a-f]{64}", name)
    compile_("--arch", "80")
    assert f"{name}.o" in sandbox.cached()
    by_id = hashlib.sha256(b"vector_add__f32__128sm_80").hexdigest()
    assert sandbox.tool("key", *arguments, "--id", "AUTO").stdout == f"vector_add_{by_id}\n"


# ---- Usage ----------------------------------------------------------------------------------------------------


def test_help_is_there_for_every_subcommand(sandbox):
    assert all(name in sandbox.tool("--help").stdout for name in SUBCOMMANDS)
    for name in SUBCOMMANDS:
        result = sandbox.tool(name, "--help")
        assert f"teeny-kernel {name}" in result.stdout and result.stderr == ""
    text = sandbox.tool("compile", "--help").stdout
    for option in ("source", "output", "stamp", "name", "frontend", "function", "type", "constant", "id", "arch", "ptx-version",
                   "prelude", "option", "depend", "compiler", "launcher", "cache-dir", "cache-shared", "mlir-output",
                   "log-level", "force", "keep"):  # fmt: skip
        assert f"--{option} " in text


@pytest.mark.parametrize(
    "arguments, word",
    [
        ([], "subcommand"),
        (["bogus"], "subcommand"),
        (["key"], "--source or --id is needed"),
        (["key", "--id", "x", "--bogus"], "--bogus"),
        (["key", "--id", "x", "rest"], "rest"),
        (["key", "--id"], "--id"),
        (["key", "--id", "x", "--id", "y"], "--id"),
        (["key", "--id", "x", "--arch", "ninety"], "architecture(ninety)"),
        (["key", "--id", "x", "--ptx-version", "8.2.1"], "PTX version(8.2.1)"),
        (["key", "--id", "x", "--frontend", "cuda"], "unknown frontend 'cuda'; expected triton or rust"),
        (["key", "--id", "x", "--arch", "120f"], "teenyc knows no family (f) architectures"),
        (["key", "--id", "AUTO"], "--id AUTO needs --source"),
        (["compile", "--output", "x"], "--source"),
        (["compile", "--source", "x"], "--output"),
        (["inspect"], "files"),
        (["declare", "--manifest", "x"], "--output"),
    ],
)
def test_wrong_usage_exits_with_2(sandbox, arguments, word):
    result = sandbox.tool(*arguments, check=False)
    assert result.returncode == USAGE and result.stdout == ""
    assert word in result.stderr
    assert result.stderr.startswith("teeny-kernel: error: ")


def test_what_does_not_exist_is_named(sandbox, double, prelude):
    for arguments in (["--source", "gone.rs", "--prelude", prelude], ["--source", prelude, "--prelude", "gone.rs"]):
        result = sandbox.tool("compile", *arguments, "--compiler", double.path, "--output", "o.ptx", check=False)
        assert result.returncode != 0 and "gone.rs" in result.stderr and "No such file" in result.stderr
    assert not (sandbox.root / "o.ptx").exists()


# ---- Log level and PTX version of a compile -----------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["loud", "", "verbose ", "WARNING", "debug,trace"])
@pytest.mark.parametrize("where", ["environment", "argument"])
def test_a_bad_log_level_is_warned_about_and_ignored(double, compile_, bad, where):
    if where == "argument" and not bad:
        pytest.skip("an empty argument is none")
    result = compile_(*(["--log-level", bad] if where == "argument" else []),
                      env={"TEENYC_LOG_LEVEL": bad} if where == "environment" else None)  # fmt: skip
    said = f"unknown log level '{bad.strip().lower()}'; expected one of error, warn, info, debug, trace"
    assert "warning: " in result.stderr and said in result.stderr
    assert len(double.calls()) == 1 and "RUSTC_LOG" not in double.calls()[0]["env"]


def test_a_good_log_level_is_trimmed_and_of_any_case(double, compile_):
    for value, level in (("error", "error"), (" Warn\n", "warn"), ("INFO", "info"), ("\tdeBug", "debug"), ("trace", "trace")):
        double.clear_log()
        result = compile_("--force", env={"TEENYC_LOG_LEVEL": value})
        assert double.calls()[0]["env"]["RUSTC_LOG"] == f"rustc_codegen_llvm::mlir={level}"
        assert "unknown log level" not in result.stderr
    compile_("--force", "--log-level", "info", env={"TEENYC_LOG_LEVEL": "trace"})
    assert double.calls()[-1]["env"]["RUSTC_LOG"] == "rustc_codegen_llvm::mlir=info"


def test_a_bad_log_level_argument_leaves_the_one_of_the_environment(double, compile_):
    compile_("--log-level", "loud", env={"TEENYC_LOG_LEVEL": "info"})
    assert double.calls()[0]["env"]["RUSTC_LOG"] == "rustc_codegen_llvm::mlir=info"


def test_a_bad_ptx_version_of_the_environment_does_not_reach_the_compiler(sandbox, double, compile_):
    result = compile_("--arch", "80", env={"TEENYC_PTX_VERSION": "8.3"})
    assert "TEENYC_PTX_VERSION: '8.3' is not a valid u32; ignored" in result.stderr
    assert "TEENYC_PTX_VERSION" not in double.calls()[0]["env"]
    compile_("--arch", "80", env={"TEENYC_PTX_VERSION": "83"})
    assert double.calls()[1]["env"]["TEENYC_PTX_VERSION"] == "83"
    assert ".version 8.3\n" in (sandbox.root / "out.ptx").read_text()
    # Said by argument, the environment does not count, not even an unset one.
    compile_("--arch", "80", "--ptx-version", "default", env={"TEENYC_PTX_VERSION": "84"})
    assert len(double.calls()) == 2


# ---- source, inspect ------------------------------------------------------------------------------------------


def test_source_prints_prelude_kernel_and_entry_point(sandbox, double, kernel, prelude, compile_):
    arguments = ["--source", kernel, "--type", "f32", "--constant", "BLOCK_SIZE=128"]
    text = sandbox.tool("source", *arguments, "--prelude", prelude).stdout
    wanted = (
        prelude.read_text(encoding="utf-8") + kernel.read_text() + "\n"
        "use triton::llvm::triton::num::*;\n"
        "use triton::llvm::triton::pointer::LlvmPointer;\n"
        "type LlvmTriton = triton::llvm::triton::LlvmTriton;\n"
        "\n"
        "#[no_mangle]\n"
        'pub extern "C" fn vector_add_entry_point(a_ptr: *mut f32, b_ptr: *mut f32, n: i32) {\n'
        "    let a_ptr = LlvmPointer(a_ptr as *mut _);\n"
        "    let b_ptr = LlvmPointer(b_ptr as *mut _);\n"
        "    vector_add::<LlvmTriton, f32, 128>(a_ptr, b_ptr, n);\n"
        "}"
    )
    assert text == wanted
    assert sandbox.tool("source", *arguments, "--prelude=NONE").stdout == wanted[len(prelude.read_text(encoding="utf-8")) :]
    compile_()
    assert double.calls()[0]["source_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_several_sources_are_joined_in_their_order(sandbox, kernel):
    helper = sandbox.write("helper é.rs", "fn helper() {}")  # no newline at its end
    text = sandbox.tool("source", "--source", helper, "--source", kernel, "--prelude", "NONE", "--type", "f32", "--constant",
                        "BLOCK_SIZE=1").stdout  # fmt: skip
    assert text.startswith("fn helper() {}\n" + kernel.read_text())


def test_a_rust_kernel_comes_with_the_device_prelude(sandbox):
    text = '#[no_mangle]\npub unsafe extern "ptx-kernel" fn k(x: *mut u32) { *x = 1; }\n'
    source = sandbox.write("k.rs", text)
    device = (sandbox.installation.source / "modules/device/prelude.rs").read_text(encoding="utf-8")
    assert sandbox.tool("source", "--frontend", "rust", "--source", source).stdout == device + text
    assert sandbox.tool("source", "--frontend", "rust", "--source", source, "--prelude", "NONE").stdout == text


def test_inspect_shows_what_an_image_is(sandbox, compile_):
    compile_("--arch", "90", "--ptx-version", "8.3")
    image = (sandbox.root / "out.ptx").read_bytes()
    rows = json.loads(sandbox.tool("inspect", "--json", "out.ptx").stdout)
    assert len(rows) == 1
    wanted = {"entry": "vector_add_entry_point", "architecture": "sm_90a", "ptx_version": "8.3", "bytes": len(image), "num_warps": 4,
              "num_ctas": 1, "shared": 0, "required_threads": [128, 1, 1],
              "sha256": hashlib.sha256(image).hexdigest()}  # fmt: skip
    assert {name: rows[0][name] for name in wanted} == wanted
    table = sandbox.tool("inspect", "out.ptx", "out.ptx").stdout.splitlines()
    assert len(table) == 3 and table[1] == table[2]
    assert table[0].split() == ["kernel", "entry", "arch", "PTX", "bytes", "warps", "shared", "sha256"]
    assert table[1].split()[:5] == ["vector_add_entry_point", "sm_90a", "8.3", str(len(image)), "4"]


def test_inspect_refuses_what_is_no_image(sandbox, compile_):
    compile_()
    whole = (sandbox.root / "out.ptx").read_text()
    for name, text in (("empty", ""), ("half", whole[: whole.index("\n}\n")]), ("text", "hello\n"), ("nul", whole + "\0")):
        file = sandbox.write(f"{name}.ptx", text)
        result = sandbox.tool("inspect", file, check=False)
        assert result.returncode != 0 and f"{name}.ptx" in result.stderr and result.stdout == ""


# ---- prelude --------------------------------------------------------------------------------------------------


@pytest.fixture(params=["checkout", "crate"])
def triton_crate(request, sandbox):
    """A small teeny-triton, as a checkout of teenygrad has it, and as a vendored crate beside teeny-core."""
    if request.param == "checkout":
        root = sandbox.root / "teenygrad"
        triton, core = root / "kernels/teeny-triton/src/triton", root / "core/teeny-core"
    else:
        root = sandbox.root / "vendor/teeny-triton"
        triton, core = root / "src/triton", sandbox.root / "vendor/teeny-core"
    files = {
        triton / "mod.rs": "pub mod llvm;\npub mod types;\npub mod dummy;\npub mod ops { }\npub fn of_triton() {}\n",
        triton / "ops.rs": "  pub mod kept;\npub fn of_ops() {}",
        triton / "types.rs": "compile_error!();\n",
        triton / "readme.txt": "not Rust\n",
        triton / "dummy/mod.rs": "compile_error!();\n",
        triton / "llvm/mod.rs": "pub mod core;\npub fn of_llvm() {}\n",
        triton / "llvm/core.rs": "// License\n#![no_core]\npub mod gone;\npub use bytes::X;\npub struct Core;\n",
        triton / "llvm/num.rs": "pub use self::bytes::Y;\npub use super::bytes::Z;\npub fn of_num() {}\n",
        triton / "llvm/triton/mod.rs": "pub struct LlvmTriton;\n",
        core / "src/dtype/mod.rs": "pub use bytes::*;\npub trait Dtype {}\npub mod bytes;\n",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_the_prelude_is_put_together_as_the_crate_does_it(sandbox, triton_crate):
    sandbox.tool("prelude", "--from", triton_crate, "-o", "prelude.rs")
    assert (sandbox.root / "prelude.rs").read_text() == (
        # core.rs first, and nothing between it and the first module
        "// License\n#![no_core]\npub struct Core;"
        "pub mod triton {\npub use super::*;\n"
        "pub mod ops { }\npub fn of_triton() {}\n"
        "pub mod llvm {\npub use super::super::*;\n"
        "pub fn of_llvm() {}\n"
        "pub mod num {\npub use super::super::super::*;\n"
        "pub use super::bytes::Z;\npub fn of_num() {}\n}\n"
        "pub mod triton {\npub use super::super::super::*;\n"
        "pub struct LlvmTriton;\n}\n"
        "}\n"
        "pub mod ops {\npub use super::super::*;\n"
        "  pub mod kept;\npub fn of_ops() {}\n}\n"
        "pub mod types {\npub use super::super::*;\n"
        "pub trait Dtype {}\n}\n"
        "}\n"
        "pub use triton::*;\n"
    )


def test_a_folder_without_the_crate_is_refused(sandbox):
    result = sandbox.tool("prelude", "--from", sandbox.root, "-o", "prelude.rs", check=False)
    assert result.returncode == USAGE and "kernels/teeny-triton/src/triton" in result.stderr
    assert not (sandbox.root / "prelude.rs").exists()


# ---- find-compiler --------------------------------------------------------------------------------------------


@pytest.fixture
def rustup(sandbox, double):
    """Puts a `rustup` with these toolchains first on PATH; only the one called `teenyc-good` has a teenyc."""

    def install(*toolchains):
        listing = "\n".join(toolchains)
        script = sandbox.write("fake/rustup", f"""#!/bin/sh
case "$1 $2 $3" in
  "toolchain list "*) echo '{listing}' ;;
  "which --toolchain teenyc-good") test "$4" = teenyc && echo '{double.path}' ;;
  *) echo "error: no such thing: $*" >&2; exit 1 ;;
esac
""")
        script.chmod(0o755)
        return {"PATH": f"{script.parent}:/usr/bin:/bin"}

    return install


def test_teenyc_path_comes_first_and_must_be_there(sandbox, double, rustup):
    environment = {**rustup("a-teenyc", "b-teenyc"), "TEENYC_PATH": double.path}
    assert sandbox.tool("find-compiler", env=environment).stdout == f"{double.path}\n"
    link = sandbox.root / "link"
    link.symlink_to(double.path)
    assert sandbox.tool("find-compiler", env={**environment, "TEENYC_PATH": link}).stdout == f"{double.path}\n"
    result = sandbox.tool("find-compiler", env={**environment, "TEENYC_PATH": "/gone/teenyc"}, check=False)
    assert result.returncode == ENVIRONMENT and "/gone/teenyc" in result.stderr and result.stdout == ""


def test_the_only_rustup_toolchain_with_teenyc_in_its_name(sandbox, double, rustup):
    environment = rustup("stable-x86_64-unknown-linux-gnu (active, default)", "teenyc-good", "nightly")
    assert sandbox.tool("find-compiler", env=environment).stdout == f"{double.path}\n"


def test_no_toolchain_or_more_than_one_is_an_error_that_lists_them(sandbox, rustup):
    result = sandbox.tool("find-compiler", env=rustup("stable", "nightly"), check=False)
    assert result.returncode == ENVIRONMENT and "no rustup toolchain has teenyc in its name" in result.stderr
    assert "TEENYC_PATH" in result.stderr
    result = sandbox.tool("find-compiler", env=rustup("my-teenyc-1 (default)", "stable", "teenyc-good"), check=False)
    assert result.returncode == ENVIRONMENT and "TEENYC_PATH" in result.stderr
    assert "my-teenyc-1\n" in result.stderr and "teenyc-good\n" in result.stderr and "stable" not in result.stderr


def test_a_teenyc_on_path_is_not_met_by_chance(sandbox, double):
    environment = {"PATH": f"{double.path.parent}:/usr/bin:/bin"}
    result = sandbox.tool("find-compiler", env=environment, check=False)
    assert result.returncode == ENVIRONMENT and double.calls() == []
