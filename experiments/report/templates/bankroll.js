// The ledger: one session at a time, each period a row.
(() => {
  const data = JSON.parse(document.getElementById("ledger-data").textContent);
  const form = document.getElementById("filters");
  const body = document.getElementById("periods");
  const money = (value) => (value === null ? "–" : value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }).replace("-", "−"));

  function select(name, label) {
    const control = element("select", { name });
    form.append(element("label", {}, label, control));
    return control;
  }

  const option = (value, caption) => element("option", { value: String(value) }, caption);
  const runs = select("run", "Sessions of");
  const sessions = select("session", "Session");
  runs.append(...data.runs.map((run, index) => option(index, run.label)));

  const run = () => data.runs[Number(runs.value)];
  const session = () => run().sessions[Number(sessions.value)];

  function listSessions() {
    sessions.replaceChildren(...run().sessions.map((one, index) => option(index, `${one.number}, ${one.end}`)));
  }

  function shown(period) {
    const [number, supplier, regime, end, price, rounds, profit, best, cost, cash] = period;
    const head = element("th", { scope: "row" }, String(number));
    const cells = [`supplier ${supplier}`, regime, end].map((text) => element("td", {}, text));
    const amounts = [money(price), String(rounds), money(profit), money(best), money(cost)].map((text) => element("td", { class: "num" }, text));
    const left = element("td", { class: "num" }, element("b", {}, money(cash)));
    return element("tr", {}, head, ...cells, ...amounts, left);
  }

  function refresh() {
    const one = session();
    body.replaceChildren(...(one ? one.periods.map(shown) : []));
    const count = one ? one.periods.length : 0;
    document.getElementById("matches").textContent = `${count} period${count === 1 ? "" : "s"}${one ? `, ${one.end}` : ""}`;
  }

  runs.addEventListener("change", () => { listSessions(); refresh(); });
  sessions.addEventListener("change", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  listSessions();
  refresh();
})();
