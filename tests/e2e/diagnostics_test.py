"""What the real rustc says of a kernel points at the user's own file, line and column."""

import json
import re

import pytest
from project import Project

GOOD = "/// helper\nfn twice(x: f32) -> f32 {\n    x + x\n}\n"
KERNEL = """#[no_mangle]
pub unsafe extern "ptx-kernel" fn scale(n: u32, x: *mut f32) {
    for i in grid_stride(n as usize) {
        *x.add(i) = twice(*x.add(i));
    }
}
"""
FAULT = "fn fault() -> i32 {\n    let a: i32 = 1;\n    a + 2.5f32\n}\n"  # at 3:9
PLACE = re.compile(r"--> (.*):(\d+):(\d+)\n")


def compile_sources(sandbox, rustc, *texts, arguments=(), **options):
    files = [sandbox.write(f"source {number}.rs", "") for number in range(len(texts))]
    for file, text in zip(files, texts):
        file.write_bytes(text.encode())
    sources = [word for file in files for word in ("--source", file)]
    return files, sandbox.tool("compile", "--frontend", "rust", "--compiler", rustc, "--function", "scale", *sources, "--arch", "80",
                               "--output", sandbox.root / "out.ptx", *arguments, check=False, **options)  # fmt: skip


@pytest.mark.parametrize("faulty", [0, 1, 2, 3])
@pytest.mark.parametrize("form", ["LF", "CRLF", "no line end at the end"])
def test_a_type_error_is_shown_at_its_file_line_and_column(sandbox, rustc, faulty, form):
    texts = [GOOD, KERNEL, "// nothing\n"]
    texts.insert(faulty, FAULT)
    if form == "CRLF":
        texts = [text.replace("\n", "\r\n") for text in texts]
    elif form != "LF":
        texts = [text.rstrip("\n") for text in texts]
    files, result = compile_sources(sandbox, rustc, *texts)
    assert result.returncode == 1
    assert PLACE.findall(result.stderr)[0] == (str(files[faulty]), "3", "9"), result.stderr
    # The gutter has the same number, and is as wide as that number.
    assert re.search(r"\n3 \|     a \+ 2.5f32\r?\n  \|     -   \^", result.stderr), result.stderr
    assert "kernel scale for sm_80 does not compile" in result.stderr
    assert not (sandbox.root / "out.ptx").exists()


def test_an_error_that_leads_into_the_prelude_names_it(sandbox, rustc):
    prelude = sandbox.installation.source / "modules" / "device" / "prelude.rs"
    _, result = compile_sources(sandbox, rustc, GOOD, KERNEL.replace("grid_stride(n as usize)", "grid_stride(n)"),
                                arguments=("--prelude", prelude))  # fmt: skip
    places = PLACE.findall(result.stderr)
    assert places[0][1:] == ("3", "26")
    note = [place for place in places if place[0] == str(prelude)]
    assert note, result.stderr
    assert "fn grid_stride" in prelude.read_text().splitlines()[int(note[0][1]) - 1]


def test_warnings_are_shown_once_and_again_on_a_hit(sandbox, rustc):
    text = KERNEL.replace("twice(*x.add(i))", "1.0").replace("    for", "    let unused = 1;\n    for", 1)
    files, first = compile_sources(sandbox, rustc, text)
    assert first.returncode == 0, first
    assert first.stderr.count("unused variable: `unused`") == 1
    assert PLACE.findall(first.stderr)[0] == (str(files[0]), "3", "9")
    _, second = compile_sources(sandbox, rustc, text)
    assert second.stderr == first.stderr
    assert len(sandbox.members(".o")) == 1
    # From another folder the same entry serves, and the place is the one there.
    other = sandbox.write("elsewhere/kernel.rs", text)
    third = sandbox.tool("compile", "--frontend", "rust", "--compiler", rustc, "--function", "scale", "--source", other, "--arch",
                         "80", "--output", sandbox.root / "other.ptx")  # fmt: skip
    assert PLACE.findall(third.stderr)[0] == (str(other), "3", "9")
    assert len(sandbox.members(".o")) == 1


def test_colours_where_they_are_wanted(sandbox, rustc):
    colours = {"CLICOLOR_FORCE": "1"}
    files, result = compile_sources(sandbox, rustc, FAULT, KERNEL, GOOD, env=colours)
    assert "\x1b[" in result.stderr
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.stderr)
    assert PLACE.findall(plain)[0] == (str(files[0]), "3", "9"), plain
    _, result = compile_sources(sandbox, rustc, FAULT, KERNEL, GOOD)
    assert "\x1b[" not in result.stderr
    _, result = compile_sources(sandbox, rustc, FAULT, KERNEL, GOOD, env={**colours, "NO_COLOR": "1"})
    assert "\x1b[" not in result.stderr


def test_json_lines_for_editors(sandbox, rustc):
    files, result = compile_sources(sandbox, rustc, GOOD, FAULT, KERNEL, arguments=("--option=--error-format=json",))
    diagnostics = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")]
    spans = [span for diagnostic in diagnostics for span in diagnostic["spans"]]
    assert spans
    assert {(span["file_name"], span["line_start"]) for span in spans} == {(str(files[1]), 3)}
    assert any(f"--> {files[1]}:3:9" in diagnostic["rendered"] for diagnostic in diagnostics)


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_build_shows_it_with_kernel_architecture_and_command(sandbox, rustc, generator):
    project = Project(sandbox, generator, rustc=rustc)
    project.write("main.cpp", "int main() {}\n")
    project.write("a.rs", GOOD)
    project.write("b.rs", FAULT + KERNEL)
    project.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(P CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
                  "find_package(Teeny REQUIRED)\nadd_executable(app main.cpp)\n"
                  "teeny_add_kernel(app SOURCE a.rs b.rs NAME scale FRONTEND rust ARCHITECTURES 80)\n")  # fmt: skip
    project.configure()
    result = project.build(check=False)
    assert result.returncode != 0
    assert f"--> {project.source / 'b.rs'}:3:9" in result.stdout, result
    assert "kernel scale for sm_80 does not compile" in result.stdout
    command = re.search(r"\n    (\S*teeny-kernel compile .*)\n", result.stdout)[1]
    again = sandbox.run("sh", "-c", command, check=False)
    assert again.returncode == 1
    assert f"--> {project.source / 'b.rs'}:3:9" in again.stderr
