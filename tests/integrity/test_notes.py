"""Notes are signed as C2SP specifies, and nothing else is accepted."""

import contextlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)
from hypothesis import given
from hypothesis import strategies as st

from recorder.integrity.notes import (
    Checkpoint,
    NoteError,
    SignedNote,
    VerifierKey,
    parse_notes,
    sign,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
ORIGIN = "kube-recorder/2b0b8f7e-0000-4000-8000-000000000001"
OURS = VerifierKey(ORIGIN, KEY.public_key().public_bytes_raw())
NOTE = sign(Checkpoint(ORIGIN, 7, bytes(32)).text(), KEY, ORIGIN)

# The example of the specification of signed notes, as Go's sumdb/note has it.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = """\
If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
"""  # noqa: E501


def test_a_note_that_go_signed_is_right() -> None:
    note = SignedNote.parse(GO_NOTE)
    assert note.is_signed_by(VerifierKey.parse(GO_KEY))
    assert str(note) == GO_NOTE


def test_a_checkpoint_comes_back_from_its_note() -> None:
    note = SignedNote.parse(str(NOTE))
    assert note.is_signed_by(VerifierKey.parse(str(OURS)))
    assert Checkpoint.parse(note.text) == Checkpoint(ORIGIN, 7, bytes(32))


def test_a_note_of_another_key_is_not_signed_by_ours() -> None:
    other = Ed25519PrivateKey.generate()
    assert not sign(NOTE.text, other, ORIGIN).is_signed_by(OURS)


def test_a_changed_text_is_reported() -> None:
    forged = SignedNote(NOTE.text.replace("7", "8", 1), NOTE.signatures)
    with pytest.raises(NoteError, match="not of this text"):
        forged.is_signed_by(OURS)


@given(st.integers(0, len(str(NOTE).encode())), st.booleans())
def test_what_a_crash_left_half_written_costs_no_other_note(
    cut: int,
    behind: bool,  # noqa: FBT001 - drawn
) -> None:
    # A crash may come within a character too.
    torn = str(NOTE).encode()[:cut].decode(errors="ignore")
    whole = str(NOTE)
    content = torn + "\n\n" + whole if behind else whole + torn
    found, damaged = parse_notes(content)
    assert NOTE in [SignedNote(n.text, tuple(n.signatures)) for n in found]
    assert len(found) + damaged <= 3
    assert all(_is_right_or_refused(note) for note in found)


def _is_right_or_refused(note: SignedNote) -> bool:
    try:
        return note.is_signed_by(OURS) == (note.text == NOTE.text)
    except NoteError:
        return True


@given(st.text())
def test_any_text_is_a_note_or_refused(text: str) -> None:
    for parse in (SignedNote.parse, Checkpoint.parse, VerifierKey.parse):
        with contextlib.suppress(NoteError):
            parse(text)
