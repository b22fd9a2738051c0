// Clients of the official TypeScript SDKs, with different versions and eras.

import * as v1 from '@modelcontextprotocol/sdk/client/index.js';
import * as v1Http from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as v1Stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as v2 from '@modelcontextprotocol/client';
import * as v2Stdio from '@modelcontextprotocol/client/stdio';

/** v2-modern negotiates with `server/discover`; v2-legacy starts with `initialize`. */
const V2_MODES = {
  'v2-modern': { negotiation: 'auto', expected: { version: '2026-07-28', era: 'modern' } },
  'v2-legacy': { negotiation: 'legacy', expected: { version: '2025-11-25', era: 'legacy' } },
};

/**
 * @param name          `v1`, `v2-modern` or `v2-legacy`
 * @param capabilities  what the client declares
 * @returns an object of
 *          client: the client of the SDK;
 *          era: `legacy` or `modern`;
 *          expected: the expected result of the negotiation;
 *          connect: (server, options) -> the negotiated version and era; the server is a command line or the URL of an
 *          endpoint, and the options are for the HTTP transport;
 *          call: (name, arguments, options) -> the result of a tool;
 *          onRequest: (method, params -> result) answers the server's requests;
 *          onNotification: (method, params -> ()) handles the notifications of the server;
 *          watch: (URIs) subscribes to these resources and to the list of tools
 */
export function createClient(name, capabilities = {}) {
  return name === 'v1' ? createV1(capabilities) : createV2(name, capabilities);
}

/** Returns whether a server is the URL of an endpoint. */
export function isHttp([server]) {
  return server.startsWith('http://');
}

function createTransport(server, options, { StdioClientTransport, StreamableHTTPClientTransport }) {
  if (isHttp(server)) return new StreamableHTTPClientTransport(new URL(server[0]), options);
  const [command, ...args] = server;
  return new StdioClientTransport({ command, args });
}

/** The v1 SDK supports only the `initialize` handshake. */
function createV1(capabilities) {
  const client = new v1.Client({ name: 'interop-v1', version: '1.0.0' }, { capabilities });
  const schemas = {
    'elicitation/create': ElicitRequestSchema,
    'sampling/createMessage': CreateMessageRequestSchema,
    'roots/list': ListRootsRequestSchema,
    'notifications/resources/updated': ResourceUpdatedNotificationSchema,
    'notifications/tools/list_changed': ToolListChangedNotificationSchema,
  };
  return {
    client,
    era: 'legacy',
    expected: { version: '2025-11-25' },
    async connect(server, options) {
      const transport = createTransport(server, options, { ...v1Stdio, ...v1Http });
      const negotiated = {};
      // The v1 client has no getter for the version, but passes it to its transport.
      const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
      transport.setProtocolVersion = (version) => {
        negotiated.version = version;
        setProtocolVersion?.(version);
      };
      await client.connect(transport);
      return negotiated;
    },
    call: (name, args, options) =>
      client.callTool({ name, arguments: args }, undefined, options),
    onRequest(method, handler) {
      client.setRequestHandler(schemas[method], ({ params }) => handler(params));
    },
    onNotification(method, handler) {
      client.setNotificationHandler(schemas[method], ({ params }) => handler(params));
    },
    watch: (uris) => Promise.all(uris.map((uri) => client.subscribeResource({ uri }))),
  };
}

function createV2(name, capabilities) {
  const mode = V2_MODES[name];
  if (!mode) throw new Error(`there is no client \`${name}\``);
  const client = new v2.Client(
    { name: `interop-${name}`, version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: mode.negotiation } },
  );
  const { era } = mode.expected;
  return {
    client,
    era,
    expected: mode.expected,
    async connect(server, options) {
      await client.connect(createTransport(server, options, { ...v2Stdio, ...v2 }));
      return { version: client.getNegotiatedProtocolVersion(), era: client.getProtocolEra() };
    },
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    onRequest(method, handler) {
      client.setRequestHandler(method, ({ params }) => handler(params));
    },
    onNotification(method, handler) {
      client.setNotificationHandler(method, ({ params }) => handler(params));
    },
    watch: (uris) =>
      era === 'modern'
        ? client.listen({ toolsListChanged: true, resourceSubscriptions: uris })
        : Promise.all(uris.map((uri) => client.subscribeResource({ uri }))),
  };
}
