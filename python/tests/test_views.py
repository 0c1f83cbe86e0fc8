"""What notebooks show: everything escaped, no script, and readable on a dark page."""

import html.parser
import re
from fractions import Fraction

import pytest

import snapdp as dp

hostile = "<script>alert('x')</script>&\"<img src=x onerror=y>"


class Tags(html.parser.HTMLParser):
    """The tags of a page and of the pages in its frames, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        inner = dict(attributes).get("srcdoc")
        if inner is not None:
            page = Tags(inner)
            self.tags += page.tags
            self.text += page.text

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.text += data


def harmless(shown: str) -> Tags:
    page = Tags(shown)
    for tag, attributes in page.tags:
        assert tag not in ("script", "img", "object", "embed", "link")
        assert not any(name.startswith("on") for name in attributes)
        assert not re.match(r"\s*(javascript|data):", attributes.get("href") or "", re.I)
    return page


@pytest.fixture(scope="module")
def made(tmp_path_factory, rows):
    data = dp.dataset(
        hostile,
        neighbors="add-remove",
        expected_size=5000,
        title=hostile,
        columns={"age": dp.integer(0, 100, unit=hostile), "city": dp.text(keys=["Ulm", hostile], labels={"Ulm": hostile})},
    )
    plan = data.plan(
        dp.count(name=hostile, title=hostile),
        dp.mean("age"),
        dp.histogram("city"),
        dp.quantiles("age", [0.5, 0.9], resolution=1),
        dp.mean("age", name="by city").by("city"),
        epsilon=4,
        headline=hostile,
    )
    ledger = dp.Ledger.create(tmp_path_factory.mktemp("views") / "people <b>.ledger", data, epsilon=4)
    report = plan.release(rows, ledger, label=hostile)
    law = dp.law(epsilon=1, sensitivity=1, lower=0, upper=10)
    halves = dp.rows(dp.real(0, 10), neighbors="add-remove", missing=False) >> dp.transformation(
        lambda cells: [cell / 2 for cell in cells], output=dp.real(0, 5), stability=1, name="halves"
    )
    total = halves >> dp.sum()
    measurement = total >> dp.snapping(epsilon="1/4")
    return {
        "dataset": data,
        "plan": plan,
        "explanation": plan.explain(),
        "check": plan.check(rows),
        "planned": plan[hostile],
        "warning": dp.Warning(hostile, hostile),
        "part": plan["mean age"].parts[0],
        "ledger": ledger,
        "entry": ledger.entry(1),
        "report": report,
        "released": report[hostile],
        "bins": report["histogram city"],
        "groups": report["by city"],
        "estimate": report[hostile].estimates[0],
        "law": law,
        "accuracy": dp.accuracy(epsilon=1, sensitivity=1),
        "bias": dp.bias(epsilon=1, sensitivity=1, lower=0, upper=10),
        "bound": dp.bound(epsilon=1, sensitivity=1, lower=0, upper=10),
        "certificate": dp.certify(epsilon=1, sensitivity=1),
        "composition": dp.compose([(0.1, 10)], delta="1e-6"),
        "transformation": halves,
        "aggregation": total,
        "measurement": measurement,
        "step": measurement.steps()[0],
        "debit": dp.Debit(Fraction(1, 4), "symmetric", Fraction(1), hostile, hostile),
        "release": measurement.release([1.0, 2.0], dp.Budget(1)),
        "audit": dp.Audit(0.5, hostile, True, (1, 2), (0, 2)),
    }


named = ["dataset", "plan", "explanation", "check", "planned", "warning", "ledger", "report", "released", "bins", "groups", "audit", "debit"]
kinds = [
    *named, "transformation", "aggregation", "measurement", "step", "release", "part", "entry", "estimate", "law", "accuracy", "bias", "bound", "certificate", "composition",
]  # fmt: skip


@pytest.mark.parametrize("kind", kinds)
def test_nothing_runs(made, kind):
    page = harmless(made[kind]._repr_html_())
    assert page.text.strip()


@pytest.mark.parametrize("kind", [kind for kind in named if kind not in ("ledger", "dataset")])
def test_names_are_shown_as_they_are(made, kind):
    assert "<script>alert" in Tags(made[kind]._repr_html_()).text, "escaped, not lost"


def test_every_record_has_a_view(made):
    shown = {type(one).__name__ for one in made.values()}
    public = {name for name in dp.__all__ if hasattr(getattr(dp, name), "_repr_html_")}
    records = {name for name in dp.__all__ if hasattr(getattr(dp, name), "__dataclass_fields__")}
    assert records <= public <= shown | {"PlannedAccuracy"}


@pytest.mark.parametrize("kind", ["plan", "report"])
def test_pages_follow_the_readers_colors(made, kind):
    assert "prefers-color-scheme:dark" in made[kind]._repr_html_()


@pytest.mark.parametrize("kind", ["ledger", "accuracy", "explanation", "released"])
def test_tables_take_the_colors_around_them(made, kind):
    assert not re.search(r"(?<!-)color|background|#[0-9a-f]{3}", Tags(made[kind]._repr_html_()).tags.__repr__())


def test_a_law_brings_its_own_paper(made):
    first = [attributes for tag, attributes in Tags(made["law"]._repr_html_()).tags if tag == "rect"][0]
    assert first["fill"] == "#ffffff"


def test_facts(made):
    assert "<th style='text-align:left'>basic</th><td>1</td>" in made["composition"]._repr_html_()
    assert "<th style='text-align:left'>epsilon</th><td>1</td>" in made["accuracy"]._repr_html_()
    bins = Tags(made["bins"]._repr_html_()).text
    value = made["bins"].estimates[0].value
    assert f"{float(value):.6g}  [" in bins
    groups = Tags(made["groups"]._repr_html_()).text
    assert groups.count("[") == 2


def test_an_explanation_is_a_text(made):
    text = made["explanation"]
    assert isinstance(text, str) and repr(text) == str(text) == "" + text and "\n" in repr(text)


def test_long_lists_are_cut(made):
    from snapdp import _files

    assert _files._fact(tuple(range(9))) == "0, 1, 2, 3, 4, 5, 6, 7, ... 9 in all"
    assert _files._fact((1, None, "a")) == "1, , a"
    assert _files._fact(Fraction(1, 3)) == "1/3"
    assert _files._fact(Fraction(10**20 + 1, 3 * 10**20)) == f"0.333333, exactly {Fraction(10**20 + 1, 3 * 10**20)}"


def test_what_is_not_known_has_no_row(made):
    assert made["accuracy"].miss is None and "miss" not in made["accuracy"]._repr_html_()
