// node compile.mjs RUNTIME SOURCE TARGET: the modules in an archive, compiled by the Python of the page, so that visitors
// need not wait for that. RUNTIME is the folder of Pyodide.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [runtime, source, target] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${runtime}/`, args: ["-X", "no_debug_ranges"] });
python.FS.writeFile("/source", new Uint8Array(readFileSync(source)));
python.runPython(`
from importlib.util import MAGIC_NUMBER
from marshal import dumps
from zipfile import ZipFile, ZipInfo

with ZipFile("/source") as source, ZipFile("/target", "w") as target:
    for name in source.namelist():
        code = compile(source.read(name), name, "exec", dont_inherit=True)
        target.writestr(ZipInfo(name + "c"), MAGIC_NUMBER + bytes(12) + dumps(code))  # twelve bytes: no source beside it
`);
writeFileSync(target, python.FS.readFile("/target"));
