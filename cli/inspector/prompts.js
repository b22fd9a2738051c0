// Prompts: list, arguments with completion, and messages.

import { CallPanel } from "./calls.js";
import { post, state } from "./client.js";
import { promptMessages } from "./content.js";
import { h } from "./dom.js";
import { createForm } from "./form.js";
import { jsonBlock } from "./json.js";
import { details } from "./tools.js";

/** Returns the display of a prompt. */
export function promptDetail(prompt) {
  const reference = { type: "ref/prompt", name: prompt.name };
  const form = createForm(schemaOf(prompt.arguments ?? []), { complete: completer(reference, () => form) });
  const panel = new CallPanel({
    kind: "prompt",
    target: prompt.name,
    idle: "Get the prompt to see its messages here.",
    render: (result) => [result.description && h("p", {}, result.description), ...promptMessages(result)].filter(Boolean),
    again: (args) => form.write(args),
  });
  const run = () => {
    const { value, isSendable } = form.check(true);
    if (isSendable) panel.start(value);
  };
  const element = h(
    "form",
    { novalidate: true, class: "invoke", "aria-label": `Arguments of ${prompt.name}` },
    form.element,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "button primary", title: "Ctrl+Enter" }, "Get prompt")),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  const definition = h("div", { class: "schemas" }, details("Definition", () => jsonBlock(prompt, "Definition")));
  return { element: h("div", { class: "detail-body" }, element, panel.element, definition), submit: run, dispose: () => panel.dispose() };
}

/** Returns the schema of a form for named texts. */
export function schemaOf(args) {
  return {
    type: "object",
    properties: Object.fromEntries(args.map((one) => [one.name, { type: "string", title: one.title ?? one.name, description: one.description }])),
    required: args.filter((one) => one.required).map((one) => one.name),
    additionalProperties: false,
  };
}

/** Returns a function that asks the server for completions of an argument; `undefined` if it has none. */
export function completer(ref, form) {
  if (!state.server?.capabilities?.completions) return undefined;
  return async (name, value) => {
    const others = { ...form().read().value };
    delete others[name];
    const params = { ref, argument: { name, value } };
    if (Object.keys(others).length) params.context = { arguments: others };
    const completed = await post("complete", params).catch(() => ({ values: [] }));
    return completed.values;
  };
}
