"""Trees are those of RFC 6962, for any size and any way of joining."""

import contextlib
import itertools
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.integrity.tree import (
    EMPTY,
    CompactRange,
    ProofError,
    check_consistency,
    check_inclusion,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    tree_hash,
)

LEAVES = [leaf_hash(bytes([n])) for n in range(100)]

# Test vectors that the Certificate Transparency projects share: the hashes of
# trees over the first of eight leaves.
VECTORS = [
    bytes.fromhex(leaf)
    for leaf in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def by_definition(hashes: list[bytes]) -> bytes:
    """The definition of RFC 6962, word for word."""
    if len(hashes) < 2:
        return hashes[0] if hashes else EMPTY
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    left, right = by_definition(hashes[:split]), by_definition(hashes[split:])
    return sha256(b"\1" + left + right).digest()


def subtree(begin: int, end: int) -> bytes:
    return by_definition(LEAVES[begin:end])


@pytest.mark.parametrize("size", ROOTS)
def test_trees_are_those_of_the_published_vectors(size: int) -> None:
    hashes = [leaf_hash(leaf) for leaf in VECTORS[:size]]
    assert tree_hash(hashes).hex() == ROOTS[size]
    assert CompactRange.of(0, hashes).root().hex() == ROOTS[size]


@given(st.lists(st.integers(0, 100), min_size=2, max_size=8).map(sorted))
def test_ranges_that_touch_join_to_the_tree_of_all(cuts: list[int]) -> None:
    cuts[0], whole = 0, CompactRange()
    for begin, end in itertools.pairwise(cuts):
        part = CompactRange.of(begin, LEAVES[begin:end])
        whole.join(CompactRange.unpack(begin, end, part.pack()))
    assert whole.root() == by_definition(LEAVES[: cuts[-1]])


def test_a_range_that_begins_elsewhere_is_not_joined() -> None:
    with pytest.raises(ProofError, match="leaves 3 to 4 are missing"):
        CompactRange.of(0, LEAVES[:3]).join(CompactRange.of(4, LEAVES[4:6]))


def test_a_range_of_another_span_is_not_unpacked() -> None:
    with pytest.raises(ProofError, match="takes 2 hashes"):
        CompactRange.unpack(0, 5, CompactRange.of(0, LEAVES[:4]).pack())


@given(st.integers(1, 100), st.data())
def test_every_leaf_is_proven_and_no_other(
    size: int, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(index, size, subtree)
    root = by_definition(LEAVES[:size])
    assert check_inclusion(LEAVES[index], index, size, proof) == root
    assert check_inclusion(LEAVES[-1], index, size, proof) != root or (
        index == 99
    )
    with pytest.raises(ProofError, match="hashes"):
        check_inclusion(LEAVES[index], index, size, [*proof, LEAVES[0]])


@given(st.integers(2, 100), st.data())
def test_an_older_tree_is_a_beginning_and_a_fork_is_not(
    size: int, data: st.DataObject
) -> None:
    old = data.draw(st.integers(1, size - 1))
    proof = consistency_proof(old, size, subtree)
    before = by_definition(LEAVES[:old])
    after = by_definition(LEAVES[:size])
    assert check_consistency(old, before, size, proof) == after
    forked = by_definition([*LEAVES[: old - 1], leaf_hash(b"forked")])
    with contextlib.suppress(ProofError):
        assert check_consistency(old, forked, size, proof) != after
