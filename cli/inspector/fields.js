// Form fields made from JSON Schema. Each field has `element`, `read()`, `write(value)`, `controls` and `parts`.
//
// `read()` returns `undefined` for a value that is not sent. `parts` are the fields of its members, by name.

import { makeBoolean, makeConst, makeEnum, makeJson, makeNumber, makeString } from "./controls.js";
import { h, uniqueId } from "./dom.js";
import { makeArray, makeObject, makeUnion } from "./groups.js";
import { describe, resolve, typeName } from "./schema.js";

/** Depth at which a required recursive schema becomes a JSON editor. */
const MAX_DEPTH = 12;
/** Number of fields made for a form, also of those removed since, after which each further one is a JSON editor. */
const MAX_FIELDS = 1_000;

/** Creates the field of a schema. `context` has `root`, `changed`, and optionally `complete`. */
export function createField(name, schema, required, context, depth = 0) {
  context.fields = (context.fields ?? 0) + 1;
  const isTooMany = depth > MAX_DEPTH || context.fields > MAX_FIELDS;
  const described = isTooMany ? { kind: "any", schema: {}, nullable: false } : describe(schema, context.root);
  const outer = resolve(schema, context.root);
  const field = {
    name,
    described,
    required,
    label: described.schema.title ?? outer.title ?? name,
    hint: outer.description ?? described.schema.description,
    initial: outer.default ?? described.schema.default,
    hasDefault: "default" in outer || "default" in described.schema,
    id: uniqueId("field"),
    context,
    depth,
    parts: new Map(),
    controls: [],
  };
  const make = MAKERS[described.kind] ?? MAKERS.any;
  const control = make(field);
  const isGroup = Boolean(control.group);
  return (isGroup ? wrapGroup : wrapControl)(field, control);
}

/** Returns the ids of the description and of the message of a field. */
const describedBy = (field) => `${field.id}-hint ${field.id}-error`;

function heading(field) {
  return h("span", { class: "field-type" }, `${typeName(field.described)} · ${field.required ? "required" : "optional"}`);
}

function notes(field) {
  return [
    h("p", { class: "field-hint", id: `${field.id}-hint`, hidden: !field.hint }, field.hint ?? ""),
    h("p", { class: "field-error", id: `${field.id}-error`, hidden: true }),
  ];
}

/** Wraps a control with a label. */
function wrapControl(field, control) {
  field.controls = [control.input];
  control.input.id = field.id;
  control.input.setAttribute("aria-describedby", describedBy(field));
  if (field.required) control.input.setAttribute("aria-required", "true");
  const mode = control.ownModes ? null : modeSelect(field, control);
  const [hint, error] = notes(field);
  const label = h("label", { for: field.id, class: "field-label" }, field.label);
  field.element = h(
    "div",
    { class: `field field-${field.described.kind}` },
    h("div", { class: "field-head" }, label, heading(field), mode?.element),
    hint,
    h("div", { class: "field-control" }, control.element ?? control.input, control.extra),
    error,
  );
  control.input.addEventListener("input", () => {
    mode?.typed();
    field.context.changed();
  });
  field.read = () => (mode ? mode.read() : control.read());
  field.write = (value) => (mode ? mode.write(value) : control.write(value));
  finish(field);
  return field;
}

/** Wraps a group of fields. */
function wrapGroup(field, control) {
  const [hint, error] = notes(field);
  const legend = h("legend", {}, h("span", { class: "field-label" }, field.label), " ", heading(field));
  const mode = modeSelect(field, control);
  const body = h("div", { class: "group-body" }, control.group);
  if (mode) mode.body = body;
  field.element = h(
    "fieldset",
    { class: `group group-${field.described.kind}`, "aria-describedby": describedBy(field) },
    legend,
    mode && h("div", { class: "group-mode" }, mode.element),
    hint,
    body,
    error,
  );
  field.controls = mode ? [mode.select] : [];
  field.read = () => (mode ? mode.read() : control.read());
  field.write = (value) => (mode ? mode.write(value) : control.write(value));
  finish(field);
  return field;
}

function finish(field) {
  if (field.hasDefault) field.write(field.initial);
  else field.write(undefined);
  field.showError = (message) => {
    const error = field.element.querySelector(`#${field.id}-error`);
    error.textContent = message;
    error.hidden = message === "";
    for (const control of field.controls) {
      if (message) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  };
  field.focus = () => {
    const target = field.controls[0] ?? field.element.querySelector("input, select, textarea, button");
    target?.focus();
  };
}

/** Returns a choice between a value, null, and nothing; `null` if only a value is possible. */
function modeSelect(field, control) {
  const { nullable } = field.described;
  if (field.required && !nullable) return null;
  const options = [];
  if (!field.required) options.push(["none", "Not sent"]);
  options.push(["value", "Value"]);
  if (nullable) options.push(["null", "null"]);
  const select = h(
    "select",
    { class: "mode", "aria-label": `What to send for ${field.label}` },
    options.map(([value, label]) => h("option", { value }, label)),
  );
  const mode = {
    element: select,
    select,
    body: null,
    show() {
      if (mode.body) mode.body.hidden = select.value !== "value";
      if (select.value === "value") control.prepare?.();
      field.element?.classList.toggle("is-unset", select.value !== "value");
    },
    typed() {
      if (select.value !== "value") select.value = "value";
      if (!field.required && control.isEmpty?.()) select.value = "none";
      mode.show();
    },
    read() {
      if (select.value === "none") return undefined;
      return select.value === "null" ? null : control.read(true);
    },
    write(value) {
      const isNull = value === null && nullable;
      select.value = isNull ? "null" : value === undefined && !field.required ? "none" : "value";
      mode.show();
      if (!isNull) control.write(value);
    },
  };
  select.addEventListener("change", () => {
    mode.show();
    field.context.changed();
  });
  queueMicrotask(mode.show);
  return mode;
}

const MAKERS = {
  string: makeString,
  number: makeNumber,
  integer: makeNumber,
  boolean: makeBoolean,
  enum: makeEnum,
  const: makeConst,
  null: makeConst,
  object: makeObject,
  array: makeArray,
  union: makeUnion,
  any: makeJson,
};
