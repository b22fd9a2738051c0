"""Calculator over the Model Context Protocol."""

from typing import Annotated

from fastmcp import FastMCP
from pydantic import Field

mcp = FastMCP("calculator")


@mcp.tool(annotations={"readOnlyHint": True})
def add(a: Annotated[int, Field(description="The first number")], b: int = 1) -> int:
    """Adds two integers."""
    return a + b


if __name__ == "__main__":
    mcp.run()
