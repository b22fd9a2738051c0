// Every client uses the example `files`, which serves an empty directory:
// `node files.mjs <client> <directory> <command… or URL>`.

import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';

import { createClient, isHttp } from './clients.mjs';
import { check, finish, startDeadline } from './report.mjs';
import { BINARY, NUMBERS, TEXTS, fillTree, linesWith } from './tree.mjs';

const INVALID_PARAMS = -32602;

/** All child processes of this program, because the SDKs do not expose the exit codes of theirs. */
const children = [];
subscribe('child_process', ({ process }) => children.push(process));

const [name, directory, ...server] = process.argv.slice(2);
const { client, connect, expected } = createClient(name);
const errors = [];
client.onerror = (error) => errors.push(error);

startDeadline();
fillTree(directory);
await check('connect', async () => assert.deepEqual(await connect(server), expected));
await check('server info', () => serverInfo());
await check('tools/list', () => listTools());
await check('files.list', () => list());
await check('files.read with a range of lines', () => read());
await check('files.search', () => search());
await check('results with isError', () => toolErrors());
await check('unknown tool', () => unknownTool());
await check('100 calls in flight', () => manyCalls());
await check('close', () => (isHttp(server) ? client.close() : close()));
await check('no error of the client', () => assert.deepEqual(errors, []));
finish();

function serverInfo() {
  const { name, version } = client.getServerVersion();
  assert.equal(name, 'files');
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.match(client.getInstructions(), /\w/);
  assert.ok(client.getServerCapabilities().tools, 'the server declares the `tools` capability');
}

async function listTools() {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  assert.deepEqual(names, ['files.list', 'files.read', 'files.search']);
  for (const tool of tools) {
    assert.match(tool.description, /\w/, `${tool.name} has a description`);
    assert.equal(tool.annotations?.readOnlyHint, true, `${tool.name} is read-only`);
    assert.equal(tool.outputSchema?.type, 'object', `${tool.name} has an output schema`);
    assert.equal(tool.inputSchema.type, 'object');
    for (const [name, schema] of Object.entries(tool.inputSchema.properties)) {
      assert.match(schema.description ?? '', /\w/, `${tool.name} describes \`${name}\``);
    }
  }
  const required = tools.map((tool) => tool.inputSchema.required ?? []);
  assert.deepEqual(required, [[], ['path'], ['pattern']]);
}

async function list() {
  const files = Object.entries({ ...BINARY, ...TEXTS }).map(([path, text]) => ({
    path,
    bytes: Buffer.byteLength(text),
  }));
  const notes = files.filter(({ path }) => path.startsWith('notes/'));
  const rust = files.filter(({ path }) => path.endsWith('.rs'));
  const cases = [
    [{}, files, false],
    [{ path: 'notes' }, notes, false],
    [{ path: 'notes', limit: 1 }, notes.slice(0, 1), true],
    [{ glob: '*.rs' }, rust, false],
  ];
  for (const [args, files, truncated] of cases) {
    assert.deepEqual(await call('files.list', args), { files, truncated });
  }
}

async function read() {
  const path = 'notes/poem.txt';
  const text = TEXTS[path];
  const whole = await call('files.read', { path });
  const page = { path, total_lines: 3, truncated: false };
  assert.deepEqual(whole, { ...page, first_line: 1, last_line: 3, text });

  const middle = await call('files.read', { path, first_line: 2, last_line: 2 });
  const line = 'ganz still und stumm,\n';
  assert.deepEqual(middle, { ...page, first_line: 2, last_line: 2, text: line });
}

async function search() {
  const found = await call('files.search', { pattern: 'needle|M.nnlein' });
  const matches = [...linesWith('Männlein'), ...linesWith('needle')];
  const files_searched = Object.keys(TEXTS).length;
  assert.deepEqual(found, { matches, truncated: false, files_searched, files_skipped: 1 });

  const args = { pattern: '^line \\d+$', glob: 'notes/*.txt', limit: 7 };
  const first = await call('files.search', args);
  assert.deepEqual(first.matches, linesWith('line ').slice(0, 7));
  assert.equal(first.truncated, true);
}

async function toolErrors() {
  const cases = [
    ['files.read', { path: 'notes/none.txt' }, 'notes/none.txt'],
    ['files.read', { path: '../secret.txt' }, '../secret.txt'],
    ['files.read', { path: 'escape.txt' }, 'escape.txt'],
    ['files.search', { pattern: '(' }, '('],
    ['files.read', { path: 5 }, '/path'],
    ['files.read', {}, '/path'],
    ['files.search', { pattern: 'x', limit: 0 }, '/limit'],
    ['files.search', { pattern: 'x', golb: '*.rs' }, '`glob`'],
  ];
  for (const [name, args, mentioned] of cases) {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content.map((block) => block.text).join('\n');
    const label = `${name} ${JSON.stringify(args)} → ${JSON.stringify(result)}`;
    assert.equal(result.isError, true, label);
    assert.ok(text.includes(mentioned), `mentions \`${mentioned}\`: ${label}`);
    assert.ok(!text.includes('needle'), `leaks nothing from outside: ${label}`);
  }
}

async function unknownTool() {
  const calling = client.callTool({ name: 'files.serch', arguments: { pattern: 'x' } });
  await assert.rejects(calling, (error) => {
    assert.equal(error.code, INVALID_PARAMS);
    assert.match(error.message, /`serch`.*`files\.search`/);
    return true;
  });
}

/** Writes all requests before it reads the first response. */
async function manyCalls() {
  const path = 'notes/numbers.txt';
  const calls = NUMBERS.map((_, index) =>
    call('files.read', { path, first_line: index + 1, last_line: index + 1 }),
  );
  const texts = (await Promise.all(calls)).map(({ text }) => text);
  assert.deepEqual(texts, NUMBERS.map((line) => `${line}\n`));
}

/** The SDK closes stdin and sends a signal two seconds later. The server must exit before that. */
async function close() {
  const server = children.at(-1);
  const exited = once(server, 'exit');
  await client.close();
  const [code, signal] = await exited;
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
}

/** Calls a tool that must succeed. Its text must equal its structured content. */
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  const label = `${name} ${JSON.stringify(args)} → ${JSON.stringify(result)}`;
  assert.ok(!result.isError, label);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, label);
  return result.structuredContent;
}
