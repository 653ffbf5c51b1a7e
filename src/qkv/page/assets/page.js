"use strict";
// What the page does without asking: files into the source, lines that correct a reading, panes, downloads.
// All that is known about attention is on the other side (respond.py).
(() => {
  const $ = (id) => document.getElementById(id);
  const store = {
    get: (key) => { try { return localStorage.getItem(`qkv.${key}`); } catch { return null; } },
    set: (key, value) => { try { localStorage.setItem(`qkv.${key}`, value); } catch { /* a private window */ } },
  };

  // — light or dark —
  const theme = (value) => { document.body.style.colorScheme = value || "light dark"; };
  theme(store.get("theme"));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#theme")) return;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = store.get("theme") || (dark ? "dark" : "light");
    store.set("theme", now === "dark" ? "light" : "dark");
    theme(store.get("theme"));
  });

  const source = $("source");
  if (!source) return;
  const judge = () => source.form.dispatchEvent(new Event("judge"));
  let chosen = false; // whether the visitor chose a pane
  const put = (text, name) => {
    source.value = text;
    if (name) $("name").value = name;
    chosen = false;
    store.set("sheet", source.value);
    store.set("name", $("name").value);
    judge();
  };
  if (store.get("sheet")) {
    source.value = store.get("sheet");
    $("name").value = store.get("name") || "sheet.md";
  }
  source.form.addEventListener("input", () => {
    store.set("sheet", source.value);
    store.set("name", $("name").value);
  });

  // — examples and files —
  $("examples").addEventListener("change", (event) => {
    const text = event.target.value;
    if (text) put(text, text.startsWith("\\section") ? "sheet.tex" : "sheet.md");
    event.target.selectedIndex = 0;
    event.stopPropagation();
  });
  $("examples").addEventListener("input", (event) => event.stopPropagation());
  const base64 = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(text);
  };
  const open = async (file) => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = null;
    try { text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { /* no plain text */ }
    if (text === null || text.includes("\0") || text.startsWith("%PDF-")) {
      const answer = await window.qkv.send("sheet/open", { file: file.name, data: base64(bytes) });
      text = await answer.text();
      if (!(answer.headers.get("content-type") || "").startsWith("text/plain")) {
        $("result").innerHTML = text;
        return;
      }
    }
    put(text, file.name);
  };
  $("file").addEventListener("change", (event) => {
    if (event.target.files[0]) open(event.target.files[0]);
    event.target.value = "";
    event.stopPropagation();
  });
  $("file").addEventListener("input", (event) => event.stopPropagation());
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    open(event.dataTransfer.files[0]);
  });

  // — from what is said to the source —
  const jump = (line) => {
    const lines = source.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    source.focus();
    source.setSelectionRange(start, start + (lines[line - 1] || "").length);
    const height = parseFloat(getComputedStyle(source).lineHeight) || 20;
    source.scrollTop = Math.max(0, (line - 1) * height - source.clientHeight / 2);
  };

  // — correcting the reading: a line in the source —
  const tell = (line) => {
    const { before, after } = document.querySelector("[data-before]").dataset;
    const text = source.value.replace(/\s+$/, "");
    const keep = chosen;
    put(`${text}\n\n${before}${line}${after}\n`);
    chosen = keep;
    $("about").close();
  };
  const untell = (line) => {
    const lines = source.value.split("\n");
    lines.splice(line - 1, 1);
    put(lines.join("\n"));
  };
  const about = (line, at) => {
    const cards = [...document.querySelectorAll(`#result .meaning[data-line="${line}"]`)];
    if (!cards.length) return;
    const dialog = $("about");
    dialog.replaceChildren(...cards.map((card) => card.cloneNode(true)));
    const close = document.createElement("button");
    close.type = "button";
    close.className = "close";
    close.dataset.close = "";
    close.setAttribute("aria-label", "Close");
    close.textContent = "×";
    dialog.prepend(close);
    dialog.show();
    const box = at.getBoundingClientRect();
    dialog.style.top = `${Math.min(box.bottom + 6, innerHeight - dialog.offsetHeight - 12) + scrollY}px`;
    dialog.style.left = `${Math.max(12, Math.min(box.left, innerWidth - dialog.offsetWidth - 24))}px`;
  };
  // The lines of the source that a row of the report shows: from its number to the next row's.
  const linesOf = (row) => {
    const number = (each) => Number(each.querySelector(".number")?.textContent) || 0;
    const first = number(row);
    let next = row.nextElementSibling;
    while (next && !number(next)) next = next.nextElementSibling;
    const last = next ? number(next) - 1 : first + 30;
    return Array.from({ length: Math.max(1, last - first + 1) }, (_, k) => first + k);
  };
  document.addEventListener("click", (event) => {
    const target = event.target;
    const tells = target.closest("[data-tell]");
    if (tells) return tell(tells.dataset.tell);
    const untells = target.closest("[data-untell]");
    if (untells) return untell(Number(untells.dataset.untell));
    if (target.closest("[data-close]")) return $("about").close();
    if (target.closest("#about")) return undefined;
    $("about").close();
    const badge = target.closest("#result .badge[data-line]");
    if (badge) { event.preventDefault(); return jump(Number(badge.dataset.line)); }
    const number = target.closest("#result .number");
    if (number && number.textContent) return jump(Number(number.textContent));
    const note = target.closest("#result .note");
    if (note) {
      const mark = document.querySelector(`#result .badge[href="#${CSS.escape(note.id)}"]`);
      return mark && jump(Number(mark.dataset.line));
    }
    const row = target.closest("#result .row");
    const piece = target.closest("math, pre, td, .claim, p");
    if (row && piece) {
      const line = linesOf(row).find((each) => document.querySelector(`#result .meaning[data-line="${each}"]`));
      if (line) about(line, target.closest("math, .claim, td") || piece);
    }
    return undefined;
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-tells]") && event.target.value.includes("=")) tell(event.target.value);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") $("about").close(); });

  // — panes —
  const show = (pane) => {
    document.querySelector(".sheet").dataset.pane = pane;
    $(`pane-${pane}`).checked = true;
  };
  document.querySelectorAll("[name=pane]").forEach((each) => each.addEventListener("change", () => {
    chosen = true;
    show(each.value);
  }));
  show("checked");
  document.addEventListener("htmx:after:swap", () => {
    const best = document.querySelector("#result [data-best]")?.dataset.best;
    if (best && !chosen) show(best);
    // All that is said of a sheet would be too much to hear after every edit: its first sentence is read out.
    const said = document.querySelector("#result .summary")?.textContent || "";
    if ($("heard").textContent !== said) $("heard").textContent = said;
  });

  // — downloads —
  document.querySelectorAll("[data-download]").forEach((button) => button.addEventListener("click", async () => {
    const what = document.querySelector(".sheet").dataset.pane === "worked" ? "solve" : "check";
    const form = { text: source.value, file: $("name").value, what, as: button.dataset.download };
    const answer = await window.qkv.send("sheet/download", form);
    const named = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") || "");
    if (!named) { $("result").innerHTML = await answer.text(); return; }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = named[1];
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    button.closest("details").open = false;
  }));
})();
