"""Asks the questions that are in the guide: `ask.py GUIDE`, in the folder that has `pods`.

Prints the rows of each answer, as JSON.
"""

import json
import re
import sys

import duckdb

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as guide:
        questions = re.findall(r"^```sql\n(.*?)^```$", guide.read(), re.MULTILINE | re.DOTALL)
    print(json.dumps([duckdb.sql(question).fetchall() for question in questions]))
