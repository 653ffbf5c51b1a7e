"""The frame of a page: one file, no script, nothing fetched; readable in print and in the dark."""

from __future__ import annotations

from html import escape

CSS = """
.qkv{color-scheme:light dark;--ink:light-dark(#1c2330,#e6e9ef);--soft:light-dark(#667085,#98a2b3);
--line:light-dark(#e3e7ee,#2b3240);--paper:light-dark(#fff,#12161d);--panel:light-dark(#f7f8fb,#1a202a);
--right:light-dark(#1a7f4b,#4cc38a);--drifted:light-dark(#0b7285,#5bc0d1);--misrounded:light-dark(#9a6700,#e2b341);
--carried:light-dark(#8250df,#c297ff);--misread:light-dark(#b35900,#f0a355);--wrong:light-dark(#cf222e,#ff7b72);
--unread:light-dark(#667085,#98a2b3);--heat:light-dark(#2f6bdb,#5896ff);
color:var(--ink);background:var(--paper);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
body.qkv{margin:0}
.qkv main{max-width:76rem;margin:0 auto;padding:2rem 1.5rem 4rem}
.qkv h1{font-size:1.5rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}
.qkv h2{font-size:1.25rem;margin:1.6rem 0 .4rem}.qkv h3{font-size:1.08rem;margin:1.2rem 0 .3rem}
.qkv h4{font-size:1rem;margin:1rem 0 .2rem}
.qkv a{color:inherit}
.qkv h4 .soft{font-weight:400}.qkv .kind,.qkv .soft{color:var(--soft)}
.qkv .summary{font-size:1.15rem;font-weight:600;margin:.2rem 0 .8rem}
.qkv .summary.bad{color:var(--wrong)}.qkv .summary.good{color:var(--right)}.qkv .summary.none{color:var(--misread)}
.qkv .legend{display:flex;flex-wrap:wrap;gap:.35rem .5rem;margin:0 0 1.4rem;padding:0;list-style:none;font-size:.86rem}
.qkv .legend li{border:1px solid var(--line);border-radius:1rem;padding:.05rem .7rem;background:var(--panel)}
.qkv .legend b{color:var(--tone)}
.qkv .row{display:grid;grid-template-columns:2.6rem minmax(0,1fr) minmax(0,21rem);column-gap:1rem;align-items:start}
.qkv .number{color:var(--soft);font-size:.75rem;text-align:right;padding-top:.35rem;user-select:none;
font-variant-numeric:tabular-nums}
.qkv .said{min-width:0;overflow-wrap:anywhere}
.qkv .said p{margin:.35rem 0;white-space:pre-line}.qkv .said>:first-child{margin-top:.2rem}
.qkv .row:has(h2){margin-top:1.4rem}.qkv .row:has(h3,h4){margin-top:.8rem}
.qkv pre{margin:.4rem 0;padding:.5rem .7rem;background:var(--panel);border-radius:.4rem;overflow-x:auto;
font:.86rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.qkv code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.qkv .table{overflow-x:auto}.qkv table{border-collapse:collapse;margin:.5rem 0}
.qkv td,.qkv th{border:1px solid var(--line);padding:.2rem .6rem;text-align:left}
.qkv .display{display:flex;flex-wrap:wrap;align-items:center;gap:.2rem .3rem;overflow-x:auto;
overflow-y:hidden;padding:.25rem .4rem;margin:.25rem 0;max-width:100%}
.qkv .break{flex-basis:100%;height:0}
.qkv math{font-size:1.08em}.qkv math[display=block]{display:inline;display:inline math;margin:0}
.qkv mtd{padding:.26em .42em}.qkv mtable{margin:.12em .15em}
.qkv .square,.qkv .round,.qkv .bars{padding:0 .18em;border:0 solid;border-width:0 1.5px}
.qkv .square{background:linear-gradient(currentColor,currentColor) 0 0/.34em 1.5px no-repeat,
linear-gradient(currentColor,currentColor) 100% 0/.34em 1.5px no-repeat,
linear-gradient(currentColor,currentColor) 0 100%/.34em 1.5px no-repeat,
linear-gradient(currentColor,currentColor) 100% 100%/.34em 1.5px no-repeat;background-origin:border-box}
.qkv .round{border-radius:.55em/50%;padding:0 .3em}
.qkv mtd.to-right{text-align:right}.qkv mtd.to-left{text-align:left}
.qkv menclose.crossed{background:linear-gradient(to top right,transparent 47%,currentColor 48%,currentColor 52%,
transparent 53%)}
.qkv menclose.boxed{border:1px solid currentColor;padding:.1em .2em}
.qkv .right,.qkv .rounded{--tone:var(--right)}.qkv .drifted{--tone:var(--drifted)}.qkv .struck{--tone:var(--unread)}
.qkv .unread{--tone:var(--unread)}.qkv .misrounded{--tone:var(--misrounded)}.qkv .carried{--tone:var(--carried)}
.qkv .misread{--tone:var(--misread)}.qkv .wrong{--tone:var(--wrong)}
.qkv .claim{border-radius:.25rem;background:color-mix(in srgb,var(--tone) 7%,transparent);
box-shadow:inset .2rem 0 0 var(--tone)}
.qkv span.claim{padding:.05em .3em .05em .45em}
.qkv .claim.display{padding-left:.8rem;width:fit-content}
.qkv .claim.piece{display:inline-flex;align-items:center;vertical-align:middle;padding:.15em .35em .15em .45em;
margin:0 .15em}
.qkv .claim.wrong,.qkv .claim.misread{background:color-mix(in srgb,var(--tone) 12%,transparent)}
.qkv .claim.struck{text-decoration:line-through;opacity:.75}
.qkv mtd.cell{background:color-mix(in srgb,var(--tone) 24%,transparent);outline:2px solid var(--tone);
border-radius:.2rem}
.qkv .badge{color:var(--tone);font-size:.78rem;font-weight:700;text-decoration:none;margin-left:.35rem;
white-space:nowrap}
.qkv .note{font-size:.86rem;line-height:1.45;border-left:.2rem solid var(--tone);background:var(--panel);
border-radius:.3rem;padding:.4rem .7rem;margin:.35rem 0;overflow-wrap:anywhere}
.qkv .note:target{outline:2px solid var(--tone)}
.qkv .note b{color:var(--tone)}.qkv .note ul{margin:.2rem 0 0;padding:0;list-style:none}
.qkv .note .shown{color:var(--wrong);text-decoration:line-through}.qkv .note .should{color:var(--right);font-weight:600}
.qkv .note .how{display:block;color:var(--soft)}
.qkv .steps{padding-left:0;list-style:none}.qkv .steps>li{margin:0 0 1.1rem}
.qkv .givens{display:flex;flex-wrap:wrap;gap:.4rem 2rem;align-items:center}
.qkv mtd.heat{background:color-mix(in srgb,var(--heat) calc(100%*var(--share,0)),transparent);border-radius:.15rem}
.qkv .h1{--share:.05}.qkv .h2{--share:.10}.qkv .h3{--share:.15}.qkv .h4{--share:.20}.qkv .h5{--share:.25}
.qkv .h6{--share:.30}.qkv .h7{--share:.35}.qkv .h8{--share:.40}.qkv .h9{--share:.45}.qkv .h10{--share:.50}
@media (max-width:60rem){.qkv .row{grid-template-columns:2.2rem minmax(0,1fr)}.qkv .row .notes{grid-column:2}}
@media print{.qkv{--paper:#fff;--ink:#000;--panel:#f5f5f5;--soft:#444;--line:#bbb;font-size:10.5pt}
.qkv main{max-width:none;padding:0}.qkv .row{break-inside:avoid}
.qkv .claim,.qkv .note,.qkv mtable,.qkv mtd{-webkit-print-color-adjust:exact;print-color-adjust:exact}
.qkv .display{overflow:visible}.qkv h2,.qkv h3{break-after:avoid}}
"""
# Nothing may run and nothing may be fetched, whatever the document holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, body: str) -> str:
    """A whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n"
        f'<body class="qkv">\n<main>\n{body}\n</main>\n</body>\n</html>\n'
    )


def fragment(body: str) -> str:
    """A piece for a notebook: it brings its own style and touches nothing around it."""
    return f'<style>{CSS}</style>\n<div class="qkv">\n{body}\n</div>\n'
