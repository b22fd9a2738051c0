// State that the program shares with all tabs, and requests to it.

import { announce } from "./dom.js";
import { parseJson } from "./numbers.js";

const TOKEN = "treenail-inspect-token";

/** State of the program. `emitter` reports its changes by the names of events. */
export const state = {
  status: "connecting",
  server: null,
  reason: null,
  notes: [],
  roots: [],
  logLevel: null,
  subscriptions: [],
  messages: [],
  dropped: 0,
  calls: new Map(),
  asks: [],
  lists: { tools: null, prompts: null, resources: null, templates: null },
  /** Resources that have changed since they were read, with the time. */
  updates: new Map(),
};

const emitter = new EventTarget();
const MAX_MESSAGES = 1000;
/** Maximum number of resources that are marked as changed. */
const MAX_UPDATES = 1000;
let token = "";
let stream = null;

export function on(event, listener, signal) {
  emitter.addEventListener(event, (given) => listener(given.detail), { signal });
}

function emit(event, detail) {
  emitter.dispatchEvent(new CustomEvent(event, { detail }));
}

/** Takes the token from the URL, and removes it there. Returns a description of the problem if there is no token. */
export async function signIn() {
  let problem = "The address of this page has no token.";
  const fragment = new URLSearchParams(location.hash.slice(1));
  token = fragment.get("token") ?? sessionStorage.getItem(TOKEN) ?? "";
  if (fragment.has("code")) {
    try {
      ({ token } = await post("token", { code: fragment.get("code") }));
    } catch (error) {
      problem = `This page could not be opened: ${error.message}.`;
    }
  }
  if (fragment.has("token") || fragment.has("code")) history.replaceState(null, "", "/#/tools");
  sessionStorage.setItem(TOKEN, token);
  return token === "" ? problem : null;
}

async function request(method, path, body, signal) {
  const response = await fetch(`/api/${path}`, {
    method,
    signal,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw Object.assign(new Error(answer.error ?? `HTTP status ${response.status}`), { status: response.status });
  }
  return response;
}

export async function get(path) {
  return parseJson(await (await request("GET", path)).text());
}

export async function post(path, body = {}) {
  return parseJson(await (await request("POST", path, body)).text());
}

/** Fetches a list of the server. */
export async function fetchList(name) {
  try {
    state.lists[name] = { items: await get(`lists/${name}`) };
  } catch (error) {
    state.lists[name] = { items: [], error: error.message };
  }
  emit("lists", name);
}

export async function fetchLists(fresh = false) {
  if (fresh) await post("lists").catch(() => {});
  await Promise.all(Object.keys(state.lists).map(fetchList));
}

/** Reads events until the page is closed. A hidden tab reads none: browsers limit the connections to one address. */
export async function listen() {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stream?.abort();
    else if (!stream) listenOnce();
  });
  await listenOnce();
}

async function listenOnce() {
  stream = new AbortController();
  let failure = null;
  try {
    const response = await request("GET", "events", undefined, stream.signal);
    await readLines(response.body, handle);
  } catch (error) {
    failure = error;
  }
  stream = null;
  if (document.hidden) return;
  if (failure?.status === 401) return emit("signed-out");
  state.status = "gone";
  emit("connection");
  setTimeout(() => !stream && listenOnce(), 1500);
}

async function readLines(body, handleLine) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) handleLine(parseJson(line));
  }
}

function handle(event) {
  switch (event.type) {
    case "snapshot": {
      const { status, messages } = state;
      const seen = messages.at(-1)?.seq ?? 0;
      state.messages = event.messages;
      state.dropped = event.dropped;
      state.calls = new Map(event.calls.map((call) => [call.id, call]));
      state.asks = event.asks;
      setConnection(event);
      // A tab that was hidden, or read slowly, has missed events of its connection.
      if (status === "connected" && state.status === "connected") {
        fetchLists();
        event.messages.filter((message) => message.seq > seen).forEach(noteUpdate);
      }
      emit("messages-reset");
      emit("calls");
      emit("asks");
      break;
    }
    case "connection":
      setConnection(event);
      break;
    case "message":
      addMessage(event);
      break;
    case "cleared":
      state.messages = [];
      state.dropped = 0;
      emit("messages-reset");
      break;
    case "call":
      state.calls.set(event.id, event);
      while (state.calls.size > 150) state.calls.delete(state.calls.keys().next().value);
      emit("calls", event);
      break;
    case "progress": {
      const call = state.calls.get(event.id);
      if (call) {
        call.progress = event.progress;
        emit("calls", call);
      }
      break;
    }
    case "asks":
      state.asks = event.asks;
      emit("asks");
      break;
  }
}

function setConnection(event) {
  const before = state.status;
  const { status, server, reason, notes, roots, logLevel, subscriptions } = event;
  Object.assign(state, { status, server, reason, notes, roots, logLevel, subscriptions });
  if (status === "connected" && before !== "connected") {
    state.updates.clear();
    fetchLists();
  }
  if (before !== status && status !== "connecting") announce(status === "connected" ? "Connected" : "Disconnected");
  emit("connection");
}

const CHANGED = {
  "notifications/tools/list_changed": ["tools"],
  "notifications/prompts/list_changed": ["prompts"],
  "notifications/resources/list_changed": ["resources", "templates"],
};

function addMessage(message) {
  state.messages.push(message);
  state.dropped = message.dropped;
  if (state.messages.length > MAX_MESSAGES) state.messages.shift();
  if (message.kind === "notification" && !message.sent) {
    for (const list of CHANGED[message.method] ?? []) fetchList(list);
    if (CHANGED[message.method]) announce(`The server changed its ${CHANGED[message.method][0]}`);
    if (noteUpdate(message)) announce(`Resource changed: ${message.subject}`);
  }
  emit("message", message);
}

/** Marks the resource of a notification as changed. Returns false for other messages. */
function noteUpdate({ kind, sent, method, subject, time }) {
  const isUpdate = kind === "notification" && !sent && method === "notifications/resources/updated" && subject;
  if (!isUpdate) return false;
  state.updates.set(subject, time);
  if (state.updates.size > MAX_UPDATES) state.updates.delete(state.updates.keys().next().value);
  emit("updates", subject);
  return true;
}

export function markRead(uri) {
  if (state.updates.delete(uri)) emit("updates", uri);
}
