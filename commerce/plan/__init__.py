"""A year as what was decided, in columns: read off a year that was played, carried out again without its talks."""

from commerce.plan.carrying_out import Executed, execute
from commerce.plan.planned import StorePlan, plan_from_json, plan_to_json
from commerce.plan.reading_off import extract

__all__ = ["Executed", "StorePlan", "execute", "extract", "plan_from_json", "plan_to_json"]
