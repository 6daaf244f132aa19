"""The tools through which an agent runs its year."""

from commerce.tools.tool_registry import TOOLS, WAIT, Tool, tool_schemas

__all__ = ["TOOLS", "WAIT", "Tool", "tool_schemas"]
