"""Mistakes planted on purpose, at the seams: the simulation must find each, or it finds nothing.

Each stands for a line of the product that somebody could lose. None is a patch: a machine is handed
a store, an intake, channels, tools or options that behave as if the line were gone.
"""

from __future__ import annotations

from msgspec.structs import replace

from storage.values import Commit, ThreadRow


class Mutation:
    """No mistake."""

    name = "none"
    acknowledges_early = False
    """Tells the channel that words were taken before they are."""
    settles_once = False
    """Forgets a copy that could not be changed at the first try."""
    never_looks = False
    """Settles the copy that it knows of, and looks for no other."""
    repeats_tools = False
    """Runs a call again that a crash cut off, whatever its tool says."""
    never_polls = False
    """Trusts hints, and never looks by itself."""

    def commit(self, commit: Commit, _row: ThreadRow | None) -> Commit:
        """Give what the database gets to see, where the thread stands so."""
        return commit


class NoFence(Mutation):
    """The database does not compare the lease's epoch."""

    name = "no-fence"

    def commit(self, commit: Commit, row: ThreadRow | None) -> Commit:
        """Make it fit."""
        is_fenced = commit.epoch is not None and row is not None
        return replace(commit, epoch=row.epoch) if is_fenced and row else commit


class NoView(Mutation):
    """The database does not compare what a commit was decided on."""

    name = "no-view"

    def commit(self, commit: Commit, row: ThreadRow | None) -> Commit:
        """Make it fit."""
        is_seen = commit.seen is not None and row is not None
        return replace(commit, seen=row.seq) if is_seen and row else commit


class NoInbox(Mutation):
    """The key of what came in is not committed with it."""

    name = "no-inbox"

    def commit(self, commit: Commit, _row: ThreadRow | None) -> Commit:
        """Leave the key out."""
        return replace(commit, inbox=None)


class NoTimers(Mutation):
    """A lease is given back without saying when the thread is due again."""

    name = "no-timers"

    def commit(self, commit: Commit, _row: ThreadRow | None) -> Commit:
        """Forget the next timer."""
        return replace(commit, wake_at=None) if commit.release else commit


class EarlyAck(Mutation):
    """A channel acknowledges before the commit."""

    name = "early-ack"
    acknowledges_early = True


class OneSettle(Mutation):
    """A copy that can't be settled just now is never tried again."""

    name = "one-settle"
    settles_once = True


class NoLook(Mutation):
    """Where two machines have posted the same card, the other one's is forgotten."""

    name = "no-look"
    never_looks = True


class Repeats(Mutation):
    """A call that was cut off is simply run again."""

    name = "repeats"
    repeats_tools = True


class Deaf(Mutation):
    """Nobody looks without a hint."""

    name = "deaf"
    never_polls = True


MUTATIONS: dict[str, type[Mutation]] = {
    one.name: one
    for one in (
        *(NoFence, NoView, NoInbox, NoTimers, EarlyAck, OneSettle, NoLook, Repeats, Deaf),
        Mutation,
    )
}
"""By their names; the last is none."""
