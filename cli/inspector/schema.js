// Interpretation of JSON Schema for forms: references, choices, and null.

import { isObject } from "./numbers.js";

/** Maximum depth of `allOf` and of choices with a single variant. A schema may refer to itself. */
const MAX_DEPTH = 16;

/** Number of parts of `allOf` that belong to one schema. Others are ignored. */
const MAX_PARTS = 256;

/** Returns a schema without `$ref` and `allOf`. References to other documents are not followed. */
export function resolve(schema, root, depth = 0, steps = { left: MAX_PARTS }) {
  if (schema === true || typeof schema !== "object" && schema !== false || schema === null || depth > MAX_DEPTH || steps.left-- <= 0) return {};
  if (schema === false) return { not: {} };
  let current = schema;
  const seen = new Set();
  while (typeof current.$ref === "string") {
    const { $ref, ...rest } = current;
    const target = seen.has($ref) ? undefined : find(root, $ref);
    if (!target || typeof target !== "object") return { ...rest, unresolved: $ref };
    seen.add($ref);
    current = { ...target, ...rest };
  }
  current = withoutMalformed(current);
  if (!current.allOf) return current;
  const { allOf, ...rest } = current;
  return allOf.map((part) => resolve(part, root, depth + 1, steps)).reduce(merge, rest);
}

/** The form of keywords that other drafts, or mistakes, give another one: in draft 3, `required` is a boolean. */
const FORMS = { allOf: Array.isArray, anyOf: Array.isArray, enum: Array.isArray, oneOf: Array.isArray, prefixItems: Array.isArray, properties: isObject, required: Array.isArray };

/** Returns a schema without keywords of another form. */
function withoutMalformed(schema) {
  const isMalformed = ([name, value]) => Object.hasOwn(FORMS, name) && !FORMS[name](value);
  const entries = Object.entries(schema);
  return entries.some(isMalformed) ? Object.fromEntries(entries.filter((entry) => !isMalformed(entry))) : schema;
}

function merge(left, right) {
  const merged = { ...right, ...left };
  if (left.properties || right.properties) merged.properties = { ...right.properties, ...left.properties };
  if (left.required || right.required) merged.required = [...new Set([...(left.required ?? []), ...(right.required ?? [])])];
  return merged;
}

function find(root, ref) {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let names;
  try {
    names = decodeURIComponent(ref.slice(2)).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    // The percent encoding is malformed.
    return undefined;
  }
  return names.reduce((at, name) => (at && Object.hasOwn(at, name) ? at[name] : undefined), root);
}

const isNull = (schema) => schema.type === "null" || schema.const === null;

/** Returns the kind of a schema, without `null` as a choice: `nullable` reports it. */
export function describe(given, root, depth = 0) {
  let schema = resolve(given, root);
  let nullable = false;
  const types = [schema.type ?? []].flat();
  if (types.length > 1 && types.includes("null")) {
    nullable = true;
    const others = types.filter((type) => type !== "null");
    schema = { ...schema, type: others.length === 1 ? others[0] : others };
  }
  const key = ["oneOf", "anyOf"].find((name) => Array.isArray(schema[name]) && schema[name].length > 0);
  if (key) {
    const { [key]: all, ...rest } = schema;
    const variants = all.map((variant) => resolve(variant, root));
    const others = variants.filter((variant) => !isNull(variant));
    nullable ||= others.length < variants.length;
    if (others.length === 1 && depth < MAX_DEPTH) {
      const inner = describe(merge(rest, others[0]), root, depth + 1);
      return { ...inner, nullable: nullable || inner.nullable };
    }
    if (others.every((variant) => "const" in variant)) {
      const options = others.map((variant) => ({ value: variant.const, label: variant.title ?? text(variant.const), hint: variant.description }));
      return { kind: "enum", schema: rest, options, nullable };
    }
    // A list of alternatives for `required` is no choice of a form.
    if (!(rest.properties && others.every((variant) => !variant.properties && !variant.type))) {
      return { kind: "union", schema: rest, variants: others.map((variant) => merge(variant, shared(rest))), nullable };
    }
  }
  if (Array.isArray(schema.enum)) {
    const values = schema.enum.filter((value) => value !== null);
    nullable ||= values.length < schema.enum.length;
    const options = values.map((value, index) => ({ value, label: schema.enumNames?.[index] ?? text(value) }));
    return { kind: "enum", schema, options, nullable };
  }
  if ("const" in schema) return { kind: "const", schema, nullable };
  if (Array.isArray(schema.type)) {
    return { kind: "union", schema, variants: schema.type.map((type) => ({ ...schema, type, title: type })), nullable };
  }
  return { kind: kindOf(schema), schema, nullable };
}

/** Returns the properties that all variants have in common. */
function shared(rest) {
  const { properties, required, type } = rest;
  return { ...(properties && { properties }), ...(required && { required }), ...(properties && { type: type ?? "object" }) };
}

function kindOf(schema) {
  if (schema.type === "object" || (!schema.type && schema.properties)) return "object";
  if (schema.type === "array" || (!schema.type && schema.items)) return schema.prefixItems ? "any" : "array";
  return ["string", "number", "integer", "boolean", "null"].includes(schema.type) ? schema.type : "any";
}

export function text(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a short name of the type of a schema, such as `integer 1–12`. */
export function typeName({ kind, schema, options, nullable }) {
  const names = { enum: "choice", union: "one of several", any: "any JSON", array: "list", object: "object" };
  let name = schema.format ?? names[kind] ?? kind;
  if (kind === "string" && schema.contentEncoding === "base64") name = "base64";
  const range = (low, high, unit) => {
    if (low === undefined && high === undefined) return "";
    if (String(low) === String(high)) return ` ${low}${unit}`;
    if (low !== undefined && high !== undefined) return ` ${low}–${high}${unit}`;
    return low !== undefined ? ` ≥ ${low}${unit}` : ` ≤ ${high}${unit}`;
  };
  if (kind === "integer" || kind === "number") name += range(schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum, "");
  if (kind === "string") name += range(schema.minLength, schema.maxLength, " characters");
  if (kind === "array") name += range(schema.minItems, schema.maxItems, " items");
  if (kind === "enum" && options) name = `one of ${options.length}`;
  return nullable ? `${name} or null` : name;
}

/** Returns a label for a variant of a choice. */
export function variantLabel(variant, root, index) {
  if (variant.title) return variant.title;
  const fixed = Object.entries(variant.properties ?? {}).find(([, property]) => "const" in resolve(property, root));
  if (fixed) return text(resolve(fixed[1], root).const);
  const described = describe(variant, root);
  if (described.kind === "object") {
    const names = Object.keys(described.schema.properties ?? {});
    if (names.length) return names.slice(0, 3).join(", ");
  }
  return described.kind === "any" ? `Variant ${index + 1}` : typeName(described);
}
