// One JSON line a check on stdout, and one at the end; the first failure ends the program with exit code 1.

const DEADLINE_MS = 60_000;

let current = 'start';
let checks = 0;

/** Runs one named check and reports it. */
export async function check(name, body) {
  current = name;
  try {
    await body();
  } catch (error) {
    fail(error);
  }
  checks += 1;
  report({ check: name, ok: true });
}

/** Fails the check under way when the whole program takes too long. */
export function startDeadline() {
  setTimeout(() => fail(new Error(`not done after ${DEADLINE_MS / 1000} s`)), DEADLINE_MS).unref();
}

/** Reports that all checks have been made; without it, the program has not come to its end. */
export function finish() {
  report({ checks });
}

function fail(error) {
  report({ check: current, ok: false, error: String(error?.stack ?? error) });
  process.exit(1);
}

function report(line) {
  console.log(JSON.stringify(line));
}
