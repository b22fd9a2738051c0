#!/usr/bin/env bash
# The first hour with Treenail, rmcp and FastMCP: a server with one tool of two arguments, a test of it, a call from the command
# line, and the configuration of a host. Prints the CPU seconds of each step and the lines that the user writes.
#
#     tests/compare/first-hour/run.sh [treenail | rmcp | fastmcp]…
#
# Builds are clean, and what they need is downloaded before. The command of FastMCP and the Inspector run from a warm cache.
# CPU seconds, because other programs of the machine do not change them much.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
root=$(cd ../../.. && pwd)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CARGO_NET_OFFLINE=false CARGO_TERM_QUIET=true FASTMCP_CHECK_FOR_UPDATES=off PYTHONWARNINGS=ignore
mkdir -p "$folder/home/.cursor"

# step FRAMEWORK NAME COMMAND…
step() {
  local framework=$1 name=$2 status=0 TIMEFORMAT='%U %S'
  shift 2
  local times
  times=$({ time "$@" >"$folder/log" 2>&1; } 2>&1) || status=$?
  [ "$status" = 0 ] || { cat "$folder/log" >&2; exit "$status"; }
  awk -v f="$framework" -v n="$name" '{ printf "| %s | %s | %.1f |\n", f, n, $1 + $2 }' <<<"$times"
}

lines() {
  printf '| %s | lines to write, with the test | %s |\n' "$1" "$(cat "${@:2}" | grep -v '^# ' | grep -c '[^[:space:]]')"
}

expect() {
  grep --quiet -- "$1" "$folder/log" || { echo "expected: $1" >&2; cat "$folder/log" >&2; exit 1; }
}

# All files are created.
run_treenail() {
  cargo build --package treenail-cli --bin treenail --manifest-path "$root/Cargo.toml"
  treenail=${CARGO_TARGET_DIR:-$root/target}/debug/treenail
  cd "$folder"
  step Treenail 'create the project' "$treenail" new calculator --treenail-path "$root"
  cd calculator
  cp "$root/Cargo.lock" .
  cargo fetch
  export CARGO_TARGET_DIR=$folder/target-treenail
  step Treenail build cargo build
  step Treenail test cargo test
  step Treenail call "$treenail" call add a=1 b=2 -- "$CARGO_TARGET_DIR/debug/calculator"
  expect '^3$'
  step Treenail 'configure a host' env HOME="$folder/home" "$treenail" install --host cursor -- "$CARGO_TARGET_DIR/debug/calculator"
  step Treenail 'pack a bundle' "$treenail" pack --author me -- "$CARGO_TARGET_DIR/debug/calculator"
  echo '| Treenail, `treenail new` | lines to write, with the test | 0 |'
  # The same without `treenail new`.
  cp -r "$here/treenail" "$folder/by-hand"
  cd "$folder/by-hand"
  sed -i "s|path = \"[^\"]*\"|path = \"$root\"|" Cargo.toml
  cp "$root/Cargo.lock" .
  cargo test >"$folder/log" 2>&1 || { cat "$folder/log" >&2; return 1; }
  expect 'test result: ok. 1 passed'
  lines 'Treenail, by hand' "$here/treenail/Cargo.toml" "$here/treenail/src/main.rs"
}

# It has no program for the command line, so the call is made with the MCP Inspector, and the host is configured by hand.
run_rmcp() {
  cp -r "$here/rmcp" "$folder/rmcp"
  cd "$folder/rmcp"
  cp "$here/../Cargo.lock" .
  cargo fetch
  export CARGO_TARGET_DIR=$folder/target-rmcp
  step rmcp build cargo build
  step rmcp test cargo test
  if command -v npx >/dev/null; then
    inspector=(npx --yes @modelcontextprotocol/inspector@2.12.0 --cli)
    "${inspector[@]}" --help >/dev/null 2>&1 || true
    step rmcp 'call (MCP Inspector)' "${inspector[@]}" "$CARGO_TARGET_DIR/debug/calculator" \
      --method tools/call --tool-name add --tool-arg a=1 --tool-arg b=2
    expect '"3"'
  fi
  lines rmcp "$here/rmcp/Cargo.toml" "$here/rmcp/src/main.rs"
}

run_fastmcp() {
  python=${PYTHON:-python3}
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/fastmcp/requirements.txt"
  PATH=$folder/venv/bin:$PATH
  cp -r "$here/fastmcp" "$folder/fastmcp"
  cd "$folder/fastmcp"
  # The first run compiles the modules.
  python -m pytest --quiet >"$folder/log" 2>&1 || { cat "$folder/log" >&2; return 1; }
  step FastMCP test python -m pytest --quiet
  step FastMCP call fastmcp call server.py add a=1 b=2
  expect 3
  step FastMCP 'configure a host' fastmcp install cursor server.py --workspace "$folder/home"
  lines FastMCP "$here/fastmcp/server.py" "$here/fastmcp/test_server.py" "$here/fastmcp/requirements.txt"
}

echo '| framework | step | CPU s, or lines |'
echo '|---|---|---|'
[ $# -gt 0 ] || set -- treenail rmcp fastmcp
for framework in "$@"; do
  ("run_$framework")
done
