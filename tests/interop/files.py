"""The client uses the example `files`, which serves an empty directory:
`python files.py <client> <directory> <command… or URL>`."""

import json
import sys
from pathlib import Path

import anyio
from clients import create_client
from mcp import MCPError
from report import check, run

INVALID_PARAMS = -32602
TEXT = "one\ntwo needles\nthree\n"


async def main():
    name, directory, *server = sys.argv[1:]
    Path(directory, "notes.txt").write_text(TEXT)
    client, version = create_client(name, server)
    async with client:
        async with check("connect"):
            assert client.protocol_version == version, client.protocol_version
            assert client.server_info.name == "files", client.server_info
            assert client.instructions
        async with check("tools/list"):
            await list_tools(client)
        async with check("structured results"):
            await structured(client)
        async with check("results with isError"):
            await tool_errors(client)
        async with check("unknown tool"):
            await unknown_tool(client)
        async with check("100 calls in flight"):
            await many_calls(client)


async def list_tools(client):
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["files.list", "files.read", "files.search"], tools
    for tool in tools:
        assert tool.description, tool
        assert tool.annotations.read_only_hint is True, tool
        assert tool.output_schema["type"] == "object", tool


async def structured(client):
    listed = await call(client, "files.list", {})
    assert listed == {"files": [{"path": "notes.txt", "bytes": len(TEXT)}], "truncated": False}
    found = await call(client, "files.search", {"pattern": "needle"})
    assert found["matches"] == [{"path": "notes.txt", "line": 2, "text": "two needles"}], found


async def tool_errors(client):
    cases = [
        ("files.read", {"path": "none.txt"}, "none.txt"),
        ("files.read", {"path": 5}, "/path"),
        ("files.search", {"pattern": "x", "golb": "*"}, "`glob`"),
    ]
    for name, arguments, mentioned in cases:
        result = await client.call_tool(name, arguments)
        assert result.is_error is True, result
        assert mentioned in result.content[0].text, result


async def unknown_tool(client):
    try:
        await client.call_tool("files.serch", {"pattern": "x"})
    except MCPError as error:
        assert error.code == INVALID_PARAMS, error
        assert "`files.search`" in error.message, error
    else:
        raise AssertionError("the call succeeded")


async def many_calls(client):
    lines = TEXT.splitlines(keepends=True)

    async def read(line):
        page = await call(client, "files.read", {"path": "notes.txt", "first_line": line, "last_line": line})
        assert page["text"] == lines[line - 1], page

    async with anyio.create_task_group() as tasks:
        for index in range(100):
            tasks.start_soon(read, index % len(lines) + 1)


async def call(client, name, arguments):
    """Calls a tool that must succeed. Its text must equal its structured content."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    assert json.loads(result.content[0].text) == result.structured_content, result
    return result.structured_content


run(main)
