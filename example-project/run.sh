#!/bin/sh
# Builds Teeny's helper and the example on plain-Rust kernels, and runs the example. Sets up what is
# missing on Debian first. $TEENY_BUILD_DIR: where to build (default: build).
set -eu
cd "$(dirname "$0")/.."
. cmake/set-up.sh

need_for_build
install_missing

build=${TEENY_BUILD_DIR:-build}
# shellcheck disable=SC2046 # nothing or one word
cmake -S . -B "$build" $(generator_for "$build") -DCMAKE_BUILD_TYPE=Release -DTEENY_BUILD_TESTS=OFF
cmake --build "$build" --parallel "$(jobs)"

# The example is a project of its own that finds Teeny as a package, as yours would.
# shellcheck disable=SC2046
cmake -S example-project -B "$build/example" $(generator_for "$build/example") \
  -DCMAKE_BUILD_TYPE=Release -DTeeny_DIR="$(cd "$build" && pwd)/cmake"
cmake --build "$build/example" --parallel "$(jobs)"
echo
"$build/example/teeny-example"
