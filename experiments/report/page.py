"""What every page is made with: templates, assets, numbers in words, figures, and a policy that lets nothing else in.

Matplotlib's figures become inline SVG that takes its colours and font from the page. Inline ``style`` attributes are
forbidden by the page's content policy and would fix colours for light mode only, so every distinct style becomes a
class of one shared sheet, and the placeholder colours of :data:`PAGE_PALETTE` become CSS variables. Text stays text: it
can be searched, read aloud and follows the page's font.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
import warnings
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.storage.files import write_atomically
from oracle.hover import HOVER
from oracle.palette import Palette

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.axes import Axes


def write_page(path: Path, build: Callable[[], str]) -> Path:
    """Write what ``build`` returns to ``path``, whole or not at all, and return the path.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist; said before anything is built.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r}: the folder {str(path.parent)!r} does not exist")
    write_atomically(path, build().encode())
    return path


def environment(**filters: object) -> Environment:
    """Return the template environment: everything escaped, undefined names are errors."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("experiments.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(number=format_number, count=lambda n: f"{n:,}", **filters)
    return made


def format_number(value: float, digits: int = 3) -> str:
    """Write a number with a true minus sign; what rounds to zero has no sign."""
    text = f"{value:,.{digits}f}"
    is_zero = not text.strip("-0.,")
    return text.lstrip("-") if is_zero else text.replace("-", "−")


def cut(text: str, limit: int) -> str:
    """Return ``text``, cut after ``limit`` characters with a word on how many more there were."""
    left_out = len(text) - limit
    return text if left_out <= 0 else f"{text[:limit]}\n[{left_out:,} more characters]"


def asset(*names: str) -> str:
    """Return the text of the style sheets or scripts called ``names``, joined."""
    folder = resources.files("experiments.report").joinpath("templates")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def content_policy(css: str, script: str) -> str:
    """Allow exactly this style sheet and this script; nothing else may run or load."""
    return (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


_PLACEHOLDERS = {
    "ink": "#010101",
    "muted": "#010102",
    "grid": "#010103",
    "ghost": "#010104",
    "accent": "#010105",
    "s0": "#010106",
    "s1": "#010107",
    "s2": "#010108",
    "s3": "#010109",
    "s4": "#01010a",
    "s5": "#01010b",
}
"""CSS variable of the page -> placeholder colour for matplotlib; each placeholder is unlike any colour in use."""

PAGE_PALETTE = Palette(
    **{role: _PLACEHOLDERS[role] for role in ("ink", "muted", "grid", "ghost", "accent")},
    series=tuple(_PLACEHOLDERS[f"s{index}"] for index in range(6)),
    level=_PLACEHOLDERS["muted"],
    gain=_PLACEHOLDERS["accent"],
    loss=_PLACEHOLDERS["ink"],
    shared=_PLACEHOLDERS["ghost"],
    line=_PLACEHOLDERS["grid"],
)
"""The roles of colour as placeholders."""
_VARIABLES = {placeholder: f"var(--{name})" for name, placeholder in _PLACEHOLDERS.items()}
_TAG = re.compile(r"<[^>]+>")
_STYLE = re.compile(r' style="([^"]*)"')
_REFERENCES = re.compile(r'(\bid="|href="#|url\(#)')
_HOVER = re.compile(rf'<g id="{HOVER}([^|"]*)\|([^"]*)">')
_UNUSED = re.compile(r'(?<=<g) id="[^"]*"| transform="rotate\(-?0 [^"]*"| xmlns(?::xlink)?="[^"]*"')
_HEAD = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>|<\?xml.*?\?>|<!DOCTYPE.*?>", re.DOTALL)
_DECIMALS = re.compile(r"(\.\d)\d+")
_FONT = re.compile(r"font: ?(?:(bold|\d+) )?([\d.]+)px [^;]*|font-family: [^;]*;? ?")
_RC: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "font.size": 11.5,
    "axes.edgecolor": _PLACEHOLDERS["grid"],
    "axes.labelcolor": _PLACEHOLDERS["muted"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": _PLACEHOLDERS["grid"],
    "grid.linewidth": 0.7,
    "text.color": _PLACEHOLDERS["ink"],
    "xtick.color": _PLACEHOLDERS["muted"],
    "ytick.color": _PLACEHOLDERS["muted"],
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "path.simplify": False,
}


class Margins(NamedTuple):
    """Room around the axis, in CSS pixels. Fixed, so that panels side by side line up."""

    left: int
    bottom: int
    right: int
    top: int

    def box(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Return the axis as ``(left, bottom, width, height)`` in shares of the figure."""
        return (
            self.left / width,
            self.bottom / height,
            (width - self.left - self.right) / width,
            (height - self.bottom - self.top) / height,
        )


class SvgSheet:
    """Draws figures and collects the one style sheet they share."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}
        self._num_charts = 0

    def draw(self, plot: Callable[[Axes], Axes], *, size: tuple[int, int], margins: Margins, label: str) -> str:
        """Return the SVG of ``plot``; ``size`` is in CSS pixels at full size, ``label`` the text alternative."""
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        width, height = size
        with mpl.rc_context(_RC):  # type: ignore[arg-type]  # the stubs want each key as a literal
            figure = Figure(figsize=(width / 72, height / 72))
            FigureCanvasSVG(figure)
            plot(figure.add_axes(margins.box(width, height)))
            buffer = io.StringIO()
            with warnings.catch_warnings():
                # Text stays text in the page's font; what the font it is measured with lacks is no fault.
                warnings.filterwarnings("ignore", message="Glyph")
                figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
        return self._adopt(buffer.getvalue(), label)

    def draw_picked(self, key: str, plot: Callable[[Axes], Axes], **options: Any) -> str:
        """Return the SVG of a ``plot`` of several series, with the one called ``key`` in front, as :meth:`draw`."""
        svg = self.draw(plot, **options).replace('<svg class="chart"', '<svg class="chart picked"', 1)
        return svg.replace(f'class="series" data-series="{key}"', f'class="series on" data-series="{key}"')

    def css(self) -> str:
        """Return the rules of every style met so far."""
        return "\n".join(f".chart .{name}{{{rules}}}" for rules, name in self._classes.items())

    def _adopt(self, svg: str, label: str) -> str:
        prefix = f"c{self._num_charts}-"
        self._num_charts += 1
        # Only inside tags: text may hold anything, and a name like ' style="x"' must come out as it went in.
        svg = _TAG.sub(lambda match: self._adopt_tag(match.group(0), prefix, label), _HEAD.sub("", svg))
        return re.sub(r">\s+<", "><", svg).strip()

    def _adopt_tag(self, tag: str, prefix: str, label: str) -> str:
        if tag.startswith("<svg"):
            return _root(tag, label)
        if said := _HOVER.fullmatch(tag):
            key, words = said.groups()
            title = f"<title>{words}</title>" if words else ""
            return f'<g class="series" data-series="{key}">{title}' if key else f"<g>{title}"
        tag = _REFERENCES.sub(lambda match: match.group(1) + prefix, _UNUSED.sub("", tag))
        tag = _STYLE.sub(lambda match: f' class="{self._class_of(match.group(1))}"', tag)
        return _DECIMALS.sub(r"\1", tag).replace("\n", " ")

    def _class_of(self, style: str) -> str:
        rules = _FONT.sub(_font, html.unescape(style))
        for placeholder, variable in _VARIABLES.items():
            rules = rules.replace(placeholder, variable)
        return self._classes.setdefault(rules, f"m{len(self._classes)}")


def _font(match: re.Match[str]) -> str:
    """Keep size and weight; the family is the page's."""
    if match.group(2) is None:
        return ""
    weight = f"; font-weight: {match.group(1)}" if match.group(1) else ""
    return f"font-size: {match.group(2)}px{weight}"


def _root(tag: str, label: str) -> str:
    found = re.search(r'viewBox="([^"]*)"', tag)
    if found is None:
        raise ValueError(f"tag={tag!r} is not the root of a matplotlib figure: it has no viewBox")
    width, height = found.group(1).split()[2:]
    return (
        f'<svg class="chart" role="img" aria-label="{html.escape(label)}" viewBox="{found.group(1)}" '
        f'width="{float(width):.0f}" height="{float(height):.0f}">'
    )
