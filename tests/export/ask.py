"""Asks the questions that are in the guide, in the folder that has `pods`: `ask.py GUIDE`.

Prints the rows of each answer as JSON: those of DuckDB, and those of DataFusion.
"""

import json
import re
import sys

import duckdb


def blocks(guide, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)


def rows_of(answer):
    return [list(row.values()) for batch in answer.collect() for row in batch.to_pylist()]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        guide = file.read()
    names_tables, *questions = blocks(guide, "sql")
    duckdb.sql(names_tables)
    names = {}
    exec(blocks(guide, "python")[0], names)
    context = names["context"]
    print(json.dumps([
        [duckdb.sql(question).fetchall() for question in questions],
        [rows_of(context.sql(question)) for question in questions],
    ]))
