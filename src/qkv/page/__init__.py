"""A page in the browser: `respond(path, form)` writes it, a server or the visitor's own browser runs it.

respond   every path of the page, and the view that answers it: the same for both transports
frame     what surrounds a view: head, navigation, scripts
sheet     a document judged as one types                    practice   a problem, and grids to fill
meaning   what each quantity is taken for, and what else    calculator attention by controls, all steps live
costs     what it costs, by sliders                         assets     scripts, style, font, as files
server    with a server, on this machine                    crew       the processes that work for it
static    without any: plain files with Pyodide
"""
