"""The client uses a server without sessions: `python sums.py <client> <URL>`."""

import sys

import anyio
from clients import create_client
from report import check, run


async def main():
    name, *server = sys.argv[1:]
    client, version = create_client(name, server)
    async with client:
        async with check("connect"):
            assert client.protocol_version == version, client.protocol_version
        async with check("tools/list"):
            tools = (await client.list_tools()).tools
            assert sorted(tool.name for tool in tools) == ["add", "confirm", "release", "sum", "wait"], tools
        async with check("100 calls in flight"):
            await many_calls(client)
        async with check("progress, then a result"):
            await progress(client)


async def many_calls(client):
    async def add(a):
        result = await client.call_tool("add", {"a": a, "b": 1})
        assert result.content[0].text == str(a + 1), result

    async with anyio.create_task_group() as tasks:
        for a in range(100):
            tasks.start_soon(add, a)


async def progress(client):
    steps = []
    added = anyio.Event()

    async def on_progress(step, _total, _message):
        steps.append(step)
        if len(steps) == 3:
            added.set()

    async def release():
        await added.wait()
        await client.call_tool("release", {})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(release)
        result = await client.call_tool("sum", {"numbers": [1, 2, 3]}, progress_callback=on_progress)
    assert result.content[0].text == "6", result
    assert steps == [1, 3, 6], steps


run(main)
