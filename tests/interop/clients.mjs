// The clients of the official TypeScript SDKs, in the ways in which they can be used.

import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1Stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as v2 from '@modelcontextprotocol/client';
import * as v2Stdio from '@modelcontextprotocol/client/stdio';

/** v2-modern finds the era with `server/discover`; v2-legacy opens with `initialize`. */
const V2_MODES = {
  'v2-modern': { negotiation: 'auto', expected: { version: '2026-07-28', era: 'modern' } },
  'v2-legacy': { negotiation: 'legacy', expected: { version: '2025-11-25', era: 'legacy' } },
};

/**
 * @param name          `v1`, `v2-modern` or `v2-legacy`
 * @param capabilities  what the client declares
 * @returns client; connect: command line -> what was negotiated; expected: what must have been negotiated;
 *          answer: (method, params -> result) answers the server's requests
 */
export function createClient(name, capabilities = {}) {
  return name === 'v1' ? createV1(capabilities) : createV2(name, capabilities);
}

/** It knows the `initialize` handshake only. */
function createV1(capabilities) {
  const client = new v1.Client({ name: 'interop-v1', version: '1.0.0' }, { capabilities });
  const schemas = {
    'elicitation/create': ElicitRequestSchema,
    'sampling/createMessage': CreateMessageRequestSchema,
    'roots/list': ListRootsRequestSchema,
  };
  return {
    client,
    expected: { version: '2025-11-25' },
    async connect([command, ...args]) {
      const transport = new v1Stdio.StdioClientTransport({ command, args });
      const negotiated = {};
      // The v1 client has no getter for the version: it tells its transport instead.
      transport.setProtocolVersion = (version) => (negotiated.version = version);
      await client.connect(transport);
      return negotiated;
    },
    answer(method, handler) {
      client.setRequestHandler(schemas[method], ({ params }) => handler(params));
    },
  };
}

function createV2(name, capabilities) {
  const mode = V2_MODES[name];
  if (!mode) throw new Error(`there is no client \`${name}\``);
  const client = new v2.Client(
    { name: `interop-${name}`, version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: mode.negotiation } },
  );
  return {
    client,
    expected: mode.expected,
    async connect([command, ...args]) {
      await client.connect(new v2Stdio.StdioClientTransport({ command, args }));
      return { version: client.getNegotiatedProtocolVersion(), era: client.getProtocolEra() };
    },
    answer(method, handler) {
      client.setRequestHandler(method, ({ params }) => handler(params));
    },
  };
}
