"""``pytest-gta author``: a task made from a raw request, drafted and criticised by a model, decided on by a person."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.cli.model_options import add_model_options, chosen_model, endpoint_of
from pytest_gta.settings import SettingsError

if TYPE_CHECKING:
    from pytest_gta.authoring.author import Author
    from pytest_gta.authoring.landing import Landed
    from pytest_gta.authoring.raw_request import RawRequest
    from pytest_gta.authoring.work import AuthoringWork
    from pytest_gta.benchmark.task import Task

UNFINISHED = 10
_EXAMPLES = ("11", "61")
_REQUEST_CHARACTERS = 40_000
_NAME_A_FILE = "; put it into a file and name that: the encoding of a file is found out"


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "author",
        help="make a task of your own from a raw request",
        description="Make a task from a raw request: a model drafts a reformulated request and a tree of checkpoints, "
        "a critic proposes augment, refine, delete or pass for each of its nodes, you decide, and the task is checked "
        "and put into your folder of tasks. The same command goes on with work that was interrupted; no finished step "
        "is paid for again. The exit code is 0 when the task is there, 1 when it has errors, 10 when something is "
        "still open: a decision, or a reply of the model.",
    )
    parser.add_argument(
        "request", metavar="REQUEST", help="the raw request, or a file that holds it (text, mail, forum page), or -"
    )
    parser.add_argument("--into", metavar="DIR", type=Path, required=True, help="your folder of tasks")
    parser.add_argument(
        "--file", metavar="FILE", type=Path, action="append", default=[], help="an input file of the task; repeatable"
    )
    parser.add_argument("--id", metavar="ID", help="the task's id (default: the name that the model gives it)")
    parser.add_argument("--category", metavar="SLUG", help="its category (default: the one that the model chooses)")
    parser.add_argument(
        "--exemplars", metavar="DATASET", help="take two tasks of this dataset as examples (default: bundled ones)"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--yes", action="store_true", help="accept all that the critic proposes, unseen")
    how.add_argument(
        "--review-file", metavar="FILE", type=Path, help="decide in this YAML or JSON file: written first, read then"
    )
    how.add_argument("--dry-run", action="store_true", help="show what the model would be told, and ask nothing")
    add_model_options(parser, "drafts and criticises")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Make the task, as far as it can be made now."""
    from pytest_gta.authoring.author import NoAnswer
    from pytest_gta.authoring.landing import NotLanded, check_place
    from pytest_gta.authoring.session import UnreadableSession

    raw, task_id = _raw_request(given), _task_id(given.id)
    examples = _examples(given.exemplars)
    if given.dry_run:
        return _show_prompts(raw, examples)
    model, base_url = chosen_model(given)
    try:
        work = _work(raw, model)
        if _is_there(work.session.state.landed, given.into, task_id):
            print(f"is there {work.session.state.landed} (made earlier from the same request)")
            return 0
        if task_id:
            check_place(given.into, task_id)
        if work.session.state.critique is None:
            _ask(work, examples, model, base_url)
        _print_draft(work)
        if not _review(given, work):
            return UNFINISHED
        landed = _land(given, work, raw, task_id)
    except NoAnswer as error:
        _tell(f"{error}; the same command goes on from here")
        return UNFINISHED
    except NotLanded as error:
        _tell(str(error))
        for finding in error.findings:
            _tell(f"{finding.level.value}: {finding.where}: {finding.message}")
        return 1 if error.findings else 2
    except UnreadableSession as error:
        raise SettingsError(str(error)) from None
    except OSError as error:
        raise SettingsError(f"{error.filename or given.into}: {error.strerror or error}") from None
    _print_landed(given, landed, work)
    return 0


# -- what it is made from ---------------------------------------------------------------------------------------------


def _raw_request(given: argparse.Namespace) -> RawRequest:
    from pytest_gta.authoring.raw_request import RawRequest, input_file

    files = []
    for path in given.file:
        try:
            files.append(input_file(path.expanduser()))
        except OSError as error:
            raise SettingsError(f"--file: {path} cannot be read: {error.strerror}") from None
        if not _is_text(str(files[-1].path)):
            raise SettingsError(f"--file: the name of {path} is not UTF-8; rename it")
    names = [file.name for file in files]
    if twice := sorted({name for name in names if names.count(name) > 1 or name in ("task.yaml", "authoring.json")}):
        raise SettingsError(f"--file: rename {', '.join(twice)}: input files lie side by side in the task's folder")
    text = _request_text(given.request).strip()
    if not text:
        raise SettingsError("REQUEST is empty")
    if not _is_text(text):
        raise SettingsError(f"REQUEST is not UTF-8{_NAME_A_FILE}")
    if len(text) > _REQUEST_CHARACTERS:
        raise SettingsError(f"REQUEST has more than {_REQUEST_CHARACTERS:,} characters, which are the most")
    return RawRequest(text, tuple(files))


def _request_text(request: str) -> str:
    """Return the request itself, or what the file that it names holds."""
    if request == "-":
        try:
            return sys.stdin.read(_REQUEST_CHARACTERS + 1)  # it may never end
        except UnicodeDecodeError:
            raise SettingsError(f"REQUEST is not UTF-8{_NAME_A_FILE}") from None
    try:
        path = Path(request).expanduser().absolute()
        is_file = "\n" not in request and path.is_file()
        is_other = path.exists() and not is_file
    except (OSError, ValueError, RuntimeError):  # too long for a path, or no home
        is_file = is_other = False
    if is_other:
        what = "a folder; name a file in it" if path.is_dir() else "no file with an end; name another"
        raise SettingsError(f"REQUEST: {request} is {what}, or give the request in words")
    if not is_file:
        if _path_like(request):
            raise SettingsError(f"REQUEST: there is no file {request}")
        return request
    from pytest_gta.authoring.raw_request import text_of_file
    from pytest_gta.authoring.work import reading

    with reading([path]) as process:
        text = text_of_file(path, process)
    if not text:
        raise SettingsError(f"REQUEST: there is no text in {request}")
    return text


def _is_text(text: str) -> bool:
    """Whether a text is whole: what a terminal or a pipe gave that is not UTF-8 can be written nowhere."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _path_like(text: str) -> bool:
    """Whether a text can only be meant as the name of a file."""
    return not any(sign.isspace() for sign in text) and re.search(r"\.\w{1,5}\Z", text) is not None


def _task_id(given: str | None) -> str:
    from pytest_gta.authoring.draft import slug_of

    if given is None:
        return ""
    if given != slug_of(given):
        raise SettingsError(f"--id: {given!r} is not of lower case letters, digits and hyphens, such as farm-orders")
    return given


def _examples(dataset: str | None) -> list[Task]:
    from pytest_gta.benchmark.task import Task
    from pytest_gta.cli.dataset_argument import open_dataset_named

    if dataset is None:
        bundled = open_dataset_named("mini")
        return [bundled.task(task_id) for task_id in _EXAMPLES]
    usable = [task for task in open_dataset_named(dataset).tasks() if isinstance(task, Task)]
    if not usable:
        raise SettingsError(f"--exemplars: {dataset} has no usable task")
    return usable[: len(_EXAMPLES)]


def _abilities() -> Iterator[tuple[str, str]]:
    """Yield what agents can do, by the benchmark's tools, each in its first sentence."""
    from pytest_gta.tools.table import TOOLS

    for tool in TOOLS:
        yield tool.spec.name, tool.spec.description.split(". ")[0].rstrip(".")


# -- the steps --------------------------------------------------------------------------------------------------------


def _work(raw: RawRequest, model: str) -> AuthoringWork:
    from pytest_gta.authoring.prompts import AUTHOR_VERSION
    from pytest_gta.authoring.session import Session, State
    from pytest_gta.authoring.work import AuthoringWork
    from pytest_gta.benchmark.run_directory import AUTHORING

    new = State(
        raw_request=raw.text,
        files={file.name: file.sha256 for file in raw.files},
        model=model,
        author_version=AUTHOR_VERSION,
    )
    return AuthoringWork(raw, Session(AUTHORING / raw.key(model, AUTHOR_VERSION), new), _tell)


def _ask(work: AuthoringWork, examples: Sequence[Task], model: str, base_url: str | None) -> None:
    from pytest_gta.authoring.author import Author
    from pytest_gta.llm.client import ChatClient
    from pytest_gta.reporters.wording import money, quantity

    endpoint = endpoint_of(model, base_url)
    author: Author = Author(ChatClient(endpoint, on_wait=_tell), examples, _abilities(), _tell)
    work.ask(
        author,
        lambda step, usage: _tell(
            f"{step}: {money(usage.cost_usd)}, {quantity(usage.tokens.input)} tokens in, "
            f"{quantity(usage.tokens.output)} out"
        ),
    )


def _print_draft(work: AuthoringWork) -> None:
    from pytest_gta.reporters.visible_text import visible
    from pytest_gta.reporters.wording import count

    leaves = sum(node.is_leaf for top in work.checkpoints for node in top.walk())
    actions = [proposal.action.value for proposal in work.proposals]
    proposed = ", ".join(f"{actions.count(action)} {action}" for action in dict.fromkeys(actions))
    print(f"draft    {visible(work.draft.name)} ({work.draft.category.value}), {count(leaves, 'leaf')}")
    print(f"critic   {proposed}")


def _review(given: argparse.Namespace, work: AuthoringWork) -> bool:
    """Have everything decided; return whether it is."""
    if not work.undecided:
        return True
    if given.yes:
        from pytest_gta.cli.author_review import accept_all

        accept_all(work)
    elif given.review_file or not sys.stdin.isatty():
        from pytest_gta.cli.author_review import review_by_file

        review_by_file(work, given.review_file or work.session.folder / "review.yaml", named=bool(given.review_file))
    else:
        from pytest_gta.cli.author_review import review_by_terminal

        review_by_terminal(work)
    return not work.undecided


def _is_there(landed: str, into: Path, task_id: str) -> bool:
    """Whether a task that was made earlier is there still, in the place that is asked for now."""
    folder = Path(landed)
    return bool(landed) and folder.exists() and folder.parent == into.absolute() and task_id in ("", folder.name)


def _land(given: argparse.Namespace, work: AuthoringWork, raw: RawRequest, task_id: str) -> Landed:
    from pytest_gta.authoring.draft import slug_of
    from pytest_gta.authoring.landing import land

    name = task_id or slug_of(work.draft.name) or "task"
    category = given.category or work.draft.category.value
    landed = land(given.into, name, category, work.reviewed(), raw.files, work.session.state)
    work.session.record(landed=str(landed.folder.absolute()))
    return landed


# -- what is said -----------------------------------------------------------------------------------------------------


def _show_prompts(raw: RawRequest, examples: Sequence[Task]) -> int:
    from pytest_gta.authoring.prompts import draft_messages
    from pytest_gta.authoring.raw_request import shown_inputs
    from pytest_gta.authoring.work import reading
    from pytest_gta.cli.author_review import critique_preview
    from pytest_gta.reporters.visible_text import visible

    with reading([file.path for file in raw.files]) as process:
        inputs = tuple(shown_inputs(raw.files, process))
    for title, messages in (
        ("DRAFT", draft_messages(raw.text, inputs, examples, _abilities(), "")),
        ("CRITIQUE", critique_preview(raw, inputs)),
    ):
        for message in messages:
            print(f"===== {title}: {message['role']} =====")
            print(visible(str(message["content"])))
    print("===== nothing was asked and nothing was spent =====")
    return 0


def _print_landed(given: argparse.Namespace, landed: Landed, work: AuthoringWork) -> None:
    import shlex

    from pytest_gta.benchmark.finding import Level
    from pytest_gta.reporters.visible_text import visible
    from pytest_gta.reporters.wording import count, money

    usage = work.session.state.total_usage
    print(f"landed   {landed.folder}")
    print(f"spent    {money(usage.cost_usd)}, {count(usage.calls, 'call')}")
    for finding in landed.validation.findings:
        if finding.level is not Level.NOTE:
            lead = f"{finding.level.value:<8} "
            said = visible(f"{lead}{finding.where}: {finding.message}")
            print(textwrap.fill(said, 79, subsequent_indent=" " * len(lead)))
    print(f"next     pytest-gta validate {shlex.quote(str(given.into))}")


def _tell(line: str) -> None:
    from pytest_gta.reporters.visible_text import visible

    print(visible(f"pytest-gta: {line}"), file=sys.stderr, flush=True)
