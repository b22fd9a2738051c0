// Prints one JSON line per check, and one at the end. The first failure ends the program with exit code 1.

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

/** Fails the current check if the whole program takes too long. */
export function startDeadline() {
  setTimeout(() => fail(new Error(`not done after ${DEADLINE_MS / 1000} s`)), DEADLINE_MS).unref();
}

/** Reports the number of checks. Without this line, the program did not finish. */
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
