// Frame of the page: sections, lists, and the display of one entry.

import { startAsks } from "./asks.js";
import { fetchLists, listen, on, post, signIn, state } from "./client.js";
import { button, h, icon } from "./dom.js";
import { startMessages } from "./messages.js";
import { promptDetail } from "./prompts.js";
import { resourceDetail, templateDetail } from "./resources.js";
import { serverView } from "./server.js";
import { hints, toolDetail } from "./tools.js";

const byId = (id) => document.getElementById(id);
const view = byId("view");
const WIDE = matchMedia("(min-width: 1160px)");

/** Kinds of entries, by their word in the URL. */
const KINDS = {
  tools: { list: "tools", key: "name", detail: toolDetail, name: (it) => it.title ?? it.annotations?.title ?? it.name },
  prompts: { list: "prompts", key: "name", detail: promptDetail, name: (it) => it.title ?? it.name },
  resources: { list: "resources", key: "uri", detail: resourceDetail, name: (it) => it.title ?? it.name },
  templates: { list: "templates", key: "uriTemplate", detail: templateDetail, name: (it) => it.title ?? it.name },
};
const SECTIONS = {
  tools: { title: "Tools", kinds: ["tools"], empty: "The server has no tools." },
  prompts: { title: "Prompts", kinds: ["prompts"], empty: "The server has no prompts." },
  resources: { title: "Resources", kinds: ["resources", "templates"], empty: "The server has no resources." },
};

/** Displays that stay, with what the user has entered, until the definition changes. */
const details = new Map();
const searches = new Map();
let current = { section: "tools", kind: "tools", key: null };
let shownDetail = null;
let serverElement = null;

function route() {
  const [, kind = "tools", key] = location.hash.match(/^#\/([a-z]+)(?:\/(.*))?$/) ?? [];
  const section = kind === "templates" ? "resources" : kind;
  current = { section, kind, key: key ? decodeURIComponent(key) : null };
  if (!SECTIONS[section] && !["messages", "server"].includes(section)) current = { section: "tools", kind: "tools", key: null };
}

function navigate() {
  const before = current;
  route();
  render();
  // The focus follows into a new section or entry, as on a new page.
  if (before.section !== current.section || before.key !== current.key) {
    const heading = view.querySelector(current.key ? ".detail h2" : "h2");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    if (before.key !== current.key) view.querySelector(".detail")?.scrollTo(0, 0);
    if (!WIDE.matches) scrollTo(0, 0);
  }
}

function render() {
  const { section, key } = current;
  document.body.dataset.section = section;
  document.body.dataset.entry = String(key !== null);
  for (const link of document.querySelectorAll(".sections a")) {
    if (link.dataset.section === section) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (section === "messages") {
    view.replaceChildren(...(WIDE.matches ? [h("div", { class: "single" }, h("h2", {}, "Messages"), h("p", { class: "muted" }, "Every message is in the panel on the right."))] : []));
    if (WIDE.matches) showMessages(true);
  } else if (section === "server") {
    serverElement ??= serverView();
    if (!serverElement.isConnected) view.replaceChildren(serverElement);
  } else renderSection();
  const title = key ?? section[0].toUpperCase() + section.slice(1);
  document.title = `${title} · ${byId("server-name").textContent}`;
}

function renderSection() {
  const { section, kind, key } = current;
  const items = entries();
  const item = items.find((entry) => entry.kind === kind && entry.key === key) ?? unlisted(kind, key);
  const detail = item ? detailOf(item) : placeholder(items);
  const list = listOf(section, items);
  const scrolled = view.querySelector(".list")?.scrollTop ?? 0;
  const active = document.activeElement;
  const wasSearching = active?.id === "search" ? active.selectionStart : null;
  const link = active?.closest?.(".entry-link")?.getAttribute("href");
  // The same element stays in place, so that the focus and what the user types are not lost.
  if (shownDetail?.isConnected && shownDetail === detail && view.querySelector(".list")) view.querySelector(".list").replaceWith(list);
  else view.replaceChildren(list, detail);
  shownDetail = detail;
  list.scrollTop = scrolled;
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  if (wasSearching !== null) {
    byId("search")?.focus();
    byId("search")?.setSelectionRange(wasSearching, wasSearching);
  } else if (link) [...list.querySelectorAll(".entry-link")].find((one) => one.getAttribute("href") === link)?.focus();
}

/** Returns the entries of the current section. */
function entries() {
  return SECTIONS[current.section].kinds.flatMap((kind) => {
    const { list, key, name } = KINDS[kind];
    return (state.lists[list]?.items ?? []).map((item) => ({ kind, item, key: item[key], name: name(item) }));
  });
}

/** Returns an entry for a resource that is not listed, such as the target of a link. */
function unlisted(kind, key) {
  if (kind !== "resources" || key === null || !state.lists.resources) return null;
  return { kind, key, name: key, item: { uri: key, name: key, description: "This resource is not in the list of the server." } };
}

function listOf(section, items) {
  const { title, kinds, empty } = SECTIONS[section];
  const input = h("input", { type: "search", id: "search", placeholder: `Filter ${title.toLowerCase()}`, "aria-label": `Filter ${title.toLowerCase()}`, value: searches.get(section) ?? "" });
  const groups = h("div", { class: "groups" });
  const fill = () => {
    const wanted = input.value.trim().toLowerCase();
    searches.set(section, input.value);
    const shown = items.filter((entry) => `${entry.name} ${entry.key} ${entry.item.description ?? ""}`.toLowerCase().includes(wanted));
    groups.replaceChildren(...kinds.flatMap((kind) => group(kind, shown.filter((entry) => entry.kind === kind), kinds.length > 1)));
    if (shown.length === 0) groups.append(h("p", { class: "muted pad" }, listState(kinds) ?? (items.length ? "Nothing matches." : empty)));
  };
  input.addEventListener("input", fill);
  fill();
  const refresh = h("button", { type: "button", class: "button quiet icon-only", "aria-label": `Fetch the ${title.toLowerCase()} again`, title: "Fetch again", on: { click: () => fetchLists(true) } }, icon("refresh"));
  return h("section", { class: "list", "aria-label": title }, h("div", { class: "list-head" }, h("h2", {}, title), refresh), items.length > 6 && h("div", { class: "list-search" }, input), groups);
}

function listState(kinds) {
  const lists = kinds.map((kind) => state.lists[kind]);
  const failed = lists.find((list) => list?.error);
  if (failed) return failed.error;
  return lists.some((list) => list === null) ? (state.status === "connecting" ? "Connecting…" : "Loading…") : null;
}

function group(kind, items, isNamed) {
  if (items.length === 0) return [];
  const rows = items.map((entry) => {
    const isCurrent = current.kind === kind && current.key === entry.key;
    const isChanged = kind === "resources" && state.updates.has(entry.key);
    return h(
      "li",
      {},
      h(
        "a",
        { href: `#/${kind}/${encodeURIComponent(entry.key)}`, class: "entry-link", "aria-current": isCurrent ? "true" : null },
        h("span", { class: "entry-name" }, entry.name, isChanged && h("span", { class: "tag tag-changed" }, "changed")),
        entry.name !== entry.key && h("span", { class: "entry-key mono" }, entry.key),
        entry.item.description && h("span", { class: "entry-text" }, entry.item.description),
      ),
    );
  });
  return [isNamed && h("h3", {}, kind === "templates" ? "Templates" : "Listed"), h("ul", { class: "plain" }, rows)].filter(Boolean);
}

function detailOf(entry) {
  const id = `${entry.kind} ${entry.key}`;
  const definition = JSON.stringify(entry.item) + JSON.stringify(state.server?.capabilities ?? null);
  const known = details.get(id);
  // Without a connection, the display stays until there is another one.
  if (known && (known.definition === definition || !state.server)) return known.element;
  known?.dispose();
  const made = KINDS[entry.kind].detail(entry.item);
  const back = h("a", { class: "back", href: `#/${current.section}` }, icon("back"), SECTIONS[current.section].title);
  const description = entry.item.description && h("p", { class: "prose" }, entry.item.description);
  const element = h(
    "section",
    { class: "detail", "aria-label": entry.name },
    back,
    h("div", { class: "detail-head" }, h("h2", {}, entry.name), h("p", { class: "detail-key" }, entry.name !== entry.key && h("span", { class: "mono" }, entry.key), entry.kind === "tools" && hints(entry.item))),
    description,
    made.element,
  );
  details.set(id, { definition, element, submit: made.submit, dispose: made.dispose });
  return element;
}

function placeholder(items) {
  const { title } = SECTIONS[current.section];
  const text = items.length ? `Choose one of the ${title.toLowerCase()}.` : "";
  return h("section", { class: "detail detail-empty", "aria-label": "Nothing chosen" }, h("p", { class: "muted" }, text));
}

function showConnection() {
  const { status, server, reason, notes } = state;
  const labels = { connecting: "Connecting", connected: "Connected", closed: "Disconnected", gone: "Program ended" };
  const pill = byId("status");
  pill.dataset.status = status;
  pill.textContent = labels[status];
  byId("server-name").textContent = server?.info?.title ?? server?.info?.name ?? "Treenail Inspector";
  byId("server-line").textContent = server ? [server.info?.version && `version ${server.info.version}`, server.revision, server.transport].filter(Boolean).join(" · ") : "";
  const notice = byId("notice");
  notice.hidden = status === "connected" || status === "connecting";
  if (status === "gone") {
    notice.replaceChildren(h("p", {}, "The program `treenail inspect` does not answer. This page connects again when it does."));
  } else if (status === "closed") {
    const lines = notes.length > 0 && h("pre", { class: "code", tabindex: 0, role: "group", "aria-label": "Last lines of the server" }, notes.join("\n"));
    notice.replaceChildren(...[h("p", {}, reason ?? "There is no connection."), lines, button("Connect again", () => post("reconnect"), "small")].filter(Boolean));
  }
}

function showCounts() {
  for (const section of Object.values(SECTIONS)) {
    const total = section.kinds.reduce((sum, kind) => sum + (state.lists[kind]?.items.length ?? 0), 0);
    const element = document.querySelector(`[data-count=${section.title.toLowerCase()}]`);
    element.textContent = section.kinds.every((kind) => state.lists[kind]) ? total : "";
  }
}

function showMessages(isShown) {
  document.body.dataset.messages = String(isShown);
  byId("toggle-messages").setAttribute("aria-pressed", String(isShown));
  localStorage.setItem("messages", String(isShown));
}

const THEMES = ["system", "light", "dark"];

function showTheme(theme) {
  const names = { system: "as the system", light: "light", dark: "dark" };
  document.documentElement.dataset.theme = theme;
  const switcher = byId("theme");
  switcher.replaceChildren(icon(theme));
  switcher.setAttribute("aria-label", `Colours: ${names[theme]}`);
  switcher.title = `Colours: ${names[theme]}`;
  localStorage.setItem("theme", theme);
}

function startFrame() {
  showTheme(THEMES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "system");
  byId("theme").addEventListener("click", () => showTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % 3]));
  showMessages(localStorage.getItem("messages") !== "false");
  byId("toggle-messages").addEventListener("click", () => showMessages(document.body.dataset.messages !== "true"));
  byId("reconnect").addEventListener("click", () => post("reconnect"));
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
    if (event.key === "k") {
      event.preventDefault();
      (byId("search") ?? view.querySelector(".entry-link"))?.focus();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      details.get(`${current.kind} ${current.key}`)?.submit();
    }
  });
  WIDE.addEventListener("change", render);
}

async function start() {
  startFrame();
  const problem = await signIn();
  if (problem) return showSignedOut(problem);
  startMessages(byId("messages"));
  startAsks(byId("open-asks"));
  on("connection", () => {
    showConnection();
    render();
  });
  on("lists", () => {
    showCounts();
    if (SECTIONS[current.section]) render();
  });
  on("updates", () => current.section === "resources" && render());
  on("signed-out", () => showSignedOut("The token of this page is no longer valid."));
  addEventListener("hashchange", navigate);
  route();
  render();
  await listen();
}

function showSignedOut(problem) {
  byId("status").hidden = true;
  view.replaceChildren(
    h("div", { class: "single" }, h("h2", {}, "This page needs its token"), h("p", { class: "prose" }, problem), h("p", { class: "prose" }, "Open the URL that `treenail inspect` printed in the terminal. It contains the token, and is valid until the program ends.")),
  );
}

start();
