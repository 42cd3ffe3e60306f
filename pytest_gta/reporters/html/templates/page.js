"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const table = byId("table"), body = table.tBodies[0], filters = byId("filters");
  const rows = [...body.rows];
  const texts = new Map();
  let scroll = 0, open = null, opener = null;
  root.classList.add("js");
  filters.hidden = false;

  // -- colours ------------------------------------------------------------------------------------------------------
  const theme = byId("theme"), themes = ["auto", "light", "dark"];
  const kept = () => { try { return localStorage.getItem("gta-theme"); } catch { return null; } };
  const colour = (name) => {
    if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
    theme.lastElementChild.textContent = name;
    try { localStorage.setItem("gta-theme", name); } catch { /* not kept, then */ }
  };
  colour(themes.includes(kept()) ? kept() : "auto");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    colour(themes[(themes.indexOf(theme.lastElementChild.textContent) + 1) % themes.length]);
  });

  // -- sorting ------------------------------------------------------------------------------------------------------
  const cellValue = (row, index) => {
    const cell = row.cells[index];
    if (cell.dataset.value === undefined) return cell.textContent.trim();
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };
  const names = new Intl.Collator("en", { numeric: true });
  const sort = (head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const values = new Map(rows.map((row) => [row, cellValue(row, head.cellIndex)]));
    rows.sort((one, two) => {
      const a = values.get(one), b = values.get(two);
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "number" ? a - b : names.compare(a, b);
      return down ? -order : order;
    });
    body.append(...rows);
  };
  for (const head of table.querySelectorAll("th[data-key]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head));
    head.replaceChildren(button);
  }

  // -- filtering ----------------------------------------------------------------------------------------------------
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, `${row.textContent} ${byId(row.dataset.task).textContent}`.toLowerCase());
    return texts.get(row);
  };
  const visibleRows = () => rows.filter((row) => !row.hidden);
  const filter = () => {
    const wanted = Object.fromEntries(new FormData(filters));
    const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      row.hidden = !((!wanted.category || row.dataset.category === wanted.category)
        && (!wanted.status || row.dataset.state === wanted.status)
        && (!wanted.kind || row.dataset.kinds.split(" ").includes(wanted.kind))
        && (!wanted.capability || row.dataset.capabilities.split(" ").includes(wanted.capability))
        && (!wanted.stage || row.dataset.stages.split(" ").includes(wanted.stage))
        && words.every((word) => textOf(row).includes(word)));
    }
    const shown = visibleRows().length;
    byId("shown").textContent = `${shown} of ${rows.length} task${rows.length === 1 ? "" : "s"}`;
    byId("none").hidden = shown > 0;
  };
  const remember = () => {
    const set = [...new FormData(filters)].filter(([, value]) => value);
    history.replaceState(null, "", set.length ? `#?${new URLSearchParams(set)}` : "#tasks");
  };
  filters.addEventListener("input", () => { filter(); remember(); });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(() => { filter(); remember(); }));

  // -- one task or the overview -------------------------------------------------------------------------------------
  const foldLong = (article) => {
    for (const block of article.querySelectorAll(".clamp:not([data-seen])")) {
      block.dataset.seen = "";
      if (block.scrollHeight < 260) continue;
      block.classList.add("short");
      const more = document.createElement("button");
      more.type = "button";
      more.className = "more";
      more.setAttribute("aria-expanded", "false");
      const heading = block.parentElement.getAttribute("aria-label").toLowerCase();
      const say = (short) => {
        more.textContent = `${short ? "Show all of" : "Shorten"} the ${heading}`;
        more.setAttribute("aria-expanded", String(!short));
      };
      say(true);
      more.addEventListener("click", () => say(block.classList.toggle("short")));
      block.after(more);
    }
  };
  const steer = (article) => {
    const order = visibleRows().some((row) => row.dataset.task === article.id) ? visibleRows() : rows;
    const at = order.findIndex((row) => row.dataset.task === article.id);
    byId("position").textContent = `${at + 1} of ${order.length}`;
    for (const [id, row] of [["previous", order[at - 1]], ["next", order[at + 1]]]) {
      const link = byId(id);
      if (row) { link.href = `#${row.dataset.task}`; link.removeAttribute("aria-disabled"); }
      link.hidden = !row;
    }
  };
  const title = document.title;
  const show = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    const found = byId(hash) || byId(`task-${hash}`);
    const article = found && found.classList.contains("task") ? found : null;
    if (article && !open) scroll = scrollY;
    if (open) open.classList.remove("open");
    const before = open;
    open = article;
    root.classList.toggle("on-task", Boolean(article));
    document.querySelector(".of-task").hidden = !article;
    document.querySelector(".of-page").hidden = Boolean(article);
    if (article) {
      article.classList.add("open");
      foldLong(article);
      steer(article);
      const heading = article.querySelector("h1");
      document.title = `${heading.textContent} – ${title}`;
      scrollTo(0, 0);
      heading.focus({ preventScroll: true });
      return;
    }
    document.title = title;
    if (hash.startsWith("?")) {
      const wanted = new URLSearchParams(hash.slice(1));
      for (const field of filters.elements) if (field.name) field.value = wanted.get(field.name) || "";
      filter();
      byId("tasks").scrollIntoView();
    } else if (before) {
      const row = rows.find((one) => one.dataset.task === before.id);
      scrollTo(0, scroll);
      if (row && !row.hidden) {
        row.querySelector("a").focus({ preventScroll: true });
        row.scrollIntoView({ block: "nearest" });
      }
    } else if (found) {
      found.scrollIntoView();
    }
  };
  addEventListener("hashchange", show);
  document.addEventListener("click", (event) => {
    const place = event.target.closest("tr[data-task], g[data-task]");
    if (place && !event.target.closest("a, button") && !String(getSelection())) location.hash = place.dataset.task;
  });
  addEventListener("keydown", (event) => {
    if (!open || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const link = { ArrowLeft: "previous", ArrowRight: "next", Escape: "back" }[event.key];
    if (link && !byId(link).hidden) byId(link).click();
  });

  // -- paper --------------------------------------------------------------------------------------------------------
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll(".task.open details:not([open])")) { part.open = true; part.dataset.printed = ""; }
  });
  addEventListener("afterprint", () => {
    for (const part of document.querySelectorAll("details[data-printed]")) { part.open = false; delete part.dataset.printed; }
  });
  show();
})();
