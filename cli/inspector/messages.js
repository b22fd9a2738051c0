// Log of every message between the program and the server.

import { get, on, post, state } from "./client.js";
import { announce, button, download, formatBytes, formatDuration, formatTime, h } from "./dom.js";
import { pretty, textBlock } from "./json.js";
import { parseJson } from "./numbers.js";

const KINDS = [
  ["all", "All messages"],
  ["request", "Requests and answers"],
  ["notification", "Notifications"],
  ["error", "Errors"],
  ["stderr", "Output of the server"],
];
const BADGES = { result: "result", error: "error", failed: "failed", cancelled: "cancelled", notification: "notification", stderr: "output", stray: "stray output", closed: "closed" };

let list;
let summary;
let filter;
let kind;
let direction;
let isPaused = false;
let pending = [];
let isScheduled = false;

/** Fills the panel. */
export function startMessages(panel) {
  filter = h("input", { type: "search", placeholder: "Filter by text", "aria-label": "Filter messages by text", on: { input: () => applyFilter() } });
  kind = select("Kind of messages", KINDS);
  direction = select("Direction of messages", [["both", "Both directions"], ["sent", "To the server"], ["received", "From the server"]]);
  summary = h("p", { class: "muted small" });
  list = h("ol", { class: "log plain", "aria-label": "Messages" });
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = isPaused ? "Resume" : "Pause";
    announce(isPaused ? "Paused" : "Resumed");
    if (!isPaused) reset();
  }, "quiet small");
  pause.setAttribute("aria-pressed", "false");
  panel.append(
    h("div", { class: "messages-head" }, h("h2", { id: "messages-title" }, "Messages"), h("div", { class: "row" }, pause, button("Save", save, "quiet small"), button("Clear", () => post("messages/clear"), "quiet small"))),
    h("div", { class: "filters" }, filter, kind, direction),
    summary,
    list,
  );
  on("message", (message) => {
    if (isPaused) return count();
    pending.push(message);
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(flush);
  });
  on("messages-reset", reset);
  reset();
}

function select(label, options) {
  return h("select", { "aria-label": label, on: { change: () => applyFilter() } }, options.map(([value, text]) => h("option", { value }, text)));
}

function reset() {
  pending = [];
  list.replaceChildren(...state.messages.map(row));
  applyFilter();
}

/** Adds the messages of one frame. A reader at the end of the list stays there. */
function flush() {
  isScheduled = false;
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.append(...pending.map(row));
  pending = [];
  while (list.children.length > state.messages.length) list.firstChild.remove();
  applyFilter();
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

/** Subjects of requests by direction and id, for their answers. */
const subjects = new Map();

function subjectOf(message) {
  if (message.id === null) return detail(message) ?? message.subject;
  if (message.kind === "request") {
    subjects.set(`${message.sent} ${message.id}`, message.subject);
    if (subjects.size > 2000) subjects.delete(subjects.keys().next().value);
    return message.subject;
  }
  return subjects.get(`${message.kind === "cancelled" ? message.sent : !message.sent} ${message.id}`);
}

/** Returns the content of a progress or log message in a line. */
function detail(message) {
  if (message.text === null || !["notifications/progress", "notifications/message"].includes(message.method)) return null;
  let params;
  try {
    ({ params } = parseJson(message.text));
  } catch {
    return null;
  }
  if (message.method === "notifications/message") {
    const text = typeof params.data === "string" ? params.data : JSON.stringify(params.data);
    return `${params.level}: ${text.slice(0, 200)}`;
  }
  return [Number(params.total) ? `${params.progress} of ${params.total}` : params.progress, params.message].filter((part) => part !== undefined).join(" · ");
}

function row(message) {
  const subject = subjectOf(message);
  const arrow = message.kind === "stderr" || message.kind === "stray" || message.kind === "closed" ? "·" : message.sent ? "→" : "←";
  const badge = BADGES[message.kind];
  const head = h(
    "summary",
    {},
    h("span", { class: `arrow ${message.sent ? "sent" : "received"}`, "aria-hidden": "true" }, arrow),
    h("span", { class: "visually-hidden" }, message.sent ? "to the server" : "from the server"),
    h("span", { class: "log-method" }, message.kind === "stderr" || message.kind === "stray" ? message.text?.slice(0, 200) ?? "output" : message.method),
    subject && h("span", { class: "log-subject" }, subject),
    badge && h("span", { class: `log-kind log-${message.kind}` }, badge),
    h("span", { class: "log-facts" }, [message.ms !== null && formatDuration(message.ms), message.id !== null && `#${message.id}`, formatTime(message.time)].filter(Boolean).join("  ")),
  );
  const element = h("details", { class: "log-entry" }, head);
  element.addEventListener("toggle", () => element.open && element.children.length === 1 && open(element, message));
  const item = h("li", { "data-kind": message.kind, "data-sent": String(message.sent) }, element);
  item.message = message;
  return item;
}

async function open(element, message) {
  const text = await textOf(message);
  const json = pretty(text);
  element.append(
    h("p", { class: "muted small" }, `${message.sent ? "To the server" : "From the server"} · ${formatTime(message.time)} · ${formatBytes(message.bytes)}`),
    text === "" ? h("p", { class: "muted small" }, "No message: the request was cancelled.") : textBlock(json ?? text, "Message", json !== null),
  );
  element.scrollIntoView({ block: "nearest" });
}

async function textOf(message) {
  if (message.text !== null) return message.text;
  const { text } = await get(`messages/${message.seq}`).catch(() => ({ text: "The message is no longer in the log." }));
  return text;
}

const GROUPS = {
  request: ["request", "result", "error", "failed", "cancelled"],
  notification: ["notification"],
  error: ["error", "failed", "cancelled", "stray", "closed"],
  stderr: ["stderr", "stray"],
};

function matches(message) {
  if (kind.value !== "all" && !GROUPS[kind.value].includes(message.kind)) return false;
  if (direction.value !== "both" && message.sent !== (direction.value === "sent")) return false;
  const wanted = filter.value.trim().toLowerCase();
  if (wanted === "") return true;
  const text = `${message.method} ${message.subject ?? ""} ${message.id ?? ""} ${message.text ?? ""}`;
  return text.toLowerCase().includes(wanted);
}

function applyFilter() {
  let shown = 0;
  for (const item of list.children) {
    item.hidden = !matches(item.message);
    shown += item.hidden ? 0 : 1;
  }
  count(shown);
}

function count(shown = [...list.children].filter((item) => !item.hidden).length) {
  const total = state.messages.length;
  const parts = [shown === total ? `${total} messages` : `${shown} of ${total} messages`];
  if (state.dropped) parts.push(`${state.dropped} older ones dropped`);
  if (isPaused) parts.push("paused");
  summary.textContent = parts.join(" · ");
  for (const element of document.querySelectorAll("[data-count=messages]")) element.textContent = total || "";
}

/** Saves the shown messages as lines of JSON. */
async function save() {
  const shown = [...list.children].filter((item) => !item.hidden).map((item) => item.message);
  const lines = await Promise.all(shown.map(async (message) => {
    const { seq, time, sent, kind: type, method, ms } = message;
    const text = await textOf(message);
    let content = text;
    try {
      content = parseJson(text);
    } catch {
      // A line of output is no JSON.
    }
    return JSON.stringify({ seq, time: new Date(time).toISOString(), direction: sent ? "to server" : "from server", kind: type, method, milliseconds: ms, message: content });
  }));
  download(`${lines.join("\n")}\n`, "messages.jsonl", "application/jsonl");
}

