"""Server with the Python SDK, for both eras. `harbour.mjs` is the same server with the TypeScript SDK."""

import base64
from typing import Annotated

import anyio
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Audio,
    Context,
    Elicit,
    ElicitationResult,
    Image,
    ListRoots,
    MCPServer,
    Resolve,
    Sample,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    BlobResourceContents,
    Completion,
    CreateMessageResult,
    EmbeddedResource,
    ListRootsResult,
    ResourceLink,
    SamplingMessage,
    TextContent,
    ToolAnnotations,
)
from pydantic import BaseModel, Field

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MODERN = "2026-07-28"

server = MCPServer("harbour", title="Harbour", version="1.2.3", instructions="Ask before you sail.")
cancelled = 0
today_text = "rain"


class Forecast(BaseModel):
    city: str
    temperatures: list[float]


@server.tool(title="Forecast", annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def forecast(city: str, days: Annotated[int, Field(ge=1, le=7)] = 1) -> Forecast:
    """The weather of some days."""
    return Forecast(city=city, temperatures=[day + 0.5 for day in range(days)])


@server.tool()
def fail() -> str:
    raise ToolError("the sea is rough")


@server.tool(structured_output=False)
def media() -> list:
    blob = BlobResourceContents(uri="note://blob", mime_type="application/octet-stream", blob="AAEC")
    return [
        "a dot and a beep",
        Image(data=PIXEL, format="png"),
        Audio(data=b"RIFF", format="wav"),
        ResourceLink(type="resource_link", uri="note://today", name="today"),
        EmbeddedResource(type="resource", resource=blob),
    ]


@server.tool(structured_output=False)
async def steps(count: int, ctx: Context) -> str:
    for progress in range(1, count + 1):
        await ctx.report_progress(progress, count, f"step {progress}")
    return str(count)


@server.tool(structured_output=False)
async def log(ctx: Context) -> str:
    await ctx.log("debug", "whispered", logger_name="harbour")
    await ctx.log("warning", "said", logger_name="harbour")
    return "logged"


@server.tool(name="wait", structured_output=False)
async def wait_for_ever() -> str:
    global cancelled
    try:
        await anyio.sleep_forever()
    finally:
        cancelled += 1


@server.tool(name="cancelled", structured_output=False)
def count_cancelled() -> str:
    return str(cancelled)


class Guest(BaseModel):
    name: str
    nights: int = 2


def ask_guest() -> Elicit[Guest]:
    return Elicit("Who is coming?", Guest)


@server.tool(structured_output=False)
def book(guest: Annotated[ElicitationResult[Guest], Resolve(ask_guest)]) -> str:
    if isinstance(guest, AcceptedElicitation):
        return f"{guest.data.name} stays {guest.data.nights} nights"
    return f"no booking: {guest.action}"


class Port(BaseModel):
    port: str


def ask_port() -> Elicit[Port]:
    return Elicit("Where from?", Port)


def ask_advice(port: Annotated[Port, Resolve(ask_port)]) -> Sample:
    question = TextContent(type="text", text=f"Where to from {port.port}?")
    message = SamplingMessage(role="user", content=question)
    return Sample([message], max_tokens=10, system_prompt="You are a pilot.")


def ask_roots(port: Annotated[Port, Resolve(ask_port)]) -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
def sail(
    port: Annotated[Port, Resolve(ask_port)],
    advice: Annotated[CreateMessageResult, Resolve(ask_advice)],
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
) -> str:
    uris = ",".join(str(root.uri) for root in roots.roots)
    return f"{port.port} to {advice.content.text} by {uris}"


@server.tool(structured_output=False)
async def add_tool(name: str, ctx: Context) -> str:
    server.add_tool(lambda: f"I am {name}", name=name, structured_output=False)
    if ctx.protocol_version == MODERN:
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return name


@server.tool(structured_output=False)
async def touch(ctx: Context) -> str:
    global today_text
    today_text = "sun"
    if ctx.protocol_version == MODERN:
        await ctx.notify_resource_updated("note://today")
    else:
        await ctx.session.send_resource_updated("note://today")
    return today_text


@server.resource("note://today", name="today", mime_type="text/plain")
def today() -> str:
    return today_text


@server.resource("note://{city}/{day}", name="note")
def note(city: str, day: str) -> str:
    return f"{city} on day {day}"


@server.prompt()
def trip(city: str) -> str:
    """Plans a trip."""
    return f"Plan a trip to {city}"


@server.completion()
async def complete(ref, argument, context) -> Completion:
    cities = ["Oslo", "Bergen", "Bodø"]
    return Completion(values=[city for city in cities if city.startswith(argument.value)])


server.run()
