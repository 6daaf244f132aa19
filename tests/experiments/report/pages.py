"""Reading a report the strict way: what a page may and may not hold."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "input", "link", "hr"}
REFERENCES = ("aria-labelledby", "aria-describedby", "for")


@dataclass
class Page(HTMLParser):
    """Elements, texts and the errors a browser would quietly repair."""

    source: str
    open: list[str] = field(default_factory=list)
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)
        self.feed(self.source)
        self.close()
        self.errors += [f"{tag} is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        self.errors += [f"{tag} has {name} twice" for name in set(names) if names.count(name) > 1]
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> closes nothing, in line {self.getpos()[0]}")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every ``tag``."""
        return [attributes for name, attributes in self.elements if name == tag]

    def text_of(self, tag: str) -> list[str]:
        """Return the texts directly inside every ``tag``."""
        return [text for name, text in self.texts if name == tag]

    @property
    def words(self) -> str:
        """Everything a reader sees before any script has run."""
        return " ".join(text for tag, text in self.texts if tag not in ("script", "style"))

    @property
    def data(self) -> dict:
        """The viewer's data, read by a reader that refuses NaN and Infinity."""

        def refuse(constant: str) -> None:
            raise ValueError(f"{constant} is not JSON")

        return json.loads(self.text_of("script")[0], parse_constant=refuse)


def faults_of(page: Page) -> list[str]:
    """Return all that would make the page unsafe, unreadable to assistive software, or dependent on a network."""
    found = list(page.errors)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    found += [f"id {name} is used twice" for name in set(ids) if ids.count(name) > 1]
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            if name.startswith("on") or name == "style":
                found.append(f"{tag} has an inline {name}")
            if name in ("src", "srcset", "data", "action") or (name.endswith("href") and not value.startswith("#")):
                found.append(f"{tag} points outside: {name}={value!r}")
            if (name.endswith("href") and value[1:] not in ids) or (name in REFERENCES and value not in ids):
                found.append(f"{tag} refers to {value!r}, which is not there")
        if tag == "svg" and (attributes.get("role") != "img" or not attributes.get("aria-label", "").strip()):
            found.append(f"svg without a text alternative: {attributes}")
        if tag == "th" and attributes.get("scope") not in ("col", "row", "rowgroup"):
            found.append("a table header without scope")
    return found + _policy_faults(page)


def _policy_faults(page: Page) -> list[str]:
    policy = next(meta["content"] for meta in page.of("meta") if "http-equiv" in meta)
    styles, scripts = page.text_of("style"), page.text_of("script")
    expected = (
        f"default-src 'none'; style-src '{_digest(styles[0])}'; script-src '{_digest(scripts[-1])}'; "
        "base-uri 'none'; form-action 'none'"
    )
    faults = [] if policy == expected else [f"policy {policy} does not allow exactly what is there"]
    if len(styles) != 1 or not 1 <= len(scripts) <= 2:
        faults.append(f"{len(styles)} style sheets and {len(scripts)} scripts, 1 and at most 2 were written")
    if re.search(r"https?://(?!www\.w3\.org/2000/svg)", page.source):
        faults.append("an address on the network")
    return faults


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
