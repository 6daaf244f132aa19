"""Arguments of the eighteen tools: closed models with ranges, from which the JSON schemas are generated.

A count may be written ``25.0``, which JSON does not tell from 25. Nothing else is converted: a number in quotes,
``true`` for a number, ``5.7`` for a count, NaN or an unknown key is an error that names field, value and what is
allowed. A path to a list item reads ``plan.0.quantity``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from commerce.refusals import RefusedError

MAX_QUANTITY = 1_000_000
MAX_ITEMS = 500
MAX_TEXT = 4_000
PAGE_SIZE_MAX = 200


def _without_point(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


_READ_WHOLE = BeforeValidator(_without_point)  # last in each type, else its bounds are lost from the schema
Name = Annotated[str, Field(min_length=1, max_length=120)]
Quantity = Annotated[int, Field(ge=1, le=MAX_QUANTITY, description="whole units"), _READ_WHOLE]
Price = Annotated[float, Field(gt=0, le=1e9, description="yuan per unit, rounded to 0.01")]
Page = Annotated[int, Field(ge=1, le=100_000, description="page number, from 1"), _READ_WHOLE]
PageSize = Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX, description="rows per page"), _READ_WHOLE]


class Arguments(BaseModel):
    """Closed, strict arguments."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class NoArguments(Arguments):
    """A tool without arguments."""


class OpenStore(Arguments):
    """Arguments of ``open_store``."""

    store_type: Name
    store_name: Name


class CloseStore(Arguments):
    """Arguments of ``close_store``."""

    store_id: Name
    liquidate: bool = Field(False, description="sell the shelf off at the salvage share of its cost")


class CheckStoreStatus(Arguments):
    """Arguments of ``check_store_status``."""

    store_id: Name | None = Field(None, description="one store in detail; omit for all stores and the promotions")
    page: Page = 1
    page_size: PageSize = 100


class ListProducts(Arguments):
    """Arguments of ``list_products``."""

    store_type: Name | None = None
    category: Name | None = None
    page: Page = 1
    page_size: PageSize = 100


class PlanItem(Arguments):
    """One product to put on the shelf."""

    product_id: Name
    quantity: Quantity
    retail_price: Price


class PublishToStore(Arguments):
    """Arguments of ``publish_to_store``."""

    store_id: Name
    plan: Annotated[list[PlanItem], Field(min_length=1, max_length=MAX_ITEMS)]


class PriceItem(Arguments):
    """One price to set."""

    product_id: Name
    price: Price


class SetPrices(Arguments):
    """Arguments of ``set_prices``."""

    store_id: Name
    prices: Annotated[list[PriceItem], Field(min_length=1, max_length=MAX_ITEMS)]


class ReturnItem(Arguments):
    """One product to take off the shelf."""

    product_id: Name
    quantity: Quantity


class ReturnToWarehouse(Arguments):
    """Arguments of ``return_to_warehouse``."""

    store_id: Name
    items: Annotated[list[ReturnItem], Field(min_length=1, max_length=MAX_ITEMS)]


class JoinPromotion(Arguments):
    """Arguments of ``join_promotion``."""

    store_id: Name
    event_name: Name
    discount_rate: Annotated[float, Field(gt=0, lt=1, description="share off the list price, 0.05 to 0.50")]


class CheckWarehouse(Arguments):
    """Arguments of ``check_warehouse``."""

    page: Page = 1
    page_size: PageSize = 100


class Withdraw(Arguments):
    """Arguments of ``withdraw``."""

    amount: Annotated[float, Field(ge=0.01, le=1e13)] | None = Field(None, description="yuan; omit for all of it")


class NegotiationMove(Arguments):
    """One structured move to a supplier. An accepted offer is an order: it is paid at once."""

    action: Literal["offer", "accept", "reject", "pay_vip_fee"]
    sku_id: Name | None = Field(None, description="the product; needed for all but pay_vip_fee")
    price: Annotated[float, Field(ge=0.01, le=1e7)] | None = Field(
        None, description="yuan per unit; an accept must name the supplier's standing price"
    )
    quantity: Quantity | None = Field(None, description="units to buy; needed for offer and accept")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = {"offer": ("sku_id", "price", "quantity"), "reject": ("sku_id",), "pay_vip_fee": ()}
        for name in needed.get(self.action, needed["offer"]):
            if getattr(self, name) is None:
                raise ValueError(f"action={self.action} needs {name}")
        return self


class Chatbox(Arguments):
    """Arguments of ``chatbox``."""

    uids: Annotated[list[Name], Field(min_length=1, max_length=20, description="e-mail addresses of suppliers")]
    content: Annotated[str, Field(max_length=MAX_TEXT, description="what you say; it moves no money")] = ""
    actions: Annotated[
        list[NegotiationMove], Field(max_length=50, description="moves in order, at most one for each product")
    ] = []

    @field_validator("actions")
    @classmethod
    def _one_move_per_product(cls, actions: list[NegotiationMove]) -> list[NegotiationMove]:
        first: dict[str, int] = {}
        for place, move in enumerate(actions):
            if move.sku_id is not None and first.setdefault(move.sku_id, place) != place:
                places = f"items {first[move.sku_id]} and {place}"
                raise ValueError(f"sku_id={move.sku_id!r} is in {places}; one move per product and message is allowed")
        return actions


class OperateMemory(Arguments):
    """Arguments of ``operate_memory``."""

    action: Literal["add", "get", "update", "delete", "list"]
    title: Name | None = None
    content: Annotated[str, Field(max_length=MAX_TEXT)] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = {"add": ("title", "content"), "update": ("title", "content"), "get": ("title",), "delete": ("title",)}
        for name in needed.get(self.action, ()):
            if getattr(self, name) is None:
                raise ValueError(f"action={self.action} needs {name}")
        return self


class MarketSearch(Arguments):
    """Arguments of ``market_search``."""

    store_type: Name | None = None
    category: Name | None = None


class SupplierSearch(Arguments):
    """Arguments of ``supplier_search``."""

    product_name: Name | None = Field(None, description="part of a product title, in any case")
    category: Name | None = None
    store_type: Name | None = None
    page: Page = 1
    page_size: PageSize = 50


class ShipOrders(Arguments):
    """Arguments of ``ship_orders``."""

    action: Literal["ship", "list"]
    shipment_ids: Annotated[list[Annotated[int, _READ_WHOLE]], Field(min_length=1, max_length=5_000)] | None = Field(
        None, description="orders to ship; omit for all pending ones"
    )
    speed: Literal["fast", "standard", "slow"] = "standard"
    page: Page = 1
    page_size: PageSize = 100


class TraceReturnSources(Arguments):
    """Arguments of ``trace_return_sources``."""

    product_id: Name | None = None
    page: Page = 1
    page_size: PageSize = 50


def validated(model: type[Arguments], given: Mapping[str, Any]) -> Arguments | None:
    """Return the arguments, ``None`` if they are not right; :func:`validate` says why."""
    try:
        return model.model_validate(dict(given))
    except ValidationError:
        return None


def validate(model: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Return the arguments, or refuse with the first fault and the number of further ones."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
        first = faults[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        more = f" ({len(faults) - 1} more faults)" if len(faults) > 1 else ""
        shown = "" if first["type"] == "missing" or field is None else f"={_shown(first['input'])}"
        message = f"{field or 'arguments'}{shown}: {_reason(model, first)}{more}"
        raise RefusedError("invalid_arguments", field, message) from None


def _reason(model: type[Arguments], fault: Mapping[str, Any]) -> str:
    """Return what is wrong with a value; names are those of the arguments, not of the classes that hold them."""
    place = [part for part in fault["loc"] if isinstance(part, str)]
    if fault["type"] == "extra_forbidden":
        return f"no such argument; allowed are {_fields(model, place[:-1])}"
    if fault["type"] == "model_type":
        return f"must be an object with {_fields(model, place)}"
    return str(fault["msg"])


def _fields(model: type[Arguments], place: Sequence[str]) -> str:
    """Return the field names of the object at ``place``."""
    found: type[BaseModel] = model
    for name in place:
        inside = found.model_fields[name].annotation
        while not (isinstance(inside, type) and issubclass(inside, BaseModel)):
            inside = get_args(inside)[0]
        found = inside
    return ", ".join(found.model_fields) or "none"


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer beyond the interpreter's limit of digits
        return f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
