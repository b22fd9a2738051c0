// Client of an official TypeScript SDK that signs in by itself. Arguments: the name of the client, and the URL of the server.

import assert from 'node:assert/strict';
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import * as v1 from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as v2 from '@modelcontextprotocol/client';
import { createClient } from '../clients.mjs';
import { check, finish, startDeadline } from '../report.mjs';

const [name, server] = process.argv.slice(2);
const REDIRECT = 'http://127.0.0.1:1/callback';
const isV1 = name === 'v1';

/** Registration, tokens and verifier in memory. The user approves at once. */
class Login {
  logins = [];
  redirectUrl = REDIRECT;
  clientMetadata = {
    client_name: 'Interop',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  clientInformation = () => this.registration;
  saveClientInformation = (registration) => (this.registration = registration);
  tokens = () => this.saved;
  saveTokens = (tokens) => (this.saved = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => (this.verifier = verifier);
  state = () => 'state-of-the-test';

  async redirectToAuthorization(url) {
    const response = await fetch(url, { redirect: 'manual' });
    assert.equal(response.status, 302, await response.text());
    const parameters = new URL(response.headers.get('location')).searchParams;
    assert.equal(parameters.get('error'), null, parameters.get('error_description'));
    assert.equal(parameters.get('state'), 'state-of-the-test');
    this.logins.push({ scope: url.searchParams.get('scope'), resource: url.searchParams.get('resource') });
    this.callback = parameters;
  }
}

const login = new Login();
const transports = [];

/** Connects a new client. Remembers its transport, which completes logins. */
async function connect() {
  const client = createClient(name);
  const { StreamableHTTPClientTransport } = isV1 ? v1 : v2;
  const transport = new StreamableHTTPClientTransport(new URL(server), { authProvider: login });
  transports.push(transport);
  await client.client.connect(transport);
  return client;
}

/** Runs an action, which may need a login first. */
async function withLogin(action) {
  try {
    return await action();
  } catch (error) {
    const isLogin = error instanceof UnauthorizedV1 || error instanceof v2.UnauthorizedError;
    if (!isLogin) throw error;
    const transport = transports.at(-1);
    await (isV1
      ? transport.finishAuth(login.callback.get('code'))
      : transport.finishAuth(login.callback));
    return action();
  }
}

const textOf = (result) => {
  assert.ok(!result.isError, JSON.stringify(result.content));
  return result.content[0].text;
};

startDeadline();
let client;

await check('an unauthorized client signs in with the scope of the challenge', async () => {
  client = await withLogin(connect);
  assert.equal(login.logins.length, 1);
  assert.equal(login.logins[0].scope, 'files:read');
  assert.equal(login.logins[0].resource, server);
});

await check('a call has the grant of the user', async () => {
  assert.equal(textOf(await client.call('whoami', {})), 'alice: files:read');
});

await check('a call that needs more scopes leads to another login', async () => {
  // With a refresh token, the v1 SDK refreshes, which cannot add scopes.
  if (isV1) delete login.saved.refresh_token;
  const result = await withLogin(() => client.call('write', { text: 'x' }));
  assert.equal(textOf(result), 'written');
  assert.ok(login.logins.at(-1).scope.split(' ').includes('files:write'));
});

await check('an expired token is renewed without a login', async () => {
  const [before, { access_token: token }] = [login.logins.length, login.saved];
  await client.call('expire', {});
  assert.match(textOf(await client.call('whoami', {})), /^alice: /);
  assert.notEqual(login.saved.access_token, token);
  assert.equal(login.logins.length, before);
});

await client.client.close();
finish();
