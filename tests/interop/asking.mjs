// Every client answers the elicitation of the example `booking`: `node asking.mjs <client> <command… or URL>`.

import assert from 'node:assert/strict';

import { createClient } from './clients.mjs';
import { check, finish, startDeadline } from './report.mjs';

const [name, ...server] = process.argv.slice(2);
const capabilities = { elicitation: { form: {}, url: {} } };
const { client, connect, expected, onRequest, call } = createClient(name, capabilities);

let questions = [];
let reply = accept;
onRequest('elicitation/create', (params) => {
  questions.push(params);
  return reply(params);
});

startDeadline();
await check('connect', async () => assert.deepEqual(await connect(server), expected));
await check('a form, then a URL', () => formThenUrl());
await check('the user declines', () => declineForm());
await check('the user cancels the URL', () => cancelUrl());
await check('twenty conversations at once', () => concurrentConversations());
await check('close', () => client.close());
finish();

async function formThenUrl() {
  const result = await book('Oslo');
  assert.ok(!result.isError, JSON.stringify(result));
  assert.equal(result.content[0].text, 'Ada has a room in Oslo for 2 nights');
  const [form, page] = questions;
  assert.equal(questions.length, 2);
  assert.equal(form.message, 'Who stays in Oslo?');
  assert.deepEqual(Object.keys(form.requestedSchema.properties), ['name', 'nights']);
  assert.equal(form.requestedSchema.properties.nights.default, 1);
  assert.deepEqual(form.requestedSchema.required, ['name']);
  assert.equal(page.mode, 'url');
  assert.equal(page.url, 'https://example.com/deposit');
}

async function declineForm() {
  reply = () => ({ action: 'decline' });
  const result = await book('Rome');
  assert.equal(result.isError, true);
  assert.equal(result.content[0].text, 'the user declined');
  assert.equal(questions.length, 1);
}

async function cancelUrl() {
  reply = (params) => (params.mode === 'url' ? { action: 'cancel' } : accept(params));
  const result = await book('Rome');
  assert.equal(result.isError, true);
  assert.equal(result.content[0].text, 'the user cancelled');
  assert.equal(questions.length, 2);
}

async function concurrentConversations() {
  reply = accept;
  const cities = Array.from({ length: 20 }, (_, index) => `city ${index}`);
  const results = await Promise.all(cities.map((city) => book(city)));
  const texts = results.map((result) => result.content[0].text);
  assert.deepEqual(
    texts,
    cities.map((city) => `Ada has a room in ${city} for 2 nights`),
  );
}

function book(city) {
  questions = [];
  return call('book', { city });
}

function accept(params) {
  return params.mode === 'url'
    ? { action: 'accept' }
    : { action: 'accept', content: { name: 'Ada', nights: 2 } };
}
