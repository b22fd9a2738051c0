#!/usr/bin/env bash
# Prints what 100 tools add to the build of a user's crate, on Treenail and on rmcp: CPU seconds of `cargo check`,
# `cargo build` and `cargo build --release`, with all dependencies built before. It needs `cargo fetch` once.
#
#   ./build-tools.sh [rounds]      5 unless told otherwise; the programs take turns in each round
#
# The servers are written to a folder of their own, with one tool and with 200 more of the same kind: an asynchronous
# method with three arguments, one of them optional, that returns text (`text`) or a struct (`value`), as the README of
# each writes it.
set -euo pipefail

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=${BUILD_TOOLS_TARGET:-$work/target}
counts=(0 200)
frameworks=(treenail rmcp)
shapes=(text value)

manifest() { # framework
    case $1 in
    treenail) printf 'treenail = { path = "%s" }\ntokio = { version = "1", features = ["macros", "rt"] }\n' "$root" ;;
    rmcp)
        sed -n 's/^\(rmcp = .*\)/\1/p' "$here/rmcp-server/Cargo.toml"
        printf 'anyhow = "1"\nschemars = "1"\nserde = { version = "1", features = ["derive"] }\n'
        printf 'tokio = { version = "1", features = ["macros", "rt", "rt-multi-thread"] }\n'
        ;;
    esac
}

treenail() { # shape count
    printf 'use treenail::prelude::*;\n\npub struct Tools;\n\n'
    for i in $(seq "$2"); do
        [ "$1" = text ] || printf '#[mcp_type(output)]\nstruct Found%d {\n    path: String,\n    lines: Vec<u64>,\n}\n\n' "$i"
    done
    printf '/// Searches.\n#[mcp_tool]\nimpl Tools {\n    /// The version.\n    #[tool]\n    fn version(&self) -> String {\n        "1".to_owned()\n    }\n'
    for i in $(seq "$2"); do
        printf '\n    /// Searches collection %d.\n    #[tool]\n    async fn search_%d(\n        &self,\n' "$i" "$i"
        printf '        /// What to search for\n        pattern: String,\n        /// The most lines\n        limit: u32,\n'
        printf '        /// Whether case matters\n        case: Option<bool>,\n    ) -> '
        case $1 in
        text) printf 'String {\n        format!("{pattern} {limit} {case:?}")\n    }\n' ;;
        value) printf 'Found%d {\n        Found%d { path: pattern, lines: vec![u64::from(limit), u64::from(case.is_some())] }\n    }\n' "$i" "$i" ;;
        esac
    done
    printf '}\n\n#[tokio::main(flavor = "current_thread")]\nasync fn main() -> treenail::Result<()> {\n'
    printf '    treenail::server!().mount(Tools).build()?.serve_stdio().await\n}\n'
}

rmcp() { # shape count
    [ "$1" = text ] || [ "$2" = 0 ] || printf 'use rmcp::Json;\n'
    [ "$2" = 0 ] || printf 'use rmcp::handler::server::wrapper::Parameters;\n'
    printf 'use rmcp::transport::stdio;\nuse rmcp::{ServiceExt, tool, tool_router};\n'
    [ "$2" = 0 ] || printf 'use rmcp::schemars;\n'
    printf '\n#[derive(Clone)]\npub struct Tools;\n\n'
    for i in $(seq "$2"); do
        printf '#[derive(serde::Deserialize, schemars::JsonSchema)]\nstruct Search%d {\n    /// What to search for\n    pattern: String,\n' "$i"
        printf '    /// The most lines\n    limit: u32,\n    /// Whether case matters\n    case: Option<bool>,\n}\n\n'
        [ "$1" = text ] || printf '#[derive(serde::Serialize, schemars::JsonSchema)]\nstruct Found%d {\n    path: String,\n    lines: Vec<u64>,\n}\n\n' "$i"
    done
    printf '#[tool_router(server_handler)]\nimpl Tools {\n    #[tool(description = "The version.")]\n    fn version(&self) -> String {\n        "1".to_owned()\n    }\n'
    for i in $(seq "$2"); do
        printf '\n    #[tool(description = "Searches collection %d.")]\n    async fn search_%d(\n        &self,\n' "$i" "$i"
        printf '        Parameters(Search%d { pattern, limit, case }): Parameters<Search%d>,\n    ) -> ' "$i" "$i"
        case $1 in
        text) printf 'String {\n        format!("{pattern} {limit} {case:?}")\n    }\n' ;;
        value) printf 'Json<Found%d> {\n        Json(Found%d { path: pattern, lines: vec![u64::from(limit), u64::from(case.is_some())] })\n    }\n' "$i" "$i" ;;
        esac
    done
    printf '}\n\n#[tokio::main]\nasync fn main() -> anyhow::Result<()> {\n'
    printf '    let service = Tools.serve(stdio()).await?;\n    service.waiting().await?;\n    Ok(())\n}\n'
}

members=()
for framework in "${frameworks[@]}"; do
    for shape in "${shapes[@]}"; do
        for count in "${counts[@]}"; do
            name=$framework-$shape-$count
            members+=("$name")
            mkdir -p "$work/$name/src"
            printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n' "$name" >"$work/$name/Cargo.toml"
            manifest "$framework" >>"$work/$name/Cargo.toml"
            "$framework" "$shape" "$count" >"$work/$name/src/main.rs"
        done
    done
done
printf '[workspace]\nmembers = ["*-*"]\nresolver = "3"\n' >"$work/Cargo.toml"
cp "$here/Cargo.lock" "$work"
cd "$work"

# The CPU seconds of one cargo command, with all that it starts. Warnings are shown if it fails.
seconds() {
    local TIMEFORMAT='%U %S'
    { time cargo "$@" --quiet --offline --jobs 1 >/dev/null 2>"$work/warnings"; } 2>&1 |
        awk '{ printf "%.2f\n", $1 + $2 }' || { cat "$work/warnings" >&2; return 1; }
}

median() {
    sort -n "$1" | awk '{ all[NR] = $1 } END { printf "%.2f", (all[int((NR + 1) / 2)] + all[int(NR / 2) + 1]) / 2 }'
}

commands=('check' 'build' 'build --release')
for round in $(seq "$rounds"); do
    for command in "${commands[@]}"; do
        for member in "${members[@]}"; do
            # So that dependencies are not counted, not even after an edit of Treenail.
            # shellcheck disable=SC2086 # a command and its option
            cargo $command --quiet --offline --package "${member%%-*}-text-0"
            touch "$member/src/main.rs"
            # shellcheck disable=SC2086 # as above
            seconds $command --package "$member" >>"$work/$member.${command// /}"
        done
    done
    echo "round $round of $rounds" >&2
done

echo '| command | output | framework | 1 tool, CPU s | 201 tools | added per 100 tools | rmcp ÷ this |'
echo '|---|---|---|---|---|---|---|'
for command in "${commands[@]}"; do
    for shape in "${shapes[@]}"; do
        for framework in "${frameworks[@]}"; do
            read -r none many < <(for count in "${counts[@]}"; do
                echo -n "$(median "$work/$framework-$shape-$count.${command// /}") "
            done; echo)
            rival=$(for count in "${counts[@]}"; do
                echo -n "$(median "$work/rmcp-$shape-$count.${command// /}") "
            done)
            awk -v a="$none" -v b="$many" -v rival="$rival" \
                -v row="| $command | $shape | ${framework/treenail/Treenail} |" \
                'BEGIN { split(rival, r, " "); d = (b - a) / 2; printf "%s %.2f | %.2f | %.2f | %.2f |\n", row, a, b, d, (r[2] - r[1]) / 2 / d }'
        done
    done
done
