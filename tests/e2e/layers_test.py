"""A file of src/ includes only what stands in its own layer or above it.

The layers, from the ground up. A new file goes where its includes allow; a file that is in none of
them fails the test.
"""

import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ["TEENY_TEST_SOURCE_DIR"]) / "src"

LAYERS = [
    "error version",
    "interrupt file atomic_file file_lock subprocess sha256 log_level frontend",
    "architecture kernel_spec ptx rust_lexer rust_tokens rust_function_reader rust_argument_type"
    " rust_self_contained rust_signature kernel_source kernel_source_parts kernel_source_arguments"
    " kernel_source_choose kernel_source_instantiate cpp_signature image_header",
    "cache_key manifest compile_cache cache_statistics cache_settings cache_maintenance",
    "diagnostics compiler compiler_identity find_compiler prelude device_prelude",
    "target_manifest declare embed inspect kernel_inputs rust_project",
    "build_kernel cache_command",
    "command_line",
    "main",
]
LAYER_OF = {name: number for number, layer in enumerate(LAYERS) for name in layer.split()}


def test_nothing_includes_upwards():
    seen = set()
    for path in sorted(SOURCE.glob("*.[ch]*")):
        name = path.name.split(".")[0]
        assert name in LAYER_OF, f"{path.name} is in no layer"
        seen.add(name)
        for included in re.findall(r'#include "(\w+)\.h"', path.read_text()):
            assert LAYER_OF[included] <= LAYER_OF[name], f"{path.name} includes {included}.h of a higher layer"
    assert set(LAYER_OF) - seen <= {"version"}, "a layer names a file that is not there"


def test_one_place_knows_openssl_and_one_forks():
    for path in sorted(SOURCE.glob("*.cpp")):
        text = path.read_text()
        assert ("openssl/" in text) == (path.name == "sha256.cpp"), path.name
        assert (re.search(r"::v?fork\(|posix_spawn|std::system\(|popen\(", text) is not None) == (path.name == "subprocess.cpp"), path.name
