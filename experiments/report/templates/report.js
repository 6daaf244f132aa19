"use strict";
// The negotiation viewer. Every text from a transcript reaches the page through textContent, never as markup.
(() => {
  const PRICE_MARK = "\u0000";
  const DASH = "–";
  const NS = "http://www.w3.org/2000/svg";
  const DEALS = ["agent_accept", "counterpart_accept"];
  const data = JSON.parse(document.getElementById("viewer-data").textContent);
  const form = document.getElementById("filters");
  const list = document.getElementById("episodes");
  const stage = document.getElementById("episode");
  const matches = document.getElementById("matches");
  const state = { shown: [], index: 0, revealed: false };

  const spoken = (sentence, price) => sentence.split(PRICE_MARK).join(price === null ? "" : price.toFixed(2));
  const words = (name) => data.labels[name] ?? name.replaceAll("_", " ");
  const num = (value, digits = 2) => (value === null ? DASH : (Object.is(value, -0) ? 0 : value).toFixed(digits).replace("-", "−"));

  // A row holds numbered texts, then numbers, then what `rest` names.
  function record(texts, numbers, rest, row) {
    const names = [...texts, ...numbers, ...rest];
    return Object.fromEntries(names.map((name, index) => [name, index < texts.length ? data.strings[row[index]] : row[index]]));
  }

  function decode(row, order) {
    const episode = record(data.episode_texts, data.episode_numbers, ["turns", "violations", "receipts", "reviews"], row);
    episode.closing_message = spoken(episode.closing_message, episode.price);
    episode.violations = episode.violations.map(([kind, round, value]) => ({ kind: data.strings[kind], round, value }));
    episode.receipts = new Map(episode.receipts.map(([round, attempts]) => [round, attempts.map((texts) => {
      const [kind, verdict, repairs, problem, text] = texts.map((index) => data.strings[index]);
      return { kind, verdict, repairs, problem, text };
    })]));
    episode.reviews = new Map(episode.reviews.map(([round, move, ...numbers]) => [round, {
      move: data.strings[move], ...Object.fromEntries(data.review_numbers.map((name, index) => [name, numbers[index]])) }]));
    episode.turns = episode.turns.map((values) => {
      const turn = record(data.turn_texts, data.turn_numbers, ["belief"], values);
      return { ...turn, counterpart_message: spoken(turn.counterpart_message, turn.standing) };
    });
    return { ...episode, order };
  }

  const decoded = new Map();
  function episodesOf(run) {
    if (!decoded.has(run)) decoded.set(run, data.runs[run].episodes.map(decode));
    return decoded.get(run);
  }

  function shape(tag, attributes, content) {
    const node = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (content !== undefined) node.textContent = content;
    return node;
  }

  function select(name, label, options) {
    const control = element("select", { name });
    for (const [value, caption] of options) control.append(element("option", { value }, caption));
    form.append(element("label", {}, label, control));
    return control;
  }

  const everything = (label, values) => [["", label], ...values.map((value) => [value, words(value)])];
  const found = (field) => [...new Set(data.runs.flatMap((_, run) => episodesOf(run).map((episode) => episode[field])))].sort();
  const ORDERS = [["worst", "worst first"], ["best", "best first"], ["name", "by name"]];
  const controls = {
    run: select("run", "Agent", data.runs.map((run, index) => [String(index), `${run.agent} on ${run.suite}`])),
    regime: select("regime", "Regime", everything("all regimes", found("regime"))),
    family: select("family", "Counterpart", everything("all families", found("family"))),
    termination: select("termination", "Outcome", [...everything("all outcomes", found("termination")), ["violation", "with a violation"]]),
    order: select("order", "Order", ORDERS),
  };

  function filtered() {
    const [regime, family, outcome] = [controls.regime.value, controls.family.value, controls.termination.value];
    const kept = episodesOf(Number(controls.run.value)).filter((episode) =>
      (!regime || episode.regime === regime) && (!family || episode.family === family) &&
      (!outcome || episode.termination === outcome || (outcome === "violation" && episode.violations.length > 0)));
    if (controls.order.value === "name") return kept.sort((a, b) => (a.id < b.id ? -1 : 1));
    return kept.sort((a, b) => (controls.order.value === "worst" ? a.order - b.order : b.order - a.order));
  }

  function lostText(episode) {
    if (episode.lost === null) return "not scored";
    const share = episode.zopa > 0 ? ` (${num((100 * episode.lost) / episode.zopa, 0)} %)` : "";
    return `lost ${num(episode.lost)}${share}`;
  }

  function refresh() {
    state.shown = filtered();
    const run = data.runs[Number(controls.run.value)];
    const kept = run.episodes.length === run.total ? "" : `, ${run.episodes.length} of ${run.total.toLocaleString("en-US")} kept on this page`;
    matches.textContent = `${state.shown.length} negotiation${state.shown.length === 1 ? "" : "s"}${kept}`;
    list.replaceChildren(...state.shown.map((episode, index) => element("li", { role: "option", id: `option-${index}`, "aria-selected": "false" },
      element("span", {}, words(episode.termination)), element("span", {}, lostText(episode)),
      element("small", {}, `${words(episode.regime)} · ${episode.family} · ${episode.role}`))));
    choose(0);
  }

  function choose(index) {
    const before = list.children[state.index];
    if (before) before.setAttribute("aria-selected", "false");
    state.index = Math.max(0, Math.min(index, state.shown.length - 1));
    state.revealed = false;
    const item = list.children[state.index];
    if (item) {
      item.setAttribute("aria-selected", "true");
      list.setAttribute("aria-activedescendant", item.id);
      const [top, bottom] = [item.offsetTop - list.offsetTop, item.offsetTop - list.offsetTop + item.offsetHeight];
      if (top < list.scrollTop) list.scrollTop = top;
      if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    } else {
      list.removeAttribute("aria-activedescendant");
    }
    show();
  }

  function outcomeOf(episode) {
    const when = `${words(episode.termination)}, round ${episode.turns.length}`;
    return DEALS.includes(episode.termination) ? `${when}: deal at ${num(episode.price)}, utility ${num(episode.utility)}.` : `${when}, no deal.`;
  }

  function show() {
    const episode = state.shown[state.index];
    if (!episode) {
      stage.replaceChildren(element("p", {}, "No negotiation matches these filters."));
      return;
    }
    const reveal = element("button", { type: "button", id: "reveal", "aria-pressed": String(state.revealed) }, state.revealed ? "Hide the counterpart's type" : "Reveal the counterpart's type");
    reveal.addEventListener("click", () => { state.revealed = !state.revealed; show(); document.getElementById("reveal").focus(); });
    const address = element("a", { href: `#${new URLSearchParams({ agent: data.runs[Number(controls.run.value)].agent, suite: data.runs[Number(controls.run.value)].suite, episode: episode.id })}` }, "Link");
    const step = (label, by) => {
      const button = element("button", { type: "button" }, label);
      button.disabled = !state.shown[state.index + by];
      button.addEventListener("click", () => choose(state.index + by));
      return button;
    };
    stage.replaceChildren(
      element("div", { class: "bar-top" }, element("h3", {}, `${episode.role} against ${episode.family}`), element("span", {}, step("Previous", -1), " ", step("Next", 1), " ", reveal, " ", address)),
      element("p", { class: "outcome" }, `${outcomeOf(episode)} ${episode.lost === null ? "Excluded from all scores." : `${lostText(episode).replace("lost", "Surplus lost:")}.`}`),
      facts(episode), pricePath(episode, stage.clientWidth - 38), rounds(episode));
    if (state.revealed) stage.append(hiddenType(episode));
  }

  function facts(episode) {
    const pairs = [["regime", words(episode.regime)], ["opens", episode.opener === "agent_opens" ? "agent" : "counterpart"], ["own reservation", num(episode.reservation)],
      ["difficulty", num(episode.difficulty) + (episode.difficulty_bin === null ? ", no bin" : `, bin ${episode.difficulty_bin + 1} of 5`)], ["episode", episode.id]];
    if (episode.product) pairs.push(["product", episode.product]);
    return element("ul", { class: "about" }, ...pairs.map(([name, value]) => element("li", {}, `${name} `, element("b", {}, value))));
  }

  // Offers outside the bounds are drawn at the edge, so that one absurd price does not flatten the rest.
  function priceScale(episode, prices, height) {
    const inside = prices.map((price) => Math.max(episode.price_min, Math.min(episode.price_max, price)));
    const [least, most] = [Math.min(...inside), Math.max(...inside)];
    const room = Math.max((most - least) * 0.1, (episode.price_max - episode.price_min) * 0.02);
    const [low, high] = [least - room, most + room];
    const y = (price) => 12 + (height - 52) * (1 - (Math.max(low, Math.min(high, price)) - low) / (high - low));
    const rough = (high - low) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
    const ticks = [];
    for (let price = Math.ceil(low / step) * step; price <= high; price += step) ticks.push(price);
    return { y, ticks, digits: step < 1 ? Math.ceil(-Math.log10(step)) : 0 };
  }

  function pricePath(episode, width) {
    const wide = Math.max(width, 240);
    const [height, left, right] = [240, 52, wide < 480 ? 10 : 124];
    const own = episode.turns.filter((turn) => turn.price !== null).map((turn) => [turn.round, turn.price]);
    const other = episode.turns.filter((turn) => turn.standing !== null).map((turn) => [turn.round, turn.standing]);
    const guesses = episode.turns.filter((turn) => turn.belief && turn.belief[0] !== null).map((turn) => [turn.round, turn.belief[0]]);
    const prices = [...own, ...other, ...guesses].map((point) => point[1]).concat(episode.reservation, state.revealed ? episode.counterpart_reservation : []);
    const { y, ticks, digits } = priceScale(episode, prices, height);
    const x = (round) => left + 10 + (wide - left - right - 20) * (episode.horizon === 1 ? 0.5 : (round - 1) / (episode.horizon - 1));
    const svg = shape("svg", { class: "path", role: "img", viewBox: `0 0 ${wide} ${height}`, "aria-label": pathLabel(episode, own, other) });
    for (const price of ticks) svg.append(shape("line", { class: "tick", x1: left, x2: wide - right, y1: y(price), y2: y(price) }), shape("text", { x: left - 6, y: y(price) + 4, "text-anchor": "end" }, num(price, digits)));
    for (let round = 1; round <= episode.horizon; round += episode.horizon > 12 ? 5 : 1) svg.append(shape("text", { x: x(round), y: height - 22, "text-anchor": "middle" }, round));
    svg.append(shape("text", { x: (left + wide - right) / 2, y: height - 4, "text-anchor": "middle" }, "round"));
    svg.append(...limits(episode, y, left, wide - right, wide < 480));
    svg.append(...series("other", other, x, y), ...series("own", own, x, y));
    for (const [round, guess] of guesses) svg.append(shape("circle", { class: "guess", cx: x(round), cy: y(guess), r: 4 }));
    if (DEALS.includes(episode.termination)) svg.append(shape("circle", { class: "deal", cx: x(episode.turns.length), cy: y(episode.price), r: 8 }));
    return svg;
  }

  function pathLabel(episode, own, other) {
    const join = (points) => points.map((point) => num(point[1])).join(", ") || "none";
    return `Prices by round. Agent: ${join(own)}. Counterpart: ${join(other)}. Own reservation ${num(episode.reservation)}.`;
  }

  const series = (side, points, x, y) => [
    shape("polyline", { class: `${side} line`, points: points.map(([round, price]) => `${x(round)},${y(price)}`).join(" ") }),
    ...points.map(([round, price]) => shape("circle", { class: side, cx: x(round), cy: y(price), r: 3.5 }))];

  function limits(episode, y, from, to, narrow) {
    const [own, other] = [y(episode.reservation), y(episode.counterpart_reservation)];
    const shapes = [];
    if (state.revealed && episode.zopa > 0) shapes.push(shape("rect", { class: "zone", x: from, y: Math.min(own, other), width: to - from, height: Math.abs(own - other) }));
    const draw = (side, label, at, shift) => shapes.push(
      shape("line", { class: `${side} limit`, x1: from, x2: to, y1: at, y2: at }),
      shape("text", narrow ? { class: side, x: to, y: at + (shift > 0 ? 13 : -5), "text-anchor": "end" } : { class: side, x: to + 6, y: at + 4 + (Math.abs(own - other) < 14 ? shift : 0) }, label));
    const side = own < other ? -8 : 8;
    draw("own", "own reservation", own, state.revealed ? side : -8);
    if (state.revealed) draw("other", "hidden reservation", other, -side);
    return shapes;
  }

  function said(side, who, act, note, message) {
    const paragraph = element("p", { class: side === "own" ? "said agent-side" : "said" }, element("span", { class: "who" }, who), " ", element("b", {}, act));
    if (note) paragraph.append(" ", element("small", {}, note));
    if (message) paragraph.append(element("br"), element("q", {}, message));
    return paragraph;
  }

  function beliefText(belief) {
    if (!belief) return "";
    const [r, kappa, ...stances] = belief;
    const names = ["conciliatory", "neutral", "aggressive"];
    const stance = stances.map((prob, index) => `${names[index]} ${num(prob)}`).join(", ");
    return `believes: reservation ${num(r)}, urgency ${num(kappa)}, ${stance || `stance ${DASH}`}`;
  }

  // One closed drawer for each time the model was asked in a round: the verdict outside, the reply as it was inside.
  function replies(attempts) {
    return attempts.map(({ kind, verdict, repairs, problem, text }) => {
      const facts = [kind === "first" ? "Reply" : words(kind), ": ", words(verdict), repairs && ` (${repairs.split(", ").map(words).join(", ")})`];
      const drawer = element("details", { class: ["ok", "repaired"].includes(verdict) ? "reply" : "reply troubled" }, element("summary", {}, ...facts.filter(Boolean)));
      if (problem) drawer.append(element("p", {}, problem));
      drawer.append(element("pre", { tabindex: "0", "aria-label": "Reply as it was" }, text || "no text"));
      return drawer;
    });
  }

  // What the agent could have believed, what the oracle would have done, and what the move gave up against that.
  function reviewOf(review) {
    if (!review) return null;
    const could = `Could believe: reservation ${num(review.r_mean)} [${num(review.r_low)}, ${num(review.r_high)}], a deal possible with ${num(100 * review.feasible_prob, 0)} %.`;
    return element("p", { class: "review" }, `${could} The oracle ${review.move}. `, element("b", {}, `This move cost ${num(review.cost)}`), `, with the type known ${num(review.hindsight_cost)}.`);
  }

  function actOf(turn) {
    if (!turn.decision) return "no usable reply";
    return turn.decision === "Offer" ? `offers ${num(turn.price)}` : turn.decision === "Accept" ? `accepts ${num(turn.standing)}` : "rejects and leaves";
  }

  function rounds(episode) {
    const items = episode.turns.map((turn) => {
      const body = element("div");
      if (turn.standing !== null) body.append(said("other", "Counterpart", num(turn.standing), turn.cue, turn.counterpart_message));
      body.append(said("own", "Agent", actOf(turn), beliefText(turn.belief), turn.message));
      const review = reviewOf(episode.reviews.get(turn.round));
      if (review) body.append(review);
      body.append(...replies(episode.receipts.get(turn.round) ?? []));
      for (const breach of episode.violations.filter((one) => one.round === turn.round)) body.append(element("p", { class: "breach" }, `Violation: ${words(breach.kind)}${breach.value === null ? "" : ` (${num(breach.value)})`}`));
      return element("li", {}, element("span", { "aria-label": `Round ${turn.round}` }, String(turn.round)), body);
    });
    // A round that the provider lost has a reply but no turn.
    const played = new Set(episode.turns.map((turn) => turn.round));
    for (const [round, attempts] of episode.receipts) if (!played.has(round)) items.push(element("li", {}, element("span", { "aria-label": `Round ${round}` }, String(round)), element("div", {}, ...replies(attempts))));
    const last = ending(episode);
    if (last) items.push(element("li", {}, element("span", { "aria-hidden": "true" }, "end"), last));
    return element("ol", { class: "rounds" }, ...items);
  }

  function ending(episode) {
    if (episode.fault || episode.fault_detail) return element("div", {}, element("p", { class: "breach" }, [words(episode.fault), episode.fault_detail].filter(Boolean).join(": ")));
    if (!episode.closing_message) return null;
    return element("div", {}, said("other", "Counterpart", episode.termination === "counterpart_accept" ? `accepts ${num(episode.price)}` : "walks away", episode.closing_cue, episode.closing_message));
  }

  function hiddenType(episode) {
    const range = episode.zopa > 0 ? `zopa ${num(episode.zopa)}` : `no zopa, the reservations miss each other by ${num(-episode.zopa)}`;
    return element("p", { class: "hidden-type", role: "status" }, element("b", {}, "Hidden type. "), `reservation ${num(episode.counterpart_reservation)}, urgency ${num(episode.counterpart_urgency)}, stance ${episode.counterpart_stance}; ${range}.`);
  }

  const KEYS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  list.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    choose(state.index + KEYS[event.key]);
  });
  list.addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) choose([...list.children].indexOf(item));
  });
  form.addEventListener("change", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  // A negotiation has an address of its own, so that it can be linked to and sent.
  function open(agent, suite, id) {
    const run = data.runs.findIndex((one) => one.agent === agent && one.suite === suite);
    if (run < 0) return;
    form.reset();
    controls.run.value = String(run);
    refresh();
    const place = state.shown.findIndex((episode) => episode.id === id);
    if (place >= 0) choose(place);
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-episode]");
    if (link) open(link.dataset.agent, link.dataset.on, link.dataset.episode);
  });
  const asked = new URLSearchParams(location.hash.slice(1));
  let resizing = 0;
  window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(show, 120); });
  refresh();
  if (asked.has("episode")) {
    open(asked.get("agent"), asked.get("suite"), asked.get("episode"));
    document.getElementById("viewer").scrollIntoView();
  }
})();
