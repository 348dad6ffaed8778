"""A number of partitions in, a key for each of them out: Spark's hash puts its rows into that partition."""

from __future__ import annotations

from itertools import count

_SEED = 42
_WORD = 0xFFFFFFFF


def shard_keys(partitions: int, shards: int) -> list[int]:
    """For each shard a key; shards are in different partitions, and a shard in the same one in every process."""
    wanted = min(partitions, shards)
    keys: dict[int, int] = {}
    for number in count():
        if len(keys) == wanted:
            break
        partition = _signed(spark_hash(number)) % partitions
        if partition < wanted:
            keys.setdefault(partition, number)
    return [keys[partition] for partition in range(wanted)]


def spark_hash(number: int) -> int:
    """Spark's hash of an int: Murmur3, 32 bits."""
    word = number * 0xCC9E2D51 & _WORD
    word = _rotated(word, 15) * 0x1B873593 & _WORD
    found = _rotated(_SEED ^ word, 13) * 5 + 0xE6546B64 & _WORD
    found ^= 4  # bytes
    found = (found ^ found >> 16) * 0x85EBCA6B & _WORD
    found = (found ^ found >> 13) * 0xC2B2AE35 & _WORD
    return found ^ found >> 16


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
