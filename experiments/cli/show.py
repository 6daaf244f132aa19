"""What a person sees in the terminal."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from experiments.stats.numerals import interval_text, number_text

if TYPE_CHECKING:
    from pydantic import ValidationError
    from rich.console import Console
    from rich.table import Table

    from experiments.engine.pool import RowsDone


HEADLINE_METRICS = (
    "mean_utility", "se_plus", "agr_plus", "cse_plus", "fagr_minus", "agent_exit_minus",
    "be_type", "stance_acc", "crit_viol_pct", "alpha_cue", "alpha_inf",
)  # fmt: skip


SECONDS_BETWEEN_LINES = 60.0
"""How often progress is told where no bar can be seen."""


def plain(text: str) -> str:
    """Return ``text`` with every sign that would steer a terminal written out; names and values come from outside."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode() for sign in text
    )


def hide_passwords(text: str) -> str:
    """Return ``text`` with user, password and query of every address in it left out.

    >>> hide_passwords("out='http://user:secret@host/v1?key=secret'")
    "out='http://...@host/v1?...'"
    """
    bare = re.sub(r"(//|:/)[^/\s'\"]*@", r"\1...@", text)  # of a path, one of the strokes has gone
    return re.sub(r"(://[^\s'\"?#]*[?#])[^\s'\"]+", r"\1...", bare)


LONGEST_LINE = 1500
"""Letters of what is said about a failure; a value may have any number."""


def one_line(text: str) -> str:
    """Return a failure in one line; the middle of a very long one is left out."""
    line = plain(" ".join(filter(None, map(str.strip, text.split("\n")))))
    if len(line) <= LONGEST_LINE:
        return line
    head, tail = line[: LONGEST_LINE * 2 // 3], line[-LONGEST_LINE // 3 :]
    return f"{head} ... {len(line) - LONGEST_LINE:,} letters left out ... {tail}"


def note(text: str) -> None:
    """Write a notice to standard error."""
    sys.stderr.write(plain(hide_passwords(text)) + "\n")


def out(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(plain(text) + "\n")


_MAY_HOLD_A_SECRET = {"api_key_env", "base_url", "extra_body"}
"""Settings whose value is not shown: a key may have got there."""


def describe_errors(error: ValidationError) -> str:
    """Return each wrong setting with where it stands, its value unless it may be a secret, and what is allowed."""
    found = []
    for part in error.errors(include_url=False):
        place, said = list(map(str, part["loc"])), part["msg"].removeprefix("Value error, ")
        is_told = part["type"] in ("value_error", "missing") or not _MAY_HOLD_A_SECRET.isdisjoint(place)
        found.append(f"{'.'.join(place) or 'settings'}: {said}" + ("" if is_told else f", not {_short(part['input'])}"))
    return "; ".join(found)


def _short(value: object, longest: int = 200) -> str:
    if isinstance(value, dict | list | tuple):
        return f"a {type(value).__name__}"  # what stands in it may be a secret
    try:
        shown = repr(value)
    except ValueError:  # more digits than Python writes
        return "a number of thousands of digits"
    return shown if len(shown) <= longest else f"{shown[:longest]}..."


def print_table(*tables: Table) -> None:
    """Print rich tables to standard output; wide enough for a file or pipe that has no width."""
    console = _console()
    for table in tables:
        console.print(table)


def _console() -> Console:
    from rich.console import Console

    # What comes from outside, the name of a model first of all, is text and never markup.
    plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    console = Console(**plain)
    return console if console.is_terminal or os.environ.get("COLUMNS") else Console(width=160, **plain)


def estimate(entry: Mapping[str, Any]) -> str:
    """Return ``estimate [low, high]`` of a JSON estimate."""
    if entry["estimate"] is None:
        return "-"
    if entry["low"] is None:
        return number_text(entry["estimate"])
    return f"{number_text(entry['estimate'])} {interval_text(entry['low'], entry['high'])}"


def metrics_tables(title: str, metrics: Mapping[str, Any]) -> list[Table]:
    """Return the headline metrics of a run, overall and by regime: side by side, or below each other if too wide."""
    from rich.measure import Measurement

    slices = {"overall": metrics["overall"], **metrics["regimes"]}
    console, wide = _console(), _metrics_table(title, slices)
    if Measurement.get(console, console.options.update(width=1000), wide).maximum <= console.width:
        return [wide]
    return [_metrics_table(title, {name: part}) for name, part in slices.items()]


def _metrics_table(title: str, slices: Mapping[str, Mapping[str, Any]]) -> Table:
    from rich.table import Table

    from terms.metrics import METRIC_BY_NAME, PCT_ORACLE

    table = Table(
        title=plain(title),
        title_justify="left",
        caption="95 % intervals, none where there is too little to say; - is undefined",
        caption_justify="left",
    )
    for heading in ("metric", "better", *slices):
        justify: Literal["left", "right"] = "left" if heading in ("metric", "better") else "right"
        table.add_column(heading, justify=justify, overflow="fold")  # a digit that is cut off would be another number
    for name in HEADLINE_METRICS:
        metric = METRIC_BY_NAME[name]
        cells = [f"{estimate(part[name])}  n={part[name]['n']}" for part in slices.values()]
        table.add_row(metric.label, metric.better, *cells)
    for name, label in PCT_ORACLE.items():
        if all(name in part for part in slices.values()):
            table.add_row(
                label, "higher", *(f"{estimate(part[name])}  n={part[name]['n']}" for part in slices.values())
            )
    return table


def text_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of finished text, first column to the left."""
    from rich.table import Table

    table = Table(title=plain(title), title_justify="left")
    for place, heading in enumerate(headings):
        table.add_column(plain(heading), justify="right" if place else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def minutely(description: str, clock: Callable[[], float] = time.monotonic) -> Callable[[int, int, str], None]:
    """Return ``tell(done, total, more)``, which writes a line to standard error once a minute and is silent else."""
    began = told = clock()

    def tell(done: int, total: int, more: str = "") -> None:
        nonlocal told
        now = clock()
        if now - told < SECONDS_BETWEEN_LINES:
            return
        told = now
        left = f", about {max(1, round((total - done) * (now - began) / done / 60)):,} min left" if done else ""
        note(f"{description}: {done:,} of {total:,}{left}{more}")

    return tell


@contextmanager
def count_bar(total: int, description: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many steps are done on standard error, in a pipe once a minute. Yields ``update(done, total)``."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        tell = minutely(description)
        yield lambda done, whole: tell(done, whole, "")
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task(escape(description), total=total)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


def _is_failure(row: Mapping[str, Any]) -> bool:
    """Whether a row of a log, of whatever mode, holds a reply without a move."""
    records = [row[key] for key in ("record", "period", "first", "second") if key in row]
    return any(record["fault"] is not None for record in records)


@contextmanager
def progress_bar(total: int, description: str) -> Iterator[RowsDone]:
    """Show a bar with rate, failures and time left on standard error while episodes are played."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[failures]}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    failures = 0
    is_seen, tell = console.is_terminal or console.is_jupyter, minutely(description)
    with Bar(*columns, console=console, disable=not is_seen, transient=True) as bar:
        task = bar.add_task(description, total=total, rate="", failures="")

        def update(rows: Sequence[Mapping[str, Any]], left: int) -> None:
            nonlocal failures
            failures += sum(_is_failure(row) for row in rows)
            if not is_seen:
                tell(total - left, total, f", {failures} failed" if failures else "")
                return
            speed = bar.tasks[0].speed
            bar.update(
                task,
                completed=total - left,
                rate="" if not speed else f"{speed:.0f}/s",
                failures=f"{failures} failed" if failures else "",
            )

        yield update
