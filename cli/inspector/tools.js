// Tools: list, form, and call.

import { state } from "./client.js";
import { CallPanel } from "./calls.js";
import { toolResult } from "./content.js";
import { button, copyButton, h } from "./dom.js";
import { createForm } from "./form.js";
import { jsonBlock } from "./json.js";

/** Returns the display of a tool. */
export function toolDetail(tool) {
  const form = createForm(tool.inputSchema ?? { type: "object" });
  const panel = new CallPanel({
    kind: "tool",
    target: tool.name,
    idle: "Call the tool to see its result here.",
    render: (result) => toolResult(result, tool.outputSchema),
    again: (args) => form.write(args),
  });
  const call = (isForced) => {
    const { violations, value, isSendable } = form.check(true);
    anyway.hidden = violations.length === 0 || !isSendable;
    if (violations.length && !isForced) {
      (form.mode === "form" ? form.summary.querySelector("button") : form.editor.area)?.focus();
      return;
    }
    if (isSendable) panel.start(value);
  };
  const anyway = button("Call anyway", () => call(true), "");
  anyway.hidden = true;
  form.options.changed = () => {
    if (!anyway.hidden) anyway.hidden = form.read().violations.length === 0;
  };
  const submit = h("button", { type: "submit", class: "button primary", title: "Ctrl+Enter" }, "Call tool");
  const reset = button("Reset", () => {
    form.reset();
    anyway.hidden = true;
  }, "quiet");
  const copy = copyButton(() => command(tool, form.read().value ?? {}), "Copy as command");
  const element = h(
    "form",
    { novalidate: true, class: "invoke", "aria-label": `Arguments of ${tool.name}` },
    form.element,
    h("div", { class: "actions" }, submit, anyway, reset, copy),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    call(false);
  });
  return { element: h("div", { class: "detail-body" }, element, panel.element, schemas(tool)), submit: () => call(false), dispose: () => panel.dispose() };
}

function schemas(tool) {
  return h(
    "div",
    { class: "schemas" },
    details("Input schema", () => jsonBlock(tool.inputSchema ?? {}, "Input schema")),
    tool.outputSchema && details("Output schema", () => jsonBlock(tool.outputSchema, "Output schema")),
    details("Definition", () => jsonBlock(tool, "Definition")),
  );
}

/** Returns a part that is made when it is opened. */
export function details(title, make) {
  const element = h("details", { class: "raw" }, h("summary", {}, title));
  element.addEventListener("toggle", () => element.children.length === 1 && element.append(make()));
  return element;
}

const HINTS = [
  ["readOnlyHint", true, "read-only", "It changes nothing."],
  ["destructiveHint", true, "destructive", "It may delete or overwrite."],
  ["idempotentHint", true, "idempotent", "Repeating it has no further effect."],
  ["openWorldHint", true, "open world", "It reaches other systems."],
];

/** Returns the labels of the hints of a tool. */
export function hints(tool) {
  const given = tool.annotations ?? {};
  return HINTS.filter(([name, value]) => given[name] === value).map(([name, , label, title]) =>
    h("span", { class: `tag tag-${name}`, title }, label),
  );
}

/** Returns a command line for the same call. */
function command(tool, args) {
  const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  return ["treenail", "call", quote(tool.name), "--args", quote(JSON.stringify(args)), state.server?.target ?? ""].join(" ");
}
