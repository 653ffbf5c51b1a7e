// Python in the visitor's browser: Pyodide and qkv, in a worker, so that the page stays awake while it works.
// Messages in: {path, form}, one at a time. Messages out: {is: "loading", bytes, of, megabytes}, {is: "ready"},
// {is: "answer", status, kind, name, body}, and {is: "broken", why} when Python cannot go on.
import { loadPyodide } from "./pyodide.mjs";

const here = new URL(".", import.meta.url).href;
const plainly = self.fetch.bind(self);

// What this folder holds: `packed`, name → bytes when unpacked; `wheels`, what is put among Python's packages.
const { packed, wheels, megabytes } = await (await plainly(`${here}contents.json`)).json();
const all = Object.values(packed).reduce((sum, bytes) => sum + bytes, 0);
let arrived = 0;

const counting = () => new TransformStream({
  transform(piece, on) {
    arrived += piece.byteLength;
    postMessage({ is: "loading", bytes: arrived, of: all, megabytes });
    on.enqueue(piece);
  },
});

// Large files lie gzipped in the folder, so that they are small on every web space, whatever its server compresses.
self.fetch = async (address, options) => {
  const name = String(address.url ?? address).replace(here, "");
  if (!(name in packed)) return plainly(address, options);
  const answer = await plainly(`${here}${name}.packed`);
  if (!answer.ok) return answer;
  const kind = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  const body = answer.body.pipeThrough(new DecompressionStream("gzip")).pipeThrough(counting());
  return new Response(body, { headers: { "content-type": kind } });
};

const whole = async (name) => new Uint8Array(await (await self.fetch(here + name)).arrayBuffer());

let python, answer;
try {
  const parts = wheels.map(whole); // all at once, beside Pyodide's own
  python = await loadPyodide({ indexURL: here, packageBaseUrl: here });
  for (const part of parts) python.unpackArchive(await part, "wheel");
  answer = python.pyimport("qkv.page.respond").Responder();
  postMessage({ is: "ready" });
} catch (error) {
  postMessage({ is: "broken", why: String(error) });
}

self.onmessage = ({ data: { path, form } }) => {
  try {
    const made = answer(python.toPy([path, form]));
    const { status, kind, name, body } = made;
    postMessage({ is: "answer", status, kind, name, body: typeof body === "string" ? body : body.toJs() });
    made.destroy();
  } catch (error) {
    postMessage({ is: "broken", why: String(error) });
  }
};
