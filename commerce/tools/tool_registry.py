"""The eighteen tools: name, minutes, arguments, handler, and the JSON schema a model is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from commerce.tools import arguments as args
from commerce.tools import money_tools, search_tools, store_tools
from commerce.tools.handling import Data, Desk
from commerce.tools.schemas import plain_schema

WAIT = "wait_for_next_day"


class Tool(NamedTuple):
    """One tool. ``minutes`` is what a call takes; ``None`` means until the next 08:00."""

    name: str
    minutes: int | None
    description: str
    arguments: type[args.Arguments]
    handler: Callable[[Desk, Any], Data] | None


def _tools() -> tuple[Tool, ...]:
    a, stores, money, search = args, store_tools, money_tools, search_tools
    return (
        Tool("open_store", 60, "Open a store of a type that is not open yet (setup fee, daily cost).", a.OpenStore,
             stores.open_store),
        Tool("close_store", 30, "Close a store; its shelf returns to the warehouse or is liquidated.", a.CloseStore,
             stores.close_store),
        Tool("check_store_status", 10, "Show all stores and joinable promotions, or one store with its products.",
             a.CheckStoreStatus, stores.check_store_status),
        Tool("list_products", 10, "List the catalogue by store type and category, in pages.", a.ListProducts,
             search.list_products),
        Tool("publish_to_store", 20, "Move unlisted units to a store's shelf at a price for all units of the product.",
             a.PublishToStore, stores.publish_to_store),
        Tool("set_prices", 10, "Set list prices; customers see them from the next 08:00.", a.SetPrices,
             stores.set_prices),
        Tool("return_to_warehouse", 15, "Move units from a shelf back to the unlisted stock.", a.ReturnToWarehouse,
             stores.return_to_warehouse),
        Tool("join_promotion", 10, "Let a store take part in a promotion at a discount of 5 to 50 percent.",
             a.JoinPromotion, stores.join_promotion),
        Tool("check_balance", 10, "Show bank, wallet, escrow and the next settlements.", a.NoArguments,
             money.check_balance),
        Tool("check_warehouse", 10, "Show stock with ages and storage cost, and purchase orders on their way.",
             a.CheckWarehouse, money.check_warehouse),
        Tool("withdraw", 10, "Move money from the wallet to the bank, which alone pays bills.", a.Withdraw,
             money.withdraw),
        Tool(WAIT, None, "End the day; returns the report of the day at the next 08:00.", a.NoArguments, None),
        Tool("chatbox", 30, "Write to one or more suppliers, with structured offers. An accepted offer is an order.",
             a.Chatbox, search.chatbox),
        Tool("operate_memory", 10, "Keep, read, change and delete notes.", a.OperateMemory, search.operate_memory),
        Tool("market_search", 30, "Describe all store types, one store type, or one category.", a.MarketSearch,
             search.market_search),
        Tool("supplier_search", 10, "Find suppliers by product title, category or store type.", a.SupplierSearch,
             search.supplier_search),
        Tool("ship_orders", 20, "List pending customer orders or ship them (fast, standard, slow).", a.ShipOrders,
             money.ship_orders),
        Tool("trace_return_sources", 10, "Show returns by product with the suppliers that delivered it.",
             a.TraceReturnSources, money.trace_return_sources),
    )  # fmt: skip


TOOLS = {tool.name: tool for tool in _tools()}


def tool_schemas() -> list[dict[str, Any]]:
    """Return the tools as function schemas, in the order of the registry."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": f"{tool.description} {_time_taken(tool)}",
                "parameters": plain_schema(tool.arguments.model_json_schema()),
            },
        }
        for tool in TOOLS.values()
    ]


def _time_taken(tool: Tool) -> str:
    return "Takes the rest of the day." if tool.minutes is None else f"Takes {tool.minutes} minutes."
