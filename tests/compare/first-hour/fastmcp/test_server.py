import pytest
from fastmcp import Client

from server import mcp


@pytest.mark.asyncio
async def test_second_number_has_a_default():
    async with Client(mcp) as client:
        result = await client.call_tool("add", {"a": 2})
        assert result.data == 3
