"""A page in the browser: `respond(path, form)` writes it, a server or the visitor's own browser runs it.

respond   every path of the page, and the view that answers it: the same for both transports
frame     what surrounds a view: head, navigation, scripts
sheet     a document judged as one types                    meaning    what each quantity is taken for, and what else
practice  a problem, and grids to fill                      slips      a worked solution, and the slip to be clicked
drawn     the exercise that both of these are about         grids      matrices to fill, to click, as a heat map
calculator attention by controls, all steps live            why        why one divides by √d_k, by sliders
costs     what it costs, by sliders                         plot       curves, bars and axes as SVG
controls  lists and tabs that several views have            assets     scripts, style, font, as files
server    with a server, on this machine                    crew       the processes that work for it
static    without any: plain files with Pyodide
"""
