"use strict";
// What every page can do with its tables and charts: show one of several, sort, give away as a file, say that there is more.
(() => {
  const bar = document.getElementById("choice");
  const full = bar && bar.elements.full;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  function showSuite() {
    const suite = bar.elements.suite;
    const agent = bar.elements.agent;
    if (suite) for (const block of all("[data-suite]")) block.hidden = block.dataset.suite !== suite.value;
    if (!agent) return;
    const shown = [...agent.options].filter((option) => !suite || option.dataset.in === suite.value);
    for (const option of agent.options) option.hidden = option.disabled = !shown.includes(option);
    if (shown.length && !shown.includes(agent.selectedOptions[0])) agent.value = shown[0].value;
    showAgent();
  }

  function showAgent() {
    for (const group of all(".chart.picked .series")) {
      const isOn = group.dataset.series === bar.elements.agent.value;
      group.classList.toggle("on", isOn);
      if (isOn) group.parentNode.append(group);
    }
  }

  if (bar) {
    bar.hidden = false;
    bar.addEventListener("change", () => { document.body.classList.toggle("intervals", Boolean(full && full.checked)); showSuite(); });
    bar.addEventListener("submit", (event) => event.preventDefault());
    showSuite();
  }

  // One of several figures at a time, chosen by name.
  for (const group of all(".choices")) {
    const figures = all("[data-name]", group);
    if (figures.length < 2) continue;
    const select = element("select", {}, ...figures.map((figure, index) => element("option", { value: String(index) }, figure.dataset.name)));
    const show = () => figures.forEach((figure, index) => { figure.hidden = String(index) !== select.value; });
    select.addEventListener("change", show);
    group.prepend(element("label", { class: "choice" }, `${group.dataset.choice} `, select));
    show();
  }

  const textOf = (cell) => cell.textContent.trim().replace(/\s+/g, " ");
  const keyOf = (cell) => {
    const number = cell.querySelector("data") ? Number(cell.querySelector("data").value) : parseFloat(textOf(cell).replace(/[,\s]/g, "").replace("−", "-"));
    return Number.isNaN(number) ? null : number;
  };
  function sortBy(table, column, isDown) {
    const sign = isDown ? -1 : 1;
    for (const body of table.tBodies) {
      const rows = [...body.rows].filter((row) => row.cells.length > column);
      rows.sort((a, b) => {
        const [x, y] = [keyOf(a.cells[column]), keyOf(b.cells[column])];
        if (x === null && y === null) return sign * textOf(a.cells[column]).localeCompare(textOf(b.cells[column]));
        return x === null ? 1 : y === null ? -1 : sign * (x - y);
      });
      body.append(...rows);
    }
  }
  for (const table of all("table.sortable")) {
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = element("button", { type: "button", class: "sort" }, ...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const isDown = head.getAttribute("aria-sort") !== "descending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        sortBy(table, column, isDown);
      });
    });
  }

  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  function cellsOf(row) {
    return [...row.cells].flatMap((cell) => {
      const value = cell.querySelector("data.e");
      return value ? [value.value, value.dataset.iv] : [textOf(cell).replaceAll("−", "-")];
    });
  }
  function csvOf(table) {
    const rows = [...table.rows];
    const sample = rows.find((row) => row.querySelector("data.e"));
    const heads = [...table.tHead.rows[0].cells].flatMap((cell, column) =>
      sample && sample.cells[column] && sample.cells[column].querySelector("data.e") ? [textOf(cell), `${textOf(cell)}, interval and n`] : [textOf(cell)]);
    return [heads, ...rows.slice(1).map(cellsOf)].map((cells) => cells.map(quoted).join(",")).join("\r\n");
  }
  for (const table of all("table[data-csv]")) {
    const button = element("button", { type: "button", class: "download" }, "Download as CSV");
    button.addEventListener("click", () => {
      const link = element("a", { href: URL.createObjectURL(new Blob([csvOf(table)], { type: "text/csv" })), download: `${table.dataset.csv}.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    table.closest(".scroll").after(button);
  }

  // A table that is cut says so.
  const hint = () => { for (const box of all(".scroll")) box.classList.toggle("cut", box.scrollWidth > box.clientWidth + 1); };
  const watch = new ResizeObserver(hint);
  for (const box of all(".scroll")) watch.observe(box);
  document.addEventListener("toggle", hint, true);
  hint();
})();
