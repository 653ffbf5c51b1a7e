"""A class graded: what an assignment asks for, what each hand-in shows of it, and the marks that a policy gives."""
