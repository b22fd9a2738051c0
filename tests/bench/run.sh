#!/usr/bin/env bash
# Builds the programs that a command of `bench` runs, each on its own, so that none gets the features that another one asks for,
# and runs `bench` with the arguments given here. PACKAGES names the programs to build instead; rows of others are left out if they
# are not built.
set -euo pipefail
cd "$(dirname "$0")"

case ${1:-} in
instructions | syscalls | calls) programs='floor-server treenail-server rmcp-server' ;;
variants) programs='treenail-server treenail-dynamic treenail-otel-server' ;;
tasks) programs='treenail-tasks-server' ;;
lists) programs='floor-server treenail-many rmcp-server' ;;
http | http-instructions) programs='hyper-http treenail-http rmcp-http' ;;
http-latency | http-threads) programs='hyper-http axum-http treenail-http treenail-axum rmcp-http' ;;
http-sessions | http-session-instructions) programs='bench-io treenail-http treenail-axum rmcp-http' ;;
http-idle | http-large) programs='treenail-http rmcp-http' ;;
clients | client-instructions) programs='treenail-server floor-client treenail-client rmcp-client' ;;
*) programs='' ;;
esac
for package in bench ${PACKAGES-$programs}; do
    cargo build --release --quiet --locked --package "$package"
done
exec "${CARGO_TARGET_DIR:-target}/release/bench" "$@"
