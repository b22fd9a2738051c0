// Every client uses a server without sessions: `node sums.mjs <client> <URL>`.

import assert from 'node:assert/strict';

import { createClient } from './clients.mjs';
import { check, finish, startDeadline } from './report.mjs';

const [name, ...server] = process.argv.slice(2);
const { client, connect, expected, call } = createClient(name);

startDeadline();
await check('connect', async () => assert.deepEqual(await connect(server), expected));
await check('tools/list', async () => {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), ['add', 'confirm', 'release', 'sum', 'wait']);
});
await check('100 calls in flight', async () => {
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const sums = await Promise.all(numbers.map((a) => call('add', { a, b: 1 })));
  assert.deepEqual(sums.map((sum) => sum.content[0].text), numbers.map((a) => String(a + 1)));
});
await check('progress, then a result', async () => {
  const steps = [];
  const sum = await new Promise((resolve) => {
    const onprogress = ({ progress }) => {
      if (steps.push(progress) === 3) call('release', {}).then(() => resolve(result));
    };
    const result = call('sum', { numbers: [1, 2, 3] }, { onprogress });
  });
  assert.equal(sum.content[0].text, '6');
  assert.deepEqual(steps, [1, 3, 6]);
});
await check('close', () => client.close());
finish();
