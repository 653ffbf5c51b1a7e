"use strict";
// The calculator: grids that grow and shrink together, and a link that holds the whole problem.
(() => {
  const form = document.getElementById("calculator");
  const tables = [...form.querySelectorAll(".grid")];
  const nameOf = (table) => table.closest("[data-matrix]").dataset.matrix;
  const most = Number(form.querySelector("[data-size-of]").max);
  const sizeOf = (name) => form.querySelector(`[data-size-of="${name}"]`);
  const read = (table) => window.qkv.cells(table).map((row) => row.map((cell) => cell.value.trim() || "0"));
  const written = (rows) => rows.map((row) => row.join(" ")).join("; ");
  const parsed = (text) => text.split(";").filter((row) => row.trim()).map((row) => row.trim().split(/[\s,]+/));

  const write = (table, rows) => {
    const [pattern] = window.qkv.cells(table)[0];
    table.tBodies[0].replaceChildren(...rows.map((row, i) => {
      const line = document.createElement("tr");
      line.append(...row.map((text, j) => {
        const cell = document.createElement("td");
        const field = pattern.cloneNode();
        field.value = text;
        field.setAttribute("aria-label", `${nameOf(table)}, row ${i + 1}, column ${j + 1}`);
        cell.append(field);
        return cell;
      }));
      return line;
    }));
  };
  const sync = () => tables.forEach((table) => { form.elements[nameOf(table)].value = written(read(table)); });

  // A size belongs to several matrices: all of them get it.
  const resize = (name, size) => tables.forEach((table) => {
    const { rows, columns } = table.dataset;
    if (rows !== name && columns !== name) return;
    const now = read(table);
    const height = rows === name ? size : now.length;
    const width = columns === name ? size : now[0].length;
    if (height === now.length && width === now[0].length) return;
    write(table, Array.from({ length: height }, (_, i) => Array.from({ length: width }, (__, j) => now[i]?.[j] ?? "0")));
  });
  const kind = () => form.elements.from.value;
  const used = (table) => table.closest("[data-from]").dataset.from === kind()
    && (nameOf(table) !== "W_O" || form.elements.project.checked);
  const measure = () => tables.filter(used).reverse().forEach((table) => {
    const rows = read(table);
    sizeOf(table.dataset.rows).value = rows.length;
    sizeOf(table.dataset.columns).value = rows[0].length;
  });

  // What is shown: the matrices of what one starts from, and the sizes that they have.
  const show = () => {
    const [out, width] = ["v", "d"].map((name) => sizeOf(name).value);
    if (form.elements.norm.value && out !== width) form.elements.project.checked = true; // X + Output has to fit
    form.querySelectorAll("[data-from]").forEach((each) => { each.hidden = each.dataset.from !== kind(); });
    form.querySelector('[data-matrix="W_O"]').hidden = !form.elements.project.checked;
    const sizes = new Set(tables.filter(used).flatMap((table) => [table.dataset.rows, table.dataset.columns]));
    form.querySelectorAll("[data-size]").forEach((each) => { each.hidden = !sizes.has(each.dataset.size); });
    form.querySelector("[data-own]").hidden = form.elements.scale.value !== "own";
    document.getElementById("heat").textContent = form.elements.temperature.value;
  };

  // — the link —
  const fields = () => [...new FormData(form)];
  const usual = new Map(fields());
  const matrices = new Set(tables.map(nameOf));
  const link = () => {
    const shown = new Set(tables.filter(used).map(nameOf));
    const told = fields().filter(([name, value]) => (
      name === "from" || name === "tokens" || shown.has(name) || (!matrices.has(name) && value !== usual.get(name))));
    history.replaceState(null, "", `#${new URLSearchParams(told)}`);
  };
  const open = () => {
    const told = new URLSearchParams(location.hash.slice(1));
    for (const element of form.elements) {
      if (!element.name || matrices.has(element.name)) continue;
      if (element.type === "checkbox") element.checked = told.has(element.name);
      else if (element.type !== "radio") element.value = told.get(element.name) ?? usual.get(element.name);
    }
    form.elements.from.value = told.get("from") ?? usual.get("from");
    if (!form.elements.from.value) form.elements.from.value = usual.get("from");
    for (const table of tables) {
      const rows = parsed(told.get(nameOf(table)) || "");
      const width = Math.max(...rows.map((row) => row.length), 0);
      const fits = width && width <= most && rows.length <= most;
      write(table, fits ? rows.map((row) => [...row, ...Array(width - row.length).fill("0")]) : parsed(usual.get(nameOf(table))));
    }
    sync();
    measure();
    show();
  };
  const again = () => { open(); form.dispatchEvent(new Event("judge")); };
  open();
  addEventListener("hashchange", again);

  form.addEventListener("input", (event) => {
    const size = event.target.dataset.sizeOf;
    if (size) {
      const wanted = Math.round(Number(event.target.value));
      if (wanted < 1 || wanted > most) return;
      resize(size, wanted);
    }
    sync();
    if (!size) measure();
    show();
    link();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  // A pasted matrix brings its size; the matrices that it meets follow.
  form.addEventListener("matrix", (event) => {
    const table = event.target;
    const rows = event.detail;
    if (rows.length > most || rows[0].length > most) return;
    event.preventDefault();
    write(table, rows);
    resize(table.dataset.rows, rows.length);
    resize(table.dataset.columns, rows[0].length);
    window.qkv.cells(table)[0][0].focus();
    window.qkv.cells(table)[0][0].dispatchEvent(new Event("input", { bubbles: true }));
  });
  document.getElementById("copy").addEventListener("click", async () => {
    link();
    const said = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(location.href);
      said.textContent = "copied: it holds the whole problem";
    } catch {
      said.textContent = "copy the address above: it holds the whole problem";
    }
  });
})();
