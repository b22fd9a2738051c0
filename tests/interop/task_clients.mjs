// Clients for tools that run as tasks: the package `@modelcontextprotocol/ext-tasks` over the v2 SDK in both eras, and the
// experimental API of the v1 SDK for revision 2025-11-25.

import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

import { createClient } from './clients.mjs';

const CAPABILITIES = { elicitation: { form: {} } };

/**
 * @param name     `v1`, `v2-modern` or `v2-legacy`
 * @param onInput  (params -> result) answers elicitation requests
 * @returns an object of
 *          era: `legacy` or `modern`;
 *          connect: (server) -> the features for tasks that both sides support;
 *          call: (name, arguments) -> the result of a plain call;
 *          start: (name, arguments, asTask) -> an execution: its kind (`task` or `immediate`), a reference for `resume`,
 *          outcome() -> { status, result?, error? }, and cancel();
 *          resume: (reference) -> an execution;
 *          close: () closes the connection; tasks continue
 */
export function createTaskClient(name, onInput) {
  return name === 'v1' ? createV1(onInput) : createV2(name, onInput);
}

function createV1(onInput) {
  const { client, era, connect, call, onRequest } = createClient('v1', CAPABILITIES);
  const { tasks } = client.experimental;
  onRequest('elicitation/create', onInput);
  return {
    era,
    async connect(server) {
      await connect(server);
      const offered = client.getServerCapabilities().tasks;
      return { execution: Boolean(offered?.requests?.tools?.call), cancellation: Boolean(offered?.cancel) };
    },
    call,
    async start(name, args, asTask) {
      if (!asTask) {
        const result = await call(name, args);
        return { kind: 'immediate', outcome: async () => ({ status: 'completed', result }) };
      }
      const stream = tasks.callToolStream({ name, arguments: args }, undefined, { task: {} });
      const { value: first } = await stream.next();
      if (first.type !== 'taskCreated') throw first.error ?? new Error(JSON.stringify(first));
      const reference = first.task.taskId;
      const drained = drain(stream);
      drained.catch(() => {});
      return execution(reference, () => drained);
    },
    // `tasks/result` waits for the end, and its stream has the questions.
    resume: async (reference) =>
      execution(reference, async () => ({
        status: 'completed',
        result: await tasks.getTaskResult(reference, CallToolResultSchema),
      })),
    close: () => client.close(),
  };

  function execution(reference, wait) {
    return {
      kind: 'task',
      reference,
      async outcome() {
        const last = await wait();
        const { status } = await tasks.getTask(reference);
        return { ...last, status };
      },
      cancel: () => tasks.cancelTask(reference),
    };
  }
}

/** Returns the last message of a stream of the v1 SDK: a result or an error. */
async function drain(stream) {
  let last = {};
  for await (const message of stream) last = message;
  return { result: last.result, error: last.error };
}

function createV2(name, onInput) {
  const { client, era, connect, call } = createClient(name, CAPABILITIES);
  let session;
  return {
    era,
    async connect(server) {
      await connect(server);
      session = createTaskSessionFromClient(client, {
        endpointId: 'interop',
        onInputRequest: ({ params }) => onInput(params),
        ...(era === 'modern' ? rawFraming(client) : {}),
      });
      const { execution, cancellation } = session.capabilities;
      return { execution, cancellation };
    },
    call,
    async start(name, args, asTask) {
      const preference = asTask ? 'prefer' : 'allow';
      return wrap(await session.callTool(name, args, { task: { preference } }));
    },
    resume: async (reference) => wrap(await session.resumeTask(reference)),
    async close() {
      // As at the end of the process: a session that is closed first cancels its tasks.
      await client.close();
      await session.close();
    },
  };
}

function wrap(execution) {
  return {
    kind: execution.kind,
    reference: execution.serializeReference?.(),
    outcome: async () => (await execution.settle()).outcome,
    cancel: () => execution.cancel(),
  };
}

/** Sends messages past the codecs of the v2 SDK, which do not know results of the type `task`. */
function rawFraming(client) {
  const { transport } = client;
  const deliver = transport.onmessage;
  const waiting = new Map();
  transport.onmessage = (message, extra) => {
    const resolve = 'method' in message ? undefined : waiting.get(message.id);
    if (!resolve) return deliver(message, extra);
    waiting.delete(message.id);
    const { error, result } = message;
    return resolve(error ? { kind: 'error', error } : { kind: 'result', result });
  };
  const rawDispatch = (request) =>
    new Promise((resolve, reject) => {
      const id = `task-${crypto.randomUUID()}`;
      waiting.set(id, resolve);
      transport.send({ jsonrpc: '2.0', id, ...request }).catch(reject);
    });
  const v2RequestFraming = {
    protocolVersion: client.getNegotiatedProtocolVersion(),
    clientInfo: { name: 'interop-tasks', version: '1.0.0' },
    clientCapabilities: CAPABILITIES,
  };
  return { rawDispatch, v2RequestFraming };
}
