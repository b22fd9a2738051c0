"""The client receives the notifications of the example `board`: `python board.py <client> <command… or URL>`."""

import json
import sys

import anyio
from clients import Changes, create_client, is_http
from report import check, run

NOTES = "board://notes"
WAITING = "board://waiting"


async def main():
    name, *server = sys.argv[1:]
    changes = Changes()
    client, version = create_client(name, server, message_handler=changes.message_handler)
    async with client, anyio.create_task_group() as tasks:
        async with check("connect"):
            assert client.protocol_version == version, client.protocol_version
        async with check("subscribe"):
            await tasks.start(changes.watch, client, [NOTES, WAITING])
        async with check("a resource is updated"):
            await pin(client, "breakfast at eight")
            await changes.wait(NOTES)
            assert await read(client, NOTES) == ["breakfast at eight"]
        async with check("the list of tools changes"):
            await change_tool_list(client, changes)
        async with check("progress, then a result"):
            await wait_for_note(client, changes)
        async with check("a call is cancelled"):
            await cancel_call(client, changes)
        if is_http(server):
            async with check("another client changes something"):
                await change_by_other_client(client, changes, name, server)
        tasks.cancel_scope.cancel()


async def change_tool_list(client, changes):
    assert await tools(client) == ["board.allow", "board.pin", "board.wait"]
    await client.call_tool("board.allow", {"pinning": False})
    await changes.wait("tools")
    assert await tools(client) == ["board.allow", "board.wait"]
    await client.call_tool("board.allow", {"pinning": True})
    await changes.wait("tools")
    assert await tools(client) == ["board.allow", "board.pin", "board.wait"]


async def wait_for_note(client, changes):
    async with Waiting(client, "lunch") as waiting:
        assert await waiting.progress.receive() == 1
        assert await read(client, WAITING) == 1
        await pin(client, "tea at four")
        assert await waiting.progress.receive() == 2
        await pin(client, "lunch at noon")
    assert waiting.result.content[0].text == "lunch at noon", waiting.result
    await wait_for_value(client, changes, WAITING, 0)


async def cancel_call(client, changes):
    async with Waiting(client, "dinner") as waiting:
        await waiting.progress.receive()
        assert await read(client, WAITING) == 1
        waiting.cancel()
    assert waiting.result is None
    await wait_for_value(client, changes, WAITING, 0)


async def change_by_other_client(client, changes, name, server):
    other, _ = create_client(name, server)
    async with other:
        await pin(other, "from elsewhere")
        while (await read(client, NOTES))[-1] != "from elsewhere":
            await changes.wait(NOTES)
        await changes.wait(NOTES)


class Waiting:
    """Call of `board.wait` in the background. Leaving the context waits for its result."""

    def __init__(self, client, word):
        self._client, self._word = client, word
        self._tell, self.progress = anyio.create_memory_object_stream(10)
        self.result = None

    async def __aenter__(self):
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._call)
        return self

    async def __aexit__(self, *exception):
        await self._tasks.__aexit__(*exception)
        self._tell.close()
        self.progress.close()

    def cancel(self):
        self._tasks.cancel_scope.cancel()

    async def _call(self):
        arguments = {"word": self._word}
        self.result = await self._client.call_tool("board.wait", arguments, progress_callback=self._progress)

    async def _progress(self, progress, _total, _message):
        await self._tell.send(progress)


async def wait_for_value(client, changes, uri, value):
    """Reads a resource after each change, until it has the expected value."""
    while await read(client, uri) != value:
        await changes.wait(uri)


async def read(client, uri):
    return json.loads((await client.read_resource(uri)).contents[0].text)


async def tools(client):
    return sorted(tool.name for tool in (await client.list_tools()).tools)


async def pin(client, note):
    result = await client.call_tool("board.pin", {"note": note})
    assert not result.is_error, result
    # A number is structured content by itself, or wrapped in an object for revisions that require one.
    count = int(result.content[0].text)
    is_legacy = client.session.discover_result is None
    assert result.structured_content == ({"result": count} if is_legacy else count), result


run(main)
