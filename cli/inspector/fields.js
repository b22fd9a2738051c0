// Form fields made from JSON Schema. Each field has `element`, `read()`, `write(value)`, `controls` and `parts`.
//
// `read()` returns `undefined` for a value that is not sent. `parts` are the fields of its members, by name.

import { announce, button, h, iconButton, uniqueId } from "./dom.js";
import { describe, resolve, text, typeName, variantLabel } from "./schema.js";
import { validate } from "./validate.js";

/** Depth at which a required recursive schema becomes a JSON editor. */
const MAX_DEPTH = 12;

/** Values that a field of unparsable text has, so that the hint names the text. */
export class Unparsable {
  constructor(message) {
    this.message = message;
  }
}

/** Creates the field of a schema. `context` has `root`, `changed`, and optionally `complete`. */
export function createField(name, schema, required, context, depth = 0) {
  const described = depth > MAX_DEPTH ? { kind: "any", schema: {}, nullable: false } : describe(schema, context.root);
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

const INPUT_TYPES = { date: "date", email: "email", uri: "url" };

function makeString(field) {
  const { schema } = field.described;
  const isShort = schema.maxLength <= 200 || schema.format || schema.pattern || field.context.complete;
  const input = isShort
    ? h("input", { type: INPUT_TYPES[schema.format] ?? "text", autocomplete: "off", spellcheck: "false" })
    : h("textarea", { rows: 1, spellcheck: "false" });
  if (schema.format === "date-time") input.placeholder = "2026-12-01T10:00:00Z";
  if (schema.format === "time") input.placeholder = "10:00:00Z";
  if (schema.format === "email") input.placeholder = "name@example.org";
  const examples = Array.isArray(schema.examples) ? schema.examples.filter((one) => typeof one === "string") : [];
  if (examples.length && !input.placeholder) input.placeholder = examples[0];
  const fill = (label, make) => button(label, () => {
    input.value = make();
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, "quiet small");
  let extra = null;
  if (schema.format === "uuid") extra = fill("Generate", () => crypto.randomUUID());
  if (schema.format === "date-time") extra = fill("Now", () => new Date().toISOString().replace(/\.\d+Z/, "Z"));
  if (schema.contentEncoding === "base64") extra = filePicker(field, input);
  if (field.context.complete) attachCompletion(field, input);
  return {
    input,
    extra,
    isEmpty: () => input.value === "",
    read: (chosen) => (input.value === "" && !chosen ? undefined : input.value),
    write: (value) => {
      input.value = value === undefined ? "" : text(value);
    },
  };
}

function filePicker(field, input) {
  const picker = h("input", { type: "file", "aria-label": `File for ${field.label}` });
  picker.addEventListener("change", async () => {
    const bytes = new Uint8Array(await picker.files[0].arrayBuffer());
    input.value = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return picker;
}

/** Offers completions of the server while the user types. */
function attachCompletion(field, input) {
  const list = h("datalist", { id: uniqueId("completions") });
  input.setAttribute("list", list.id);
  let timer;
  let latest = 0;
  const complete = async () => {
    latest += 1;
    const mine = latest;
    const values = await field.context.complete(field.name, input.value);
    if (mine === latest) list.replaceChildren(...values.map((value) => h("option", { value })));
  };
  input.addEventListener("focus", complete);
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(complete, 150);
  });
  queueMicrotask(() => input.after(list));
}

function makeNumber(field) {
  const { schema, kind } = field.described;
  const step = kind === "integer" ? 1 : "any";
  const input = h("input", { type: "number", step, min: schema.minimum, max: schema.maximum, inputmode: kind === "integer" ? "numeric" : "decimal" });
  return {
    input,
    isEmpty: () => input.value === "" && !input.validity.badInput,
    read: () => {
      if (input.validity.badInput) return new Unparsable(`expected ${kind === "integer" ? "an integer" : "a number"}`);
      return input.value === "" ? undefined : Number(input.value);
    },
    write: (value) => {
      input.value = typeof value === "number" ? value : "";
    },
  };
}

function makeBoolean(field) {
  if (!field.required || field.described.nullable) {
    const options = [{ value: true, label: "true" }, { value: false, label: "false" }];
    return choiceSelect(field, options);
  }
  const input = h("input", { type: "checkbox", class: "switch", role: "switch" });
  return {
    input,
    read: () => input.checked,
    write: (value) => {
      input.checked = value === true;
    },
  };
}

function makeEnum(field) {
  return choiceSelect(field, field.described.options);
}

/** Returns a select element for values of any type. */
function choiceSelect(field, options) {
  const all = options.map((option) => [option.value, option.label]);
  if (field.described.nullable) all.push([null, "null"]);
  const first = field.required ? "Choose…" : "Not sent";
  const input = h(
    "select",
    {},
    h("option", { value: "" }, first),
    all.map(([, label], index) => h("option", { value: index }, label)),
  );
  return {
    input,
    ownModes: true,
    read: () => (input.value === "" ? undefined : all[Number(input.value)][0]),
    write: (value) => {
      const index = all.findIndex(([one]) => JSON.stringify(one) === JSON.stringify(value));
      input.value = index < 0 ? "" : String(index);
    },
  };
}

function makeConst(field) {
  const { schema, kind } = field.described;
  const value = kind === "null" ? null : schema.const;
  const input = h("input", { type: "text", readonly: true, value: text(value) });
  return { input, read: () => value, write: () => {} };
}

function makeJson(field) {
  const input = h("textarea", { rows: 2, class: "mono", spellcheck: "false", placeholder: "JSON" });
  return {
    input,
    isEmpty: () => input.value.trim() === "",
    read: () => {
      if (input.value.trim() === "") return undefined;
      try {
        return JSON.parse(input.value);
      } catch (error) {
        return new Unparsable(`expected JSON: ${error.message}`);
      }
    },
    write: (value) => {
      input.value = value === undefined ? "" : JSON.stringify(value, null, 2);
    },
  };
}

function makeObject(field) {
  const { schema } = field.described;
  const names = Object.keys(schema.properties ?? {});
  const extra = schema.additionalProperties;
  const isOpen = extra !== false && (typeof extra === "object" || extra === true || names.length === 0);
  const group = h("div", { class: "members" });
  let entries = isOpen ? makeEntries(field, typeof extra === "object" ? extra : {}) : null;
  let built = false;
  const build = () => {
    if (built) return;
    built = true;
    for (const name of names) {
      const required = schema.required?.includes(name) ?? false;
      const part = createField(name, schema.properties[name], required, field.context, field.depth + 1);
      field.parts.set(name, part);
      group.append(part.element);
    }
    if (entries) group.append(entries.element);
    if (names.length === 0 && !entries) group.append(h("p", { class: "muted" }, "No members."));
  };
  // Members of an optional object are made when it is needed: a schema may contain itself.
  if (field.required) build();
  return {
    group,
    prepare: build,
    read: () => {
      build();
      const value = {};
      for (const [name, part] of field.parts) {
        if (part.isEntry) continue;
        const read = part.read();
        if (read !== undefined) value[name] = read;
      }
      return entries ? { ...value, ...entries.read() } : value;
    },
    write: (value) => {
      const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
      if (isObject) build();
      if (!built) return;
      for (const [name, part] of field.parts) {
        if (part.isEntry) continue;
        const isSet = isObject && Object.hasOwn(value, name);
        part.write(isSet ? value[name] : value === undefined && part.hasDefault ? part.initial : undefined);
      }
      const others = isObject ? Object.entries(value).filter(([name]) => !names.includes(name)) : [];
      entries?.write(others);
    },
  };
}

/** Returns an editor for properties whose names the user chooses. */
function makeEntries(field, schema) {
  const rows = [];
  const list = h("div", { class: "items" });
  const add = (name, value) => {
    const part = createField("value", schema, true, field.context, field.depth + 1);
    part.isEntry = true;
    const key = h("input", { type: "text", class: "mono", "aria-label": "Name of the property", placeholder: "name", value: name });
    const row = { key, part };
    const remove = iconButton("close", "Remove the property", () => {
      rows.splice(rows.indexOf(row), 1);
      row.element.remove();
      field.context.changed();
      more.focus();
    });
    row.element = h("div", { class: "item entry" }, h("div", { class: "item-head" }, key, remove), part.element);
    key.addEventListener("input", () => field.context.changed());
    if (value !== undefined) part.write(value);
    rows.push(row);
    list.append(row.element);
    return row;
  };
  const more = button("Add a property", () => add("").key.focus(), "quiet small", "add");
  return {
    element: h("div", {}, list, more),
    read: () => {
      const named = rows.filter((row) => row.key.value !== "").map((row) => [row.key.value, row.part.read()]);
      field.parts.forEach((part, name) => part.isEntry && field.parts.delete(name));
      rows.forEach((row) => row.key.value && !field.parts.has(row.key.value) && field.parts.set(row.key.value, row.part));
      return Object.fromEntries(named.filter(([, value]) => value !== undefined));
    },
    write: (entries) => {
      rows.length = 0;
      list.replaceChildren();
      for (const [name, value] of entries) add(name, value);
    },
  };
}

function makeArray(field) {
  const { schema } = field.described;
  const items = schema.items ?? {};
  const choices = describe(items, field.context.root);
  if (choices.kind === "enum" && !choices.nullable && choices.options.length <= 12) return makeChecklist(field, choices.options);
  const list = h("div", { class: "items" });
  let rows = [];
  const renumber = () => {
    field.parts.clear();
    rows.forEach((row, index) => {
      row.title.textContent = `Item ${index + 1}`;
      row.up.disabled = index === 0;
      row.down.disabled = index === rows.length - 1;
      field.parts.set(index, row.part);
    });
    field.context.changed();
  };
  const move = (row, by) => {
    const index = rows.indexOf(row);
    rows.splice(index, 1);
    rows.splice(index + by, 0, row);
    list.replaceChildren(...rows.map((one) => one.element));
    renumber();
    (by < 0 ? [row.up, row.down] : [row.down, row.up]).find((one) => !one.disabled)?.focus();
    announce(`Moved to position ${index + by + 1}`);
  };
  const add = (value) => {
    const part = createField("value", items, true, field.context, field.depth + 1);
    const row = { part };
    row.title = h("span", { class: "item-title" });
    row.up = iconButton("up", "Move up", () => move(row, -1));
    row.down = iconButton("down", "Move down", () => move(row, 1));
    row.remove = iconButton("close", "Remove", () => {
      const index = rows.indexOf(row);
      rows.splice(index, 1);
      row.element.remove();
      renumber();
      (rows[index] ?? rows[index - 1])?.remove.focus();
      if (rows.length === 0) more.focus();
      announce("Item removed");
    });
    row.element = h("div", { class: "item" }, h("div", { class: "item-head" }, row.title, row.up, row.down, row.remove), part.element);
    if (value !== undefined) part.write(value);
    rows.push(row);
    list.append(row.element);
    return row;
  };
  const more = button("Add an item", () => {
    const row = add(undefined);
    renumber();
    row.part.focus();
  }, "quiet small", "add");
  return {
    group: h("div", {}, list, more),
    read: () => rows.map((row) => row.part.read()).map((value) => (value === undefined ? null : value)),
    write: (value) => {
      rows = [];
      list.replaceChildren();
      const wanted = Array.isArray(value) ? value : Array.from({ length: Math.min(schema.minItems ?? 0, 20) });
      for (const item of wanted) add(item);
      renumber();
    },
  };
}

/** Returns check boxes for a list of choices. */
function makeChecklist(field, options) {
  const boxes = options.map((option) => {
    const box = h("input", { type: "checkbox", on: { input: () => field.context.changed() } });
    return { box, value: option.value, element: h("label", { class: "check" }, box, option.label) };
  });
  return {
    group: h("div", { class: "checks" }, boxes.map(({ element }) => element)),
    read: () => boxes.filter(({ box }) => box.checked).map(({ value }) => value),
    write: (value) => {
      const chosen = new Set((Array.isArray(value) ? value : []).map((one) => JSON.stringify(one)));
      for (const { box, value: one } of boxes) box.checked = chosen.has(JSON.stringify(one));
    },
  };
}

function makeUnion(field) {
  const { variants } = field.described;
  const labels = variants.map((variant, index) => variantLabel(variant, field.context.root, index));
  const select = h(
    "select",
    { "aria-label": `Kind of ${field.label}` },
    labels.map((label, index) => h("option", { value: index }, label)),
  );
  const body = h("div", { class: "members" });
  let part = null;
  const build = (value) => {
    const variant = variants[Number(select.value)];
    part = createField("value", { ...variant, title: labels[Number(select.value)], description: variant.description }, true, field.context, field.depth + 1);
    part.element.classList.add("variant");
    if (value !== undefined) part.write(value);
    field.parts = part.parts;
    body.replaceChildren(part.element);
  };
  select.addEventListener("change", () => {
    build(undefined);
    field.context.changed();
  });
  return {
    group: h("div", {}, h("div", { class: "field-control" }, select), body),
    prepare: () => part ?? build(undefined),
    read: () => {
      if (!part) build(undefined);
      field.parts = part.parts;
      return part.read();
    },
    write: (value) => {
      if (value === undefined) {
        if (field.required) build(undefined);
        return;
      }
      const match = variants.findIndex((variant) => validate(value, variant, field.context.root).length === 0);
      select.value = String(Math.max(match, 0));
      build(value);
    },
  };
}
