"""Asks Spark: a program of its own, with packages that only it has.

Reads the configuration and the queries from standard input, and writes the
rows to standard output, both as JSON.
"""

import json
import sys

from pyspark.sql import SparkSession


def main() -> None:
    """Ask everything in one session."""
    asked = json.load(sys.stdin)
    builder = SparkSession.builder.master("local[1]")
    for name, value in asked["configuration"].items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    found = {
        name: [list(row) for row in session.sql(query).collect()]
        for name, query in asked["queries"].items()
    }
    session.stop()
    json.dump(found, sys.stdout, default=str)


if __name__ == "__main__":
    main()
