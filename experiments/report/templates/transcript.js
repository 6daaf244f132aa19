// The transcript browser and what an agent knew when. As in the journal, only what is shown exists as elements.
(() => {
  const PAGE = 100;
  const data = JSON.parse(document.getElementById("journal-data").textContent);
  const years = data.years.filter((year) => year.conduct);
  const [TURN, DAY, CLOCK, CONTENT, REASONING, NUDGE, CALLS, EVICTION, SENT, COST] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const [TOOL, OK, ANSWER, ASKED] = [0, 1, 2, 3];
  const text = (place) => data.strings[place];
  const number = (value) => value.toLocaleString("en-US");

  // A row of controls: a year, a day with steps, and what else a section asks for.
  function controlsIn(form, lastDay) {
    const labelled = (label, control) => { form.append(element("label", {}, label, control)); return control; };
    const select = (name, label, options) =>
      labelled(label, element("select", { name }, ...options.map(([value, caption]) => element("option", { value }, caption))));
    const year = select("year", "Year", years.map((one, index) => [String(index), one.label]));
    const day = labelled("Day", element("input", { type: "number", name: "day", min: "0", value: "0" }));
    const clamped = () => Math.max(0, Math.min(lastDay(years[Number(year.value)]), Math.floor(Number(day.value)) || 0));
    const step = (caption, by) => {
      const button = element("button", { type: "button", "aria-label": by < 0 ? "Previous day" : "Next day" }, caption);
      button.addEventListener("click", () => {
        day.value = String(clamped() + by);
        day.value = String(clamped());
        form.dispatchEvent(new Event("change"));
      });
      return button;
    };
    form.append(element("span", { class: "steps" }, step("‹", -1), step("›", 1)));
    form.addEventListener("submit", (event) => event.preventDefault());
    return { labelled, select, chosen: () => years[Number(year.value)].conduct, day: clamped, controls: [year, day] };
  }

  // A field that loses the focus reports a change again; rebuilding then would swallow the click that took it.
  function whenChanged(form, controls, refresh) {
    let waiting = 0;
    let before = "";
    const check = () => {
      clearTimeout(waiting);
      const now = JSON.stringify(controls.map((control) => control.value));
      if (now !== before) refresh();
      before = now;
    };
    form.addEventListener("change", check);
    form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(check, 150); });
    check();
  }

  function block(title, raw) {
    return [element("h4", {}, title), element("pre", { tabindex: "0", "aria-label": title }, raw)];
  }

  function callDrawer(call) {
    const summary = element("summary", {}, element("b", {}, text(call[TOOL])));
    if (call[OK] !== 1) summary.append(element("span", { class: "badge bad" }, "refused"));
    return filledWhenOpened(summary, () => [...block("Asked", pretty(text(call[ASKED]))), ...block("Answered", pretty(text(call[ANSWER])))]);
  }

  function filledWhenOpened(summary, fill) {
    const drawer = element("details", {}, summary);
    drawer.addEventListener("toggle", () => {
      if (drawer.open && drawer.children.length === 1) drawer.append(...fill());
    });
    return drawer;
  }

  function tally(calls) {
    const counts = new Map();
    for (const call of calls) counts.set(text(call[TOOL]), (counts.get(text(call[TOOL])) || 0) + 1);
    return [...counts].map(([tool, count]) => (count > 1 ? `${tool} ×${count}` : tool)).join(", ");
  }

  function sentWords(turn) {
    if (!turn[SENT]) return [];
    const [messages, expected, prompt, completion] = turn[SENT];
    const tokens = prompt === null ? `about ${number(expected)} prompt tokens` : `${number(prompt)} prompt tokens`;
    const told = completion === null ? "completion unknown" : `${number(completion)} completion tokens`;
    const cost = turn[COST] === null ? "cost unknown" : `$${(turn[COST] / 1e6).toFixed(6)}`;
    return [element("p", { class: "facts" }, `Sent ${number(messages)} messages, ${tokens}; ${told}; ${cost}.`)];
  }

  function turnParts(turn) {
    const parts = sentWords(turn);
    if (turn[EVICTION]) {
      const [groups, first, last, before, after] = turn[EVICTION];
      parts.push(element("p", { class: "facts" }, `Before this turn ${number(groups)} groups left the context (turns ${number(first)} to ${number(last)}): about ${number(before)} tokens became ${number(after)}.`));
    }
    for (const note of turn[SENT] ? turn[SENT][4] : []) parts.push(...block("Added by the harness", text(note)));
    if (turn[REASONING] >= 0) parts.push(filledWhenOpened(element("summary", {}, "Private reasoning"), () => block("Reasoning", text(turn[REASONING]))));
    if (turn[CONTENT] >= 0) parts.push(...block("Said", text(turn[CONTENT])));
    parts.push(...turn[CALLS].map(callDrawer));
    if (turn[NUDGE] >= 0) parts.push(...block("Told", text(turn[NUDGE])));
    return parts;
  }

  function turnRow(turn, isWholeYear) {
    const refused = turn[CALLS].filter((call) => call[OK] !== 1).length;
    const when = `${number(turn[TURN])} · ${isWholeYear ? `day ${turn[DAY]} ` : ""}${text(turn[CLOCK])}`;
    const summary = element("summary", {}, element("span", { class: "when" }, when), element("b", {}, tally(turn[CALLS]) || "no call"));
    if (refused) summary.append(element("span", { class: "badge bad" }, `${refused} refused`));
    if (turn[EVICTION]) summary.append(element("span", { class: "badge" }, "evicted"));
    return element("li", {}, filledWhenOpened(summary, () => turnParts(turn)));
  }

  function transcript() {
    const form = document.getElementById("turn-filters");
    const list = document.getElementById("turns");
    const more = document.getElementById("more-turns");
    const state = { found: [], shown: 0 };
    const turnsOf = (year) => year.conduct.turns;
    const row = controlsIn(form, (year) => (turnsOf(year).length ? turnsOf(year)[turnsOf(year).length - 1][DAY] : 0));
    const kind = row.select("kind", "Turns", [["", "all turns"], ["refused", "with a refused call"], ["evicted", "after an eviction"], ["idle", "without a call"]]);
    const days = row.select("days", "Days", [["", "the chosen day"], ["all", "all days"]]);
    const words = row.labelled("Look for", element("input", { type: "search", name: "words", autocomplete: "off" }));
    const KINDS = {
      "": () => true,
      refused: (turn) => turn[CALLS].some((call) => call[OK] !== 1),
      evicted: (turn) => turn[EVICTION] !== null,
      idle: (turn) => turn[CALLS].length === 0,
    };
    const isWholeYear = () => days.value === "all" || words.value.trim() !== "";

    function matcher(wanted) {
      const cache = new Map();
      const has = (place) => {
        if (place < 0) return false;
        if (!cache.has(place)) cache.set(place, text(place).toLowerCase().includes(wanted));
        return cache.get(place);
      };
      return (turn) => !wanted || has(turn[CONTENT]) || has(turn[REASONING]) || turn[CALLS].some((call) => [TOOL, ANSWER, ASKED].some((field) => has(call[field])));
    }

    function showMore() {
      const next = state.found.slice(state.shown, state.shown + PAGE);
      list.append(...next.map((turn) => turnRow(turn, isWholeYear())));
      state.shown += next.length;
      more.hidden = state.shown >= state.found.length;
      more.textContent = `Show more (${number(state.found.length - state.shown)} left)`;
    }

    function refresh() {
      const [fits, day] = [matcher(words.value.trim().toLowerCase()), row.day()];
      state.found = row.chosen().turns.filter((turn) => (isWholeYear() || turn[DAY] === day) && KINDS[kind.value](turn) && fits(turn));
      state.shown = 0;
      const where = isWholeYear() ? "on all days" : `on day ${day}`;
      document.getElementById("turn-matches").textContent = `${number(state.found.length)} turn${state.found.length === 1 ? "" : "s"} ${where}`;
      list.replaceChildren();
      list.hidden = state.found.length === 0;
      showMore();
    }

    more.addEventListener("click", showMore);
    whenChanged(form, [...row.controls, kind, days, words], refresh);
  }

  function knowledge() {
    const [DAY, TURN, FIRST, MEMOS, NOTES] = [0, 1, 2, 3, 4];
    const form = document.getElementById("knowledge-filters");
    const rowsOf = (year) => year.conduct.knowledge;
    const row = controlsIn(form, (year) => (rowsOf(year).length ? rowsOf(year)[rowsOf(year).length - 1][DAY] : 0));

    function contextWords(known) {
      if (known[FIRST] === null) return "what stood in its context is its own affair";
      if (known[FIRST] >= known[TURN]) return "its context held the briefing alone";
      const turns = row.chosen().turns;
      return `its context held turns ${number(known[FIRST])} to ${number(known[TURN] - 1)}, from day ${turns[known[FIRST]][1]} on`;
    }

    function refresh() {
      const known = row.chosen().knowledge.filter((one) => one[DAY] <= row.day()).pop();
      const place = document.getElementById("known-notes");
      place.replaceChildren();
      if (!known) return;
      const memos = known[MEMOS].length;
      document.getElementById("known-context").textContent =
        `Day ${known[DAY]}, turn ${number(known[TURN])}: ${contextWords(known)}; ${memos} note${memos === 1 ? "" : "s"} of its own.`;
      for (const [title, content] of known[MEMOS]) place.append(element("dt", {}, text(title)), element("dd", {}, text(content)));
      for (const [kind, day, written] of known[NOTES]) place.append(element("dt", {}, `${text(kind)}, written on day ${day}`), element("dd", {}, text(written)));
    }

    whenChanged(form, row.controls, refresh);
  }

  if (years.length) {
    transcript();
    knowledge();
  }
})();
