// `treenail inspect` in headless Chromium, with a real server.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";

import { click, field, fill, openEntry, openPage, press, screenshot, startBrowser, startInspector, startWithBrowser, violations, waitForText } from "./page.mjs";

/** A dialog that takes input. */
const DIALOG = "dialog[open]:not([inert])";

let browser;
let inspector;
let page;

before(async () => {
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
});

for (const revision of ["2026-07-28", "2025-11-25"]) {
  describe(`a server of ${revision}`, { timeout: 120_000 }, () => {
    beforeEach(async () => {
      inspector = await startInspector("--protocol-version", revision);
      page = await openPage(browser, inspector.url);
    });

    afterEach(async () => {
      const { requests, problems } = page;
      const { origin } = new URL(inspector.url);
      await page.browserContext().close();
      const { code } = await inspector.close();
      assert.deepEqual(requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("data:") && !url.startsWith("blob:")), [], "requests leave the program");
      assert.ok(requests.length > 10);
      assert.deepEqual(problems, []);
      assert.equal(code, 0);
    });

    it("calls a tool with nested arguments", () => callWithNestedArguments());
    it("shows the progress of a call, and cancels it", () => showProgress());
    it("answers an elicitation", () => answerElicitation());
    it("shows a page to open with its host", () => answerPage());
    it("answers sampling by hand", () => answerSampling());
    it("reads resources, and follows their changes", () => readResources());
    it("shows the error of a tool", () => showError());
    it("follows changes of the list of tools", () => followLists());
    it("shows what has changed while the tab was hidden", () => showHiddenTab());
    it("completes arguments of prompts and templates", () => completeArguments());
    it("logs every message", () => logMessages());
    it("keeps the text of numbers", () => keepNumbers());
  });
}

async function fillEstimate() {
  await openEntry(page, "tools/estimate");
  await fill(page, "boat", "Kittiwake");
  await fill(page, "town", "Bergen");
  await fill(page, "country", "NO");
  await press(page, "Add an item", ".detail");
  await fill(page, "name", "plank", ".detail .item");
  await fill(page, "timber", "Larch", ".detail .item");
  await fill(page, "pieces", "12", ".detail .item");
  await page.select("select[aria-label='Kind of payment']", "1");
}

async function callWithNestedArguments() {
  await fillEstimate();
  await press(page, "Call tool");
  // Members of the chosen way to pay are missing.
  await waitForText(page, "do not match the schema", ".summary");
  await waitForText(page, "required", ".field-error");
  const invalid = await page.$$eval("[aria-invalid=true]", (all) => all.length);
  assert.equal(invalid, 2);
  await screenshot(page, "hints");
  const members = await page.$$(".group-union .variant input, .group-union .variant textarea");
  for (const member of members) await member.evaluate((one) => one.readOnly) || (await member.type("4000"));
  await press(page, "Call tool");
  await waitForText(page, "Result", ".call-head");
  await waitForText(page, '"total": 10800', ".call-body");
  await screenshot(page, "estimate");
  // The JSON editor has the same values.
  await press(page, "JSON", ".detail");
  const json = JSON.parse(await page.$eval(".json-editor", (one) => one.value));
  assert.deepEqual(json.parts, [{ name: "plank", timber: "Larch", pieces: 12 }]);
  assert.deepEqual(json.port, { town: "Bergen", country: "NO" });
  assert.equal(json.weeks, 2);
  assert.ok(!("note" in json), "an optional argument without a value is not sent");
}

async function showProgress() {
  await openEntry(page, "tools/plane");
  await fill(page, "planks", "3");
  await press(page, "Call tool");
  await page.waitForSelector("progress");
  await waitForText(page, "planing · ", ".call-progress");
  await waitForText(page, "3 planks are smooth", ".call-body");
  await fill(page, "planks", "500");
  await press(page, "Call tool");
  await waitForText(page, "planing · 2 of 500", ".call-progress");
  await screenshot(page, "progress");
  await press(page, "Cancel", ".call");
  await waitForText(page, "Cancelled", ".call-head");
  await waitForText(page, "History of 2 calls", ".history");
}

async function answerElicitation() {
  await openEntry(page, "tools/haul_out");
  await press(page, "Call tool");
  await page.waitForSelector(DIALOG);
  await waitForText(page, "Boatyard asks for input", "dialog");
  await press(page, "Send", "dialog");
  await waitForText(page, "required", "dialog .field-error");
  await fill(page, "Skipper", "Ada", "dialog");
  await fill(page, "Day", "2026-12-01", "dialog");
  await fill(page, "slip", "South, with a crane", "dialog");
  await (await field(page, "insured", "dialog")).click();
  await screenshot(page, "elicitation");
  // A request that is put aside waits.
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { hidden: true });
  await press(page, "1 request waits for you");
  await page.waitForSelector(DIALOG);
  await fill(page, "Skipper", "Ada", "dialog");
  await fill(page, "Day", "2026-12-01", "dialog");
  await fill(page, "slip", "South, with a crane", "dialog");
  await press(page, "Send", "dialog");
  await waitForText(page, "Ada on 2026-12-01 at the south slip, crew of 4, not insured, no note", ".call-body");
  await page.waitForSelector("dialog", { hidden: true });
  await press(page, "Call tool");
  await page.waitForSelector(DIALOG);
  await press(page, "Decline", "dialog");
  await waitForText(page, "The tool failed", ".call-head");
}

async function answerPage() {
  await openEntry(page, "tools/sign");
  await press(page, "Call tool");
  await waitForText(page, "http://127.0.0.1:9/contract", "dialog");
  await waitForText(page, "The connection to this page is not encrypted.", "dialog");
  const link = await page.$eval("dialog a", (one) => [one.href, one.target, one.rel]);
  assert.deepEqual(link, ["http://127.0.0.1:9/contract", "_blank", "noopener noreferrer"]);
  await screenshot(page, "url");
  await press(page, "Accept", "dialog");
  await waitForText(page, "signed", ".call-body");
}

async function answerSampling() {
  await openEntry(page, "tools/christen");
  await press(page, "Call tool");
  await waitForText(page, "Propose a name for a wooden ketch.", "dialog");
  await fill(page, "Answer", "Fulmar", "dialog");
  await screenshot(page, "sampling");
  await press(page, "Send the answer", "dialog");
  await waitForText(page, "Her name is Fulmar", ".call-body");
  await press(page, "Call tool");
  await waitForText(page, "Propose a name", "dialog");
  await press(page, "Reject", "dialog");
  await waitForText(page, "rejected", ".call-body");
}

async function readResources() {
  await openEntry(page, "resources/yard://flag");
  await press(page, "Read", ".detail");
  await page.waitForSelector(".call-body img");
  const width = await page.$eval(".call-body img", (image) => image.decode().then(() => image.naturalWidth));
  assert.equal(width, 8);
  await openEntry(page, "resources/tide://today");
  await press(page, "Subscribe", ".detail");
  await page.waitForFunction(() => document.querySelector(".detail [aria-pressed=true]")?.textContent === "Subscribed");
  await press(page, "Read", ".detail");
  await waitForText(page, '"step": 0', ".call-body");
  await openEntry(page, "tools/turn_tide");
  await press(page, "Call tool");
  await waitForText(page, "Result", ".call-head");
  await openEntry(page, "resources/tide://today");
  await waitForText(page, "Changed at", ".changed");
  await waitForText(page, "changed", ".entry-link");
  await press(page, "Read", ".detail");
  await waitForText(page, '"step": 1', ".call-body");
  await screenshot(page, "resource");
}

async function showError() {
  await openEntry(page, "tools/burn");
  await press(page, "Call tool");
  await waitForText(page, "The tool failed", ".call-head");
  await waitForText(page, "the ropes are wet", ".call-body");
  await screenshot(page, "error");
  // The hints do not prevent a call: the answer of the server may be the purpose.
  await openEntry(page, "tools/paint_shop");
  await press(page, "JSON", ".detail");
  await page.type(".json-editor", " ");
  await page.$eval(".json-editor", (one) => (one.value = '{"open": "wide"}'));
  await press(page, "Call tool");
  await waitForText(page, "expected true or false", ".field-error");
  await press(page, "Call anyway");
  await waitForText(page, "open", ".call-body");
  await page.waitForFunction(() => /failed|Error/.test(document.querySelector(".call-head").textContent));
}

async function followLists() {
  const names = () => page.$$eval(".entry-link", (links) => links.map((link) => link.getAttribute("href")));
  await openEntry(page, "tools/paint_shop");
  assert.ok((await names()).includes("#/tools/varnish"));
  await press(page, "Call tool");
  await page.waitForFunction(() => !document.querySelector("[href='#/tools/varnish']"));
  await (await field(page, "open")).click();
  await press(page, "Call tool");
  await page.waitForFunction(() => document.querySelector("[href='#/tools/varnish']"));
  assert.ok(await (await field(page, "open")).evaluate((one) => one.checked), "the form keeps its values");
}

async function showHiddenTab() {
  const setHidden = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await openEntry(page, "resources/tide://today");
  await press(page, "Subscribe", ".detail");
  await page.waitForFunction(() => document.querySelector(".detail [aria-pressed=true]")?.textContent === "Subscribed");
  await openEntry(page, "tools/paint_shop");
  await setHidden(true);
  const other = await openPage(browser, inspector.url);
  await openEntry(other, "tools/turn_tide");
  await press(other, "Call tool");
  await waitForText(other, "Result", ".call-head");
  await openEntry(other, "tools/paint_shop");
  await press(other, "Call tool");
  await other.waitForFunction(() => !document.querySelector("[href='#/tools/varnish']"));
  await other.browserContext().close();
  assert.ok(await page.$("[href='#/tools/varnish']"), "a hidden tab reads no events");
  await setHidden(false);
  await page.waitForFunction(() => !document.querySelector("[href='#/tools/varnish']"));
  await openEntry(page, "resources/tide://today");
  await waitForText(page, "Changed at", ".changed");
}

async function completeArguments() {
  await openEntry(page, "prompts/letter");
  await fill(page, "boat", "a");
  await page.waitForFunction(() => [...document.querySelectorAll(".detail datalist option")].map((one) => one.value).join() === "Albatross,Auk");
  await fill(page, "boat", "Auk");
  await press(page, "Get prompt");
  await waitForText(page, "Write a friendly letter to the owner of the Auk.", ".bubble-user");
  await waitForText(page, "I begin with the weather.", ".bubble-assistant");
  await screenshot(page, "prompt");
  await openEntry(page, "templates/drawing://{boat}/{part}");
  await fill(page, "boat", "Petrel");
  await fill(page, "part", "stem post");
  await waitForText(page, "drawing://Petrel/stem%20post", ".expanded");
  await press(page, "Read", ".detail");
  await waitForText(page, "stem post of the Petrel", ".call-body");
}

async function logMessages() {
  await openEntry(page, "tools/turn_tide");
  await press(page, "Call tool");
  await waitForText(page, "Result", ".call-head");
  await page.type("[aria-label='Filter messages by text']", "turn_tide");
  await page.select("[aria-label='Direction of messages']", "sent");
  const shown = () => page.$$eval(".log li", (items) => items.filter((item) => !item.hidden).map((item) => item.textContent));
  await page.waitForFunction(() => [...document.querySelectorAll(".log li")].filter((item) => !item.hidden).length === 1);
  assert.match((await shown())[0], /tools\/call.*turn_tide/);
  await click(page, ".log li:not([hidden]) summary");
  await waitForText(page, '"method": "tools/call"', ".log");
  await screenshot(page, "messages");
  await press(page, "Clear", ".messages");
  await waitForText(page, "0 messages", ".messages");
}

async function keepNumbers() {
  const value = async (label) => (await field(page, label, ".detail")).evaluate((one) => one.value);
  await openEntry(page, "tools/find_hull");
  // The default of the schema.
  assert.equal(await value("number"), "9007199254740993");
  await fill(page, "number", "9007199254740995", ".detail");
  await fill(page, "length", "7.50", ".detail");
  await press(page, "Call tool");
  await waitForText(page, '"number": 9007199254740995', ".call-body");
  await press(page, "JSON", ".detail");
  const json = await page.$eval(".json-editor", (one) => one.value);
  assert.match(json, /"number": 9007199254740995,\s+"length": 7\.50\s/);
  await page.$eval(".json-editor", (one) => (one.value = '{"number": 18446744073709551615, "length": 12.0}'));
  await press(page, "Call tool");
  await waitForText(page, '"number": 18446744073709551615,\n  "length": 12.0', ".call-body");
  await press(page, "Form", ".detail");
  assert.deepEqual([await value("number"), await value("length")], ["18446744073709551615", "12.0"]);
  await click(page, ".history summary");
  await click(page, ".history li:last-child button");
  assert.equal(await value("number"), "9007199254740995");
  await page.type("[aria-label='Filter messages by text']", "18446744073709551615");
  await page.select("[aria-label='Direction of messages']", "sent");
  await click(page, ".log li:not([hidden]) summary");
  await waitForText(page, '"number": 18446744073709551615,\n      "length": 12.0', ".log");
  await page.evaluate(() => {
    URL.createObjectURL = (blob) => {
      window.saved = blob.text();
      return "";
    };
  });
  await press(page, "Save", ".messages");
  assert.match(await page.evaluate(() => window.saved), /"number":18446744073709551615,"length":12\.0/);
  // The program has no larger integers.
  await fill(page, "number", "18446744073709551616", ".detail");
  await press(page, "Call tool");
  await waitForText(page, "too large to be sent exactly", ".field-error");
}

describe("the page", { timeout: 120_000 }, () => {
  beforeEach(async () => {
    inspector = await startInspector();
  });

  afterEach(async () => {
    await page?.browserContext().close();
    await inspector.close();
  });

  it("is usable by keyboard alone", async () => {
    page = await openPage(browser, inspector.url);
    await page.waitForSelector("[href='#/tools/plane']");
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("href") ?? document.activeElement?.textContent?.trim() ?? "");
    const tabTo = async (wanted) => {
      for (let step = 0; step < 60; step += 1) {
        if ((await focused()) === wanted) return;
        await page.keyboard.press("Tab");
      }
      assert.fail(`Tab does not reach ${wanted}`);
    };
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "#main");
    await tabTo("#/tools/plane");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.tagName === "H2" && document.activeElement.textContent === "Plane planks");
    await tabTo("Call tool");
    await page.keyboard.down("Shift");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.up("Shift");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    const label = await page.evaluate(() => document.activeElement.labels?.[0]?.textContent ?? document.activeElement.getAttribute("aria-label"));
    if (label !== "planks") {
      await page.keyboard.down("Shift");
      await page.keyboard.press("Tab");
      await page.keyboard.up("Shift");
    }
    await page.keyboard.type("2");
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await waitForText(page, "planks are smooth", ".call-body");
    await openEntry(page, "tools/haul_out");
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await page.waitForSelector(DIALOG);
    // The focus stays in the dialog.
    for (let step = 0; step < 25; step += 1) {
      await page.keyboard.press("Tab");
      assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null));
    }
    await page.keyboard.press("Escape");
    assert.match(await focused(), /1 request waits for you/);
  });

  for (const theme of ["light", "dark"]) {
    it(`has no violation that axe-core finds, in ${theme}`, async () => {
      page = await openPage(browser, inspector.url, { theme });
      const check = async (place) => {
        assert.deepEqual(await violations(page), [], place);
        await screenshot(page, `${theme}-${place}`);
      };
      await fillEstimate();
      await press(page, "Call tool");
      await waitForText(page, "do not match", ".summary");
      await check("form");
      await openEntry(page, "tools/varnish");
      await press(page, "Call tool");
      await page.waitForSelector(".call-body img");
      await press(page, "Call tool");
      await waitForText(page, "History of 2 calls", ".history");
      await click(page, ".history summary");
      await check("content");
      await openEntry(page, "tools/burn");
      await press(page, "Call tool");
      await waitForText(page, "the ropes are wet", ".call-body");
      await click(page, ".log li:last-child summary");
      await waitForText(page, "jsonrpc", ".log");
      await check("error");
      await openEntry(page, "resources/tide://today");
      await press(page, "Read", ".detail");
      await waitForText(page, "step", ".call-body");
      await check("resource");
      await openEntry(page, "prompts/letter");
      await check("prompt");
      await page.evaluate(() => (location.hash = "#/server"));
      await waitForText(page, "Capabilities of the server", ".single");
      await check("server");
      await openEntry(page, "tools/haul_out");
      await press(page, "Call tool");
      await page.waitForSelector(DIALOG);
      await check("elicitation");
      await press(page, "Cancel", "dialog");
      await openEntry(page, "tools/christen");
      await press(page, "Call tool");
      await waitForText(page, "Propose", "dialog");
      await check("sampling");
    });
  }

  it("is usable at 400 px", async () => {
    page = await openPage(browser, inspector.url, { width: 400, height: 800 });
    const check = async (place) => {
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${place} is ${overflow} px too wide`);
      assert.deepEqual(await violations(page), [], place);
      await screenshot(page, `small-${place}`);
    };
    await page.waitForSelector("[href='#/tools/estimate']");
    await check("list");
    await click(page, "[href='#/tools/estimate']");
    await fillEstimate();
    await check("form");
    await click(page, ".back");
    await click(page, "[href='#/tools/haul_out']");
    await press(page, "Call tool");
    await page.waitForSelector(DIALOG);
    await check("elicitation");
    await press(page, "Decline", "dialog");
    await waitForText(page, "The tool failed", ".call-head");
    await check("result");
    await click(page, "[data-section=messages]");
    await page.waitForSelector(".log li");
    await check("messages");
    await click(page, "[data-section=server]");
    await waitForText(page, "Roots", ".single");
    await check("server");
  });

  it("reads malformed and recursive schemas", async () => {
    page = await openPage(browser, inspector.url);
    const found = await page.evaluate(async () => {
      const [{ describe }, { createForm }, { validate }] = await Promise.all(["/schema.js", "/form.js", "/validate.js"].map((path) => import(path)));
      // In draft 3, `required` is a boolean.
      const older = { type: "object", required: ["a"], properties: { a: { type: "object", required: true, properties: { x: { type: "string" } } } } };
      const parts = { allOf: [{ $ref: "#" }, { $ref: "#" }, { $ref: "#" }] };
      const choices = { anyOf: [{ $ref: "#" }, { $ref: "#" }] };
      const members = { type: "object", required: ["a", "b"], properties: { a: { $ref: "#" }, b: { $ref: "#" } } };
      createForm(members);
      return {
        fields: createForm(older).element.querySelectorAll("input, textarea, select").length > 0,
        violations: validate({ a: { x: 1 } }, older, older).map(({ path }) => path.join(".")),
        unresolved: describe({ $ref: "#/%" }, {}).schema.unresolved,
        parts: describe(parts, parts).kind,
        choices: validate(1, choices, choices).length,
      };
    });
    assert.deepEqual(found, { fields: true, violations: ["a.x"], unresolved: "#/%", parts: "any", choices: 0 });
  });

  it("switches its colours", async () => {
    page = await openPage(browser, inspector.url);
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await click(page, "#theme");
    assert.equal(await background(), light);
    await click(page, "#theme");
    assert.notEqual(await background(), light);
  });

  it("shares a connection between tabs", async () => {
    page = await openPage(browser, inspector.url);
    const other = await openPage(browser, inspector.url);
    await openEntry(other, "tools/haul_out");
    await press(other, "Call tool");
    await page.waitForSelector(DIALOG);
    await press(page, "Decline", "dialog");
    await waitForText(other, "it was answered in another tab", "dialog");
    await press(other, "Close", "dialog");
    await other.waitForSelector("dialog", { hidden: true });
    await waitForText(other, "The tool failed", ".call-head");
    await other.browserContext().close();
  });

  it("gives no click to a request that replaces another", async () => {
    page = await openPage(browser, inspector.url);
    const { origin, hash } = new URL(inspector.url);
    const headers = { authorization: `Bearer ${hash.split("=")[1]}` };
    const post = (path, body) => fetch(`${origin}/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const { id } = await (await post("calls", { kind: "tool", target: "sign", arguments: {} })).json();
    await waitForText(page, "asks you to open a page", DIALOG);
    await post("calls", { kind: "tool", target: "christen", arguments: {} });
    await page.waitForFunction(() => document.querySelector("#open-asks").textContent.startsWith("2 requests"));
    // A user clicks where the buttons are, on everything that appears there.
    const points = await page.$$eval("dialog button, dialog a", (all) => all.map((one) => one.getBoundingClientRect()).map(({ x, y, width, height }) => [x + width / 2, y + height / 2]));
    const clickAll = async () => {
      for (const [x, y] of points) await page.mouse.click(x, y);
    };
    await post(`calls/${id}/cancel`, {});
    await waitForText(page, "This request is no longer open", "dialog h2");
    await clickAll();
    await waitForText(page, "This request is no longer open", "dialog h2");
    await press(page, "Close", "dialog");
    await waitForText(page, "asks for a model", "dialog h2");
    await clickAll();
    await page.keyboard.press("Enter");
    await waitForText(page, "asks for a model", "dialog h2");
    await fill(page, "Answer", "Fulmar", "dialog");
    await press(page, "Send the answer", "dialog");
    await page.waitForSelector("dialog", { hidden: true });
    await openEntry(page, "tools/christen");
    await waitForText(page, "Her name is Fulmar", ".call-body");
  });

  it("works without the text of numbers", async () => {
    page = await openPage(browser, inspector.url, { prepare: () => delete JSON.rawJSON });
    await openEntry(page, "tools/find_hull");
    await fill(page, "length", "7.50", ".detail");
    await press(page, "Call tool");
    await waitForText(page, "too large to be sent exactly", ".field-error");
    await fill(page, "number", "12", ".detail");
    await press(page, "Call tool");
    await waitForText(page, '"length": 7.5', ".call-body");
    assert.deepEqual(page.problems, []);
  });

  it("connects again, and reports the end of the program", async () => {
    page = await openPage(browser, inspector.url);
    await press(page, "Reconnect");
    await page.waitForFunction(() => document.querySelector("#status").dataset.status === "connected");
    await page.waitForSelector("[href='#/tools/plane']");
    await inspector.close();
    await page.waitForSelector("#status[data-status=gone]");
  });

  it("opens from a file, which is deleted then", async () => {
    const opened = await startWithBrowser();
    try {
      page = await openPage(browser, `file://${opened.file}`);
      assert.ok(!existsSync(opened.file));
      assert.deepEqual(page.problems, []);
      const { origin } = new URL(opened.url);
      assert.equal(page.url(), `${origin}/#/tools`);
      const other = await (await browser.createBrowserContext()).newPage();
      await other.goto(`${origin}/#code=used`);
      await waitForText(other, "This page could not be opened: the link was used already, or has expired.");
      await waitForText(other, "Open the URL that `treenail inspect` printed");
      await other.browserContext().close();
    } finally {
      await opened.close();
    }
  });

  it("needs the token", async () => {
    const { origin } = new URL(inspector.url);
    page = await (await browser.createBrowserContext()).newPage();
    await page.goto(origin);
    await waitForText(page, "This page needs its token");
    assert.equal((await fetch(`${origin}/api/events`)).status, 401);
    const token = new URLSearchParams(new URL(inspector.url).hash.slice(1)).get("token");
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await fetch(`${origin}/api/lists/none`, { headers })).status, 404);
    const foreign = await fetch(`${origin}/api/lists/tools`, { headers: { ...headers, origin: "http://evil.example" } });
    assert.equal(foreign.status, 403);
  });
});
