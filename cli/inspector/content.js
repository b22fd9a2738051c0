// Display of results: content blocks, resource contents, structured content, and errors.

import { button, download, formatBytes, h } from "./dom.js";
import { jsonBlock, pretty, textBlock } from "./json.js";
import { pathText, validate } from "./validate.js";

/** Types that are shown as images. SVG is safe in an image element, which runs no scripts. */
const IMAGE = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)$/;
const AUDIO = /^audio\/[\w.+-]+$/;
const VIDEO = /^video\/[\w.+-]+$/;

/** Returns the elements of a tool result. */
export function toolResult(result, outputSchema) {
  const parts = (result.content ?? []).map((block) => contentBlock(block));
  if (result.structuredContent !== undefined) {
    parts.push(h("section", { class: "part" }, h("h3", {}, "Structured content"), violationsOf(result.structuredContent, outputSchema), jsonBlock(result.structuredContent, "Structured content")));
  }
  if (parts.length === 0) parts.push(h("p", { class: "muted" }, "The tool returned no content."));
  return parts;
}

function violationsOf(value, schema) {
  const violations = schema ? validate(value, schema, schema) : [];
  if (violations.length === 0) return null;
  const lines = violations.slice(0, 8).map(({ path, message }) => h("li", {}, `${pathText(path) || "value"}: ${message}`));
  return h("div", { class: "warning" }, h("p", {}, "The structured content does not match the output schema:"), h("ul", {}, lines));
}

/** Returns the element of a content block. The texts of messages are prose. */
export function contentBlock(block, isProse = false) {
  switch (block.type) {
    case "text":
      return h("section", { class: "part" }, isProse ? h("p", { class: "prose" }, block.text) : textContent(block.text), annotations(block));
    case "image":
    case "audio":
      return h("section", { class: "part" }, media(block.data, block.mimeType), annotations(block));
    case "resource":
      return h("section", { class: "part" }, h("h3", {}, "Embedded resource"), resourceContent(block.resource), annotations(block));
    case "resource_link":
      return h(
        "section",
        { class: "part" },
        h("h3", {}, block.title ?? block.name ?? "Resource"),
        block.description && h("p", {}, block.description),
        h("a", { href: `#/resources/${encodeURIComponent(block.uri)}`, class: "mono" }, block.uri),
        annotations(block),
      );
    default:
      return h("section", { class: "part" }, jsonBlock(block, block.type ?? "Content"));
  }
}

function annotations({ annotations: given }) {
  if (!given || Object.keys(given).length === 0) return null;
  return h("p", { class: "muted small" }, Object.entries(given).map(([name, value]) => `${name}: ${[value].flat().join(", ")}`).join(" · "));
}

/** Returns the element of a text; JSON is formatted. */
export function textContent(text, mimeType = "") {
  const json = /^\s*[[{]/.test(text) || mimeType.includes("json") ? pretty(text) : null;
  if (json !== null) return textBlock(json, "Text, formatted as JSON", true);
  return textBlock(text, "Text");
}

/** Returns the element of one of the contents of a resource. */
export function resourceContent(content) {
  const head = h("p", { class: "muted small" }, h("span", { class: "mono" }, content.uri), content.mimeType ? ` · ${content.mimeType}` : "");
  const body = content.blob !== undefined ? media(content.blob, content.mimeType ?? "", content.uri) : textContent(content.text ?? "", content.mimeType);
  return h("div", { class: "resource" }, head, body);
}

function media(data, mimeType, name = "content") {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  } catch {
    return h("p", { class: "warning" }, "The data is not base64.");
  }
  const file = (name.split("/").pop() || "content").replace(/[^\w.-]/g, "_");
  const save = button("Save", () => download(bytes, file, mimeType), "quiet small", "download");
  const facts = h("p", { class: "muted small media-line" }, `${mimeType || "unknown type"} · ${formatBytes(bytes.length)} `, save);
  const source = `data:${mimeType};base64,${data}`;
  if (IMAGE.test(mimeType)) return h("figure", { class: "media" }, h("img", { src: source, alt: `Image of the server (${mimeType})` }), facts);
  if (AUDIO.test(mimeType)) return h("figure", { class: "media" }, h("audio", { src: source, controls: true, "aria-label": "Audio of the server" }), facts);
  if (VIDEO.test(mimeType)) return h("figure", { class: "media" }, h("video", { src: source, controls: true, "aria-label": "Video of the server" }), facts);
  return h("figure", { class: "media" }, textBlock(hexDump(bytes), "Bytes"), facts);
}

function hexDump(bytes) {
  const lines = [];
  for (let at = 0; at < Math.min(bytes.length, 512); at += 16) {
    const row = [...bytes.slice(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(47);
    const chars = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex}  ${chars}`);
  }
  if (bytes.length > 512) lines.push("…");
  return lines.join("\n");
}

/** Returns the elements of the messages of a prompt. */
export function promptMessages(result) {
  return (result.messages ?? []).map((message) =>
    h("article", { class: `bubble bubble-${message.role}` }, h("h3", {}, message.role), [message.content].flat().map((block) => contentBlock(block, true))),
  );
}

const ADVICE = {
  "-32602": "The arguments are invalid for the server.",
  "-32601": "The server does not know the method.",
  "-32603": "The server reports an error of its own.",
  "-32002": "The server does not know the resource.",
};

/** Returns the elements of an error. */
export function errorContent(error) {
  return [
    h("p", { class: "error-message" }, error.message),
    error.code !== undefined && h("p", { class: "muted small" }, `JSON-RPC error ${error.code}. ${ADVICE[error.code] ?? ""}`),
    error.kind === "timeout" && h("p", { class: "muted small" }, "The call was cancelled. Start `treenail inspect` with a larger --timeout."),
    error.data !== undefined && error.data !== null && jsonBlock(error.data, "Data of the error"),
  ];
}
