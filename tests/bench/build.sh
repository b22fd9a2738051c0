#!/usr/bin/env bash
# Prints what it costs to build the same server of 25 lines on Treenail and on rmcp: crates, CPU seconds of a clean
# release build and of a rebuild after a change, and the size of the stripped program. It needs `cargo fetch` once.
set -euo pipefail

# A copy, so that an edit in the meantime is not part of a rebuild.
copy=$(mktemp -d)
target=$copy/target
trap 'rm -rf "$copy"' EXIT
cd "$(dirname "$0")/../.."
cp -r --parents Cargo.toml README.md src examples runtime schema macros codegen tests/bench "$copy"
cd "$copy/tests/bench"
export CARGO_PROFILE_RELEASE_DEBUG=none CARGO_INCREMENTAL=0
TIMEFORMAT='%U %S'

crates() {
    cargo tree --package "$1" --edges normal --prefix none | sed 's/ (\*)$//' | sort -u | wc -l
}

# The CPU seconds of a release build, user and system together.
build() {
    { time cargo build --release --quiet --jobs 2 --package "$1" --bin "$1" --target-dir "$target/$1" 2>/dev/null; } 2>&1 |
        awk '{ printf "%.1f", $1 + $2 }'
}

stripped_kilobytes() {
    strip -o "$target/stripped" "$target/$1/release/$1"
    echo $(($(stat --format %s "$target/stripped") / 1000))
}

echo '| server | crates | clean build, CPU s | rebuild, CPU s | stripped kB |'
echo '|---|---|---|---|---|'
for server in treenail-server rmcp-server; do
    clean=$(build "$server")
    touch "$server/src/main.rs"
    rebuild=$(build "$server")
    echo "| $server | $(crates "$server") | $clean | $rebuild | $(stripped_kilobytes "$server") |"
done
