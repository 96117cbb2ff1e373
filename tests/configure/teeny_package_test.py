"""What find_package(Teeny) and the modules do to the project that uses them: nothing but what is documented."""

import json
import os

import pytest
from cmake_project import SOURCE_DIR, assert_accepted

HEAD = "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
CALL = "teeny_add_kernel(app SOURCE k.rs FRONTEND rust ARCHITECTURES {})\n"

SNAPSHOT = r"""
macro(snapshot name)
  foreach(kind VARIABLES CACHE_VARIABLES MACROS COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_LIBRARIES
      LINK_OPTIONS BUILDSYSTEM_TARGETS TESTS SUBDIRECTORIES ADDITIONAL_CLEAN_FILES)
    get_directory_property(snapshot_list ${kind})
    file(WRITE ${CMAKE_BINARY_DIR}/${name}.${kind} "")
    foreach(snapshot_item IN LISTS snapshot_list)
      if(NOT snapshot_item MATCHES "^snapshot|^CMAKE_MATCH_|^ARG[VCN]")
        file(APPEND ${CMAKE_BINARY_DIR}/${name}.${kind} "${snapshot_item}=")
        if(kind MATCHES "VARIABLES")
          file(APPEND ${CMAKE_BINARY_DIR}/${name}.${kind} "${${snapshot_item}}")
        endif()
        file(APPEND ${CMAKE_BINARY_DIR}/${name}.${kind} "\n")
      endif()
    endforeach()
  endforeach()
  foreach(kind COMMANDS)
    get_cmake_property(snapshot_list ${kind})
    string(REPLACE ";" "\n" snapshot_list "${snapshot_list}")
    file(WRITE ${CMAKE_BINARY_DIR}/${name}.${kind} "${snapshot_list}")
  endforeach()
  foreach(kind RULE_LAUNCH_COMPILE USE_FOLDERS JOB_POOLS TARGET_SUPPORTS_SHARED_LIBS FIND_LIBRARY_USE_LIB64_PATHS)
    get_property(snapshot_value GLOBAL PROPERTY ${kind})
    file(WRITE ${CMAKE_BINARY_DIR}/${name}.${kind} "${snapshot_value}")
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.POLICIES "")
  foreach(snapshot_number RANGE 0 200)
    string(REGEX REPLACE "^.*(....)$" "CMP\\1" snapshot_policy "0000${snapshot_number}")
    if(POLICY ${snapshot_policy})
      cmake_policy(GET ${snapshot_policy} snapshot_value)
      file(APPEND ${CMAKE_BINARY_DIR}/${name}.POLICIES "${snapshot_policy} ${snapshot_value}\n")
    endif()
  endforeach()
endmacro()
"""

OLD_HEAD = """\
cmake_minimum_required(VERSION {minimum})
project(p LANGUAGES CXX)
set(CMAKE_MODULE_PATH ${{CMAKE_CURRENT_SOURCE_DIR}}/cmake)
add_executable(app main.cpp)
"""


def snapshots(project, name):
    return {
        path.suffix[1:]: set(path.read_text(encoding="utf-8").splitlines()) for path in project.build_dir.glob(f"{name}.[A-Z]*")
    }


def assert_nothing_changed(project, before, after, allowed):
    first, second = snapshots(project, before), snapshots(project, after)
    assert len(first["VARIABLES"]) > 50 and first["POLICIES"] and first.keys() == second.keys()
    for kind, lines in first.items():
        gone = {line for line in lines - second[kind] if not line.startswith(allowed.get(kind, ()))}
        new = {line for line in second[kind] - lines if not line.startswith(allowed.get(kind, ()))}
        assert not gone and not new, f"{kind}: gone {sorted(gone)}, new {sorted(new)}"


@pytest.mark.parametrize("minimum", ["3.10", "3.25"])
def test_finding_the_package_changes_nothing(project, minimum):
    project.lists(
        SNAPSHOT + "snapshot(before)\nfind_package(Teeny REQUIRED)\nsnapshot(after)\n", head=OLD_HEAD.format(minimum=minimum)
    )
    assert_accepted(project.configure())
    assert_nothing_changed(project, "before", "after", {
        # CMake's own, for any package.
        "VARIABLES": ("Teeny_", "PACKAGE_PREFIX_DIR="),
        "CACHE_VARIABLES": ("Teeny_DIR=",),
        "COMMANDS": ("teeny_add_kernel", "_teeny_", "set_and_check", "_set_and_check", "check_required_components", "_check_required_components"),
        "MACROS": ("set_and_check", "check_required_components"),
    })  # fmt: skip


@pytest.mark.parametrize("minimum", ["3.10", "3.25"])
def test_finding_it_again_changes_nothing(project, minimum):
    project.lists(
        "find_package(Teeny REQUIRED)\n" + SNAPSHOT + "snapshot(before)\nfind_package(Teeny REQUIRED)\nsnapshot(after)\n",
        head=OLD_HEAD.format(minimum=minimum),
    )
    assert_accepted(project.configure())
    assert_nothing_changed(project, "before", "after", {"VARIABLES": ("Teeny_CONSIDERED_",), "COMMANDS": ("_",)})


@pytest.mark.parametrize("minimum", ["3.10", "3.25"])
def test_a_call_changes_nothing_but_its_targets(project, minimum):
    project.lists(
        "find_package(Teeny REQUIRED)\n"
        + SNAPSHOT
        + f"snapshot(before)\n{CALL.format('native')}teeny_add_kernel(app SOURCE k2.rs ARCHITECTURES 80 PRELUDE NONE)\nsnapshot(after)\n",
        head=OLD_HEAD.format(minimum=minimum),
    )
    project.program("nvidia-smi", "#!/bin/sh\necho 8.0\n")
    teenyc = project.program("private/teenyc", project.rustc_text())
    assert_accepted(project.configure(env={"TEENYC_PATH": str(teenyc)}))
    cache = ("TEENYC_EXECUTABLE=", "TEENY_RUSTC_EXECUTABLE=", "TEENY_NATIVE_ARCHITECTURES=", "_TEENY_RUSTC_", "FIND_PACKAGE_MESSAGE_DETAILS_")
    assert_nothing_changed(project, "before", "after", {
        "VARIABLES": cache,
        "CACHE_VARIABLES": cache,
        "BUILDSYSTEM_TARGETS": ("app_teeny_header=", "app_teeny_images=", "teeny-rust-project="),
        "COMMANDS": ("find_package", "_find_package", "find_", "_f", "__"),  # of FindPackageHandleStandardArgs
        "MACROS": ("_FPHSA_",),
    })  # fmt: skip


@pytest.mark.parametrize("minimum", ["3.5", "3.10"])
def test_a_project_with_old_policies_may_call(project, minimum):
    project.lists(
        "find_package(Teeny REQUIRED)\n" + CALL.format("80 90") + CALL.format('"80;80" NAME x OPTIONS "a b"'),
        head=OLD_HEAD.format(minimum=minimum),
    )
    result = project.configure(*project.defaults)
    assert result.returncode == 0 and not [text for text in result.warnings if "CMP" in text], result.output
    assert [kernel["images"] for kernel in project.manifest()["kernels"]] == [["k.sm_80.ptx", "k.sm_90.ptx"], ["x.sm_80.ptx"]]


def test_a_package_found_in_another_directory_serves_the_whole_project(project):
    project.lists("find_package(Teeny REQUIRED GLOBAL)\n", "deps/CMakeLists.txt", head="")
    project.lists(
        f"add_subdirectory(deps)\n{CALL.format('all')}",
        head=HEAD + "add_executable(app main.cpp)\n",
    )
    assert_accepted(project.configure(*project.defaults))
    assert len(project.images()) == 8


def test_a_package_found_in_two_directories_serves_both(project):
    text = "find_package(Teeny REQUIRED)\nadd_library({0} ../main.cpp)\nteeny_add_kernel({0} SOURCE ../k.rs FRONTEND rust ARCHITECTURES all-major)\n"
    for name in "ab":
        project.lists(text.format(name), f"{name}/CMakeLists.txt", head="")
    project.lists("add_subdirectory(a)\nadd_subdirectory(b)\n", head=HEAD)
    assert_accepted(project.configure(*project.defaults))
    for name in "ab":
        assert len(json.loads((project.build_dir / name / f"teeny/{name}/embed.json").read_text())["kernels"][0]["images"]) == 5


def with_subdirectory(project, text):
    """Configures with the caller's PATH, where the libraries of the helper are found."""
    project.lists(text.replace("SUBDIRECTORY", f"add_subdirectory([[{SOURCE_DIR}]] teeny EXCLUDE_FROM_ALL)"), head=HEAD)
    path = os.pathsep.join((str(project.bin), os.environ["PATH"]))
    return project.configure(*project.defaults, "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=ON", env={"PATH": path})


def test_a_package_as_a_subdirectory(project):
    text = f"{SNAPSHOT}snapshot(before)\nSUBDIRECTORY\nsnapshot(after)\nadd_executable(app main.cpp)\n{CALL.format('all')}"
    assert_accepted(with_subdirectory(project, text))
    assert len(project.images()) == 8
    assert "teeny/src/teeny-kernel" in project.ninja_inputs("teeny/app/declare.stamp")[0]
    first, second = snapshots(project, "before"), snapshots(project, "after")
    cache = {line.split("=")[0] for line in second["CACHE_VARIABLES"]}
    new = {line for line in second["VARIABLES"] - first["VARIABLES"] if line.split("=")[0] not in cache}
    assert not {line for line in new if not line.startswith("Teeny_")}
    assert first["POLICIES"] == second["POLICIES"] and first["TESTS"] == second["TESTS"]


def test_b25_a_subdirectory_beats_a_package_found_later(project):
    text = f"SUBDIRECTORY\nfind_package(Teeny REQUIRED)\nadd_executable(app main.cpp)\n{CALL.format('80')}"
    assert_accepted(with_subdirectory(project, text))
    assert "teeny/src/teeny-kernel" in project.ninja_inputs("teeny/app/declare.stamp")[0]


def test_b25_a_subdirectory_behind_a_package_is_an_error(project):
    result = with_subdirectory(project, "find_package(Teeny REQUIRED)\nSUBDIRECTORY\n")
    assert result.returncode != 0
    assert all("Teeny::" in message.text for message in result.of_kind("Error")), result.output


@pytest.mark.parametrize("wanted, found", [("", True), ("0.1", True), ("0.1.0", True), ("0.2", False), ("1", False)])
def test_versions(project, wanted, found):
    project.lists(
        f"find_package(Teeny {wanted} QUIET)\nmessage(STATUS \"<${{Teeny_FOUND}}>\")\n",
        head=HEAD,
    )
    assert ("<1>" in project.configure().output) is found


def test_an_unknown_component_is_refused(project):
    project.lists("find_package(Teeny REQUIRED COMPONENTS nothing)\n", head=HEAD)
    result = project.configure()
    assert "Teeny" in result.error and "Teeny_FOUND to FALSE" in result.error
