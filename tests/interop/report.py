"""Prints one JSON line per check, and one at the end. The first failure ends the program with exit code 1."""

import json
import traceback
import warnings
from contextlib import asynccontextmanager

import anyio
from mcp.shared.exceptions import MCPDeprecationWarning

DEADLINE_SECONDS = 60

_checks = 0


@asynccontextmanager
async def check(name):
    """Reports the outcome of one named check."""
    global _checks
    try:
        yield
    except BaseException as error:
        _report({"check": name, "ok": False, "error": "".join(traceback.format_exception(error))})
        raise SystemExit(1) from None
    _checks += 1
    _report({"check": name, "ok": True})


def run(main):
    """Runs a program, which must complete its checks before the deadline."""
    # Subscriptions of the legacy era are deprecated, but the checks cover them.
    warnings.simplefilter("ignore", MCPDeprecationWarning)

    async def bounded():
        with anyio.fail_after(DEADLINE_SECONDS):
            await main()

    anyio.run(bounded)
    _report({"checks": _checks})


def _report(line):
    print(json.dumps(line), flush=True)
