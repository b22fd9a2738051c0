// Facts and settings of the connection.

import { on, post, state } from "./client.js";
import { announce, button, formatDuration, h, iconButton, uniqueId } from "./dom.js";
import { jsonBlock } from "./json.js";
import { details } from "./tools.js";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Returns the display of the connection. */
export function serverView() {
  const facts = h("div", {});
  const view = h("div", { class: "single" }, h("h2", {}, "Server"), facts, settings(), roots());
  const refresh = () => facts.replaceChildren(...describe());
  on("connection", refresh);
  refresh();
  return view;
}

function describe() {
  const { server } = state;
  if (!server) return [h("p", { class: "muted" }, "There is no connection.")];
  const rows = [
    ["Name", server.info ? `${server.info.title ?? server.info.name} ${server.info.version ?? ""}` : "not reported"],
    ["Protocol", `${server.revision} (${server.isModern ? "stateless requests" : "with a handshake"})`],
    server.supportedVersions?.length && ["Supports", server.supportedVersions.join(", ")],
    ["Transport", server.transport],
    ["Target", h("code", {}, server.target)],
    ["Capabilities", capabilities(server.capabilities)],
  ].filter(Boolean);
  return [
    h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    server.instructions && h("section", { class: "part" }, h("h3", {}, "Instructions for a model"), h("p", { class: "prose" }, server.instructions)),
    details("Capabilities of the server", () => jsonBlock(server.capabilities, "Capabilities of the server")),
    details("Capabilities of this client", () => jsonBlock(server.clientCapabilities, "Capabilities of this client")),
  ].filter(Boolean);
}

function capabilities(declared) {
  const names = Object.entries(declared ?? {}).map(([name, more]) => {
    const parts = Object.entries(more ?? {}).filter(([, value]) => value !== false).map(([part]) => part);
    return h("span", { class: "tag" }, parts.length ? `${name}: ${parts.join(", ")}` : name);
  });
  return names.length ? h("span", { class: "tags" }, names) : "none";
}

function settings() {
  const time = h("span", { role: "status" });
  const ping = button("Ping", async () => {
    try {
      time.textContent = `answered after ${formatDuration((await post("ping")).ms)}`;
    } catch (error) {
      time.textContent = error.message;
    }
  });
  const id = uniqueId("level");
  const level = h("select", { id }, h("option", { value: "" }, "Default of the server"), LEVELS.map((name) => h("option", { value: name }, name)));
  level.addEventListener("change", async () => {
    if (level.value === "") return;
    try {
      await post("log-level", level.value);
      announce(`Log level: ${level.value}`);
    } catch (error) {
      announce(`Error: ${error.message}`);
      time.textContent = error.message;
    }
  });
  const refresh = () => {
    level.value = state.logLevel ?? "";
  };
  on("connection", refresh);
  refresh();
  return h(
    "section",
    { class: "part" },
    h("h3", {}, "Settings"),
    h("div", { class: "field" }, h("label", { for: id, class: "field-label" }, "Minimum level of log messages"), h("div", { class: "field-control" }, level)),
    h("div", { class: "actions" }, ping, time),
  );
}

function roots() {
  const list = h("ul", { class: "plain items" });
  const id = uniqueId("root");
  const input = h("input", { id, type: "text", class: "mono", placeholder: "file:///home/me/project", autocomplete: "off" });
  const save = async (next) => {
    try {
      await post("roots", next);
      announce("Roots changed");
    } catch (error) {
      announce(`Error: ${error.message}`);
    }
  };
  const add = h("button", { type: "submit", class: "button" }, "Add root");
  const form = h("form", { class: "field" }, h("label", { for: id, class: "field-label" }, "URI of another root"), h("div", { class: "field-control" }, input, add));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value === "") return;
    save([...state.roots, { uri: input.value }]);
    input.value = "";
  });
  const refresh = () => {
    const items = state.roots.map((root) =>
      h("li", { class: "row" }, h("code", {}, root.uri), iconButton("close", `Remove ${root.uri}`, () => save(state.roots.filter((one) => one !== root)))),
    );
    list.replaceChildren(...(items.length ? items : [h("li", { class: "muted" }, "None.")]));
  };
  on("connection", refresh);
  refresh();
  return h("section", { class: "part" }, h("h3", {}, "Roots"), h("p", { class: "muted" }, "Directories that the server may use."), list, form);
}
