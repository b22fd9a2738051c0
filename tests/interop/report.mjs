// One JSON line a check on stdout; the first failure ends the program with exit code 1.

const DEADLINE_MS = 60_000;

let current = 'start';

/** Runs one named check and reports it. */
export async function check(name, body) {
  current = name;
  try {
    await body();
  } catch (error) {
    fail(error);
  }
  report({ check: name, ok: true });
}

/** Fails the check under way when the whole program takes too long. */
export function startDeadline() {
  setTimeout(() => fail(new Error(`not done after ${DEADLINE_MS / 1000} s`)), DEADLINE_MS).unref();
}

function fail(error) {
  report({ check: current, ok: false, error: String(error?.stack ?? error) });
  process.exit(1);
}

function report(line) {
  console.log(JSON.stringify(line));
}
