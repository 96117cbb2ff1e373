# Sourced by the two run.sh: finds what a command needs, and on Debian installs what is missing.
# Nothing is touched where all is there. Without root or sudo, what is missing is only named: CMake
# then says what it can't do without.

say() { printf '%s\n' "run.sh: $*" >&2; }

# Words of a version, 1.96.0 → 1 096 000, so that the shell can compare them.
version_number() { printf '%s\n' "$1" | awk -F. '{ printf "%d%03d%03d\n", $1, $2, $3 }'; }

has_command() { command -v "$1" >/dev/null 2>&1; }

has_cmake() {
  has_command cmake &&
    [ "$(version_number "$(cmake --version | awk 'NR == 1 { print $3 }')")" -ge 3025000 ]
}

has_compiler() { has_command c++ && echo 'int main() {}' | c++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; }

has_header() {
  has_command c++ && echo "#include <$1>" | c++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null
}

# A rustc that compiles for GPUs: 1.90 or newer.
has_rustc() {
  [ -z "${TEENY_RUSTC_EXECUTABLE:-}" ] || return 0
  rustc_found=$(command -v rustc || command -v "$HOME/.cargo/bin/rustc") || return 1
  rustc_version=$("$rustc_found" -vV 2>/dev/null | awk '$1 == "release:" { print $2 }')
  [ -n "$rustc_version" ] && [ "$(version_number "${rustc_version%%-*}")" -ge 1090000 ]
}

# The first Python that has pytest; empty if none has.
python_with_pytest() {
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -m pytest --version >/dev/null 2>&1; then
      command -v "$candidate"
      return
    fi
  done
}

# need <check> <Debian package>...: remembers the packages when the check fails.
missing_packages=
need() {
  need_check=$1
  shift
  $need_check || missing_packages="$missing_packages $*"
}

install_missing() {
  [ -n "$missing_packages" ] || return 0
  root=
  if [ "$(id -u)" -ne 0 ]; then
    if has_command sudo && sudo -n true 2>/dev/null; then
      root='sudo -n'
    else
      say "not installed, and neither root nor sudo to install it:$missing_packages"
      return 0
    fi
  fi
  if ! has_command apt-get; then
    say "not installed:$missing_packages (their names on Debian)"
    return 0
  fi
  say "installing:$missing_packages"
  $root apt-get update -qq || say "apt-get update failed; going on with the lists there are"
  # shellcheck disable=SC2086 # a list of words
  $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    $missing_packages >/dev/null || say "could not install:$missing_packages"
}

need_for_build() {
  need has_compiler g++
  need has_cmake cmake
  need "has_command ninja" ninja-build
  need "has_header openssl/evp.h" libssl-dev
  need "has_header spdlog/spdlog.h" libspdlog-dev
  need "has_header nlohmann/json.hpp" nlohmann-json3-dev
  need "has_header CLI/CLI.hpp" libcli11-dev
  need has_rustc rustc-web
}

# A build tree keeps the generator that it was made with.
generator_for() {
  if [ ! -e "$1/CMakeCache.txt" ] && has_command ninja; then echo -GNinja; fi
}

jobs() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }
