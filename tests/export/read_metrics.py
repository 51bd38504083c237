"""Reads metrics as Prometheus does, in both of its text formats: `read_metrics.py FILE`.

Prints the values of all samples by series, and the types of families, as JSON.
"""

import json
import sys

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser


def escaped(value):
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def series(sample):
    labels = ",".join(f'{name}="{escaped(value)}"' for name, value in sample.labels.items())
    return f"{sample.name}{{{labels}}}" if labels else sample.name


def read(families):
    samples = [sample for family in families for sample in family.samples]
    by_series = {series(sample): sample.value for sample in samples}
    assert len(by_series) == len(samples), "no series is there twice"
    return {"samples": by_series, "types": {family.name: family.type for family in families}}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as opened:
        text = opened.read()
    formats = {"text": parser, "openmetrics": openmetrics_parser}
    read_by = {name: read(list(of.text_string_to_metric_families(text))) for name, of in formats.items()}
    print(json.dumps(read_by))
