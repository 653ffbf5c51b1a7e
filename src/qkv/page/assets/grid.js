"use strict";
// Grids of numbers: moving by arrow keys and Enter, and matrices pasted from anywhere.
(() => {
  const NUMBER = /^([-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+|\/\d+)?|-(inf|∞|oo))$/i;

  // A matrix as people copy it: a spreadsheet's tabs, NumPy's or Python's brackets, LaTeX, semicolons. Null if it is none.
  const parse = (text) => {
    const body = text
      .replace(/\\(begin|end)\{[^}]*\}|\b(np\.|numpy\.)?(array|matrix|tensor)\b|dtype\s*=\s*[\w.]+|[()$]/g, " ")
      .replace(/[−–]/g, "-");
    const inner = body.includes("[") ? body.match(/\[[^[\]]*\]/g) : null;
    const lines = inner ? inner.flatMap((row) => row.slice(1, -1).split(/\\\\|;/)) : body.split(/\\\\|;|\r?\n/);
    const rows = lines.filter((line) => line.trim()).map((line) => {
      if (line.includes("\t")) return line.split("\t").map((cell) => cell.trim().replace(/^([-+]?\d+),(\d+)$/, "$1.$2"));
      if (line.includes("&")) return line.split("&").map((cell) => cell.trim());
      return line.trim().replace(/^,|,$/g, "").split(/\s*,\s*|\s+/);
    });
    const fits = rows.length && rows.every((row) => row.length === rows[0].length && row.every((cell) => NUMBER.test(cell)));
    return fits ? rows.map((row) => row.map((cell) => cell.replace(/^\+|\.$/g, ""))) : null;
  };

  const cells = (table) => [...table.rows].map((row) => [...row.querySelectorAll("input, button")]);
  const place = (cell) => [cell.closest("tr").rowIndex, cell.closest("td").cellIndex];

  const go = (cell) => {
    if (!cell) return false;
    cell.focus();
    if (cell.select) cell.select();
    return true;
  };
  const step = (cell, down, right) => {
    const [row, column] = place(cell);
    return go(cells(cell.closest("table"))[row + down]?.[column + right]);
  };
  // After the last row comes the top of the next column; after the last cell the grid is handed in.
  const enter = (cell) => {
    if (step(cell, 1, 0)) return;
    const [, column] = place(cell);
    if (!go(cells(cell.closest("table"))[0][column + 1])) cell.form.requestSubmit();
  };
  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.(".grid input, .grid button");
    if (!cell || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const isField = cell.tagName === "INPUT";
    if (event.key === "Enter" && isField) {
      event.preventDefault();
      enter(cell);
    }
    const move = MOVES[event.key];
    if (!move) return;
    if (isField && move[1]) {
      const all = cell.selectionStart === 0 && cell.selectionEnd === cell.value.length;
      const edge = move[1] < 0 ? cell.selectionEnd === 0 : cell.selectionStart === cell.value.length;
      if (!all && !edge) return;
    }
    if (step(cell, ...move)) event.preventDefault();
  });
  document.addEventListener("focusin", (event) => { if (event.target.matches(".grid input")) event.target.select(); });

  // What is pasted goes where it fits: from this cell on, or from the first; a row may stand for a column.
  const fill = (table, rows, from) => {
    const grid = cells(table);
    const turned = rows.length === 1 && grid[0].length === 1 ? rows[0].map((cell) => [cell]) : rows;
    const fits = ([row, column]) => row + turned.length <= grid.length && column + turned[0].length <= grid[0].length;
    const start = [place(from), [0, 0]].find(fits);
    if (!start) return false;
    turned.forEach((row, i) => row.forEach((text, j) => { grid[start[0] + i][start[1] + j].value = text; }));
    const last = grid[start[0] + turned.length - 1][start[1] + turned[0].length - 1];
    last.dispatchEvent(new Event("input", { bubbles: true }));
    last.dispatchEvent(new Event("change", { bubbles: true }));
    return go(last);
  };
  document.addEventListener("paste", (event) => {
    const cell = event.target.closest?.(".grid input");
    const rows = cell && parse(event.clipboardData.getData("text/plain"));
    if (!rows || (rows.length === 1 && rows[0].length === 1)) return;
    event.preventDefault();
    const told = new CustomEvent("matrix", { bubbles: true, cancelable: true, detail: rows });
    if (cell.closest("table").dispatchEvent(told)) fill(cell.closest("table"), rows, cell);
  });

  Object.assign(window.qkv, { cells, parse });
})();
