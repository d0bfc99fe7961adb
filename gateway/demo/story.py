"""The story, chapter by chapter: what happens, in which process, and what it leaves behind."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from agent_core import Question, Thread
from gateway.demo import process
from gateway.demo.desk import desk
from gateway.demo.folder import Folder
from gateway.demo.person import Person
from gateway.demo.process import Ended
from gateway.demo.replies import Answer, Quit, answer_of
from gateway.demo.script import REQUEST
from gateway.demo.timeline import timeline
from gateway.demo.words import speech, value_words


class Story:
    """One run of the demo; each chapter prints itself."""

    def __init__(self, console: Console, person: Person, folder: Folder) -> None:
        self._console = console
        self._person = person
        self._folder = folder
        self._writers: list[int] = []

    def tell(self) -> None:
        """Tell it from the first message to the last line of the log."""
        self._say("Parley: an agent asks a person, and waits without holding a process.", "bold")
        self._say("The model is a script: no key, no account, no network.", "dim")
        self._chapter("1 · A customer writes, and the agent asks")
        self._advanced(process.run(self._folder, REQUEST))
        question = self._thread().state.waiting_questions()[0].question
        self._chapter("2 · A person decides, in a minute or in a year")
        self._console.print(_card(question))
        answer = self._answered(question)
        if answer is None:
            self._say("Left. Nothing was refunded; the demo's folder is removed.", "dim")
            return
        self._chapter("4 · The same answer comes again: a double click")
        self._refused(process.resume(self._folder, answer))
        self._chapter("5 · The thread, from its log")
        self._console.print(timeline(self._thread(), self._writers))
        self._say("Done; the demo's folder is removed.", "dim")

    def _answered(self, question: Question) -> Answer | None:
        """Let another process go on, once the person's answer is one that fits."""
        while not isinstance(reply := self._person.decide(self._folder.checkpoint), Quit):
            answer = answer_of(reply, question)
            ended = process.resume(self._folder, answer)
            if not ended.was_refused:
                self._chapter("3 · Another process goes on")
                self._advanced(ended)
                return answer
            self._say(f"{ended.words}\nThe question stays open.", "yellow")
        return None

    def _advanced(self, ended: Ended) -> None:
        """Tell what a process has added to the log, and that it is gone."""
        thread = self._thread()
        added = thread.events[len(self._writers) :]
        self._writers += [ended.pid] * len(added)
        lines = Table.grid(padding=(0, 2, 0, 0))
        lines.add_column(justify="right", style="cyan", min_width=8, no_wrap=True)
        lines.add_column()
        for event in added:
            for who, words in speech(event, thread.state.calls):
                lines.add_row(who, Text(words))
        self._console.print(lines)
        self._say(f"Process {ended.pid} has ended with exit code {ended.code}.", "bold")
        if thread.state.open_questions:
            size = self._folder.checkpoint.stat().st_size
            self._say("Nothing runs now. All that is left of the agent is a file:")
            self._say(f"{self._folder.checkpoint} ({size:,} bytes)")
        else:
            refunds = "\n".join(["", *self._folder.refunds()])
            self._say(
                f"The ledger {self._folder.ledger.name} has {self._count()}.{refunds}", "green"
            )

    def _refused(self, ended: Ended) -> None:
        self._say(f"Process {ended.pid} has refused it:", "bold")
        self._say(ended.words)
        self._say(f"The ledger still has {self._count()}.", "green")

    def _count(self) -> str:
        """Count the refunds: the proof that there is one, or none."""
        lines = len(self._folder.refunds())
        return "1 line" if lines == 1 else f"{lines} lines"

    def _thread(self) -> Thread:
        return desk.open(self._folder.checkpoint.read_text())

    def _chapter(self, title: str) -> None:
        self._console.print()
        self._console.print(Rule(Text(title, style="bold"), align="left", style="dim"))

    def _say(self, words: str, style: str = "") -> None:
        self._console.print(Text(words, style=style))


def tell(console: Console, *, once: bool) -> None:
    """Tell the story in a temporary folder."""
    with TemporaryDirectory(prefix="parley-demo-") as name:
        Story(console, Person(console, once=once), Folder(Path(name))).tell()


def _card(question: Question) -> Panel:
    """Show what is asked, with the arguments one to a line."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_row(Text(question.prompt, style="bold"), Text(question.context))
    for name, value in (question.arguments or {}).items():
        lines.add_row(Text(f"  {name}"), Text(value_words(value), style="bold"))
    return Panel(lines, title=Text(f"question {question.id}"), title_align="left", style="yellow")
