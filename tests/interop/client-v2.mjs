// The official TypeScript SDK, v2: `node client-v2.mjs <modern|legacy> <server command…>`.
// modern: finds the era with `server/discover`; legacy: opens with `initialize`.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { run } from './scenario.mjs';

const MODES = {
  modern: { negotiation: 'auto', expected: { version: '2026-07-28', era: 'modern' } },
  legacy: { negotiation: 'legacy', expected: { version: '2025-11-25', era: 'legacy' } },
};

const [name, ...server] = process.argv.slice(2);
const mode = MODES[name];
if (!mode) throw new Error(`the first argument is \`modern\` or \`legacy\`, not \`${name}\``);

const client = new Client(
  { name: `interop-v2-${name}`, version: '1.0.0' },
  { versionNegotiation: { mode: mode.negotiation } },
);

await run({
  server,
  client,
  connect: async ([command, ...args]) => {
    await client.connect(new StdioClientTransport({ command, args }));
    return { version: client.getNegotiatedProtocolVersion(), era: client.getProtocolEra() };
  },
  expected: mode.expected,
});
