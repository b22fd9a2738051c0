// Resources and templates: reading, subscription, and changes.

import { CallPanel } from "./calls.js";
import { markRead, on, post, state } from "./client.js";
import { resourceContent } from "./content.js";
import { announce, button, formatBytes, formatTime, h } from "./dom.js";
import { createForm } from "./form.js";
import { jsonBlock } from "./json.js";
import { completer, schemaOf } from "./prompts.js";
import { details } from "./tools.js";

const showContents = (result) => (result.contents ?? []).map((content) => h("section", { class: "part" }, resourceContent(content)));

/** Returns the display of a resource. */
export function resourceDetail(resource) {
  const { uri } = resource;
  const panel = new CallPanel({ kind: "resource", target: uri, idle: "Read the resource to see its contents here.", render: showContents });
  const read = () => {
    markRead(uri);
    panel.start({});
  };
  const submit = h("button", { type: "submit", class: "button primary", title: "Ctrl+Enter" }, "Read");
  const changed = h("p", { class: "changed", role: "status" });
  const subscribe = subscribeButton(uri);
  const refresh = () => {
    const time = state.updates.get(uri);
    changed.textContent = time ? `Changed at ${formatTime(time, false)}; read it again.` : "";
    subscribe?.refresh();
  };
  const shown = new AbortController();
  on("updates", refresh, shown.signal);
  on("connection", refresh, shown.signal);
  refresh();
  const element = h("form", { class: "invoke" }, h("div", { class: "actions" }, submit, subscribe?.element, changed));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    read();
  });
  const facts = [resource.mimeType, resource.size !== undefined && formatBytes(resource.size)].filter(Boolean).join(" · ");
  const definition = h("div", { class: "schemas" }, details("Definition", () => jsonBlock(resource, "Definition")));
  const dispose = () => {
    shown.abort();
    panel.dispose();
  };
  return { element: h("div", { class: "detail-body" }, facts && h("p", { class: "muted" }, facts), element, panel.element, definition), submit: read, dispose };
}

/** Returns a button for the subscription of a resource, if the server supports it. */
function subscribeButton(uri) {
  if (!state.server?.capabilities?.resources?.subscribe) return null;
  const element = button("Subscribe", async () => {
    const active = !state.subscriptions.includes(uri);
    element.disabled = true;
    try {
      await post("subscriptions", { uri, active });
      announce(active ? "Subscribed" : "No longer subscribed");
    } catch (error) {
      announce(`Error: ${error.message}`);
      element.textContent = `Not subscribed: ${error.message}`;
    }
    element.disabled = false;
  });
  const refresh = () => {
    const active = state.subscriptions.includes(uri);
    element.setAttribute("aria-pressed", String(active));
    element.textContent = active ? "Subscribed" : "Subscribe";
  };
  return { element, refresh };
}

/** Returns the display of a template. */
export function templateDetail(template) {
  const names = variables(template.uriTemplate);
  const reference = { type: "ref/resource", uri: template.uriTemplate };
  const schema = schemaOf(names.map((name) => ({ name, required: !template.uriTemplate.includes(`{?`) })));
  const shown = h("p", { class: "mono expanded" });
  const form = createForm(schema, { complete: completer(reference, () => form), changed: () => preview() });
  const preview = () => {
    shown.textContent = expand(template.uriTemplate, form.read().value ?? {});
  };
  preview();
  const holder = h("div", {});
  let panel = null;
  const read = () => {
    const { value, violations } = form.check(true);
    if (violations.length) return form.summary.querySelector("button")?.focus();
    panel?.dispose();
    panel = new CallPanel({ kind: "resource", target: expand(template.uriTemplate, value), render: showContents });
    holder.replaceChildren(panel.element);
    panel.start({});
  };
  const element = h(
    "form",
    { novalidate: true, class: "invoke", "aria-label": `Variables of ${template.name}` },
    form.element,
    h("p", { class: "field-type" }, "URI to read"),
    shown,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "button primary", title: "Ctrl+Enter" }, "Read")),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    read();
  });
  const definition = h("div", { class: "schemas" }, details("Definition", () => jsonBlock(template, "Definition")));
  return { element: h("div", { class: "detail-body" }, element, holder, definition), submit: read, dispose: () => panel?.dispose() };
}

const EXPRESSION = /\{([+#./;?&]?)([^}]*)\}/g;
const names = (list) => list.split(",").map((name) => name.replace(/(\*|:\d+)$/, "")).filter(Boolean);

/** Returns the names of the variables of a URI template. */
export function variables(template) {
  return [...new Set([...template.matchAll(EXPRESSION)].flatMap((match) => names(match[2])))];
}

/** Expands a URI template (RFC 6570) with texts. */
export function expand(template, values) {
  return template.replace(EXPRESSION, (_, operator, list) => {
    const encode = operator === "+" || operator === "#" ? (text) => encodeURI(text) : encodeURIComponent;
    const given = names(list).filter((name) => values[name] !== undefined && values[name] !== "");
    const isNamed = ["?", "&", ";"].includes(operator);
    const parts = given.map((name) => (isNamed ? `${name}=${encode(values[name])}` : encode(values[name])));
    const separator = { "?": "&", "&": "&", ";": ";", "/": "/", ".": "." }[operator] ?? ",";
    const first = { "+": "", "": "" }[operator] ?? operator;
    return parts.length ? first + parts.join(separator) : "";
  });
}
