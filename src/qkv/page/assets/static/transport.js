"use strict";
// How a request is carried: here to Python in a worker of this browser. `window.qkv.send` and htmx both go this way.
(() => {
  const LIMIT = 10; // seconds that one answer may take
  const folder = new URL(".", document.currentScript.src);
  const queue = []; // requests that wait; the first is being answered when `busy`
  let worker, timer, ready = false, busy = false, restarts = 0;

  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("transport.css", folder);
  document.head.append(style);

  // — the loading state —
  const state = document.createElement("div");
  state.id = "loading";
  state.setAttribute("role", "status");
  const words = document.createElement("span"), bar = document.createElement("progress");
  state.append(words, bar);
  const show = (text, share) => {
    words.textContent = text;
    bar.hidden = share === undefined;
    if (share !== undefined) bar.value = share;
    if (!state.isConnected) document.body.append(state);
  };

  const html = (text) => {
    const safe = document.createElement("p");
    safe.className = "summary none";
    safe.textContent = text;
    return new Response(safe.outerHTML, { headers: { "content-type": "text/html; charset=utf-8" } });
  };

  // — the worker —
  const heard = {
    loading: ({ bytes, of, megabytes }) => {
      const once = restarts ? "starting Python again" : `loading Python, ${megabytes} MB, once`;
      show(bytes < of ? `${once} …` : "starting Python …", Math.min(bytes / of, 1));
    },
    ready: () => {
      ready = true;
      state.remove();
      next();
    },
    answer: ({ status, kind, name, body }) => {
      const headers = { "content-type": kind };
      if (name) headers["content-disposition"] = `attachment; filename="${name}"`;
      done((request) => request.resolve(new Response(body, { status, headers })));
    },
    broken: ({ why }) => {
      console.error(why);
      if (ready) return again("Python stopped with an error; it starts again.");
      show(`Python could not be loaded (${why.trim().split("\n").pop().slice(0, 120)}). Load the page again to try once more.`);
      return undefined;
    },
  };
  const start = () => {
    ready = false;
    worker = new Worker(new URL("../python/worker.js", folder), { type: "module" });
    worker.onmessage = ({ data }) => heard[data.is](data);
    worker.onerror = (event) => heard.broken({ why: event.message || "its files are not all there" });
  };
  const again = (why) => { // what is being answered is given up, what waits is kept
    worker.terminate();
    restarts += 1;
    start();
    done((request) => request.resolve(html(why)));
  };
  const done = (settle) => {
    clearTimeout(timer);
    const request = busy ? queue.shift() : undefined;
    busy = false;
    if (request) settle(request);
    next();
  };
  const next = () => {
    if (!ready || busy || !queue.length) return;
    busy = true;
    const { path, form } = queue[0];
    timer = setTimeout(() => again(`This took longer than ${LIMIT} seconds, so it was ended. Python starts again; other sheets are not affected.`), LIMIT * 1000);
    worker.postMessage({ path, form });
  };

  const send = (path, form, signal) => new Promise((resolve, reject) => {
    const request = { path, form: Object.fromEntries(new URLSearchParams(form)), resolve, reject };
    signal?.addEventListener("abort", () => {
      const at = queue.indexOf(request);
      if (at > 0 || (at === 0 && !busy)) queue.splice(at, 1); // one that is being answered is answered in vain
      reject(new DOMException("a newer request took its place", "AbortError"));
    });
    queue.push(request);
    next();
  });
  window.qkv = { send };

  const root = new URL("..", folder).href;
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.request.method === "GET") return; // a page of this folder
    ctx.fetch = (action, { body, signal }) => send(new URL(action, document.baseURI).href.replace(root, ""), body, signal);
  });
  document.addEventListener("DOMContentLoaded", () => { window.htmx.config.defaultTimeout = 0; }); // LIMIT counts

  if (location.protocol === "file:") {
    show("This page needs a web server, of any kind: in its folder, `python -m http.server` is one.");
  } else {
    show("loading Python …", 0);
    start();
  }
})();
