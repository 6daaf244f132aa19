"""The page in a real Chromium: silent console, no request, a viewer for mouse and keyboard, readable in every dress."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.experiments.report.cases import HOSTILE

pytestmark = pytest.mark.browser

PHONE, DESKTOP = 390, 1200
OPEN_EVERYTHING = "for (const details of document.querySelectorAll('details')) details.open = true"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOW_CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const seen = new Map();
  const rgba = (color) => {
    if (!seen.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      seen.set(color, [r, g, b, a / 255]);
    }
    return seen.get(color);
  };
  const over = (top, alpha, below) => below.map((value, index) => alpha * top[index] + (1 - alpha) * value);
  const luminance = (rgb) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, layer[3], below), [255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let checked = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    const isShown = text && element.checkVisibility() && element.getClientRects().length;
    if (!isShown || element.closest('script, style, title, option, :disabled')) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    let alpha = ink[3];
    for (let at = element; at; at = at.parentElement) alpha *= Number(getComputedStyle(at).opacity);
    const ground = behind(element);
    const [a, b] = [luminance(over(ink, alpha, ground)), luminance(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    checked += 1;
    if (ratio < 4.5) found.push([ratio.toFixed(2), element.tagName, String(element.getAttribute('class')), text]);
  }
  return { checked, found: found.slice(0, 10) };
}"""


@pytest.fixture(scope="module")
def address(mixed_html, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(mixed_html, encoding="utf-8")
    return path.as_uri()


@contextmanager
def opened(browser, address, *, width=DESKTOP, scheme="light"):
    """Open the report, and on leaving fail if anything was logged, raised or requested."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    logged: list[str] = []
    requested: list[str] = []
    page.on("console", lambda message: logged.append(message.text))
    page.on("pageerror", lambda error: logged.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(address)
    page.wait_for_selector("#episode h3")
    yield page
    assert logged == []
    assert [url for url in requested if not url.startswith(("file:", "data:"))] == []
    assert page.evaluate("window.hacked") is None
    page.close()


def listed(page) -> list[str]:
    return page.locator("#episodes li").all_inner_texts()


def chosen(page) -> str:
    return page.locator("#episodes li[aria-selected=true]").inner_text()


def choose_run(page, agent: str) -> None:
    run = next(i for i, label in enumerate(page.locator("select[name=run] option").all_inner_texts()) if agent in label)
    page.select_option("select[name=run]", str(run))


def test_opens_in_silence_and_asks_nothing(browser, address):
    with opened(browser, address) as page:
        assert page.title().startswith("Report")
        assert page.locator("svg.chart").count() > 10


def test_a_console_error_would_be_noticed(browser, address):
    with pytest.raises(AssertionError, match="planted"), opened(browser, address) as page:
        page.evaluate("console.error('planted')")


def test_injected_markup_could_not_run(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<b id=\"trap\" onclick=\"window.hacked = 3\">x</b>')")
    page.evaluate("document.getElementById('trap').click()")
    assert page.evaluate("window.hacked") is None
    page.close()


def test_filters_narrow_the_list_and_say_so(browser, address):
    with opened(browser, address) as page:
        everything = listed(page)
        assert len(everything) == 72
        page.select_option("select[name=regime]", "no_deal")
        page.select_option("select[name=family]", "candid")
        assert len(listed(page)) == 4  # 2 roles x 2 openers
        assert all("no_deal" in entry.replace(" ", "_") and "candid" in entry for entry in listed(page))
        assert page.locator("#matches").inner_text().startswith("4 negotiations")
        page.select_option("select[name=termination]", "violation")
        assert listed(page) == []
        assert "No negotiation matches" in page.locator("#episode").inner_text()


def test_worst_first_means_largest_surplus_lost(browser, address):
    with opened(browser, address) as page:
        lost = [float(entry.split("lost ")[1].split()[0]) for entry in listed(page)]
        assert lost == sorted(lost, reverse=True)
        page.select_option("select[name=order]", "best")
        assert [float(entry.split("lost ")[1].split()[0]) for entry in listed(page)] == lost[::-1]


def test_mouse_chooses_a_negotiation_and_steps_through_them(browser, address):
    with opened(browser, address) as page:
        entries = listed(page)
        page.locator("#episodes li").nth(5).click()
        assert chosen(page) == entries[5]
        page.get_by_role("button", name="Next").click()
        assert chosen(page) == entries[6]
        page.get_by_role("button", name="Previous").click()
        assert chosen(page) == entries[5]


def test_keyboard_alone_filters_chooses_and_reveals(browser, address):
    with opened(browser, address) as page:
        page.focus("select[name=regime]")
        page.keyboard.press("ArrowDown")
        assert page.locator("select[name=regime]").input_value() == "no_deal"
        assert len(listed(page)) == 24
        page.focus("select[name=order]")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "episodes"
        entries = listed(page)
        for key, index in (
            ("ArrowDown", 1),
            ("End", 23),
            ("ArrowUp", 22),
            ("Home", 0),
            ("ArrowUp", 0),
            ("PageDown", 10),
        ):
            page.keyboard.press(key)
            assert chosen(page) == entries[index], key
        active = page.locator("#episodes").get_attribute("aria-activedescendant")
        assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
        page.focus("#reveal")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "reveal"
        assert "Hidden type" in page.locator("#episode").inner_text()


def test_hidden_type_is_shown_only_on_request_and_hidden_again_for_the_next(browser, address):
    with opened(browser, address) as page:
        assert page.locator(".hidden-type").count() == 0
        assert "hidden reservation" not in page.locator("svg.path").inner_html()
        page.click("#reveal")
        assert "stance" in page.locator(".hidden-type").inner_text()
        assert "hidden reservation" in page.locator("svg.path").inner_html()
        page.get_by_role("button", name="Next").click()
        assert page.locator(".hidden-type").count() == 0


def test_hostile_messages_and_beliefs_are_shown_as_text(browser, address):
    with opened(browser, address) as page:
        choose_run(page, "talker")
        words = page.locator("#episode").text_content()
        assert HOSTILE.split("\x00")[0] in words
        assert "believes: reservation 51.00, urgency 0.50, conciliatory 0.30" in words
        assert page.locator("#episode img, #episode script").count() == 0


def test_unusable_and_lost_replies_are_named(browser, address):
    with opened(browser, address) as page:
        choose_run(page, "silent")
        assert "no usable reply" in page.locator("#episode").inner_text()
        page.select_option("select[name=termination]", "violation")
        assert "Violation: invalid action" in page.locator("#episode").inner_text().replace("Invalid", "invalid")
        choose_run(page, "lost")
        page.select_option("select[name=termination]", "provider_failure")
        assert "Excluded from all scores" in page.locator("#episode").inner_text()
        assert "HTTP 503" in page.locator("#episode").inner_text()


def test_one_suite_and_one_agent_are_shown_at_a_time(browser, address):
    with opened(browser, address) as page:
        assert page.locator("[data-suite]:visible").count() == 2  # leaderboard and play of one suite
        page.select_option("#choice select[name=suite]", label="published")
        assert page.locator("[data-suite=suite-1]:visible").count() == 2
        assert page.locator("[data-suite=suite-0]:visible").count() == 0
        page.select_option("#choice select[name=agent]", "run-7")
        chart = page.locator("[data-suite=suite-1] .chart.picked").first
        front = chart.locator(".series.on").evaluate_all("marks => [...new Set(marks.map(one => one.dataset.series))]")
        assert front == ["run-7"]


def test_a_table_sorts_and_is_given_away(browser, address):
    with opened(browser, address) as page:
        table = page.locator("table.leaderboard:visible")
        table.get_by_role("button", name="SE+", exact=True).click()
        texts = table.locator("tbody tr td:nth-child(3)").all_inner_texts()
        shown = [float(text.replace("−", "-")) for text in texts if text != "–"]
        assert shown == sorted(shown, reverse=True)
        with page.expect_download() as download:
            table.locator("xpath=../following-sibling::button[1]").click()
        text = download.value.path().read_text(encoding="utf-8")
        assert text.splitlines()[0].startswith("Rank,Agent,SE+,")
        assert "n = " in text


def test_intervals_are_shown_on_request(browser, address):
    with opened(browser, address) as page:
        beside = "getComputedStyle(document.querySelector('.leaderboard data.e'), '::after').content"
        assert page.evaluate(beside) == "none"
        page.check("#choice input[name=full]")
        assert "n = " in page.evaluate(beside)


def test_a_told_negotiation_opens_and_has_an_address(browser, address):
    with opened(browser, address) as page:
        link = page.locator("a[data-episode]").first
        link.click()
        wanted = link.get_attribute("data-episode")
        assert wanted in page.locator("#episode .about").inner_text()
        target = page.locator("#episode .bar-top a").get_attribute("href")
    with opened(browser, f"{address}{target}") as page:
        assert wanted in page.locator("#episode .about").inner_text()


def test_a_cut_table_says_so(browser, address):
    with opened(browser, address, width=PHONE) as page:
        assert page.locator(".scroll.cut:visible").count() > 0


@pytest.mark.parametrize("width", [PHONE, 760, DESKTOP])
def test_nothing_runs_off_the_side(browser, address, width):
    with opened(browser, address, width=width) as page:
        page.evaluate(OPEN_EVERYTHING)
        page.click("#reveal")
        assert page.evaluate(OVERFLOW) <= 0


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser, address, scheme, width):
    with opened(browser, address, scheme=scheme, width=width) as page:
        page.evaluate(OPEN_EVERYTHING)
        page.click("#reveal")
        result = page.evaluate(LOW_CONTRAST)
        assert result["checked"] > 1000
        assert result["found"] == []


def test_faint_text_would_be_noticed(browser, address):
    with opened(browser, address, scheme="dark") as page:
        page.evaluate("document.querySelector('h1').style.color = '#333333'")
        assert any(found[1] == "H1" for found in page.evaluate(LOW_CONTRAST)["found"])


def test_dark_mode_is_dark(browser, address):
    grounds = []
    for scheme in ("light", "dark"):
        with opened(browser, address, scheme=scheme) as page:
            grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(250, 249, 247)", "rgb(21, 22, 24)"]
