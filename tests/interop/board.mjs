// Every client receives the notifications of the example `board`: `node board.mjs <client> <command… or URL>`.

import assert from 'node:assert/strict';

import { createClient, isHttp } from './clients.mjs';
import { check, finish, startDeadline } from './report.mjs';
import { createWire } from './wire.mjs';

const NOTES = 'board://notes';
const WAITING = 'board://waiting';

const [name, ...server] = process.argv.slice(2);
const http = isHttp(server);
const wire = createWire();
const { client, era, connect, expected, call, hear, watch } = createClient(name);

/** Notifications that no check has awaited yet, and the pending waiters. */
const told = [];
let wake = () => {};
hear('notifications/resources/updated', ({ uri }) => tell(uri));
hear('notifications/tools/list_changed', () => tell('tools'));

startDeadline();
const options = { fetch: wire.fetch };
await check('connect', async () => assert.deepEqual(await connect(server, options), expected));
await check('subscribe', () => subscribes());
await check('a resource is updated', () => updated());
await check('the list of tools changes', () => listChanged());
await check('progress, then a result', () => waits());
await check('a call is cancelled', () => cancelled());
if (http) {
  await check('another client changes something', () => shared());
  if (era === 'legacy') {
    await check('a stream is lost and resumed', () => resumed());
    await check('the session is deleted', () => deleted());
  } else {
    await check('a stream is lost, and its call with it', () => lost());
    await check('there is no session', () => noSession());
  }
}
await check('close', () => client.close());
finish();

async function subscribes() {
  const uris = [NOTES, WAITING];
  const { honoredFilter } = await watch(uris);
  const honored = { toolsListChanged: true, resourceSubscriptions: uris };
  if (era === 'modern') assert.deepEqual(honoredFilter, honored);
}

async function updated() {
  await pin('breakfast at eight');
  await hears(NOTES);
  assert.deepEqual(await read(NOTES), ['breakfast at eight']);
}

async function listChanged() {
  assert.deepEqual(await tools(), ['board.allow', 'board.pin', 'board.wait']);
  await call('board.allow', { pinning: false });
  await hears('tools');
  assert.deepEqual(await tools(), ['board.allow', 'board.wait']);
  await assert.rejects(call('board.pin', { note: 'no' }), { code: -32602 });
  await call('board.allow', { pinning: true });
  await hears('tools');
  assert.deepEqual(await tools(), ['board.allow', 'board.pin', 'board.wait']);
}

async function waits() {
  const { progress, result } = startWaiting('lunch');
  assert.equal((await progress.next()).value, 1);
  assert.equal(await read(WAITING), 1);
  await pin('tea at four');
  assert.equal((await progress.next()).value, 2);
  await pin('lunch at noon');
  assert.equal(text(await result), 'lunch at noon');
  await reads(WAITING, 0);
}

/** Over HTTP in the modern era, the client closes the stream instead of sending a message. */
async function cancelled() {
  const stop = new AbortController();
  const { progress, result } = startWaiting('dinner', stop.signal);
  await progress.next();
  assert.equal(await read(WAITING), 1);
  const sent = wire.requests.length;
  stop.abort();
  await assert.rejects(result);
  await reads(WAITING, 0);
  if (http) {
    const methods = wire.requests.slice(sent).map(({ message }) => message?.method);
    assert.equal(methods.includes('notifications/cancelled'), era === 'legacy', `${methods}`);
  }
}

async function shared() {
  const other = createClient(name);
  await other.connect(server);
  told.length = 0;
  await other.call('board.pin', { note: 'from elsewhere' });
  await hears(NOTES);
  assert.equal((await read(NOTES)).at(-1), 'from elsewhere');
  await other.client.close();
}

/** The call continues while the client is disconnected. The client reconnects and receives the missed messages. */
async function resumed() {
  const { progress, result } = startWaiting('supper');
  await progress.next();
  const sent = wire.requests.length;
  wire.cut();
  await pin('supper at six');
  assert.equal(text(await result), 'supper at six');
  const resuming = wire.requests.slice(sent).filter(({ verb }) => verb === 'GET');
  assert.ok(resuming[0]?.lastEventId, JSON.stringify(resuming));
  assert.equal(resuming[0].status, 200);
}

async function deleted() {
  const { session } = wire.requests.at(-1);
  assert.match(session, /^[!-~]{16,}$/);
  await client.transport.terminateSession();
  const { verb, status } = wire.requests.at(-1);
  assert.deepEqual({ verb, status }, { verb: 'DELETE', status: 204 });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': session,
    'mcp-protocol-version': expected.version,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const response = await fetch(server[0], { method: 'POST', headers, body });
  assert.equal(response.status, 404);
}

/** The server drops the call. Another client observes that, because the SDK of this one keeps waiting. */
async function lost() {
  const stop = new AbortController();
  const { progress, result } = startWaiting('supper', stop.signal);
  await progress.next();
  wire.cut();
  // The subscriptions used a stream, too.
  told.length = 0;
  await watch([WAITING]);
  await reads(WAITING, 0);
  stop.abort();
  await assert.rejects(result);
}

function noSession() {
  const verbs = new Set(wire.requests.map(({ verb }) => verb));
  assert.deepEqual([...verbs], ['POST']);
  assert.ok(wire.requests.every(({ session }) => session === null));
}

/** Calls `board.wait`; `progress` is an iterator over its progress notifications. */
function startWaiting(word, signal) {
  const steps = [];
  let wake = () => {};
  const onprogress = (step) => {
    steps.push(step.progress);
    wake();
  };
  const result = call('board.wait', { word }, { onprogress, signal });
  result.catch(() => {});
  async function* progress() {
    for (;;) {
      while (steps.length > 0) yield steps.shift();
      await new Promise((resolve) => (wake = resolve));
    }
  }
  return { progress: progress(), result };
}

function tell(what) {
  told.push(what);
  wake();
}

/** Waits for a notification of a change. */
async function hears(what) {
  while (!told.includes(what)) await new Promise((resolve) => (wake = resolve));
  told.splice(told.indexOf(what), 1);
}

/** Reads a resource after each change, until it has the expected value. */
async function reads(uri, value) {
  while ((await read(uri)) !== value) await hears(uri);
}

async function read(uri) {
  const { contents } = await client.readResource({ uri });
  return JSON.parse(contents[0].text);
}

async function tools() {
  const { tools } = await client.listTools();
  return tools.map((tool) => tool.name).sort();
}

async function pin(note) {
  const result = await call('board.pin', { note });
  // A number is structured content by itself, or wrapped in an object for revisions that require one.
  const count = Number(text(result));
  assert.deepEqual(result.structuredContent, era === 'legacy' ? { result: count } : count);
}

function text(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  return result.content[0].text;
}
