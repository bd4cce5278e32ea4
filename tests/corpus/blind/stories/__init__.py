"""How blind incidents are played; each acts as the software that it names."""
