"""Grade folders of notebooks: whatever code they hold runs in a sandbox without answers, and is judged outside of it.

    submissions ──read──▶ Notebook ──sandbox──▶ Ran (evidence) ──judge──▶ Result ──▶ gradebook ──▶ CSV, pages, report

`submissions` finds what was handed in, `notebook` reads it. `jail/` is the half that runs in the sandbox and that
`sandbox` starts, feeds and ends; it knows no answer. `grade` makes a `Result` of one submission; an engine does so
for many. `gradebook` keeps results, one file each; `pages/` and `tables` are made from them.
"""
