"""Client of the official Python SDK that signs in by itself. Arguments: the name of the client, and the URL of the server."""

import os
import sys
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from clients import MODES
from report import check, run

REDIRECT = "http://127.0.0.1:1/callback"


class Memory:
    """Tokens and registration."""

    tokens = None
    registration = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.registration

    async def set_client_info(self, registration):
        self.registration = registration


class Login:
    """User who approves at once."""

    def __init__(self):
        self.logins = []
        self._callback = None

    async def redirect(self, url):
        async with httpx2.AsyncClient() as http:
            response = await http.get(url, follow_redirects=False)
        assert response.status_code == 302, response.text
        self.logins.append({key: value[0] for key, value in parse_qs(urlsplit(url).query).items()})
        query = parse_qs(urlsplit(response.headers["location"]).query)
        self._callback = {key: value[0] for key, value in query.items()}

    async def callback(self):
        parameters = self._callback
        return AuthorizationCodeResult(
            code=parameters["code"], state=parameters["state"], iss=parameters.get("iss")
        )


def text_of(result):
    assert not result.is_error, result.content
    return result.content[0].text


async def main():
    name, server = sys.argv[1:]
    mode, _ = MODES[name]
    memory, login = Memory(), Login()
    metadata = OAuthClientMetadata(
        client_name="Interop",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(server, metadata, memory, login.redirect, login.callback)
    async with httpx2.AsyncClient(auth=provider) as http:
        transport = streamable_http_client(server, http_client=http)
        async with Client(transport, mode=mode) as client:
            await use(client, server, memory, login)


async def use(client, server, memory, login):
    async with check("an unauthorized client signs in with the scope of the challenge"):
        assert len(login.logins) == 1, login.logins
        assert login.logins[0]["scope"] == "files:read", login.logins
        assert login.logins[0]["resource"] == server, login.logins

    async with check("a call has the grant of the user"):
        assert text_of(await client.call_tool("whoami", {})) == "alice: files:read"

    async with check("a call that needs more scopes leads to another login"):
        assert text_of(await client.call_tool("write", {"text": "x"})) == "written"
        assert "files:write" in login.logins[-1]["scope"].split(), login.logins

    async with check("an expired token is replaced"):
        token = memory.tokens.access_token
        await client.call_tool("expire", {})
        assert text_of(await client.call_tool("whoami", {})).startswith("alice: ")
        assert memory.tokens.access_token != token


run(main)
