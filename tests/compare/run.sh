#!/usr/bin/env bash
# Builds a server on rmcp for each mistake, all of which compile without a warning, runs a client with each, and prints the
# table of COMPARE.md. Fails if the output of a server differs from `expected.txt`; `UPDATE=1` rewrites that file.
#
# The errors of Treenail are read from the `.stderr` files of `tests/ui`, which `cargo test --package ui` checks.
set -euo pipefail
cd "$(dirname "$0")"

export RUST_BACKTRACE=0
warnings=$(cargo build --quiet --locked 2>&1)
[ -z "$warnings" ] || {
    echo "$warnings" >&2
    exit 1
}
programs=${CARGO_TARGET_DIR:-target}/debug

output=$(while IFS=$'\t' read -r program _; do
    # A panic is an outcome, too. The number of its thread varies.
    outcome=$("$programs/$program" 2>&1 || true)
    printf '== %s\n%s\n' "$program" "$(sed -E "/^$|^note: run with/d; s/thread 'main' \([0-9]+\)/thread 'main'/" <<<"$outcome")"
done <cases.tsv)

[ -z "${UPDATE:-}" ] || printf '%s\n' "$output" >expected.txt
diff -u expected.txt - <<<"$output" || {
    echo 'the behaviour of rmcp has changed; update COMPARE.md, and run `UPDATE=1 ./run.sh`' >&2
    exit 1
}

echo '| mistake | program | Treenail |'
echo '|---|---|---|'
while IFS=$'\t' read -r program mistake case; do
    if [ "${case#-}" = "$case" ]; then
        error=$(head -n 1 "../ui/$case.stderr")
        treenail="does not build: \"${error#*: }\" (\`$case\`)"
    else
        treenail=${case#-}
    fi
    echo "| $mistake | \`$program\` | $treenail |"
done <cases.tsv
