// Numbers of JSON with their text: JavaScript rounds integers above 2^53, and writes 1.0 as 1.

/** Whether the browser reads and writes the text of numbers. Others get the rounded number. */
const KEEPS_TEXT = typeof JSON.rawJSON === "function" && JSON.parse("1.0", (_, __, context) => context?.source) === "1.0";

/** Number whose text is not that of JavaScript. It compares and calculates as a number. */
class ExactNumber {
  #text;

  constructor(text) {
    this.#text = text;
  }

  toString() {
    return this.#text;
  }

  valueOf() {
    return Number(this.#text);
  }

  toJSON() {
    return JSON.rawJSON(this.#text);
  }
}

/** Parses JSON. `JSON.stringify` writes its numbers with the same text. */
export function parseJson(text) {
  return JSON.parse(text, KEEPS_TEXT ? revive : undefined);
}

function revive(_, value, { source }) {
  return typeof value === "number" && String(value) !== source ? new ExactNumber(source) : value;
}

/** Returns the number that a user has typed. */
export function parseNumber(text) {
  // A control of numbers accepts more than JSON, such as `.5`.
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? parseJson(text) : Number(text);
}

export const isNumber = (value) => typeof value === "number" || value instanceof ExactNumber;

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !isNumber(value);

/** Returns whether a number arrives at the server unchanged, if it is an integer. The program has integers of 64 bits. */
export function isExact(number) {
  if (!Number.isInteger(Number(number)) || Number.isSafeInteger(Number(number))) return true;
  const text = String(number);
  return KEEPS_TEXT && /^-?\d+$/.test(text) && BigInt(text) >= -(2n ** 63n) && BigInt(text) < 2n ** 64n;
}
