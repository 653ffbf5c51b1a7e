"use strict";
// Sliders and the numbers beside them; a link that holds all sizes.
(() => {
  const form = document.getElementById("costs");
  const sliders = [...form.querySelectorAll("[data-values]")];
  const valuesOf = (slider) => slider.dataset.values.split(" ").map(Number);
  const field = (name) => form.elements[name];
  const nearest = (values, wanted) => values.reduce((best, value, k) => (
    Math.abs(Math.log(value / wanted)) < Math.abs(Math.log(values[best] / wanted)) ? k : best), 0);
  const follow = () => sliders.forEach((slider) => {
    slider.value = nearest(valuesOf(slider), Number(field(slider.dataset.of).value) || 1);
    slider.setAttribute("aria-valuetext", field(slider.dataset.of).value);
  });
  // The largest value of a list that divides a number and is no larger than wanted.
  const divides = (name, whole, wanted) => {
    const values = valuesOf(sliders.find((slider) => slider.dataset.of === name));
    return values.filter((value) => whole % value === 0 && value <= wanted).pop() || 1;
  };
  const set = (name, value) => {
    const before = Object.fromEntries(["d", "h", "kv_heads", "d_ff"].map((each) => [each, Number(field(each).value)]));
    field(name).value = value;
    // What hangs together stays together: four widths, heads that cut the width, groups that cut the heads.
    if (name === "d" && before.d_ff === 4 * before.d) field("d_ff").value = 4 * value;
    if (name === "d") field("h").value = divides("h", value, before.h);
    if (name === "h" && Number(field("d").value) % value) field("h").value = divides("h", Number(field("d").value), value);
    const heads = Number(field("h").value);
    if (name === "d" || name === "h") {
      field("kv_heads").value = before.kv_heads === before.h ? heads : divides("kv_heads", heads, before.kv_heads);
    }
    if (name === "kv_heads") field("kv_heads").value = divides("kv_heads", heads, value);
  };
  const link = () => history.replaceState(null, "", `#${new URLSearchParams(new FormData(form))}`);
  form.addEventListener("input", (event) => {
    const slider = event.target.closest("[data-values]");
    if (slider) set(slider.dataset.of, valuesOf(slider)[Number(slider.value)]);
    follow();
    link();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  const open = () => {
    const told = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of told) if (field(name) && field(name).type === "number") field(name).value = value;
    if (told.has("bytes")) field("bytes").value = told.get("bytes");
    if (told.has("bytes")) field("biases").checked = told.has("biases");
    follow();
    return told.size > 0;
  };
  addEventListener("hashchange", () => { open(); form.dispatchEvent(new Event("judge")); });
  // The page comes with the costs of its usual sizes; others are asked for as soon as htmx, which comes after, is ready.
  if (open()) form.setAttribute("hx-trigger", `${form.getAttribute("hx-trigger")}, load`);
})();
