// Requests of the server: forms, pages to open, and sampling. The user answers them in a dialog.

import { on, post, state } from "./client.js";
import { contentBlock } from "./content.js";
import { openDialog } from "./dialog.js";
import { announce, button, h, uniqueId } from "./dom.js";
import { createForm } from "./form.js";
import { jsonBlock } from "./json.js";
import { parseJson } from "./numbers.js";
import { details } from "./tools.js";

let opener = null;
/** The open dialog: the `id` of its request, `close`, and the progress of the answer. */
let shown = null;
/** Requests that the user has put aside. */
const later = new Set();

export function startAsks(button) {
  opener = button;
  opener.addEventListener("click", () => {
    later.clear();
    refresh();
  });
  on("asks", refresh);
}

function refresh() {
  const count = state.asks.length;
  opener.hidden = count === 0;
  opener.textContent = count === 1 ? "1 request waits for you" : `${count} requests wait for you`;
  if (shown && shown.id !== null && !shown.isSending && !state.asks.some((ask) => ask.id === shown.id)) {
    if (shown.isAnswered) close();
    else showWithdrawn();
  }
  if (shown) return;
  const next = state.asks.find((ask) => !later.has(ask.id));
  if (next) open(next);
}

function close() {
  const closing = shown;
  shown = null;
  closing?.close();
}

function open(ask) {
  const body = ask.kind === "sampling" ? sampling(ask) : ask.params.mode === "url" ? page(ask) : form(ask);
  // Escape answers nothing: the request waits, and can be opened again.
  const put = () => postpone(ask);
  body.actions.append(button("Later", put, "quiet"));
  shown = { id: ask.id, close: openDialog(body.title, body.element, put), isSending: false, isAnswered: false };
}

function postpone(ask) {
  later.add(ask.id);
  close();
  refresh();
  opener.focus();
}

/** Shows that the request of the open dialog is gone. Another one opens only after that: it must get no click for the old one. */
function showWithdrawn() {
  close();
  const acknowledge = () => {
    close();
    refresh();
  };
  const element = h(
    "div",
    {},
    h("p", { class: "prose" }, "The server has withdrawn it, or it was answered in another tab. Nothing was sent from here."),
    h("div", { class: "actions" }, button("Close", acknowledge)),
  );
  shown = { id: null, close: openDialog("This request is no longer open", element, acknowledge) };
}

/** Sends an answer. Shows the message of a refusal. */
async function answer(given, problem) {
  const answered = shown;
  answered.isSending = true;
  try {
    await post(`asks/${answered.id}`, given);
    answered.isAnswered = true;
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
  answered.isSending = false;
  refresh();
}

const problemLine = () => h("p", { class: "field-error", role: "alert", hidden: true });
const serverName = () => state.server?.info?.title ?? state.server?.info?.name ?? "The server";

function form(ask) {
  const problem = problemLine();
  const schema = ask.params.requestedSchema ?? { type: "object", properties: {} };
  const fields = createForm(schema);
  const hasFields = Object.keys(schema.properties ?? {}).length > 0;
  const accept = () => {
    const { value, violations } = fields.check(true);
    if (violations.length) return fields.summary.querySelector("button")?.focus();
    answer({ result: { action: "accept", content: value } }, problem);
  };
  const actions = h(
    "div",
    { class: "actions" },
    h("button", { type: "submit", class: "button primary" }, hasFields ? "Send" : "Accept"),
    button("Decline", () => answer({ result: { action: "decline" } }, problem)),
    button("Cancel", () => answer({ result: { action: "cancel" } }, problem)),
  );
  const element = h("form", { novalidate: true }, h("p", { class: "prose" }, ask.params.message), hasFields && fields.element, problem, actions);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    accept();
  });
  return { title: `${serverName()} asks for input`, element, actions };
}

function page(ask) {
  const problem = problemLine();
  const { url, message } = ask.params;
  let parsed = null;
  try {
    parsed = new URL(url);
  } catch {
    // It is shown as text.
  }
  const isWeb = parsed && ["https:", "http:"].includes(parsed.protocol);
  const warnings = [
    !isWeb && "This is no web address, so it cannot be opened here.",
    isWeb && parsed.protocol === "http:" && "The connection to this page is not encrypted.",
    isWeb && parsed.hostname.split(".").some((part) => part.startsWith("xn--")) && "The name of the host has characters of other scripts.",
    isWeb && (parsed.username || parsed.password) && "The address contains a user name, which may hide the host.",
  ].filter(Boolean);
  const actions = h(
    "div",
    { class: "actions" },
    isWeb && h("a", { class: "button primary", href: parsed.href, target: "_blank", rel: "noopener noreferrer" }, "Open the page"),
    button("Accept", () => answer({ result: { action: "accept" } }, problem)),
    button("Decline", () => answer({ result: { action: "decline" } }, problem)),
    button("Cancel", () => answer({ result: { action: "cancel" } }, problem)),
  );
  const element = h(
    "div",
    {},
    h("p", { class: "prose" }, message),
    h("dl", { class: "facts" }, h("div", {}, h("dt", {}, "Host"), h("dd", {}, h("strong", {}, parsed?.hostname ?? "unknown"))), h("div", {}, h("dt", {}, "Address"), h("dd", { class: "mono" }, url))),
    warnings.map((text) => h("p", { class: "warning" }, text)),
    h("p", { class: "muted" }, "Open the page only if you trust the host. Accept to tell the server that you agree; it learns the outcome from the page."),
    problem,
    actions,
  );
  return { title: `${serverName()} asks you to open a page`, element, actions };
}

function sampling(ask) {
  const problem = problemLine();
  const { params } = ask;
  const textId = uniqueId("answer");
  const modelId = uniqueId("model");
  const reasonId = uniqueId("reason");
  const text = h("textarea", { id: textId, rows: 4, "aria-required": "true" });
  const model = h("input", { id: modelId, type: "text", value: "human", autocomplete: "off" });
  const reason = h("select", { id: reasonId }, ["endTurn", "maxTokens", "stopSequence", "toolUse"].map((value) => h("option", { value }, value)));
  const rejectReason = "the user rejected the sampling request";
  const editor = h("textarea", { class: "mono json-editor", rows: 8, spellcheck: "false", "aria-label": "Answer as JSON" });
  const raw = h("details", { class: "raw" }, h("summary", {}, "Answer as JSON"), editor);
  const simple = () => ({ role: "assistant", content: { type: "text", text: text.value }, model: model.value, stopReason: reason.value });
  raw.addEventListener("toggle", () => {
    if (raw.open) editor.value = JSON.stringify(simple(), null, 2);
  });
  const send = () => {
    let result = simple();
    if (raw.open) {
      try {
        result = parseJson(editor.value);
      } catch (error) {
        problem.textContent = `expected JSON: ${error.message}`;
        problem.hidden = false;
        return;
      }
    }
    answer({ result }, problem);
  };
  const actions = h(
    "div",
    { class: "actions" },
    h("button", { type: "submit", class: "button primary" }, "Send the answer"),
    button("Reject", () => answer({ error: rejectReason }, problem)),
  );
  const facts = [
    params.maxTokens !== undefined && ["Maximum", `${params.maxTokens} tokens`],
    params.temperature !== undefined && params.temperature !== null && ["Temperature", String(params.temperature)],
    params.modelPreferences?.hints?.length && ["Models", params.modelPreferences.hints.map((hint) => hint.name).join(", ")],
    params.stopSequences?.length && ["Stop at", params.stopSequences.join(", ")],
    params.tools?.length && ["Tools", params.tools.map((tool) => tool.name).join(", ")],
  ].filter(Boolean);
  const messages = params.messages.map((message) => h("article", { class: `bubble bubble-${message.role}` }, h("h3", {}, message.role), [message.content].flat().map((block) => contentBlock(block, true))));
  const element = h(
    "form",
    { novalidate: true },
    h("p", { class: "muted" }, "The server asks for the answer of a language model. Write it by hand, or reject the request."),
    params.systemPrompt && h("section", { class: "part" }, h("h3", {}, "System prompt"), h("p", { class: "prose" }, params.systemPrompt)),
    h("div", { class: "bubbles" }, messages),
    facts.length > 0 && h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    details("Request as JSON", () => jsonBlock(params, "Request as JSON")),
    h("div", { class: "field" }, h("label", { for: textId, class: "field-label" }, "Answer"), text),
    h("div", { class: "columns" }, h("div", { class: "field" }, h("label", { for: modelId, class: "field-label" }, "Model"), model), h("div", { class: "field" }, h("label", { for: reasonId, class: "field-label" }, "Reason of the end"), reason)),
    raw,
    problem,
    actions,
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  return { title: `${serverName()} asks for a model`, element, actions };
}
