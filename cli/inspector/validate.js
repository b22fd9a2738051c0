// Hints about values that do not match their JSON Schema. The server decides: nothing is rejected here.

import { isExact, isNumber, isObject } from "./numbers.js";
import { resolve, text } from "./schema.js";

const FORMATS = {
  date: [/^\d{4}-\d\d-\d\d$/, "a date such as 2026-12-01"],
  "date-time": [/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/, "a date and time such as 2026-12-01T10:00:00Z"],
  time: [/^\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?$/, "a time such as 10:00:00Z"],
  email: [/^[^\s@]+@[^\s@]+$/, "an e-mail address"],
  uri: [/^[a-z][a-z0-9+.-]*:\S*$/i, "a URI such as file:///notes.txt"],
  uuid: [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "a UUID"],
  ipv4: [/^\d{1,3}(\.\d{1,3}){3}$/, "an IPv4 address"],
};

/** Patterns with nested repetition may take forever, so only the server applies them. */
const SLOW_PATTERN = /[*+}]\??\)[*+{]/;

/** Number of schemas that one validation resolves. Schemas beyond that accept everything. */
const MAX_STEPS = 10_000;

/** Returns the violations of a value, each with its path. */
export function validate(value, given, root, path = [], depth = 0, steps = { left: MAX_STEPS }) {
  if (depth > 40 || steps.left <= 0) return [];
  const schema = resolve(given, root, 0, steps);
  const found = [];
  const add = (message, at = path) => found.push({ path: at, message });
  const below = (part, subschema, name) => found.push(...validate(part, subschema, root, [...path, name], depth + 1, steps));

  if (schema.not && Object.keys(schema.not).length === 0) add("no value is allowed here");
  if (schema.type !== undefined && !matchesType(value, schema.type)) {
    add(`expected ${[schema.type].flat().map(article).join(" or ")}`);
    return found;
  }
  if ("const" in schema && !same(value, schema.const)) add(`expected ${text(schema.const)}`);
  if (Array.isArray(schema.enum) && !schema.enum.some((one) => same(value, one))) {
    add(`expected one of ${schema.enum.slice(0, 8).map(text).join(", ")}`);
  }
  if (isNumber(value)) checkNumber(value, schema, add);
  if (typeof value === "string") checkString(value, schema, add);
  if (Array.isArray(value)) {
    if (value.length < schema.minItems) add(`expected at least ${count(schema.minItems, "item")}`);
    if (value.length > schema.maxItems) add(`expected at most ${count(schema.maxItems, "item")}`);
    if (schema.uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length) add("the items must differ");
    value.forEach((item, index) => {
      const subschema = schema.prefixItems?.[index] ?? schema.items;
      if (subschema !== undefined) below(item, subschema, index);
    });
  } else if (isObject(value)) {
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(value, name)) add("required", [...path, name]);
    }
    for (const [name, part] of Object.entries(value)) {
      if (Object.hasOwn(schema.properties ?? {}, name)) below(part, schema.properties[name], name);
      else if (schema.additionalProperties === false && !schema.patternProperties) add("unknown property", [...path, name]);
      else if (typeof schema.additionalProperties === "object") below(part, schema.additionalProperties, name);
    }
  }
  const variants = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(variants) && variants.length) {
    const results = variants.map((variant) => validate(value, variant, root, path, depth + 1, steps));
    if (!results.some((result) => result.length === 0)) {
      const best = results.reduce((left, right) => (deepest(right) > deepest(left) ? right : left));
      if (deepest(best) > path.length) found.push(...best);
      else add("matches none of the choices");
    }
  }
  return found;
}

const deepest = (violations) => Math.max(...violations.map((violation) => violation.path.length));

function checkNumber(value, schema, add) {
  if (value < schema.minimum) add(`expected at least ${schema.minimum}`);
  if (value > schema.maximum) add(`expected at most ${schema.maximum}`);
  if (value <= schema.exclusiveMinimum) add(`expected more than ${schema.exclusiveMinimum}`);
  if (value >= schema.exclusiveMaximum) add(`expected less than ${schema.exclusiveMaximum}`);
  const steps = value / schema.multipleOf;
  if (schema.multipleOf && Math.abs(steps - Math.round(steps)) > 1e-9) add(`expected a multiple of ${schema.multipleOf}`);
  if (!isExact(value)) add("too large to be sent exactly");
}

function checkString(value, schema, add) {
  const length = [...value].length;
  if (length < schema.minLength) add(`expected at least ${count(schema.minLength, "character")}`);
  if (length > schema.maxLength) add(`expected at most ${count(schema.maxLength, "character")}`);
  if (schema.pattern && value.length < 1_000 && !SLOW_PATTERN.test(schema.pattern)) {
    let pattern = null;
    try {
      pattern = new RegExp(schema.pattern, "u");
    } catch {
      // A pattern of another dialect is for the server.
    }
    if (pattern && !pattern.test(value)) add(`expected a text that matches ${schema.pattern}`);
  }
  const [format, hint] = FORMATS[schema.format] ?? [];
  if (format && !format.test(value)) add(`expected ${hint}`);
}

function matchesType(value, type) {
  if (Array.isArray(type)) return type.some((one) => matchesType(value, one));
  switch (type) {
    case "null": return value === null;
    case "array": return Array.isArray(value);
    case "object": return isObject(value);
    case "number": return isNumber(value);
    case "integer": return isNumber(value) && Number.isInteger(Number(value));
    default: return typeof value === type;
  }
}

/** Numbers are compared by value, and large ones by their texts. */
function same(left, right) {
  if (isNumber(left) && isNumber(right) && Math.abs(left) < 2 ** 53) return Number(left) === Number(right);
  return JSON.stringify(left) === JSON.stringify(right);
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const article = (type) => (type === "null" ? "null" : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type === "boolean" ? "true or false" : type}`.replace("a true", "true"));

/** Returns a path such as `address.lines[0]`. */
export function pathText(path) {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index ? `.${part}` : part)).join("");
}
