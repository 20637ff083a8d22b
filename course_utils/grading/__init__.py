"""Grade folders of notebooks: whatever code they hold runs in a sandbox without answers, and is judged outside of it.

    submissions ──read──▶ Notebook ──sandbox──▶ Ran (evidence) ──judge──▶ Result ──▶ gradebook ──▶ CSV, pages, report

    command                                   `course grade` from end to end
    submissions, walk, archives               what was handed in; every file, in zips too; reading without harm
    layouts, roster, names                    whose it is; who takes the course; names that are fit to be shown
    notebook, reaching                        what a file holds, and which cells somebody should look at
    sandbox/, jail/                           the half that starts, feeds and ends it; the half inside, without answers
    grade, fingerprint                        the result of one submission; what a wrong answer without a name does
    engine/                                   the results of many: processes of this machine, or a Dask cluster
    result, result_json                       plain data, and its file; `result.schema.json` explains the fields
    gradebook, lock, version                  results, one file each, and the run that they belong to
    tables, pages/, clusters                  what is made from them: for spreadsheets, for people, for authors
    interop/                                  results in the formats of other tools

What a student can write is hostile: what reads it sets limits, what shows it escapes it.
"""
