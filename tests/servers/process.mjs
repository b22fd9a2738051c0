// Server of the legacy era for tests of processes. Arguments and tools control its behaviour. It reports events over a
// separate connection, which closes when the process exits, so that a test can detect every kind of exit.
import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import net from 'node:net';
import { createInterface } from 'node:readline';

const [lifeline, ...behaviours] = process.argv.slice(2);
const has = behaviour => behaviours.includes(behaviour);
const line = net.connect(Number(lifeline), '127.0.0.1');
line.write('started\n');

if (has('heeds-sigterm') || has('ignores-sigterm')) {
  process.on('SIGTERM', () => line.write('SIGTERM\n', () => has('heeds-sigterm') && process.exit(0)));
}
if (has('leaves-a-child')) {
  // The child has its own connection, and ignores the end of its input.
  const program = `require('net').connect(${lifeline}, '127.0.0.1').write('child\\n')`;
  spawn(process.execPath, ['-e', program], { stdio: ['ignore', has('shares-output') ? 'inherit' : 'ignore', 'ignore'] });
}
// Written synchronously, because buffered output is lost when the process exits.
if (has('writes-much-to-stderr')) {
  for (let count = 0; count < 50_000; count += 1) writeSync(2, `${'x'.repeat(99)}\n`);
}
writeSync(2, Buffer.from('ready\nbroken \xff line\n', 'latin1'));

const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
const say = (id, value) => answer(id, { content: [{ type: 'text', text: JSON.stringify(value) }] });

const tools = {
  env: id => say(id, process.env),
  cwd: id => say(id, process.cwd()),
  exit: () => process.exit(3),
  abort: () => process.kill(process.pid, 'SIGKILL'),
  wait: () => {},
  'close-output': () => closeSync(1),
};

createInterface({ input: process.stdin })
  .on('line', text => {
    const { id, method, params } = JSON.parse(text);
    line.write(`${method}\n`);
    if (method === 'server/discover') {
      if (has('dies-when-probed')) process.exit(9);
      console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }));
    } else if (method === 'initialize') {
      if (has('dies-when-greeted')) process.exit(7);
      const serverInfo = { name: 'process', version: '1' };
      answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
    } else if (method === 'tools/call') {
      tools[params.name](id);
    }
  })
  .on('close', () => {
    writeSync(2, 'the end');
    if (!has('ignores-end-of-input') && !has('leaves-a-child')) process.exit(0);
    if (has('leaves-a-child')) line.end(() => process.exit(0));
  });
