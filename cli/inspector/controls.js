// Controls of single values: text, numbers, choices, constants, and JSON. Each has `input`, `read` and `write`.

import { button, h, uniqueId } from "./dom.js";
import { isNumber, parseJson, parseNumber } from "./numbers.js";
import { text } from "./schema.js";

/** Values that a field of unparsable text has, so that the hint names the text. */
export class Unparsable {
  constructor(message) {
    this.message = message;
  }
}

const INPUT_TYPES = { date: "date", email: "email", uri: "url" };

export function makeString(field) {
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

export function makeNumber(field) {
  const { schema, kind } = field.described;
  const step = kind === "integer" ? 1 : "any";
  const input = h("input", { type: "number", step, min: schema.minimum, max: schema.maximum, inputmode: kind === "integer" ? "numeric" : "decimal" });
  return {
    input,
    isEmpty: () => input.value === "" && !input.validity.badInput,
    read: () => {
      if (input.validity.badInput) return new Unparsable(`expected ${kind === "integer" ? "an integer" : "a number"}`);
      return input.value === "" ? undefined : parseNumber(input.value);
    },
    write: (value) => {
      input.value = isNumber(value) ? String(value) : "";
    },
  };
}

export function makeBoolean(field) {
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

export function makeEnum(field) {
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

export function makeConst(field) {
  const { schema, kind } = field.described;
  const value = kind === "null" ? null : schema.const;
  const input = h("input", { type: "text", readonly: true, value: text(value) });
  return { input, read: () => value, write: () => {} };
}

export function makeJson(field) {
  const input = h("textarea", { rows: 2, class: "mono", spellcheck: "false", placeholder: "JSON" });
  return {
    input,
    isEmpty: () => input.value.trim() === "",
    read: () => {
      if (input.value.trim() === "") return undefined;
      try {
        return parseJson(input.value);
      } catch (error) {
        return new Unparsable(`expected JSON: ${error.message}`);
      }
    },
    write: (value) => {
      input.value = value === undefined ? "" : JSON.stringify(value, null, 2);
    },
  };
}
