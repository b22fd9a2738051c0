"""MCP server of the official Python SDK with its authorization server. Its user approves everything. Prints its URL."""

import secrets
import socket
import sys
import time

import anyio
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken

SCOPES = ["files:read", "files:write"]
LIFETIME = 20
SUBJECT = "alice"


class Provider:
    """Clients, codes and tokens in memory. Refresh tokens are used once."""

    def __init__(self):
        self._clients = {}
        self._codes = {}
        self._access_tokens = {}
        self._refresh_tokens = {}

    async def get_client(self, client_id):
        return self._clients.get(client_id)

    async def register_client(self, client_info):
        self._clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=SUBJECT,
        )
        self._codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        if self._codes.pop(authorization_code.code, None) is None:
            raise TokenError("invalid_grant", "the code was used before")
        return self._issue(authorization_code, authorization_code.scopes)

    async def load_refresh_token(self, client, refresh_token):
        return self._refresh_tokens.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        if self._refresh_tokens.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant", "the refresh token was used before")
        return self._issue(refresh_token, scopes or refresh_token.scopes)

    async def load_access_token(self, token):
        return self._access_tokens.get(token)

    async def revoke_token(self, token):
        self._access_tokens.pop(token.token, None)
        self._refresh_tokens.pop(token.token, None)

    def _issue(self, granted, scopes):
        common = {
            "client_id": granted.client_id,
            "scopes": scopes,
            "resource": granted.resource,
            "subject": granted.subject,
        }
        access = AccessToken(
            token=secrets.token_urlsafe(32), expires_at=int(time.time()) + LIFETIME, **common
        )
        refresh = RefreshToken(token=secrets.token_urlsafe(32), **common)
        self._access_tokens[access.token] = access
        self._refresh_tokens[refresh.token] = refresh
        return OAuthToken(
            access_token=access.token,
            token_type="Bearer",
            expires_in=LIFETIME,
            scope=" ".join(scopes),
            refresh_token=refresh.token,
        )


def create_server(origin):
    settings = AuthSettings(
        issuer_url=origin,
        resource_server_url=f"{origin}/mcp",
        required_scopes=["files:read"],
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=SCOPES, default_scopes=SCOPES
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    server = MCPServer("guarded", auth=settings, auth_server_provider=Provider())

    @server.tool()
    def whoami() -> str:
        """Returns the subject of the caller."""
        return get_access_token().subject

    return server


async def main():
    # The port is part of the issuer, so it must be known before the server starts.
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = create_server(origin).streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    print(f"{origin}/mcp", flush=True)
    await server.serve(sockets=[listener])


if __name__ == "__main__":
    try:
        anyio.run(main)
    except KeyboardInterrupt:
        sys.exit(0)
