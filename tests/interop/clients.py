"""Client of the official Python SDK, for both eras."""

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged
from mcp_types import ResourceUpdatedNotification, ToolListChangedNotification

# "auto" negotiates with `server/discover`; "legacy" starts with `initialize`.
MODES = {"python-modern": ("auto", "2026-07-28"), "python-legacy": ("legacy", "2025-11-25")}


def create_client(name, server, **callbacks):
    """Returns a client for a command line or a URL, and the revision that it must negotiate."""
    mode, version = MODES[name]
    if is_http(server):
        (target,) = server
    else:
        target = StdioServerParameters(command=server[0], args=server[1:])
    return Client(target, mode=mode, **callbacks), version


def is_http(server):
    return server[0].startswith("http://")


class Changes:
    """Changes that the server has reported: URIs of resources, and "tools" for the list of tools."""

    def __init__(self):
        self._changes = []
        self._more = anyio.Event()

    async def message_handler(self, message):
        """Message handler for the client. In the legacy era, it receives all notifications of changes."""
        if isinstance(message, ResourceUpdatedNotification):
            self._add(message.params.uri)
        elif isinstance(message, ToolListChangedNotification):
            self._add("tools")

    async def watch(self, client, uris, *, task_status):
        """Subscribes to resources and to the list of tools."""
        if client.session.discover_result is None:
            for uri in uris:
                await client.subscribe_resource(uri)
            return task_status.started()
        async with client.listen(tools_list_changed=True, resource_subscriptions=uris) as events:
            assert events.honored.tools_list_changed is True, events.honored
            assert events.honored.resource_subscriptions == uris, events.honored
            task_status.started()
            async for event in events:
                # The client passes these to its `message_handler`, too.
                assert isinstance(event, (ResourceUpdated, ToolsListChanged)), event

    async def wait(self, change):
        """Waits for a notification of this change."""
        while change not in self._changes:
            self._more = anyio.Event()
            await self._more.wait()
        self._changes.remove(change)

    def _add(self, change):
        self._changes.append(change)
        self._more.set()
