// Controls of several values: objects, lists, and choices between schemas. Each has `group`, `read` and `write`.

import { announce, button, h, iconButton } from "./dom.js";
import { createField } from "./fields.js";
import { isObject } from "./numbers.js";
import { describe, variantLabel } from "./schema.js";
import { validate } from "./validate.js";

export function makeObject(field) {
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
      const hasMembers = isObject(value);
      if (hasMembers) build();
      if (!built) return;
      for (const [name, part] of field.parts) {
        if (part.isEntry) continue;
        const isSet = hasMembers && Object.hasOwn(value, name);
        part.write(isSet ? value[name] : value === undefined && part.hasDefault ? part.initial : undefined);
      }
      const others = hasMembers ? Object.entries(value).filter(([name]) => !names.includes(name)) : [];
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

export function makeArray(field) {
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

export function makeUnion(field) {
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
