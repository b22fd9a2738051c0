// Starts `treenail inspect` with a server, and Chromium with its page.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import puppeteer from "puppeteer-core";

const root = fileURLToPath(new URL("../..", import.meta.url));
const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Programs of the tests, built by `run`. */
const treenail = process.env.TREENAIL ?? `${root}/target/debug/treenail`;
const server = `${root}/target/debug/examples/cli-test-server`;

const browsers = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts Chromium. Requests for other computers fail, and are reported in any case. */
export async function startBrowser() {
  const executablePath = browsers.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("Chromium is missing: install the package `chromium`, or set CHROMIUM to its path");
  return puppeteer.launch({
    executablePath,
    // The sandbox needs privileges that containers lack. The pages are ours.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--font-render-hinting=none"],
  });
}

/** Starts the program. `close` ends it. */
export function startInspector(...args) {
  return spawnInspector(["--no-open", ...args], {});
}

/** Starts the program, which opens the browser. Returns also the file that it opens. */
export async function startWithBrowser() {
  const folder = mkdtempSync(`${tmpdir()}/inspect-`);
  const pipe = `${folder}/pipe`;
  execFileSync("mkfifo", [pipe]);
  writeFileSync(`${folder}/xdg-open`, `#!/bin/sh\necho "$1" > '${pipe}'\n`, { mode: 0o700 });
  const inspector = await spawnInspector([], { PATH: `${folder}:${process.env.PATH}` });
  const file = (await readFile(pipe, "utf8")).trim();
  await rm(folder, { recursive: true });
  return { ...inspector, file };
}

async function spawnInspector(args, env) {
  const child = spawn(treenail, ["inspect", ...args, "--", server, "boatyard"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  let errors = "";
  child.stderr.on("data", (data) => (errors += data));
  const lines = createInterface({ input: child.stdout });
  const [url] = await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(() => Promise.reject(new Error(`treenail inspect has ended: ${errors}`))),
  ]);
  const close = async () => {
    child.kill("SIGINT");
    if (child.exitCode === null) await once(child, "exit");
    return { code: child.exitCode, errors };
  };
  return { url, close };
}

/** Opens the page of an inspector, and records its requests and errors. `prepare` runs in the page before its scripts. */
export async function openPage(browser, url, { width = 1360, height = 860, theme = "light", prepare = null } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const requests = [];
  const problems = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && problems.push(`console: ${message.text()} ${message.location().url ?? ""}`));
  await page.setViewport({ width, height });
  // The page scrolls to a result. Without the animation, a button does not move between its search and the click on it.
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: theme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  if (prepare) await page.evaluateOnNewDocument(prepare);
  await page.goto(url);
  await page.waitForSelector("#status[data-status=connected]");
  page.requests = requests;
  page.problems = problems;
  return page;
}

/** Opens an entry, such as `tools/plane`. */
export async function openEntry(page, entry) {
  const [kind, ...rest] = entry.split("/");
  await page.evaluate((hash) => (location.hash = hash), `#/${kind}/${encodeURIComponent(rest.join("/"))}`);
  await page.waitForFunction((key) => document.title.startsWith(`${key} · `), {}, rest.join("/"));
  await page.waitForSelector(".detail .actions, .detail-body");
}

/** Clicks on the element that a search returns, and repeats the search if the page has drawn a new one in the meantime. */
async function clickFound(find) {
  for (;;) {
    const element = await find();
    try {
      return await element.click();
    } catch (error) {
      if (await element.evaluate((one) => one.isConnected)) throw error;
    }
  }
}

/** Clicks on the first element of a selector. */
export function click(page, selector) {
  return clickFound(() => page.waitForSelector(selector, { visible: true }));
}

/** Returns the control with a label, within an element. */
export async function field(page, label, within = "body") {
  await page.waitForSelector("dialog[inert]", { hidden: true });
  const handle = await page.evaluateHandle(
    (text, scope) => {
      const labels = [...document.querySelectorAll(`${scope} label`)].filter((one) => one.textContent.trim() === text && one.checkVisibility());
      const target = labels[0];
      return target && (target.control ?? target.querySelector("input"));
    },
    label,
    within,
  );
  const element = handle.asElement();
  if (!element) throw new Error(`there is no field \`${label}\``);
  return element;
}

export async function fill(page, label, value, within) {
  const element = await field(page, label, within);
  const tag = await element.evaluate((one) => one.tagName);
  if (tag === "SELECT") {
    const option = await element.evaluate((one, text) => [...one.options].find((option) => option.text === text)?.value, value);
    return element.select(option);
  }
  const type = await element.evaluate((one) => one.type);
  if (type === "date") return element.evaluate((one, text) => { one.value = text; one.dispatchEvent(new Event("input", { bubbles: true })); }, value);
  await element.click({ count: 3 });
  await element.type(value);
}

/** Clicks on a button by its text or its name. */
export async function press(page, name, within = "body") {
  await clickFound(async () => {
    const handle = await page.waitForFunction(
      (text, scope) => [...document.querySelectorAll(`${scope} button`)].find((one) => (one.getAttribute("aria-label") ?? one.textContent).trim() === text && one.checkVisibility() && !one.closest("[inert]")),
      {},
      name,
      within,
    );
    return handle.asElement();
  });
}

/** Waits until an element contains a text. */
export async function waitForText(page, text, within = "body") {
  try {
    await page.waitForFunction((wanted, scope) => [...document.querySelectorAll(scope)].some((one) => one.textContent.includes(wanted)), {}, text, within);
  } catch {
    const shown = await page.evaluate((scope) => [...document.querySelectorAll(scope)].map((one) => one.innerText).join("\n"), within);
    throw new Error(`\`${text}\` does not appear in ${within}: ${shown}`);
  }
}

/** Returns the violations that axe-core finds, one in a line. */
export async function violations(page) {
  // The policy of the page allows no inline scripts, so axe is evaluated by the debugger.
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return found.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target} ${node.failureSummary.replaceAll("\n", " ")}`));
}

/** Takes a screenshot, if SCREENSHOTS is the name of a folder. */
export async function screenshot(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}
