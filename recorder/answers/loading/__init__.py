"""Loading what verdicts and losses need from the log, with few queries."""
