// Form of a schema, with a JSON editor as the alternative.

import { Unparsable } from "./controls.js";
import { announce, h, uniqueId } from "./dom.js";
import { createField } from "./fields.js";
import { isObject, parseJson } from "./numbers.js";
import { pathText, validate } from "./validate.js";

/** Creates a form for an object schema. `options` may have `complete` and `changed`. */
export function createForm(schema, options = {}) {
  const root = schema ?? {};
  const form = new SchemaForm(root, options);
  return form;
}

class SchemaForm {
  constructor(schema, options) {
    this.schema = schema;
    this.options = options;
    this.mode = "form";
    this.shown = false;
    this.fields = h("div", { class: "fields" });
    this.summary = h("div", { class: "summary", role: "alert", hidden: true });
    this.editor = this.createEditor();
    this.switcher = this.createSwitcher();
    this.element = h("div", { class: "schema-form" }, this.switcher, this.summary, this.fields, this.editor.element);
    this.build();
    this.show("form");
  }

  build(value) {
    const context = {
      root: this.schema,
      changed: () => this.changed(),
      complete: this.options.complete,
    };
    this.building = true;
    this.field = createField("arguments", { ...this.schema, title: undefined, description: undefined }, true, context);
    if (value !== undefined) this.field.write(value);
    this.building = false;
    const isEmpty = this.field.described.kind === "object" && !this.field.element.querySelector("input, select, textarea, button");
    // The outermost group needs no frame.
    const body = isEmpty ? h("p", { class: "muted" }, "No arguments.") : this.field.element.querySelector(".members") ?? this.field.element;
    this.fields.replaceChildren(body);
    this.isEmpty = isEmpty;
    this.switcher.hidden = false;
  }

  createSwitcher() {
    const tab = (mode, label) => h("button", { type: "button", class: "segment", "aria-pressed": "false", "data-mode": mode, on: { click: () => this.show(mode) } }, label);
    return h("div", { class: "segments", role: "group", "aria-label": "Way to enter the arguments" }, tab("form", "Form"), tab("json", "JSON"));
  }

  createEditor() {
    const id = uniqueId("json");
    const area = h("textarea", { id, class: "mono json-editor", rows: 8, spellcheck: "false", "aria-describedby": `${id}-error` });
    const error = h("p", { id: `${id}-error`, class: "field-error", hidden: true });
    area.addEventListener("input", () => this.changed());
    const label = h("label", { for: id, class: "field-label" }, "Arguments as JSON");
    return { area, error, element: h("div", { class: "field", hidden: true }, label, area, error) };
  }

  /** Shows the form or the JSON editor, with the same values. */
  show(mode) {
    if (mode !== this.mode) {
      const { value } = this.parse();
      if (mode === "json") {
        this.editor.area.value = JSON.stringify(withoutUnparsable(value), null, 2);
      } else if (value instanceof Unparsable) {
        this.check(true);
        announce("The JSON is invalid");
        return;
      } else {
        this.build(value);
      }
    }
    this.mode = mode;
    this.fields.hidden = mode !== "form";
    this.editor.element.hidden = mode !== "json";
    for (const segment of this.switcher.children) {
      segment.setAttribute("aria-pressed", String(segment.dataset.mode === mode));
    }
    this.check(this.shown);
  }

  parse() {
    if (this.mode === "form") return { value: this.field.read() };
    const text = this.editor.area.value.trim();
    if (text === "") return { value: {} };
    try {
      return { value: parseJson(text) };
    } catch (error) {
      return { value: new Unparsable(`expected JSON: ${error.message}`) };
    }
  }

  /** Returns the value and its violations. */
  read() {
    const { value } = this.parse();
    if (value instanceof Unparsable) return { value: undefined, violations: [{ path: [], message: value.message }], isSendable: false };
    const unparsable = [];
    const clean = withoutUnparsable(value, unparsable);
    const known = new Set(unparsable.map(({ path }) => pathText(path)));
    const others = validate(clean, this.schema, this.schema).filter(({ path }) => !known.has(pathText(path)));
    return { value: clean, violations: [...unparsable, ...others], isSendable: true };
  }

  write(value) {
    if (this.mode === "json") this.editor.area.value = JSON.stringify(value, null, 2);
    else this.build(value);
    this.clearHints();
  }

  reset() {
    this.mode = "form";
    this.build();
    this.show("form");
    this.clearHints();
  }

  clearHints() {
    this.shown = false;
    this.check(false);
  }

  changed() {
    if (this.building || !this.field) return;
    if (this.shown) this.check(true);
    this.options.changed?.();
  }

  /** Shows the hints, or removes them. Returns the violations. */
  check(isShown) {
    this.shown = isShown;
    const { violations, value, isSendable } = this.read();
    const hints = isShown ? violations : [];
    this.editor.error.textContent = this.mode === "json" ? hints.map(line).join("; ") : "";
    this.editor.error.hidden = this.editor.error.textContent === "";
    const targets = new Map();
    if (this.mode === "form") this.showAt(this.field, [], hints, targets);
    this.showSummary(this.mode === "form" ? hints : [], targets);
    return { violations, value, isSendable };
  }

  showAt(field, path, hints, targets) {
    const here = hints.filter((hint) => pathText(hint.path) === pathText(path));
    field.showError(here.map((hint) => hint.message).join("; "));
    if (here.length) targets.set(pathText(path), field);
    for (const [name, part] of field.parts) this.showAt(part, [...path, name], hints, targets);
  }

  showSummary(hints, targets) {
    this.summary.hidden = hints.length === 0;
    if (hints.length === 0) return this.summary.replaceChildren();
    const items = hints.slice(0, 12).map((hint) => {
      const field = targets.get(pathText(hint.path)) ?? targets.get(pathText(hint.path.slice(0, -1)));
      if (!field) return h("li", {}, line(hint));
      return h("li", {}, h("button", { type: "button", class: "link", on: { click: () => field.focus() } }, line(hint)));
    });
    this.summary.replaceChildren(
      h("p", {}, hints.length === 1 ? "One value does not match the schema:" : `${hints.length} values do not match the schema:`),
      h("ul", {}, items),
    );
  }
}

const line = (hint) => (hint.path.length ? `${pathText(hint.path)}: ${hint.message}` : hint.message);

/** Returns a copy without the marks of unparsable text. Collects them with their paths. */
function withoutUnparsable(value, found = [], path = []) {
  if (value instanceof Unparsable) {
    found.push({ path, message: value.message });
    return undefined;
  }
  if (Array.isArray(value)) return value.map((item, index) => withoutUnparsable(item, found, [...path, index]));
  if (isObject(value)) {
    const entries = Object.entries(value).map(([name, part]) => [name, withoutUnparsable(part, found, [...path, name])]);
    return Object.fromEntries(entries.filter(([, part]) => part !== undefined));
  }
  return value;
}
