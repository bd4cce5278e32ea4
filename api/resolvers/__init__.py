"""Fields that ask: where questions begin, and what can be asked on."""
