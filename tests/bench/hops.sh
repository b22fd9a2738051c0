#!/usr/bin/env bash
# Builds the proxies and the server behind them, and prints the CPU time of a call through each proxy.
set -euo pipefail
cd "$(dirname "$0")"

for package in floor-server proxy-hop; do
    cargo build --release --quiet --package "$package"
done
programs=${CARGO_TARGET_DIR:-target}/release
exec "$programs/proxy-hop" "$programs/floor-server"
