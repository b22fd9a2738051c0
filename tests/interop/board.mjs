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
const { client, era, connect, expected, call, onNotification, watch } = createClient(name);

/** Notifications that no check has awaited yet, and the pending waiters. */
const changes = [];
let wake = () => {};
onNotification('notifications/resources/updated', ({ uri }) => addChange(uri));
onNotification('notifications/tools/list_changed', () => addChange('tools'));

startDeadline();
const options = { fetch: wire.fetch };
await check('connect', async () => assert.deepEqual(await connect(server, options), expected));
await check('subscribe', () => subscribe());
await check('a resource is updated', () => updateResource());
await check('the list of tools changes', () => changeToolList());
await check('progress, then a result', () => waitForNote());
await check('a call is cancelled', () => cancelCall());
if (http) {
  await check('another client changes something', () => changeByOtherClient());
  if (era === 'legacy') {
    await check('a stream is lost and resumed', () => resumeStream());
    await check('the session is deleted', () => deleteSession());
  } else {
    await check('a stream is lost, and its call with it', () => loseStream());
    await check('there is no session', () => checkNoSession());
  }
}
await check('close', () => client.close());
finish();

async function subscribe() {
  const uris = [NOTES, WAITING];
  const { honoredFilter } = await watch(uris);
  const honored = { toolsListChanged: true, resourceSubscriptions: uris };
  if (era === 'modern') assert.deepEqual(honoredFilter, honored);
}

async function updateResource() {
  await pin('breakfast at eight');
  await waitForChange(NOTES);
  assert.deepEqual(await read(NOTES), ['breakfast at eight']);
}

async function changeToolList() {
  assert.deepEqual(await tools(), ['board.allow', 'board.pin', 'board.wait']);
  await call('board.allow', { pinning: false });
  await waitForChange('tools');
  assert.deepEqual(await tools(), ['board.allow', 'board.wait']);
  await assert.rejects(call('board.pin', { note: 'no' }), { code: -32602 });
  await call('board.allow', { pinning: true });
  await waitForChange('tools');
  assert.deepEqual(await tools(), ['board.allow', 'board.pin', 'board.wait']);
}

async function waitForNote() {
  const { progress, result } = startWaiting('lunch');
  assert.equal((await progress.next()).value, 1);
  assert.equal(await read(WAITING), 1);
  await pin('tea at four');
  assert.equal((await progress.next()).value, 2);
  await pin('lunch at noon');
  assert.equal(text(await result), 'lunch at noon');
  await waitForValue(WAITING, 0);
}

/** Over HTTP in the modern era, the client closes the stream instead of sending a message. */
async function cancelCall() {
  const stop = new AbortController();
  const { progress, result } = startWaiting('dinner', stop.signal);
  await progress.next();
  assert.equal(await read(WAITING), 1);
  const sent = wire.requests.length;
  stop.abort();
  await assert.rejects(result);
  await waitForValue(WAITING, 0);
  if (http) {
    const methods = wire.requests.slice(sent).map(({ message }) => message?.method);
    assert.equal(methods.includes('notifications/cancelled'), era === 'legacy', `${methods}`);
  }
}

async function changeByOtherClient() {
  const other = createClient(name);
  await other.connect(server);
  changes.length = 0;
  await other.call('board.pin', { note: 'from elsewhere' });
  await waitForChange(NOTES);
  assert.equal((await read(NOTES)).at(-1), 'from elsewhere');
  await other.client.close();
}

/** The call continues while the client is disconnected. The client reconnects and receives the missed messages. */
async function resumeStream() {
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

async function deleteSession() {
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
async function loseStream() {
  const stop = new AbortController();
  const { progress, result } = startWaiting('supper', stop.signal);
  await progress.next();
  wire.cut();
  // The subscriptions used a stream, too.
  changes.length = 0;
  await watch([WAITING]);
  await waitForValue(WAITING, 0);
  stop.abort();
  await assert.rejects(result);
}

function checkNoSession() {
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

function addChange(change) {
  changes.push(change);
  wake();
}

/** Waits for a notification of a change. */
async function waitForChange(change) {
  while (!changes.includes(change)) await new Promise((resolve) => (wake = resolve));
  changes.splice(changes.indexOf(change), 1);
}

/** Reads a resource after each change, until it has the expected value. */
async function waitForValue(uri, value) {
  while ((await read(uri)) !== value) await waitForChange(uri);
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
