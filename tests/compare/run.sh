#!/usr/bin/env bash
# Builds a server on rmcp for each mistake, all of which build without a warning, asks each what a client asks, and prints
# the table of COMPARE.md. Fails if one of them now says something else than `expected.txt`; `UPDATE=1` writes that anew.
#
# What Treenail says is read from the `.stderr` files of `tests/ui`, which `cargo test --test ui` checks.
set -euo pipefail
cd "$(dirname "$0")"

export RUST_BACKTRACE=0
said=$(cargo build --quiet --locked 2>&1)
[ -z "$said" ] || {
    echo "$said" >&2
    exit 1
}
programs=${CARGO_TARGET_DIR:-target}/debug

seen=$(while IFS=$'\t' read -r program _; do
    # A panic is an outcome too. Its thread has a number that differs.
    outcome=$("$programs/$program" 2>&1 || true)
    printf '== %s\n%s\n' "$program" "$(sed -E "/^$|^note: run with/d; s/thread 'main' \([0-9]+\)/thread 'main'/" <<<"$outcome")"
done <cases.tsv)

[ -z "${UPDATE:-}" ] || printf '%s\n' "$seen" >expected.txt
diff -u expected.txt - <<<"$seen" || {
    echo 'rmcp does something else now; look at it, change COMPARE.md, and write `UPDATE=1 ./run.sh`' >&2
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
