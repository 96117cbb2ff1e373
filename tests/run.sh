#!/bin/sh
# Builds everything and runs all tests. Sets up what is missing on Debian first.
# $TEENY_BUILD_DIR: where to build (default: build). Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."
. cmake/set-up.sh

has_pytest() { [ -n "$(python_with_pytest)" ]; }

need_for_build
need "has_command make" make
need "has_header gtest/gtest.h" libgtest-dev
need has_pytest python3-pytest
need "has_command strace" strace
install_missing

build=${TEENY_BUILD_DIR:-build}
python=$(python_with_pytest)
# shellcheck disable=SC2046 # nothing or one word
cmake -S . -B "$build" $(generator_for "$build") -DCMAKE_BUILD_TYPE=Release -DTEENY_BUILD_TESTS=ON \
  ${python:+"-DPython3_EXECUTABLE=$python"}
cmake --build "$build" --parallel "$(jobs)"
cd "$build"
exec ctest --output-on-failure --parallel "$(jobs)" "$@"
