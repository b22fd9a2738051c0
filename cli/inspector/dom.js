// Elements, icons, and small helpers of the page. Text of a server is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  add: "M8 3v10M3 8h10",
  back: "M9.5 3.5L5 8l4.5 4.5",
  check: "M3 8.5l3.2 3L13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  dark: "M13 9.6A5.4 5.4 0 0 1 6.4 3 5.4 5.4 0 1 0 13 9.6z",
  down: "M8 3v10M4 9l4 4 4-4",
  download: "M8 2.5v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
  light: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  play: "M5 3.2l7.5 4.8L5 12.8z",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2v3.2H9.8",
  stop: "M4.5 4.5h7v7h-7z",
  system: "M2.5 3.5h11v7.5h-11zM6 13.5h4",
  up: "M8 13V3M4 7l4-4 4 4",
};

/** Creates an element. `on` has listeners; `true` and `false` set and omit an attribute. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "value") {
      element.value = value;
    } else if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== undefined && child !== null && child !== false) element.append(child);
  }
}

/** Returns an icon, which is hidden from assistive technology. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Returns a button with an icon and a name, which is hidden if `label` is set. */
export function iconButton(name, text, click, kind = "quiet") {
  return h(
    "button",
    { type: "button", class: `button ${kind} icon-only`, "aria-label": text, title: text, on: { click } },
    icon(name),
  );
}

export function button(text, click, kind = "", iconName) {
  return h("button", { type: "button", class: `button ${kind}`, on: { click } }, iconName && icon(iconName), text);
}

let ids = 0;

/** Returns an id that no other element has. */
export function uniqueId(prefix = "id") {
  ids += 1;
  return `${prefix}-${ids}`;
}

/** Reads a text out to users of a screen reader. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Returns a button that copies a text. */
export function copyButton(text, label = "Copy") {
  const made = button(label, async () => {
    const value = typeof text === "function" ? await text() : text;
    await navigator.clipboard.writeText(value);
    made.replaceChildren(icon("check"), "Copied");
    announce("Copied");
    setTimeout(() => made.replaceChildren(icon("copy"), label), 1500);
  }, "quiet small", "copy");
  return made;
}

/** Saves bytes or a text as a file. */
export function download(content, name, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function formatDuration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function formatBytes(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

export function formatTime(ms, fraction = true) {
  const time = new Date(ms);
  const pad = (value, length = 2) => String(value).padStart(length, "0");
  const clock = `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
  return fraction ? `${clock}.${pad(time.getMilliseconds(), 3)}` : clock;
}

/** Delays a function until its calls pause. */
export function debounce(work, ms) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), ms);
  };
}
