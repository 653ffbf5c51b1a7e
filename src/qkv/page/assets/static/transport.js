"use strict";
// How a request is carried: here to Python in a worker of this browser. `window.qkv.send` and htmx both go this way.
// Another view is written into the same window, so that Python, once loaded, stays: this file then runs once more.
(() => {
  const LIMIT = 10; // seconds that one answer may take
  const folder = new URL(".", document.currentScript.src);
  const root = new URL("..", folder).href;

  // — Python, one for the window —
  const python = () => {
    const queue = []; // requests that wait; the first is being answered when `busy`
    let worker, timer, ready = false, busy = false, restarts = 0;

    const state = document.createElement("div");
    state.id = "loading";
    state.setAttribute("role", "status");
    const words = document.createElement("span"), bar = document.createElement("progress");
    state.append(words, bar);
    const show = (text, share) => {
      words.textContent = text;
      bar.hidden = share === undefined;
      if (share !== undefined) bar.value = share;
      if (!state.isConnected) document.body?.append(state);
    };

    const said = (text) => {
      const line = document.createElement("p");
      line.className = "summary none";
      line.textContent = text;
      return new Response(line.outerHTML, { headers: { "content-type": "text/html; charset=utf-8" } });
    };
    const done = (settle) => {
      clearTimeout(timer);
      const request = busy ? queue.shift() : undefined;
      busy = false;
      if (request) settle(request);
      next();
    };
    const again = (why) => { // what is being answered is given up, what waits is kept
      worker.terminate();
      restarts += 1;
      start();
      done((request) => request.resolve(said(why)));
    };
    const heard = {
      loading: ({ bytes, of, megabytes }) => {
        const doing = restarts ? "starting Python again" : `loading Python, ${megabytes} MB, once`;
        show(bytes < of ? `${doing} …` : "starting Python …", Math.min(bytes / of, 1));
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
        if (ready) again("Python stopped with an error, so this has no answer. Python starts again.");
        else show("Python could not be loaded. Load the page again to try once more.");
      },
    };
    const start = () => {
      ready = false;
      worker = new Worker(`${root}python/worker.js`, { type: "module" });
      worker.onmessage = ({ data }) => heard[data.is](data);
      worker.onerror = (event) => heard.broken({ why: event.message || "files of Python are missing" });
    };
    const next = () => {
      if (!ready || busy || !queue.length) return;
      busy = true;
      const late = () => again(`This could not be finished: it took longer than ${LIMIT} seconds. Python starts again.`);
      timer = setTimeout(late, LIMIT * 1000);
      worker.postMessage({ path: queue[0].path, form: queue[0].form });
    };
    const send = (path, form, signal) => new Promise((resolve, reject) => {
      const request = { path, form: Object.fromEntries(new URLSearchParams(form)), resolve };
      signal?.addEventListener("abort", () => {
        const at = queue.indexOf(request);
        if (at > 0 || (at === 0 && !busy)) queue.splice(at, 1); // one that is being answered is answered in vain
        reject(new DOMException("a newer request took its place", "AbortError"));
      });
      queue.push(request);
      next();
    });
    const forget = () => queue.splice(busy ? 1 : 0); // what the view before still waited for

    if (location.protocol === "file:") {
      show("This page needs a web server, of any kind: in its folder, `python -m http.server` is one.");
    } else {
      show("loading Python …", 0);
      start();
    }
    return { send, forget };
  };
  window.qkv ??= python();

  // — this view —
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("transport.css", folder);
  document.head.append(style);

  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    const path = new URL(ctx.request.action, document.baseURI).href.replace(root, "");
    if (ctx.request.method === "POST") ctx.fetch = (_, { body, signal }) => window.qkv.send(path, body, signal);
  });
  document.addEventListener("DOMContentLoaded", () => { window.htmx.config.defaultTimeout = 0; }); // LIMIT counts

  // — other views —
  const here = location.pathname;
  const visit = async (to) => {
    const page = await (await fetch(to)).text();
    window.qkv.forget();
    document.open(); // ends what listens in this view; the window and its worker stay
    const loaded = new Promise((resolve) => window.addEventListener("load", resolve, { once: true }));
    document.write(page);
    document.close();
    await loaded;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const to = new URL(link.href);
    if (link.target || link.download || to.pathname === here || !to.href.startsWith(root)) return;
    event.preventDefault();
    history.pushState(null, "", to);
    visit(to);
  });
  window.addEventListener("popstate", () => { if (location.pathname !== here) visit(location.href); });
  window.qkv.visit = visit;
})();
