// Panel of a tool, a prompt or a resource: runs calls, and shows their progress, results and history.

import { get, on, post, state } from "./client.js";
import { errorContent } from "./content.js";
import { announce, button, formatDuration, formatTime, h } from "./dom.js";
import { jsonBlock } from "./json.js";

const STATUS = {
  running: ["Running", "running"],
  done: ["Result", "done"],
  failed: ["The tool failed", "failed"],
  error: ["Error", "failed"],
  cancelled: ["Cancelled", "cancelled"],
};

/** All panels, so that one listener serves them. */
const panels = new Set();

on("calls", (call) => {
  for (const panel of panels) panel.update(call);
});

export class CallPanel {
  /** `render` returns the elements of a result; `again` fills the form with earlier arguments. */
  constructor({ kind, target, render, again, idle = "" }) {
    Object.assign(this, { kind, target, render, again });
    this.currentId = null;
    this.seen = new Map();
    this.head = h("div", { class: "call-head" });
    this.progress = h("div", { class: "call-progress" });
    this.body = h("div", { class: "call-body" }, idle && h("p", { class: "muted" }, idle));
    this.history = h("details", { class: "history", hidden: true });
    this.element = h("section", { class: "call", "aria-label": "Result" }, this.head, this.progress, this.body, this.history);
    panels.add(this);
    this.showLatest();
    this.showHistory();
  }

  dispose() {
    panels.delete(this);
  }

  mine() {
    return [...state.calls.values()].filter((call) => call.kind === this.kind && call.target === this.target).reverse();
  }

  isRunning() {
    return state.calls.get(this.currentId)?.status === "running";
  }

  async start(args) {
    this.body.replaceChildren();
    this.progress.replaceChildren();
    try {
      const { id } = await post("calls", { kind: this.kind, target: this.target, arguments: args });
      this.currentId = id;
      this.isMine = id;
      const call = state.calls.get(id);
      if (call) this.showCall(call);
      this.reveal();
    } catch (error) {
      this.head.replaceChildren(badge("error"));
      this.body.replaceChildren(...errorContent({ message: error.message }).filter(Boolean));
      announce(`Error: ${error.message}`);
    }
  }

  cancel() {
    if (this.isRunning()) post(`calls/${this.currentId}/cancel`).catch(() => {});
  }

  /** Shows the state of a call, or of all calls if they have been replaced. */
  update(call) {
    if (!call) {
      this.showLatest();
      return this.showHistory();
    }
    if (call.kind !== this.kind || call.target !== this.target) return;
    if (call.id === this.currentId) this.showCall(call);
    if (call.status !== "running" || !call.progress) this.showHistory();
  }

  showLatest() {
    const latest = this.mine()[0];
    if (latest && !state.calls.has(this.currentId)) this.currentId = latest.id;
    const call = state.calls.get(this.currentId);
    if (call) this.showCall(call);
  }

  async showCall(call) {
    const stop = call.status === "running" && button("Cancel", () => this.cancel(), "small", "stop");
    const time = h("span", { class: "muted small" }, call.ms === null ? `since ${formatTime(call.time, false)}` : formatDuration(call.ms));
    if (this.head.dataset.shown !== `${call.id} ${call.status}`) {
      this.head.dataset.shown = `${call.id} ${call.status}`;
      this.head.replaceChildren(badge(call.status), time, ...(stop ? [stop] : []));
    }
    this.showProgress(call);
    if (call.status === "running") return this.body.replaceChildren();
    if (this.shownId === `${call.id} ${call.status}`) return;
    this.shownId = `${call.id} ${call.status}`;
    announce(`${STATUS[call.status][0]} after ${formatDuration(call.ms)}`);
    const { outcome } = await get(`calls/${call.id}`).catch((error) => ({ outcome: { error: { message: error.message } } }));
    if (call.id !== this.currentId) return;
    this.showOutcome(call, outcome);
    if (this.isMine === call.id) this.reveal();
  }

  /** Scrolls to the result of a call of this tab, which may be below a long form. */
  reveal() {
    const view = this.element.closest(".detail");
    const end = this.history.hidden ? this.body : this.history;
    if (!view || end.getBoundingClientRect().bottom <= view.getBoundingClientRect().bottom) return;
    const top = view.scrollTop + this.element.getBoundingClientRect().top - view.getBoundingClientRect().top - 12;
    view.scrollTo({ top, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }

  showOutcome(call, outcome) {
    if (outcome.error) this.body.replaceChildren(...errorContent(outcome.error).filter(Boolean));
    else if (outcome.result) {
      const raw = h("details", { class: "raw" }, h("summary", {}, "Result as JSON"));
      raw.addEventListener("toggle", () => raw.children.length === 1 && raw.append(jsonBlock(outcome.result, "Result as JSON")));
      this.body.replaceChildren(...this.render(outcome.result, call), raw);
    } else this.body.replaceChildren(h("p", { class: "muted" }, "The call was cancelled before its result."));
  }

  showProgress(call) {
    const { progress } = call;
    if (!progress || call.status !== "running") return this.progress.replaceChildren();
    const [done, total] = [Number(progress.progress), Number(progress.total)];
    const share = total ? Math.round((done / total) * 100) : null;
    const label = progress.message ?? "Progress";
    const numbers = total ? `${done} of ${total}` : String(done);
    if (!this.bar?.isConnected) {
      this.bar = h("progress", { max: 100, "aria-label": "Progress of the call" });
      this.barText = h("p", { class: "small" });
      this.progress.replaceChildren(this.bar, this.barText);
    }
    if (share === null) this.bar.removeAttribute("value");
    else this.bar.value = share;
    this.barText.textContent = `${label} · ${numbers}`;
  }

  showHistory() {
    const calls = this.mine();
    this.history.hidden = calls.length < 2;
    if (this.history.hidden) return;
    const rows = calls.slice(0, 30).map((call) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "history-row", "aria-current": call.id === this.currentId, on: { click: () => this.select(call) } },
          badge(call.status),
          h("span", { class: "mono history-arguments" }, summary(call.arguments)),
          h("span", { class: "muted small" }, `${formatTime(call.time, false)} · ${formatDuration(call.ms) || "running"}`),
        ),
      ),
    );
    this.history.replaceChildren(h("summary", {}, `History of ${calls.length} calls`), h("ul", { class: "plain" }, rows));
  }

  select(call) {
    this.currentId = call.id;
    this.shownId = null;
    this.again?.(call.arguments ?? {});
    this.showCall(call);
    this.showHistory();
  }
}

function badge(status) {
  const [label, kind] = STATUS[status];
  return h("span", { class: `badge badge-${kind}` }, label);
}

function summary(args) {
  const text = args && Object.keys(args).length ? JSON.stringify(args) : "no arguments";
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
