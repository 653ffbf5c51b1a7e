"""Known mistakes, each a rewrite of an expression; a mistake is named only if it reproduces all of what is shown."""
