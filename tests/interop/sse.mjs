// Client of the v1 SDK over HTTP+SSE, the predecessor of Streamable HTTP: `node sse.mjs <url of the stream>`.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';

import { check, startDeadline } from './report.mjs';

startDeadline();
const url = new URL(process.argv[2]);
const client = new Client(
  { name: 'interop-sse', version: '1.0.0' },
  { capabilities: { elicitation: {} } },
);
client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { confirmed: true } }));
const transport = new SSEClientTransport(url);

const text = (result) => result.content[0].text;

await check('connects', () => client.connect(transport));

await check('lists tools', async () => {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), ['add', 'confirm', 'release', 'sum', 'wait']);
});

await check('calls a tool', async () => {
  assert.equal(text(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })), '5');
});

await check('receives progress, then answers an elicitation request', async () => {
  const steps = [];
  const onprogress = ({ progress }) => steps.push(progress);
  const call = { name: 'confirm', arguments: {} };
  assert.equal(text(await client.callTool(call, undefined, { onprogress })), 'sure');
  // The result follows the elicitation, because this client drops progress that it reads together with the result.
  assert.deepEqual(steps, [1, 2, 3]);
});

await check('makes concurrent calls', async () => {
  const numbers = Array.from({ length: 64 }, (_, index) => index);
  const call = async (a) => text(await client.callTool({ name: 'add', arguments: { a, b: 1 } }));
  assert.deepEqual(await Promise.all(numbers.map(call)), numbers.map((a) => String(a + 1)));
});

await check('cancels a call', async () => {
  const stop = new AbortController();
  const call = client.callTool({ name: 'wait', arguments: {} }, undefined, { signal: stop.signal });
  stop.abort();
  await assert.rejects(call);
  await client.ping();
});

await check('closes the session', async () => {
  const endpoint = transport._endpoint;
  await client.close();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const headers = { 'content-type': 'application/json' };
  // The server detects the end of the stream when the connection closes.
  let status;
  while (status !== 404) ({ status } = await fetch(endpoint, { method: 'POST', headers, body }));
});
process.exit(0);
