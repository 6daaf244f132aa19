// The journal browser: only the calls that are shown exist as elements, and only an opened call holds its texts.
(() => {
  const PAGE = 100;
  const ASKED = 90;
  const data = JSON.parse(document.getElementById("journal-data").textContent);
  const form = document.getElementById("filters");
  const list = document.getElementById("calls");
  if (!data.years.length) {
    list.replaceChildren(element("li", {}, "No year to show."));
    return;
  }
  const more = document.getElementById("more");
  const state = { found: [], shown: 0 };
  const [DAY, CLOCK, TOOL, OK, ASKED_AT, ANSWER] = [0, 1, 2, 3, 4, 5];
  const text = (call, field) => data.strings[call[field]];
  const yuan = (value) => value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }).replace("-", "−");

  function labelled(label, control) {
    form.append(element("label", {}, label, control));
    return control;
  }

  function select(name, label, options) {
    return labelled(label, element("select", { name }, ...options.map(([value, caption]) => element("option", { value }, caption))));
  }

  const tools = [...new Set(data.years.flatMap((year) => year.calls.map((call) => text(call, TOOL))))].sort();
  const controls = {
    year: select("year", "Year", data.years.map((year, index) => [String(index), year.label])),
    day: labelled("Day", element("input", { type: "number", name: "day", min: "0", value: "0" })),
  };
  const step = (label, by) => {
    const button = element("button", { type: "button", "aria-label": by < 0 ? "Previous day" : "Next day" }, label);
    button.addEventListener("click", () => { controls.day.value = String(clamp(chosenDay() + by)); refresh(); });
    return button;
  };
  form.append(element("span", { class: "steps" }, step("‹", -1), step("›", 1)));
  controls.tool = select("tool", "Tool", [["", "all tools"], ...tools.map((tool) => [tool, tool])]);
  controls.outcome = select("outcome", "Answer", [["", "all answers"], ["ok", "done"], ["refused", "refused"]]);
  controls.days = select("days", "Days", [["", "the chosen day"], ["all", "all days"]]);
  controls.words = labelled("Look for", element("input", { type: "search", name: "words", autocomplete: "off" }));

  const year = () => data.years[Number(controls.year.value)];
  const lastDay = () => (year().calls.length ? year().calls[year().calls.length - 1][DAY] : 0);
  const clamp = (day) => Math.max(0, Math.min(lastDay(), day));
  const chosenDay = () => clamp(Math.floor(Number(controls.day.value)) || 0);
  const words = () => controls.words.value.trim().toLowerCase();
  const isWholeYear = () => controls.days.value === "all" || words() !== "";

  // Texts repeat from call to call, so each is searched once.
  function matching(wanted) {
    const cache = new Map();
    return (place) => {
      if (!cache.has(place)) cache.set(place, data.strings[place].toLowerCase().includes(wanted));
      return cache.get(place);
    };
  }

  function filtered() {
    const [day, tool, outcome, wanted] = [chosenDay(), controls.tool.value, controls.outcome.value, words()];
    const has = matching(wanted);
    return year().calls.filter((call) =>
      (isWholeYear() || call[DAY] === day) && (!tool || text(call, TOOL) === tool) &&
      (!outcome || (outcome === "ok") === (call[OK] === 1)) &&
      (!wanted || has(call[TOOL]) || has(call[ASKED_AT]) || has(call[ANSWER])));
  }

  function shownCall(call) {
    const asked = text(call, ASKED_AT);
    const when = `${isWholeYear() ? `day ${call[DAY]} ` : ""}${text(call, CLOCK)}`;
    const summary = element("summary", {}, element("span", { class: "when" }, when), element("b", {}, text(call, TOOL)));
    if (call[OK] !== 1) summary.append(element("span", { class: "badge bad" }, "refused"));
    if (asked !== "{}") summary.append(element("span", { class: "asked" }, asked.length > ASKED ? `${asked.slice(0, ASKED)}…` : asked));
    const drawer = element("details", {}, summary);
    drawer.addEventListener("toggle", () => {
      if (drawer.open && drawer.children.length === 1) drawer.append(...texts(call));
    });
    return element("li", {}, drawer);
  }

  const texts = (call) => [["Asked", ASKED_AT], ["Answered", ANSWER]].flatMap(([title, field]) => [
    element("h4", {}, title), element("pre", { tabindex: "0", "aria-label": title }, pretty(text(call, field)))]);

  function showMore() {
    const next = state.found.slice(state.shown, state.shown + PAGE);
    list.append(...next.map(shownCall));
    state.shown += next.length;
    more.hidden = state.shown >= state.found.length;
    more.textContent = `Show more (${(state.found.length - state.shown).toLocaleString("en-US")} left)`;
  }

  function morning() {
    const row = year().mornings.find((one) => one[0] === chosenDay());
    if (isWholeYear() || !row) return "";
    const [day, bank, wallet, escrow, units, revenue] = row;
    return `Morning of day ${day}: bank ${yuan(bank)}, wallet ${yuan(wallet)}, escrow ${yuan(escrow)} yuan; ${units} units sold the day before for ${yuan(revenue)} yuan.`;
  }

  function refresh() {
    controls.day.max = String(lastDay());
    state.found = filtered();
    state.shown = 0;
    const where = isWholeYear() ? "on all days" : `on day ${chosenDay()}`;
    document.getElementById("matches").textContent = `${state.found.length.toLocaleString("en-US")} call${state.found.length === 1 ? "" : "s"} ${where}`;
    document.getElementById("morning").textContent = morning();
    list.replaceChildren();
    list.hidden = state.found.length === 0;
    showMore();
  }

  // A field that loses the focus reports a change again; rebuilding the list then would swallow the click that took it.
  let typing = 0;
  let before = "";
  function refreshIfChanged() {
    clearTimeout(typing);
    const now = JSON.stringify(Object.values(controls).map((control) => control.value));
    if (now !== before) refresh();
    before = now;
  }
  form.addEventListener("change", refreshIfChanged);
  form.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(refreshIfChanged, 150); });
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", showMore);
  refresh();
})();

// One year's charts and tables at a time, where there are several.
(() => {
  const form = document.getElementById("year-picker");
  const { shown } = form.elements;
  if (shown.options.length < 2) return;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  const show = () => { for (const node of document.querySelectorAll("[data-year]")) node.hidden = node.dataset.year !== shown.value; };
  shown.addEventListener("change", show);
  show();
})();
