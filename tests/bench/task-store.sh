#!/usr/bin/env bash
# Prints the tasks that `SqliteStore` creates per second on the disk of this directory, beside rows written by hand.
set -euo pipefail
cd "$(dirname "$0")"

cargo build --release --quiet --locked --package task-store
exec "${CARGO_TARGET_DIR:-target}/release/task-store" "${CARGO_TARGET_DIR:-target}"
