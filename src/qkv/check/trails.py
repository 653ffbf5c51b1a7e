"""Where carried values come from: back along what they follow from, to the slips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qkv.check.model import Claim, Verdict


def slips_behind(claims: Iterable[Claim], known: Mapping[int, Claim]) -> list[Claim]:
    """Where the trails of carried claims end, in the order of the document; `known` are the claims by their numbers."""
    found, waiting = dict[int, Claim](), list(claims)
    seen = set[int]()
    while waiting:
        claim = waiting.pop()
        earlier = [known[number] for number in claim.follows_from if number in known]
        if claim.id in seen:
            continue
        seen.add(claim.id)
        if claim.verdict is Verdict.CARRIED and earlier:
            waiting += earlier
        else:
            found[claim.id] = claim
    return [found[number] for number in sorted(found)]
