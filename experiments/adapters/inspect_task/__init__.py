"""What Inspect runs of this project; needs the extra ``inspect``."""

from experiments.adapters.inspect_task.tasks import negotiation, store_year

__all__ = ["negotiation", "store_year"]
