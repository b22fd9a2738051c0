// Display of JSON with colours, and of long values in parts.

import { button, copyButton, h } from "./dom.js";
import { parseJson } from "./numbers.js";

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Number of characters that are shown at first. */
const MAX_CHARS = 60_000;

/** Returns a block with a JSON value, and a button to copy it. */
export function jsonBlock(value, label = "JSON") {
  return textBlock(typeof value === "string" ? value : JSON.stringify(value, null, 2), label, true);
}

/** Returns a block with a text, coloured as JSON if it is. */
export function textBlock(text, label, isJson = false) {
  const code = h("code", {});
  const pre = h("pre", { class: "code", tabindex: 0, role: "group", "aria-label": label }, code);
  const show = (shown) => code.replaceChildren(...(isJson ? coloured(shown) : [shown]));
  const block = h("div", { class: "code-block" }, pre, h("div", { class: "code-actions" }, copyButton(text)));
  show(text.slice(0, MAX_CHARS));
  if (text.length > MAX_CHARS) {
    const more = button(`Show all ${text.length.toLocaleString("en")} characters`, () => {
      show(text);
      more.remove();
    }, "quiet small");
    block.append(more);
  }
  return block;
}

/** Returns JSON text on several lines, or `null` if the text is not JSON. */
export function pretty(text) {
  try {
    return JSON.stringify(parseJson(text), null, 2);
  } catch {
    return null;
  }
}

function coloured(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, string, colon] = match;
    if (match.index > end) parts.push(text.slice(end, match.index));
    const kind = string ? (colon ? "key" : "string") : "literal";
    parts.push(h("span", { class: `json-${kind}` }, string ?? all));
    if (colon) parts.push(colon);
    end = match.index + all.length;
  }
  parts.push(text.slice(end));
  return parts;
}
