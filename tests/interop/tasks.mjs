// Every client runs the tools of the server `jobs` as tasks: `node tasks.mjs <client> <command… or URL>`.

import assert from 'node:assert/strict';

import { check, finish, startDeadline } from './report.mjs';
import { createTaskClient } from './task_clients.mjs';

const [name, ...server] = process.argv.slice(2);

let questions = [];
let reply = accept;
let client;

startDeadline();
await check('connect', () => connect());
await check('a direct result', () => directResult());
await check('a task with a result', () => taskResult());
await check('a tool error', () => toolError());
await check('a protocol error', () => protocolError());
await check('a question half-way', () => question());
await check('the user declines', () => declinedQuestion());
await check('cancellation', () => cancellation());
await check('ten tasks at once', () => concurrentTasks());
await check('a task that continues after a restart of the client', () => recovery());
if (name !== 'v2-legacy') {
  // The package polls `tasks/get` only, and its new session has not called the tool.
  await check('a question that is open across a restart', () => openQuestion());
}
await check('an unknown task', () => unknownTask());
await check('close', () => client.close());
finish();

async function connect() {
  client = createTaskClient(name, (params) => {
    questions.push(params);
    return reply(params);
  });
  assert.deepEqual(await client.connect(server), { execution: true, cancellation: true });
}

async function directResult() {
  const execution = await client.start('greet', { name: 'Ada' }, false);
  assert.equal(execution.kind, 'immediate');
  assert.equal(text(await execution.outcome()), 'Hello, Ada!');
}

async function taskResult() {
  const { kind, outcome } = await client.start('add', { a: 40, b: 2 }, true);
  assert.equal(kind, 'task');
  const ended = await outcome();
  assert.equal(text(ended), '42');
  const expected = client.era === 'legacy' ? { result: 42 } : 42;
  assert.deepEqual(ended.result.structuredContent, expected);
}

/** In the modern era, a result with `isError` completes its task. */
async function toolError() {
  const { outcome } = await client.start('fail', {}, true);
  const ended = await outcome();
  if (client.era === 'legacy') {
    assert.equal(ended.status, 'failed');
    return;
  }
  assert.equal(ended.status, 'completed');
  assert.equal(ended.result.isError, true);
  assert.equal(ended.result.content[0].text, 'out of paper');
}

async function protocolError() {
  const { outcome } = await client.start('refuse', {}, true);
  const { status, error } = await outcome();
  assert.equal(status, 'failed');
  if (client.era === 'modern') assert.equal(error.code, -32021);
}

async function question() {
  questions = [];
  const { outcome } = await client.start('order', { item: 'tea' }, true);
  assert.equal(text(await outcome()), 'tea is ordered under 7');
  assert.deepEqual(questions.map(({ message }) => message), ['Order tea?']);
}

async function declinedQuestion() {
  reply = () => ({ action: 'decline' });
  const { outcome } = await client.start('order', { item: 'ink' }, true);
  const { status, result } = await outcome();
  reply = accept;
  if (client.era === 'legacy') {
    assert.equal(status, 'failed');
    return;
  }
  assert.equal(result.isError, true);
  assert.equal(result.content[0].text, 'the user declined');
}

async function cancellation() {
  const { outcome, cancel } = await client.start('wait', {}, true);
  await cancel();
  assert.equal((await outcome()).status, 'cancelled');
}

async function concurrentTasks() {
  const numbers = Array.from({ length: 10 }, (_, index) => index);
  const started = await Promise.all(
    numbers.map((number) => client.start('add', { a: number, b: 1 }, true)),
  );
  const ended = await Promise.all(started.map(({ outcome }) => outcome()));
  assert.deepEqual(
    ended.map((outcome) => text(outcome)),
    numbers.map((number) => String(number + 1)),
  );
}

/** Over stdio, the server restarts too, and runs the tool again. */
async function recovery() {
  const { reference } = await client.start('hold', {}, true);
  await restart();
  const { outcome } = await client.resume(reference);
  await client.call('release', {});
  assert.equal(text(await outcome()), 'released');
}

async function openQuestion() {
  let asked;
  const seen = new Promise((resolve) => (asked = resolve));
  reply = () => {
    asked();
    return new Promise(() => {});
  };
  const { reference } = await client.start('order', { item: 'paper' }, true);
  await seen;
  reply = accept;
  await restart();
  const { outcome } = await client.resume(reference);
  assert.equal(text(await outcome()), 'paper is ordered under 7');
}

async function unknownTask() {
  const { reference } = await client.start('add', { a: 1, b: 1 }, true);
  const unknown = '0123456789abcdef0123456789abcdef';
  const other = typeof reference === 'string' ? unknown : { ...reference, taskId: unknown };
  await assert.rejects(
    client.resume(other).then(({ outcome }) => outcome()),
    { code: -32602 },
  );
}

/** Replaces the client by a new one, as after the end of its process. */
async function restart() {
  await client.close();
  await connect();
}

function accept() {
  return { action: 'accept', content: { confirm: true } };
}

function text({ status, result }) {
  assert.equal(status, 'completed', JSON.stringify(result));
  assert.ok(!result.isError, JSON.stringify(result));
  return result.content[0].text;
}
