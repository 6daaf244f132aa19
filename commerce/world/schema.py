"""Rows of the public data schema, validated one by one. Columns that the simulation does not use may be missing."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from commerce.config import Share
from commerce.types import Fraud, Personality, PriceResponse, Size

_DATE = re.compile(r"(\d\d)-(\d\d)")

Text = Annotated[str, Field(min_length=1, max_length=2000)]


def _date(value: Any) -> Any:
    match = _DATE.fullmatch(str(value).strip())
    if match is None:
        raise ValueError("a date has the form MM-DD")
    return int(match.group(1)), int(match.group(2))


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None


def _pipes(value: Any) -> Any:
    return [part.strip() for part in value.split("|") if part.strip()] if isinstance(value, str) else value


def _blank_is_none(value: Any) -> Any:
    return None if value == "" else value


MonthDay = Annotated[tuple[int, int], BeforeValidator(_date)]
Pipes = Annotated[list[str], BeforeValidator(_pipes)]


class SchemaRow(BaseModel):
    """A row of text fields; unknown columns are left alone because the public files have unused ones."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, str_strip_whitespace=True)


class ProductRow(SchemaRow):
    """``products.csv``."""

    product_id: Text
    category: Text
    brand: str = ""
    title: Text
    size: Size
    reference_price: Annotated[float, Field(ge=0.01, le=1e7)]
    return_rate: Share


class CategoryRow(SchemaRow):
    """``category_params.csv``."""

    category: Text
    store_type: Text
    default_size: Size
    ref_price_min: Annotated[float, Field(ge=0.01)]
    ref_price_max: Annotated[float, Field(ge=0.01)]
    monthly_sales_min: Annotated[float, Field(ge=0)]
    monthly_sales_max: Annotated[float, Field(ge=0)]
    return_rate_min: Share
    return_rate_max: Share
    return_rate_description: str = ""
    elasticity_type: PriceResponse
    elasticity_param: Annotated[float, Field(gt=0)]
    wholesale_ratio: Annotated[float, Field(gt=0, lt=1)]
    cost_floor_ratio: Annotated[float, Field(gt=0, lt=1)]
    scam_cap_ratio: Annotated[float, Field(gt=0, lt=2)]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for low, high in (
            ("ref_price_min", "ref_price_max"),
            ("monthly_sales_min", "monthly_sales_max"),
            ("return_rate_min", "return_rate_max"),
            ("cost_floor_ratio", "wholesale_ratio"),
        ):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"{low}={getattr(self, low)} exceeds {high}={getattr(self, high)}")
        return self


class SupplierRow(SchemaRow):
    """``suppliers.csv``. Ids and addresses are not read, because the public ones give the fraudulent suppliers away."""

    supplier_name: Text
    supplier_type: Annotated[str, Field(pattern="^(good|bad)$")]
    personality: Personality
    fraud_type: Annotated[Fraud | None, BeforeValidator(_blank_is_none)] = None
    categories_served: Annotated[Pipes, Field(min_length=1, max_length=1)]
    bankruptcy_threshold: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.supplier_type == "bad") != (self.fraud_type is not None):
            raise ValueError(f"supplier_type={self.supplier_type} does not go with fraud_type={self.fraud_type}")
        return self


class StoreTypeRow(SchemaRow):
    """``store_types.csv``."""

    store_type_id: Text
    store_type_name: Text
    tier: Annotated[int, Field(ge=1)]


class PromotionRow(SchemaRow):
    """``promotions.csv``."""

    event_name: Text
    periods: Annotated[Pipes, Field(min_length=1)]
    max_demand_multiplier: Annotated[float, Field(ge=1)]
    elasticity_boost: Annotated[float, Field(gt=0)]

    @property
    def windows(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """First and last dates."""
        pairs = [period.split(":") for period in self.periods]
        return [(_date(first), _date(last)) for first, last in pairs]

    @model_validator(mode="after")
    def _readable(self) -> Self:
        for period in self.periods:
            if len(period.split(":")) != 2:
                raise ValueError(f"periods has {period!r}; a period has the form MM-DD:MM-DD")
        if any(first > last for first, last in self.windows):
            raise ValueError("periods has a window that ends before it starts")
        return self


class SupplyEffects(SchemaRow):
    """The supply side of an event."""

    delivery_delay_multiplier: Annotated[float, Field(ge=1)] = 1.0
    affected_categories: list[str] | Annotated[str, Field(pattern="^all$")] = []


class EventRow(SchemaRow):
    """``events.csv``."""

    event_name: Text
    start_date: MonthDay
    duration_days: Annotated[int, Field(ge=1, le=366)]
    demand_effects: Annotated[dict[str, Annotated[float, Field(ge=0)]], BeforeValidator(_json)] = {}
    supply_effects: Annotated[SupplyEffects, BeforeValidator(_json)] = SupplyEffects()
    news_content: str = ""
