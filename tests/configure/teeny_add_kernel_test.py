"""What teeny_add_kernel() accepts and refuses: keywords, files, names, targets (B29, A23)."""

import re

import pytest
from cmake_project import assert_accepted, assert_refused, compile_arguments

FLAGS = ("PUBLIC", "FORCE")
SINGLE = {
    "NAME": "kernel",
    "FRONTEND": "triton",
    "FUNCTION": "vector_add",
    "ID": "AUTO",
    "PTX_VERSION": "8.2",
    "PRELUDE": "NONE",
    "LOG_LEVEL": "info",
    "NAMESPACE": "ns",
}
MULTIPLE = {
    "SOURCE": "k.rs",
    "TYPES": "f32",
    "CONSTANTS": "N=1",
    "ARCHITECTURES": "80",
    "OPTIONS": "-g",
    "DEPENDS": "k2.rs",
}
KEYWORDS = (*FLAGS, *SINGLE, *MULTIPLE)

MISSPELT = [
    # The word, its value, what is proposed.
    ("ARCHITECTURE", "80", "ARCHITECTURES"),
    ("SOURCES", "k.rs", "SOURCE"),
    ("TYPE", "f32", "TYPES"),
    ("CONSTANT", "N=1", "CONSTANTS"),
    ("OPTION", "-g", "OPTIONS"),
    ("DEPEND", "k2.rs", "DEPENDS"),
    ("NAMESPACES", "ns", "NAMESPACE"),
    ("FUNCTIONS", "f", "FUNCTION"),
    ("LOGLEVEL", "info", "LOG_LEVEL"),
    ("PTXVERSION", "82", "PTX_VERSION"),
    ("FORCED", "", "FORCE"),
    ("name", "x", "NAME"),
    ("Architectures", "80", "ARCHITECTURES"),
]


def refused(project, text, *words, arguments=(), **options):
    project.lists(text)
    assert_refused(project, project.configure(*project.defaults, *arguments), *words, **options)


def accepted(project, text, *arguments):
    project.lists(text)
    assert_accepted(project.configure(*project.defaults, *arguments))


# Keywords


def test_the_shortest_call_is_accepted(project):
    accepted(project, "teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80)\n")
    assert project.manifest()["kernels"] == [
        {"name": "k", "frontend": "triton", "function": "", "types": [], "constants": [],
         "prelude": str(project.source / "prelude.rs"), "sources": [str(project.source / "k.rs")],
         "per_configuration": False, "images": ["k.sm_80.ptx"]}  # fmt: skip
    ]


def test_every_keyword_together_is_accepted(project):
    words = " ".join([*FLAGS, *(f"{k} {v}" for k, v in SINGLE.items()), *(f"{k} {v}" for k, v in MULTIPLE.items())])
    accepted(project, f"teeny_add_kernel(app {words})\n")
    [command] = project.ninja_commands("compile")
    told = compile_arguments(command)
    source = project.source
    assert told.pop("--output")[0].endswith("kernel.sm_80.ptx")
    assert told.pop("--stamp")[0].endswith("kernel.sm_80.stamp")
    assert told == {
        "--name": ["kernel"], "--frontend": ["triton"], "--function": ["vector_add"], "--id": ["AUTO"],
        "--ptx-version": ["82"], "--prelude": ["NONE"], "--log-level": ["info"], "--force": [True],
        "--source": [str(source / "k.rs")], "--type": ["f32"], "--constant": ["N=1"], "--arch": ["sm_80"],
        "--option": ["-g"], "--depend": [str(source / "k2.rs")], "--compiler": ["NONE"],
    }  # fmt: skip


@pytest.mark.parametrize("word, value, proposed", MISSPELT)
def test_b29_a_misspelt_keyword_is_refused_with_a_proposal(project, word, value, proposed):
    refused(
        project,
        f"teeny_add_kernel(app {word} {value} SOURCE k.rs ARCHITECTURES 80)\n",
        f"unknown argument '{word}'", f"did you mean {proposed}?", *KEYWORDS,
    )  # fmt: skip


def test_a_message_keeps_its_semicolons(project):
    refused(project, "teeny_add_kernel(app SOURCES k.rs)\n", "unknown argument 'SOURCES'; did you mean SOURCE?")


@pytest.mark.parametrize("before", [*(f"{k} {v}" for k, v in MULTIPLE.items())])
def test_b29_a_misspelt_keyword_behind_a_list_is_no_element_of_it(project, before):
    rest = " ".join(f"{k} {v}" for k, v in (("SOURCE", "k.rs"), ("ARCHITECTURES", "80")) if not before.startswith(k))
    refused(
        project,
        f"teeny_add_kernel(app {rest} NAME x {before} FUNCTIONS f PTX_VERSION 82)\n",
        "unknown argument 'FUNCTIONS'", "did you mean FUNCTION?",
    )  # fmt: skip


@pytest.mark.parametrize("word", ["k.rs", "saxpy", "80", "--name", "x y"])
def test_a_word_without_keyword_is_refused(project, word):
    refused(
        project, f'teeny_add_kernel(app "{word}" SOURCE k.rs ARCHITECTURES 80)\n', f"unknown argument '{word}'", *KEYWORDS
    )


@pytest.mark.parametrize("keyword", [*SINGLE, *MULTIPLE])
@pytest.mark.parametrize("place", ["last", "before another"])
def test_b29_a_keyword_without_value_is_refused(project, keyword, place):
    rest = " ".join(f"{k} {v}" for k, v in (("SOURCE", "k.rs"), ("ARCHITECTURES", "80")) if k != keyword)
    words = f"{rest} {keyword}" if place == "last" else f"{keyword} {rest}"
    refused(project, f"teeny_add_kernel(app {words})\n", f"{keyword} has no value")


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_b29_a_keyword_twice_is_refused(project, keyword):
    value = {**SINGLE, **MULTIPLE}.get(keyword, "")
    rest = " ".join(f"{k} {v}" for k, v in (("SOURCE", "k.rs"), ("ARCHITECTURES", "80")) if k != keyword)
    refused(project, f"teeny_add_kernel(app {keyword} {value} {rest} {keyword} {value})\n", f"{keyword} is given twice")


def test_a_value_that_holds_a_keyword_is_not_that_keyword(project):
    accepted(project, 'teeny_add_kernel(app SOURCE k.rs NAME x ARCHITECTURES 80 OPTIONS "a;NAME;b")\n')


# SOURCE


def test_b29_source_is_needed(project):
    refused(project, "teeny_add_kernel(app NAME x ARCHITECTURES 80)\n", "SOURCE is missing")


def test_b29_a_source_that_is_not_there_is_refused(project):
    refused(
        project, "teeny_add_kernel(app SOURCE k.rs no/such.rs ARCHITECTURES 80)\n", "SOURCE 'no/such.rs'", str(project.source)
    )


def test_a_source_that_is_a_directory_is_refused(project):
    (project.source / "folder").mkdir()
    refused(project, "teeny_add_kernel(app SOURCE folder ARCHITECTURES 80)\n", "SOURCE 'folder' is a directory")


@pytest.mark.parametrize(
    "word, file",
    [(r"a\"b.rs", 'a"b.rs'), (r"a\;b.rs", "a;b.rs"), (r"a\\b.rs", "a\\b.rs"), ("$<1:k.rs>", "k.rs")],
)
def test_a_source_that_rules_can_not_name_is_refused(project, word, file):
    project.write(file)
    refused(
        project, f'teeny_add_kernel(app SOURCE "{word}" NAME x ARCHITECTURES 80)\n', "SOURCE '", "is not a file name that rules can use"
    )


def test_a_source_with_a_line_end_in_its_name_is_refused(project):
    refused(project, 'teeny_add_kernel(app SOURCE "a\\nb.rs" NAME x ARCHITECTURES 80)\n', "a line end", "can't be passed on")


@pytest.mark.parametrize("file", ["a b.rs", "a+(b)'.rs", "a@b&c%d,e=f~g!.rs", "ärger.rs", "-a.rs", "a$b.rs", "a#b.rs"])
def test_a_source_of_any_other_name_is_accepted(project, file):
    project.write(file)
    accepted(project, f"teeny_add_kernel(app SOURCE [[{file}]] NAME x ARCHITECTURES 80)\n")
    [command] = project.ninja_commands("compile")
    assert compile_arguments(command)["--source"] == [str(project.source / file)]


def test_sources_keep_their_order(project):
    accepted(project, "teeny_add_kernel(app SOURCE k2.rs k.rs ARCHITECTURES 80)\n")
    [command] = project.ninja_commands("compile")
    assert compile_arguments(command)["--source"] == [str(project.source / "k2.rs"), str(project.source / "k.rs")]
    assert project.manifest()["kernels"][0]["name"] == "k2"


GENERATING = "add_custom_command(OUTPUT gen.rs COMMAND ${CMAKE_COMMAND} -E touch gen.rs)\n"


@pytest.mark.parametrize("word", ["gen.rs", "${CMAKE_CURRENT_BINARY_DIR}/gen.rs"])
def test_a_source_of_an_earlier_rule_is_accepted(project, word):
    accepted(project, f"{GENERATING}teeny_add_kernel(app SOURCE {word} ARCHITECTURES 80)\n")
    inputs, _ = project.ninja_inputs("teeny/app/gen.sm_80.stamp")
    assert "gen.rs" in inputs


def test_a_source_of_a_later_rule_is_refused(project):
    refused(
        project,
        f"teeny_add_kernel(app SOURCE gen.rs ARCHITECTURES 80)\n{GENERATING}",
        "SOURCE 'gen.rs'", "no rule before this call makes it",
    )  # fmt: skip


# NAME


@pytest.mark.parametrize(
    "name",
    ["my-kernel", "9lives", "a b", "a.b", "ä", "a__b", "_A", "__a", "-class", "-all", "a::b", "-", "+k", "int-", "-find"],
)
def test_a_name_that_is_no_identifier_is_refused_and_the_proposal_is_accepted(project, name):
    taken = "teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80)\n"  # `k` is what "+k" would become
    refused(project, f'{taken}teeny_add_kernel(app SOURCE k2.rs NAME "{name}" ARCHITECTURES 80)\n', f"NAME '{name}'")
    proposal = re.search(r"give NAME (\S+)$", project.configure(*project.defaults).error)[1]
    accepted(project, f"{taken}teeny_add_kernel(app SOURCE k2.rs NAME {proposal} ARCHITECTURES 80)\n")


@pytest.mark.parametrize("name", ["class", "int", "co_await", "and", "char8_t", "requires", "all", "find"])
def test_a_name_that_cxx_or_the_header_uses_is_refused_and_the_proposal_is_accepted(project, name):
    refused(project, f"teeny_add_kernel(app SOURCE k.rs NAME {name} ARCHITECTURES 80)\n", f"NAME '{name}'")
    proposal = re.search(r"give NAME (\S+)$", project.configure(*project.defaults).error)[1]
    accepted(project, f"teeny_add_kernel(app SOURCE k.rs NAME {proposal} ARCHITECTURES 80)\n")


@pytest.mark.parametrize("name", ["x", "_x", "X9", "a_b", "classy", "find_all"])
def test_a_name_that_is_an_identifier_is_accepted(project, name):
    accepted(project, f"teeny_add_kernel(app SOURCE k.rs NAME {name} ARCHITECTURES 80)\n")
    assert project.manifest()["kernels"][0]["name"] == name


@pytest.mark.parametrize("file", ["my-kernel.rs", "class.rs", "a.b.rs"])
def test_a_default_name_that_is_no_identifier_is_refused(project, file):
    project.write(file)
    refused(project, f"teeny_add_kernel(app SOURCE {file} ARCHITECTURES 80)\n", f"NAME '{file[:-3]}'", "give NAME ")


def test_the_default_name_is_the_function(project):
    accepted(project, "teeny_add_kernel(app SOURCE k.rs FUNCTION saxpy ARCHITECTURES 80)\n")
    assert project.manifest()["kernels"][0]["name"] == "saxpy"


@pytest.mark.parametrize("others", [[], ["k_2"], ["k_2", "k_3"]])
def test_a_name_twice_on_a_target_is_refused_and_the_proposal_is_accepted(project, others):
    first = "".join(f"teeny_add_kernel(app SOURCE k.rs NAME {name} ARCHITECTURES 80)\n" for name in ["k", *others])
    refused(project, f"{first}teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 90)\n", "NAME 'k'", "target app")
    proposal = re.search(r"such as (\S+)$", project.configure(*project.defaults).error)[1]
    accepted(project, f"{first}teeny_add_kernel(app SOURCE k.rs NAME {proposal} ARCHITECTURES 90)\n")


def test_a_name_on_two_targets_is_accepted(project):
    accepted(
        project,
        "add_library(lib main.cpp)\nforeach(target app lib)\n"
        "  teeny_add_kernel(${target} SOURCE k.rs ARCHITECTURES 80)\nendforeach()\n",
    )
    assert project.manifest("lib")["kernels"] == project.manifest("app")["kernels"]


# Targets

CALL = "teeny_add_kernel(it SOURCE k.rs ARCHITECTURES 80)\n"
REFUSED_TARGETS = {
    "none": (CALL, ["no target 'it'", "add_executable()", "add_library()"]),
    "defined after": (CALL + "add_executable(it main.cpp)\n", ["no target 'it' (yet)"]),
    "interface": ("add_library(it INTERFACE)\n" + CALL, ["'it'", "INTERFACE_LIBRARY", "no objects"]),
    "imported": ("add_library(it SHARED IMPORTED)\n" + CALL, ["'it' is imported"]),
    "imported executable": ("add_executable(it IMPORTED)\n" + CALL, ["'it' is imported"]),
    "imported unknown": ("add_library(it UNKNOWN IMPORTED)\n" + CALL, ["'it' is imported"]),
    "alias of interface": ("add_library(i INTERFACE)\nadd_library(it ALIAS i)\n" + CALL, ["'i'", "INTERFACE_LIBRARY"]),
    "utility": ("add_custom_target(it)\n" + CALL, ["'it'", "UTILITY", "no objects"]),
}
ACCEPTED_KINDS = ["executables", "static", "shared", "module", "object"]


@pytest.mark.parametrize("kind", REFUSED_TARGETS)
def test_a23_a_target_that_can_not_carry_kernels_is_refused(project, kind):
    text, words = REFUSED_TARGETS[kind]
    refused(project, text, *words, *(ACCEPTED_KINDS if "no objects" in words else []), call="teeny_add_kernel(it): ")


@pytest.mark.parametrize(
    "definition",
    [
        "add_executable(it main.cpp)",
        "add_executable(it EXCLUDE_FROM_ALL main.cpp)",
        "add_library(it STATIC main.cpp)",
        "add_library(it SHARED main.cpp)",
        "add_library(it MODULE main.cpp)",
        "add_library(it OBJECT main.cpp)",
        "add_library(it)\ntarget_sources(it PRIVATE main.cpp)",
    ],
)
def test_a23_a_target_with_objects_is_accepted(project, definition):
    accepted(project, f"{definition}\n{CALL}")
    assert project.manifest("it")["target"] == "it"


def test_a23_an_alias_stands_for_its_target(project):
    accepted(
        project,
        "add_executable(ns::app ALIAS app)\nteeny_add_kernel(ns::app SOURCE k.rs ARCHITECTURES 80)\n"
        "teeny_add_kernel(app SOURCE k2.rs ARCHITECTURES 80)\n",
    )
    assert [kernel["name"] for kernel in project.manifest()["kernels"]] == ["k", "k2"]


def test_a_project_without_cxx_is_told_so(project):
    project.lists(
        "project(p LANGUAGES NONE)\nfind_package(Teeny REQUIRED)\nadd_library(app OBJECT k.rs)\n"
        "teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80)\n",
        head="cmake_minimum_required(VERSION 3.25)\n",
    )
    assert_refused(project, project.configure(*project.defaults), "CXX")


# FRONTEND, TYPES, CONSTANTS, NAMESPACE


@pytest.mark.parametrize("word", ["cuda", "Rust", "TRITON"])
def test_an_unknown_frontend_is_refused(project, word):
    refused(
        project, f"teeny_add_kernel(app SOURCE k.rs FRONTEND {word} ARCHITECTURES 80)\n", f"FRONTEND '{word}'", "triton", "rust"
    )


def test_an_unknown_default_frontend_is_refused(project):
    text = "teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80)\n"
    refused(project, text, "TEENY_FRONTEND", "'cuda'", "triton", "rust", arguments=["-DTEENY_FRONTEND=cuda"])


@pytest.mark.parametrize(
    "word, arguments, frontend",
    [("", [], "triton"), ("", ["-DTEENY_FRONTEND=rust"], "rust"), ("FRONTEND triton", ["-DTEENY_FRONTEND=rust"], "triton")],
)
def test_the_frontend_is_the_argument_or_the_variable_or_triton(project, word, arguments, frontend):
    accepted(project, f"teeny_add_kernel(app SOURCE k.rs {word} ARCHITECTURES 80)\n", *arguments)
    [command] = project.ninja_commands("compile")
    assert compile_arguments(command)["--frontend"] == [frontend]


@pytest.mark.parametrize(
    "words, expected",
    [
        ("TYPES f32 float", ["TYPES 'float'", "bf16", "i32"]),
        ("TYPES F32", ["TYPES 'F32'", "f32"]),
        ("FRONTEND rust TYPES f32", ["TYPES", "FRONTEND triton"]),
        ("FRONTEND rust CONSTANTS N=1", ["CONSTANTS", "FRONTEND triton"]),
        ("CONSTANTS BLOCK", ["CONSTANTS 'BLOCK'", "<NAME>=<value>"]),
        ("CONSTANTS N=1 =2", ["CONSTANTS '=2'", "<NAME>=<value>"]),
        ("CONSTANTS 1N=2", ["CONSTANTS '1N=2'", "<NAME>=<value>"]),
        ("CONSTANTS N=", ["CONSTANTS 'N='", "<NAME>=<value>"]),
        ("CONSTANTS N-M=1", ["CONSTANTS 'N-M=1'", "<NAME>=<value>"]),
    ],
)
def test_a_wrong_instantiation_is_refused(project, words, expected):
    refused(project, f"teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80 {words})\n", *expected)


def test_types_and_constants_reach_the_rule_in_order(project):
    types = "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64"
    accepted(project, f"teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80 TYPES {types} CONSTANTS N=1 M=-2 FLAG=true)\n")
    [command] = project.ninja_commands("compile")
    assert compile_arguments(command)["--type"] == types.split()
    assert compile_arguments(command)["--constant"] == ["N=1", "M=-2", "FLAG=true"]


@pytest.mark.parametrize(
    "target, namespace",
    [
        ("app", "app_kernels"),
        ("my-app", "my_app_kernels"),
        ("my.app", "my_app_kernels"),
        ("my+app", "my_app_kernels"),
        ("9app", "_9app_kernels"),
    ],
)
def test_the_default_namespace_is_made_from_the_target(project, target, namespace):
    add = "" if target == "app" else f"add_executable({target} main.cpp)\n"
    accepted(project, f"{add}teeny_add_kernel({target} SOURCE k.rs ARCHITECTURES 80)\n")
    assert project.manifest(target)["namespace"] == namespace


@pytest.mark.parametrize("namespace", ["a-b", "a::", "::a", "9a", "a b", "a:b"])
def test_a_wrong_namespace_is_refused(project, namespace):
    refused(
        project,
        f'teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80 NAMESPACE "{namespace}")\n',
        f"NAMESPACE '{namespace}'", "C++ namespace",
    )  # fmt: skip


def test_a_target_has_one_namespace(project):
    first = "teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80 NAMESPACE a::b)\n"
    refused(
        project, f"{first}teeny_add_kernel(app SOURCE k2.rs ARCHITECTURES 80 NAMESPACE c)\n", "NAMESPACE 'c'", "'a::b'"
    )
    accepted(
        project,
        f"{first}teeny_add_kernel(app SOURCE k2.rs ARCHITECTURES 80)\n"
        "teeny_add_kernel(app SOURCE k2.rs NAME x ARCHITECTURES 80 NAMESPACE a::b)\n",
    )
    assert project.manifest()["namespace"] == "a::b"


def test_a_late_namespace_does_not_replace_the_default(project):
    refused(
        project,
        "teeny_add_kernel(app SOURCE k.rs ARCHITECTURES 80)\n"
        "teeny_add_kernel(app SOURCE k2.rs ARCHITECTURES 80 NAMESPACE c)\n",
        "NAMESPACE 'c'", "'app_kernels'",
    )  # fmt: skip


def test_public_makes_the_header_part_of_the_interface(project):
    accepted(
        project,
        "add_library(open STATIC main.cpp)\nteeny_add_kernel(open SOURCE k.rs ARCHITECTURES 80 PUBLIC)\n"
        "add_library(closed STATIC main.cpp)\nteeny_add_kernel(closed SOURCE k.rs ARCHITECTURES 80)\n"
        "foreach(target open closed)\n  get_target_property(seen ${target} INTERFACE_INCLUDE_DIRECTORIES)\n"
        '  message(STATUS "interface of ${target}: [${seen}]")\nendforeach()\n',
    )
    output = project.configure(*project.defaults).output
    assert re.search(r"interface of open: \[.*/teeny/open/include.*\]", output), output
    assert "interface of closed: [seen-NOTFOUND]" in output


def test_the_message_is_shown_where_the_call_stands_in_a_subdirectory(project):
    project.lists("add_subdirectory(sub)\n")
    project.lists("\n\nteeny_add_kernel(app\n  SOURCE k.rs)\n", "sub/CMakeLists.txt", head="")
    assert_refused(project, project.configure(*project.defaults), "SOURCE 'k.rs'", lists="sub/CMakeLists.txt")
