// Server with the TypeScript SDK v2, for both eras. `harbour.py` is the same server with the Python SDK.
import {
  acceptedContent, completable, inputRequired, inputResponse, McpServer, ResourceTemplate,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = value => ({ content: [{ type: 'text', text: String(value) }] });
const cities = typed => ['Oslo', 'Bergen', 'Bodø'].filter(city => city.startsWith(typed));

let cancelled = 0;

serveStdio(() => {
  const server = new McpServer(
    { name: 'harbour', version: '1.2.3', title: 'Harbour' },
    {
      instructions: 'Ask before you sail.',
      capabilities: {
        logging: {}, tools: { listChanged: true }, prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true }, completions: {},
      },
    },
  );

  server.registerTool('forecast', {
    title: 'Forecast', description: 'The weather of some days.',
    inputSchema: z.object({ city: z.string(), days: z.number().int().min(1).max(7).default(1) }),
    outputSchema: z.object({ city: z.string(), temperatures: z.array(z.number()) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  }, ({ city, days }) => {
    const structuredContent = { city, temperatures: Array.from({ length: days }, (_, day) => day + 0.5) };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });

  server.registerTool('fail', {}, () => { throw new Error('the sea is rough'); });

  server.registerTool('media', {}, () => ({
    content: [
      { type: 'text', text: 'a dot and a beep' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'note://today', name: 'today' },
      { type: 'resource', resource: { uri: 'note://blob', mimeType: 'application/octet-stream', blob: 'AAEC' } },
    ],
  }));

  server.registerTool('steps', { inputSchema: z.object({ count: z.number() }) }, async ({ count }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let progress = 1; progressToken !== undefined && progress <= count; progress += 1) {
      const params = { progressToken, progress, total: count, message: `step ${progress}` };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return text(count);
  });

  server.registerTool('log', {}, async (ctx) => {
    await ctx.mcpReq.log('debug', 'whispered', 'harbour');
    await ctx.mcpReq.log('warning', 'said', 'harbour');
    return text('logged');
  });

  server.registerTool('wait', {}, ctx => new Promise(resolve => {
    ctx.mcpReq.signal.addEventListener('abort', () => {
      cancelled += 1;
      resolve(text('never read'));
    });
  }));
  server.registerTool('cancelled', {}, () => text(cancelled));

  const guest = z.object({ name: z.string(), nights: z.number().int().default(2) });
  server.registerTool('book', {}, (ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'guest');
    if (answer.kind === 'missing') {
      const form = inputRequired.elicit({ message: 'Who is coming?', requestedSchema: guest });
      return inputRequired({ inputRequests: { guest: form } });
    }
    const entered = acceptedContent(ctx.mcpReq.inputResponses, 'guest', guest);
    return text(entered ? `${entered.name} stays ${entered.nights} nights` : `no booking: ${answer.action}`);
  });

  const port = z.object({ port: z.string() });
  server.registerTool('sail', {}, (ctx) => {
    const responses = ctx.mcpReq.inputResponses;
    const from = ctx.mcpReq.requestState();
    if (from === undefined) {
      const entered = acceptedContent(responses, 'from', port);
      if (entered) {
        const messages = [{ role: 'user', content: { type: 'text', text: `Where to from ${entered.port}?` } }];
        return inputRequired({
          inputRequests: {
            advice: inputRequired.createMessage({ messages, maxTokens: 10, systemPrompt: 'You are a pilot.' }),
            roots: inputRequired.listRoots(),
          },
          requestState: entered.port,
        });
      }
      const form = inputRequired.elicit({ message: 'Where from?', requestedSchema: port });
      return inputRequired({ inputRequests: { from: form } });
    }
    const advice = inputResponse(responses, 'advice');
    const roots = inputResponse(responses, 'roots');
    return text(`${from} to ${advice.result.content.text} by ${roots.roots.map(root => root.uri)}`);
  });

  server.registerTool('add_tool', { inputSchema: z.object({ name: z.string() }) }, ({ name }) => {
    server.registerTool(name, {}, () => text(`I am ${name}`));
    return text(name);
  });

  let today = 'rain';
  server.registerTool('touch', {}, async () => {
    today = 'sun';
    await server.server.sendResourceUpdated({ uri: 'note://today' });
    return text(today);
  });

  server.registerResource('today', 'note://today', { mimeType: 'text/plain' }, uri => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: today }],
  }));
  const note = new ResourceTemplate('note://{city}/{day}', { list: undefined, complete: { city: cities } });
  server.registerResource('note', note, {}, (uri, { city, day }) => ({
    contents: [{ uri: uri.href, text: `${decodeURIComponent(city)} on day ${day}` }],
  }));

  server.registerPrompt('trip', {
    description: 'Plans a trip.', argsSchema: z.object({ city: completable(z.string(), cities) }),
  }, ({ city }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Plan a trip to ${city}` } }],
  }));
  return server;
});
