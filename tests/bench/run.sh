#!/usr/bin/env bash
# Builds each program on its own, so that none gets the features that another one asks for, and runs `bench` with the
# arguments given here.
set -euo pipefail
cd "$(dirname "$0")"

for package in bench floor-server treenail-server treenail-dynamic treenail-otel-server treenail-many rmcp-server hyper-http \
    treenail-http rmcp-http treenail-tasks-server floor-client treenail-client rmcp-client; do
    cargo build --release --quiet --package "$package"
done
exec "${CARGO_TARGET_DIR:-target}/release/bench" "$@"
