// The official TypeScript SDK, v1: `node client-v1.mjs <server command…>`.
// It knows the `initialize` handshake only.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { run } from './scenario.mjs';

const server = process.argv.slice(2);
const client = new Client({ name: 'interop-v1', version: '1.0.0' });

await run({
  server,
  client,
  connect: async ([command, ...args]) => {
    const transport = new StdioClientTransport({ command, args });
    const negotiated = {};
    // The v1 client has no getter for the version: it tells its transport instead.
    transport.setProtocolVersion = (version) => (negotiated.version = version);
    await client.connect(transport);
    return negotiated;
  },
  expected: { version: '2025-11-25' },
});
