// Authorization server made of `oidc-provider`. Its user is signed in and approves everything. Prints its issuer.
// Arguments: the resource that tokens are issued for, `bearer` or `dpop` (proofs need a nonce), and the public key of the client
// `service`.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [resource, mode, clientKey] = process.argv.slice(2);
const SCOPES = 'files:read files:write';
const ACCOUNT = 'alice';

const server = createServer().listen(0, '127.0.0.1', start);

function start() {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, configuration());
  const answer = provider.callback();
  server.on('request', (request, response) =>
    request.url.startsWith('/interaction/')
      ? approve(provider, request, response).catch((error) => fail(response, error))
      : answer(request, response),
  );
  provider.on('server_error', (_, error) => console.error(error));
  console.log(issuer);
}

function configuration() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'es256' };
  return {
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    clients: clientKey ? [service(JSON.parse(clientKey))] : [],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
    // Short, so that the client renews the first token.
    ttl: { AccessToken: 20 },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      introspection: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => mode === 'dpop' },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, indicator) => resourceServer(indicator),
      },
    },
  };
}

/** A client that acts for itself. */
function service(key) {
  return {
    client_id: 'service',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...key, alg: 'ES256' }] },
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    scope: SCOPES,
  };
}

/** Describes the only resource. */
function resourceServer(indicator) {
  if (indicator !== resource) throw Object.assign(new Error('invalid_target'), { error: 'invalid_target', status: 400 });
  return {
    scope: SCOPES,
    audience: indicator,
    accessTokenFormat: 'jwt',
    accessTokenTTL: 20,
    jwt: { sign: { alg: 'ES256' } },
  };
}

/** Signs the user in, and grants all that is missing. */
async function approve(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: ACCOUNT } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope, missingResourceScopes } = prompt.details;
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [indicator, scopes] of Object.entries(missingResourceScopes ?? {})) {
    grant.addResourceScope(indicator, scopes.join(' '));
  }
  const grantId = await grant.save();
  return provider.interactionFinished(request, response, { consent: { grantId } });
}

function fail(response, error) {
  console.error(error);
  response.writeHead(500).end();
}
