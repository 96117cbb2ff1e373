"""A call of teenyc is the Rust runtime's call: arguments, environment, file names, what a failure leaves and says.

The order of arguments and the variables are those of LlvmCompiler::compile in teenygrad; only the folder and the name given
with -o differ.
"""

import json
import os
import re
import shlex
import shutil
import signal
from pathlib import Path

import pytest
from project import kernel_text

KERNEL, ENVIRONMENT = 1, 3  # exit codes
ALWAYS_SET = {"TMPDIR", "RUSTC_ICE", "RUSTC_BOOTSTRAP"}
ALLOWED = ALWAYS_SET | {
    "PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_LIBDEVICE_PATH", "CUDA_HOME", "CUDA_PATH", "RUST_MIN_STACK",
    "RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN",
}  # fmt: skip
HOSTILE = {
    "RUSTFLAGS": "--cfg x", "RUSTC_WRAPPER": "/bin/false", "RUSTC_LOG": "trace", "RUSTC_ICE": "/", "RUSTC_BOOTSTRAP": "0",
    "RUST_BACKTRACE": "full", "RUST_LOG": "trace", "RUSTC_FORCE_RUSTC_VERSION": "1.0", "TEENYC_GENERATE_BIN": "1",
    "TEENYC_PTXAS_PATH": "/bin/false", "TRITON_CACHE_DIR": "/", "MLIR_ENABLE_DUMP": "1", "LLVM_IR_ENABLE_DUMP": "1",
    "MAKEFLAGS": "-j16 --jobserver-auth=3,4", "CARGO_MAKEFLAGS": "-j", "SOURCE_DATE_EPOCH": "1", "LC_ALL": "C", "LANGUAGE": "de",
    "TERM": "dumb", "COLORTERM": "truecolor", "PWD": "/", "SHLVL": "3", "ANYTHING": "else",
}  # fmt: skip


class Compile:
    """`teeny-kernel compile` of one kernel with the double."""

    def __init__(self, sandbox, double, prelude):
        self.sandbox, self.double, self.prelude = sandbox, double, prelude
        self.kernel = sandbox.write("vector_add.rs", kernel_text())
        self.output, self.stamp = sandbox.root / "out put/image.ptx", sandbox.root / "out put/image.stamp"
        self.mlir = sandbox.root / "out put/image.mlir"

    @property
    def arguments(self):
        return ["--source", self.kernel, "--type", "f32", "--constant", "BLOCK_SIZE=128", "--prelude", self.prelude]

    def command(self, *arguments):
        return ["compile", *self.arguments, "--compiler", self.double.path, "--output", self.output, "--stamp", self.stamp,
                *arguments]  # fmt: skip

    def __call__(self, *arguments, **options):
        return self.sandbox.tool(*self.command(*arguments), **options)

    def start(self, *arguments, **options):
        return self.sandbox.start(self.sandbox.installation.tool, *self.command(*arguments), **options)

    def fails(self, *arguments, code=KERNEL, **options):
        """Checks that a failed run leaves nothing, anywhere."""
        result = self(*arguments, check=False, **options)
        assert result.returncode == code, result
        assert result.stdout == ""
        assert not self.output.exists() and not self.stamp.exists() and not self.mlir.exists()
        assert self.sandbox.temporaries() == []
        assert self.sandbox.members() == []
        return result


@pytest.fixture
def compile_(sandbox, double, prelude):
    return Compile(sandbox, double, prelude)


# ---- The call -------------------------------------------------------------------------------------------------


def seed_argv(compiler, directory, stem, cpu, options):
    argv = [str(compiler), f"{directory}/{stem}.rs", "-Copt-level=3", "-Zcodegen-backend=mlir", "--emit=obj", f"-o{directory}/{stem}.o",
            "--target=nvptx64-nvidia-cuda", "--crate-type=lib", "-C", "overflow-checks=off", "--frontend=triton"]  # fmt: skip
    return argv + ([f"-Ctarget-cpu={cpu}"] if cpu else []) + list(options)


@pytest.mark.parametrize("cpu", [None, "sm_80", "sm_90", "sm_90a"])
@pytest.mark.parametrize("version", [None, "8.6"])
@pytest.mark.parametrize("level", [None, "debug"])
def test_argv_and_environment_are_the_seeds(compile_, double, sandbox, cpu, version, level):
    options = ["-Cllvm-args=-x y", "--cfg", "fast", "-Cdebuginfo=1"]
    words = [f"--option={option}" for option in options]
    words += ["--arch", cpu] if cpu else []
    words += ["--ptx-version", version] if version else []
    compile_(*words, *(["--log-level", level] if level else []), env=HOSTILE)

    (call,) = double.calls()
    key = ["key", *compile_.arguments, "--compiler", double.path, *words]
    stem = sandbox.tool(*key).stdout.strip()
    assert call["argv"] == seed_argv(double.path, call["cwd"], stem, cpu, options)
    assert Path(call["cwd"]).is_absolute() and Path(call["cwd"]).parent == sandbox.temporary

    environment = call["env"]
    assert environment["RUSTC_BOOTSTRAP"] == "1"
    assert environment.get("TEENYC_PTX_VERSION") == ("86" if version else None)
    assert environment.get("RUSTC_LOG") == ("rustc_codegen_llvm::mlir=debug" if level else None)
    assert environment["RUSTC_ICE"] == "0" and environment["TMPDIR"] == call["cwd"]
    assert set(environment) - {"TEENYC_PTX_VERSION", "RUSTC_LOG"} <= ALLOWED
    assert environment["PATH"] == os.environ["PATH"] and environment["HOME"] == str(sandbox.home)


def test_the_compiler_gets_an_empty_input_and_no_descriptor_of_ours(compile_, double):
    compile_()
    (call,) = double.calls()
    assert call["stdin"] == "null" and call["descriptors"] == []


def test_the_compiler_reads_prelude_and_kernel_from_a_private_folder(compile_, double, sandbox):
    double.configure(sleep=0.5)
    with compile_.start(stdin=None) as child:
        while not double.calls() and child.poll() is None:
            pass
        folder = Path(double.calls()[0]["cwd"])
        assert folder.stat().st_mode & 0o777 == 0o700
        assert [p.suffix for p in folder.iterdir()] == [".rs"]
        text = next(folder.iterdir()).read_text(encoding="utf-8")
    assert child.returncode == 0
    assert text == sandbox.tool("source", *compile_.arguments).stdout
    assert not folder.exists() and sandbox.temporaries() == []


def test_passed_variables_are_added_and_make_another_entry(compile_, double):
    for value in ("1", "2", "1"):
        compile_(env={"TEENY_PASS_ENVIRONMENT": "FOO;BAR,UNSET", "FOO": value, "BAR": "b", "OTHER": "o"})
    assert [(c["env"]["FOO"], c["env"]["BAR"]) for c in double.calls()] == [("1", "b"), ("2", "b")]
    assert all("OTHER" not in c["env"] and "UNSET" not in c["env"] for c in double.calls())


def test_the_environment_is_no_part_of_the_key_otherwise(compile_, double):
    compile_()
    compile_("--ptx-version", "default", env={**HOSTILE, "TEENYC_PTX_VERSION": "82", "TEENYC_LOG_LEVEL": "info"})
    assert len(double.calls()) == 1


def test_a_launcher_stands_before_the_compiler_and_keeps_the_environment(compile_, double, sandbox):
    launcher = sandbox.write("launcher", '#!/bin/sh\nexec "$@"\n')
    launcher.chmod(0o755)
    compile_("--launcher", launcher, env={"ANYTHING": "else"})
    (call,) = double.calls()
    assert call["argv"][0] == str(double.path) and call["env"]["ANYTHING"] == "else"


# ---- The files ------------------------------------------------------------------------------------------------


def test_names_in_the_cache(compile_, double, sandbox):
    double.configure(nonce=True)
    compile_("--arch", "80", "--mlir-output", compile_.mlir)
    stem = sandbox.tool("key", *compile_.arguments, "--compiler", double.path, "--arch", "80").stdout.strip()
    endings = (".rs", ".o", ".mlir", ".lock", ".json")
    assert [path.name for path in sandbox.members(*endings)] == sorted(stem + ending for ending in endings)
    text = {ending: (sandbox.cache / f"{stem}.{ending}").read_text(encoding="utf-8") for ending in ("rs", "o", "mlir")}
    assert text["rs"] == sandbox.tool("source", *compile_.arguments).stdout
    nonces = [re.findall(r"double:nonce=\w+", text[ending]) for ending in ("o", "mlir")]
    assert len(nonces[0]) == 1 and nonces[0] == nonces[1]
    assert compile_.mlir.read_text() == text["mlir"]
    assert "\t.loc\t" in text["o"] and ".debug_info" in text["o"]  # as the compiler wrote it
    image = compile_.output.read_text()
    assert "--- triton-metadata ---" in image and nonces[0][0] in image
    assert not re.search(r"\.loc|\.file|\.debug_", image)
    manifest = json.loads((sandbox.cache / f"{stem}.json").read_text())
    assert set(manifest["members"]) == {"rs", "o", "mlir"} and manifest["arch"] == "sm_80"
    assert compile_.stamp.read_bytes() == b"" and sandbox.temporaries() == []


def test_an_id_is_published_under_the_runtimes_name_as_well(compile_, double, sandbox):
    compile_("--arch", "80", "--id", "AUTO")
    by_id = sandbox.tool("key", "--name", "vector_add", "--id", "vector_add__f32__128", "--arch", "80").stdout.strip()
    content = sandbox.tool("key", *compile_.arguments, "--compiler", double.path, "--arch", "80").stdout.strip()
    assert by_id != content
    for ending in ("o", "mlir", "rs"):
        files = [sandbox.cache / f"{stem}.{ending}" for stem in (by_id, content)]
        assert files[0].read_bytes() == files[1].read_bytes()
    assert len(double.calls()) == 1


def test_a_hit_compiles_nothing_and_delivers_the_same(compile_, double, sandbox):
    compile_("--mlir-output", compile_.mlir)
    delivered = [p.read_bytes() for p in (compile_.output, compile_.mlir)]
    before = {p: p.stat().st_mtime_ns for p in sandbox.members()}
    for path in (compile_.output, compile_.mlir, compile_.stamp):
        os.utime(path, (1, 1))
    compile_("--mlir-output", compile_.mlir)
    assert [p.read_bytes() for p in (compile_.output, compile_.mlir)] == delivered
    assert all(p.stat().st_mtime > 1 for p in (compile_.output, compile_.mlir, compile_.stamp))
    assert {p: p.stat().st_mtime_ns for p in sandbox.members()} == before
    assert len(double.calls()) == 1


def test_force_compiles_again_and_replaces_the_entry(compile_, double, sandbox):
    double.configure(nonce=True)
    images = []
    for words in ([], ["--force"], []):
        compile_(*words)
        images.append(compile_.output.read_bytes())
    assert len(double.calls()) == 2
    assert images[0] != images[1] and images[1] == images[2]


def test_an_image_without_sidecar_is_fine_and_an_old_one_goes(compile_, double, sandbox):
    compile_("--mlir-output", compile_.mlir)
    assert compile_.mlir.exists()
    double.configure(mode="nosidecar")
    compile_("--arch", "80", "--mlir-output", compile_.mlir)
    assert not compile_.mlir.exists()
    assert len(sandbox.members(".mlir")) == 1 and len(sandbox.members(".o")) == 2
    compile_("--arch", "80")
    assert len(double.calls()) == 2


def test_output_and_stamp_are_gone_while_the_compiler_works(compile_, double, sandbox):
    compile_("--mlir-output", compile_.mlir)
    double.configure(sleep=0.3)
    with compile_.start("--force", "--mlir-output", compile_.mlir) as child:
        while len(double.calls()) < 2 and child.poll() is None:
            pass
        there = [p for p in (compile_.output, compile_.stamp, compile_.mlir) if p.exists()]
    assert there == [] and child.returncode == 0 and compile_.output.exists() and compile_.stamp.exists()


# ---- No compiler ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["vanished", "NONE", "environment"])
def test_a_missing_compiler_is_an_error_only_when_something_has_to_be_compiled(compile_, double, sandbox, how):
    compile_("--id", "AUTO", "--arch", "80")
    image = compile_.output.read_bytes()
    double.path.unlink()
    arguments = ["compile", *compile_.arguments, "--output", compile_.output, "--stamp", compile_.stamp, "--arch", "80"]
    arguments += {"vanished": ["--compiler", double.path], "NONE": ["--compiler", "NONE"], "environment": []}[how]
    environment = {"TEENYC_PATH": sandbox.root / "gone"}
    sandbox.tool(*arguments, "--id", "AUTO", env=environment)
    assert compile_.output.read_bytes() == image

    result = sandbox.tool(*arguments, "--id", "another", env=environment, check=False)
    assert result.returncode == ENVIRONMENT
    assert "kernel not cached and teenyc not found" in result.stderr and "set TEENYC_PATH to" in result.stderr
    assert not compile_.output.exists() and not compile_.stamp.exists()


def test_an_entry_of_the_rust_runtime_is_used_without_a_compiler(compile_, double, sandbox):
    compile_("--arch", "80", "--id", "AUTO")
    image = compile_.output.read_bytes()
    stem = sandbox.tool("key", "--name", "vector_add", "--id", "vector_add__f32__128", "--arch", "80").stdout.strip()
    for path in sandbox.members(".json", ".o", ".mlir", ".rs", ".lock"):  # the runtime writes no manifest
        if path.name != f"{stem}.o":
            path.unlink()
    arguments = ["compile", *compile_.arguments, "--output", compile_.output, "--arch", "80", "--id", "AUTO", "--compiler", "NONE"]
    result = sandbox.tool(*arguments)
    assert compile_.output.read_bytes() == image
    assert f"{stem}.o has no manifest" in result.stderr
    (sandbox.cache / f"{stem}.o").write_bytes(image[: len(image) // 2])
    assert sandbox.tool(*arguments, check=False).returncode == ENVIRONMENT and not compile_.output.exists()


# ---- Failures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode, said",
    [
        ("exit1", "exit status 1"),
        ("partial_fail", "exit status 1"),
        ("panic101", "exit status 101"),
        ("abort", f"signal {int(signal.SIGABRT)} (Aborted)"),
        ("segv", f"signal {int(signal.SIGSEGV)} (Segmentation fault)"),
        ("trunc", "wrote no usable image"),
        ("empty", "wrote no usable image: it is empty"),
        ("missing", "exit status 0 but wrote no output"),
        ("wrong_target", "its .target is sm_75"),
        ("no_entry", "no entry point"),
    ],
)
def test_a_failure_leaves_nothing_and_says_what_happened(compile_, double, mode, said):
    compile_.output.parent.mkdir()
    for path in (compile_.output, compile_.stamp, compile_.mlir):
        path.write_text("old")
    double.configure(mode=mode)
    result = compile_.fails("--arch", "80", "--mlir-output", compile_.mlir)
    assert said in result.stderr
    assert "kernel vector_add for sm_80 does not compile: teenyc " in result.stderr
    # The command to run again is there, word for word.
    again = shlex.split(result.stderr.splitlines()[-1])
    assert again[1:] == [str(word) for word in compile_.command("--arch", "80", "--mlir-output", compile_.mlir)]
    # And nothing of it lasts.
    double.configure(mode="ok")
    compile_("--arch", "80")
    assert len(double.calls()) == 2 and ".target sm_80\n" in compile_.output.read_text()


@pytest.mark.parametrize("level", [None, "debug"])
def test_the_compilers_own_words_are_shown_whole(compile_, double, sandbox, level):
    message = "first line é\\nsecond line\\n" + "x" * 70_000
    compile_.kernel.write_text(f'compile_error!("{message}");\n' + kernel_text(), encoding="utf-8")
    result = compile_.fails(*(["--log-level", level] if level else []))
    assert message.replace("\\n", "\n") in result.stderr
    assert "error: aborting due to 1 previous error" in result.stderr


def test_the_files_of_a_failure_are_kept_when_asked_for(compile_, double, sandbox):
    double.configure(mode="partial_fail")
    keep = sandbox.root / "kept files"
    result = compile_.fails("--keep", keep)
    assert str(keep) in result.stderr
    kept = {p.suffix: p for p in keep.iterdir()}
    assert kept[".rs"].read_text(encoding="utf-8") == sandbox.tool("source", *compile_.arguments).stdout
    assert kept[".o"].stat().st_size > 0


def test_a_failure_does_not_touch_what_was_cached_before(compile_, double, sandbox):
    compile_()
    before = sandbox.cached()
    double.configure(mode="partial_fail")
    assert compile_("--force", check=False).returncode == KERNEL
    assert sandbox.cached() == before
    compile_()
    assert len(double.calls()) == 2


def test_an_output_that_cannot_be_written_is_an_error(compile_, double, sandbox):
    compile_.output.parent.write_text("a file where a folder has to be")
    result = compile_(check=False)
    assert result.returncode == ENVIRONMENT and str(compile_.output.parent) in result.stderr


# ---- Success, with words --------------------------------------------------------------------------------------


def test_standard_output_of_the_compiler_never_reaches_ours(compile_, double):
    double.configure(mode="noisy")
    result = compile_()
    assert result.stdout == ""
    assert len(double.calls()) == 1 and compile_.output.exists()
    assert compile_("--log-level", "trace", "--force").stdout == ""


def test_warnings_are_shown_and_shown_again_on_a_hit(compile_, double):
    compile_.kernel.write_text("// double: warn look here\n" + kernel_text())
    first, second = compile_(), compile_()
    assert "warning: look here" in first.stderr and first.stderr == second.stderr
    assert "[teenyc]" not in first.stderr and len(double.calls()) == 1


def test_the_log_of_the_compiler_is_relayed_line_by_line(compile_, double, sandbox):
    compile_.kernel.write_text("// double: warn look here\n" + kernel_text())
    assert "[teenyc]" not in compile_("--arch", "80").stderr
    result = compile_("--force", "--arch", "80", "--log-level", "debug")
    lines = [line for line in result.stderr.splitlines() if line.startswith("[teenyc] ")]
    text = "\n".join(line[len("[teenyc] ") :] for line in lines)
    assert text.startswith("warning: look here\n") or "\nwarning: look here\n" in text
    assert "tt.func public @vector_add_entry_point" in text  # a stage in between
    assert "look here" not in compile_("--arch", "80").stderr  # not replayed: it was a log


def test_the_compiler_is_not_waited_for_longer_than_it_runs(compile_, double):
    double.configure(mode="daemon", daemon_seconds=60)
    try:
        compile_(timeout=30)
        assert compile_.output.exists() and len(double.calls()) == 1
    finally:
        (left,) = [event["daemon"] for event in double.events("daemon")]
        os.kill(left, signal.SIGKILL)


@pytest.mark.parametrize("settings", [{"mode": "scratch", "sleep": 0.05}, {"mode": "rereadsrc", "reread_seconds": 0.1},
                                      {"mode": "huge", "bytes": 3_000_000}], ids=lambda s: s["mode"])  # fmt: skip
def test_odd_habits_of_the_compiler_do_no_harm(compile_, double, sandbox, settings):
    double.configure(**settings)
    compile_()
    assert compile_.output.exists() and sandbox.temporaries() == []


def test_another_compiler_is_another_entry(compile_, double, sandbox):
    compile_()
    double.install("newer")
    compile_()
    # The same program in another place is the same compiler, and so it is by a symbolic link.
    copy = shutil.copytree(double.path.parent, sandbox.root / "other place/bin") / "teenyc"
    link = sandbox.root / "link"
    link.symlink_to(copy)
    for path in (copy, link, "link"):
        sandbox.tool("compile", *compile_.arguments, "--compiler", path, "--output", compile_.output)
    assert len(double.calls()) == 2 and len(sandbox.members(".o")) == 2
