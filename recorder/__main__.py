"""``python -m recorder``: the same as the command `recorder`."""

from recorder.cli.main import run

if __name__ == "__main__":
    run()
