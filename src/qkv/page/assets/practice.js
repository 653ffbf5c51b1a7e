"use strict";
// Practice: what was chosen last, the colours of judged cells, the streak. What is right is decided in practice.py.
(() => {
  const form = document.getElementById("choose");
  const FIELDS = ["game", "kind", "level", "language", "seed"];
  const KEY = "qkv.practice";
  const kept = (() => { try { return JSON.parse(localStorage.getItem(KEY)) || {}; } catch { return {}; } })();
  const keep = () => { try { localStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* a private window */ } };
  const $ = (id) => document.getElementById(id);

  const score = () => {
    $("streak").textContent = kept.streak || 0;
    $("longest").textContent = kept.longest || 0;
    $("points").textContent = kept.points || 0;
  };
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of FIELDS) {
    const value = said.get(name) ?? kept[name];
    if (value !== undefined && value !== null) form.elements[name].value = value;
    if (form.elements[name].value === "") form.elements[name].selectedIndex = 0;
  }
  score();
  const remember = () => {
    for (const name of FIELDS) kept[name] = form.elements[name].value;
    keep();
    history.replaceState(null, "", `#${new URLSearchParams(FIELDS.map((name) => [name, kept[name]]))}`);
  };
  form.addEventListener("change", remember);
  const another = (level) => {
    if (level) form.elements.level.value = level;
    form.elements.seed.value = Number(form.elements.seed.value) + 1;
    remember();
    form.dispatchEvent(new Event("judge"));
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#another, [data-another]");
    if (button) another(button.dataset.another);
  });

  // — verdicts: the server says which cells are right; here they get their colours and their words —
  const WORDS = { right: "right", wrong: "not right", misrounded: "right but for the last digit", unread: "no number",
    carried: "follows from an earlier slip" };
  const mark = (cell, verdict) => {
    cell.dataset.label ??= cell.getAttribute("aria-label");
    cell.classList.remove(...Object.keys(WORDS));
    if (WORDS[verdict]) cell.classList.add(verdict);
    cell.setAttribute("aria-label", cell.dataset.label + (WORDS[verdict] ? `: ${WORDS[verdict]}` : ""));
    if (cell.tagName === "INPUT") cell.setAttribute("aria-invalid", verdict === "wrong" || verdict === "unread");
  };
  // — what was filled in, and earned, is there again when the page is —
  const questions = () => [...document.querySelectorAll(".question")];
  const write = () => {
    const grids = questions().map((each) => [...each.querySelectorAll(".grid input")].map((cell) => cell.value));
    kept.filled = { name: document.querySelector(".problem").dataset.name, grids, done: questions().map((each) => each.dataset.done) };
    keep();
  };
  const fill = (problem) => {
    problem.dataset.filled = "";
    if (kept.filled?.name !== problem.dataset.name) return;
    questions().forEach((question, at) => {
      const cells = [...question.querySelectorAll(".grid input")];
      cells.forEach((cell, k) => { cell.value = kept.filled.grids[at]?.[k] ?? ""; });
      const earned = kept.filled.done[at];
      if (earned !== undefined && earned !== null) close(question, earned);
      if (cells.some((cell) => cell.value)) question.dispatchEvent(new Event("change", { bubbles: true }));
    });
    ended();
  };
  document.addEventListener("input", (event) => {
    if (!event.target.matches(".question .grid input")) return;
    mark(event.target, "");
    write();
  });

  const close = (question, earned) => {
    question.dataset.done = earned;
    question.classList.add("done");
    question.querySelectorAll(".grid input").forEach((cell) => { cell.readOnly = true; });
  };
  const finish = (question, earned, of) => {
    const here = question.contains(document.activeElement) || document.activeElement === document.body;
    close(question, earned);
    kept.streak = earned === of ? (kept.streak || 0) + 1 : 0;
    kept.longest = Math.max(kept.longest || 0, kept.streak);
    kept.points = (kept.points || 0) + earned;
    write();
    score();
    const open = [...document.querySelectorAll(".question:not([data-done]) .grid input:not(.right)")];
    if (here && open.length) open[0].focus();
    ended();
  };
  const ended = () => {
    const all = questions();
    const end = document.querySelector(".end");
    if (!end || !all.every((each) => each.dataset.done !== undefined)) return;
    const points = all.reduce((sum, each) => sum + Number(each.dataset.done), 0);
    end.querySelector("b").textContent = points;
    end.hidden = false;
    end.querySelector("button:last-of-type").focus({ preventScroll: true });
  };
  document.addEventListener("htmx:after:swap", () => {
    const fresh = document.querySelector(".problem:not([data-filled])");
    if (fresh) fill(fresh);
    questions().forEach((question) => {
      const told = question.querySelector("[data-cells]");
      const cells = [...question.querySelectorAll(".grid input")];
      if (told && told.dataset.read === undefined) {
        told.dataset.read = "";
        told.dataset.cells.split(" ").forEach((verdict, k) => mark(cells[k], cells[k].value ? verdict : ""));
      }
      const marks = question.querySelector("[data-marks]");
      marks?.dataset.marks.split(" ").forEach((value) => mark(question.querySelector(`[value="${value}"]`), marks.dataset.tone));
      const earned = question.querySelector("[data-earned]");
      if (earned && question.dataset.done === undefined) finish(question, Number(earned.dataset.earned), Number(earned.dataset.of));
    });
  });
})();
