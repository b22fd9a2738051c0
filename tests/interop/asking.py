"""The client answers the elicitation of the example `booking`: `python asking.py <client> <command… or URL>`."""

import sys

import anyio
from clients import create_client
from mcp_types import ElicitResult
from report import check, run

FORM = {"name": "Ada", "nights": 2}


class User:
    """Handler of elicitation requests, with its answers to a form and to a URL."""

    def __init__(self):
        self.questions = []
        self.form = ElicitResult(action="accept", content=FORM)

    async def answer(self, _context, question):
        self.questions.append(question)
        return ElicitResult(action="accept") if question.mode == "url" else self.form


async def main():
    name, *server = sys.argv[1:]
    user = User()
    client, version = create_client(name, server, elicitation_callback=user.answer)
    async with client:
        async with check("connect"):
            assert client.protocol_version == version, client.protocol_version
        async with check("a form, then a URL"):
            await both_answered(client, user)
        async with check("twenty conversations at once"):
            await concurrent_conversations(client)
        async with check("the user declines"):
            await decline_form(client, user)


async def both_answered(client, user):
    assert await book(client, "Oslo") == "Ada has a room in Oslo for 2 nights"
    form, page = user.questions
    assert form.message == "Who stays in Oslo?", form
    assert list(form.requested_schema["properties"]) == ["name", "nights"], form
    assert form.requested_schema["required"] == ["name"], form
    assert page.url == "https://example.com/deposit", page


async def concurrent_conversations(client):
    async def one(city):
        assert await book(client, city) == f"Ada has a room in {city} for 2 nights"

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(one, f"city {number}")


async def decline_form(client, user):
    user.form = ElicitResult(action="decline")
    result = await client.call_tool("book", {"city": "Rome"})
    assert result.is_error is True, result
    assert result.content[0].text == "the user declined", result


async def book(client, city):
    result = await client.call_tool("book", {"city": city})
    assert not result.is_error, result
    return result.content[0].text


run(main)
