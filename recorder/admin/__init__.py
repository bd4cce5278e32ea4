"""What an administrator looks after: tokens, the redaction key, the facts."""
