"""What verdicts and losses need, read from the log by few questions."""
