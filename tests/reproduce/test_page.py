"""The page of a study: everything that is known of it, in one file that asks nothing of the network."""

import re

import pytest

from weft.estimators.leaderboard import Row
from weft.reproduce import names, read_study, write_page
from weft.reproduce.page import duration, linked, page, verdict
from weft.reproduce.runner import Outcome, kept
from weft.reproduce.study import check_study

GOOD = {"title": "t", "paper": "p", "data": "cora", "published": 81.5, "source": "s"}
HOSTILE = "<script>alert('x')</script> & \"><img src=x>"


def outcome(*values: float, rows: tuple[Row, ...] = ()) -> Outcome:
    return Outcome("x", values, 46.1, "2026-01-01", "a machine", {"weft": "0.1.0"}, rows)


def words(text: str) -> str:
    """What a reader sees."""
    return " ".join(re.sub("<[^>]*>", " ", re.sub("<(style|script|title)[^>]*>.*?</\\1>", "", text, flags=re.S)).split())


@pytest.mark.parametrize("name", names())
def test_every_study_has_a_page(name, tmp_path):
    study = read_study(name)
    found = kept(name) or outcome(70.0, 71.0)
    text = write_page(study, found, tmp_path / "deep" / f"{name}.html").read_text()
    assert not re.search(r"src=|url\(|@import|<link|<img", text) and text.count("<script>") == 1
    assert all(f'href="#{each}"' in text and f'id="{each}"' in text for each in ("headline", "seeds", "settings", "repeat"))
    seen = words(text)
    for told in (found.date, found.machine, f"weft reproduce {name}", f"{found.mean:.1f}", "In short"):
        assert told in seen, told
    assert all(each[1:8] in seen for each in study.deviations) and not re.search(r"\bnan\b|\bNone\b|\{", seen)


def test_a_page_says_everything(tmp_path):
    study = read_study("velickovic2018_gat_cora")
    seen = words(page(study, outcome(82.0, 83.5)))
    for told in (
        "GAT on Cora", "Veličković et al. 2018", "83.0 ± 0.7", "82.75 ± 1.06", "over 2 seeds", "Reproduced: ours",
        "gat; dim 64, heads 8, last heads 1, dropout 0.6", "lr 0.005", "140 nodes to learn from", "2,708 nodes", "re-runs 82.1",
        "each row scaled to sum to 1", "Stops when validation accuracy", "weft 0.1.0", "46 seconds", "--seeds 2", "−1.00",
    ):  # fmt: skip
        assert told in seen, told
    assert "All studies" not in seen and 'href="list.html"' in page(study, outcome(82.0), "list.html")
    assert page(study, outcome(82.0)) == page(study, outcome(82.0))


@pytest.mark.parametrize(
    ("values", "more", "begin"),
    [
        ((81.0, 82.0), {}, "Reproduced: ours is 0.00 points"),
        ((80.4,), {}, "Not reproduced: ours is 1.10 points below the published number, and only up to 1 point counts"),
        ((80.4,), {"spread": 1.2}, "Reproduced: ours is 1.10 points below the published number, and up to 1.2 points count"),
        ((83.0,), {"spread": 0.3}, "Higher than published: ours is 1.50 points above"),
        ((83.0,), {"published": None}, "Nothing was published for this protocol"),
    ],
)
def test_the_verdict_is_a_sentence(values, more, begin):
    assert verdict(check_study("x", GOOD | more), outcome(*values)).startswith(begin)


def test_a_leaderboard_has_its_table():
    rows = (
        Row("gat + correct & smooth", "both", (0.8, 0.9), (0.7, 0.9), 1.0),
        Row("label propagation", "links", (0.6,), (0.6,), 1.0),
        Row("mlp", "features", (0.5, 0.5), (0.5, 0.5), 1.0),
        Row("majority class", "nothing", (0.1,), (0.1,), 1.0),
    )
    text = page(read_study("cora_board"), outcome(70.0, 90.0, rows=rows))
    seen = words(text)
    for told in ("“gat + correct &amp; smooth” is first", "the graph helps", "80.0% ± 14.1", "columns and links", "60.0%"):
        assert told in seen, told
    assert (
        text.count('class="tick"') == 8
        and "--seeds 2" in seen
        and "Every seed" not in seen
        and "Seeds on the test part" in seen
    )


def test_what_a_study_says_stays_text():
    more = {"title": HOSTILE, "paper": HOSTILE, "source": HOSTILE, "deviations": [HOSTILE], "encoder": {"name": HOSTILE}}
    text = page(check_study(HOSTILE, GOOD | more), outcome(82.0))
    assert "<img" not in text and "alert('x')" not in text and text.count("<script>") == 1
    assert "&lt;script&gt;" in text


def test_addresses_can_be_followed():
    assert linked("a < b, https://arxiv.org/abs/1, table 2") == (
        'a &lt; b, <a href="https://arxiv.org/abs/1" rel="noreferrer">https://arxiv.org/abs/1</a>, table 2'
    )
    assert "https://arxiv.org/abs/1</a>: and" in linked("https://arxiv.org/abs/1: and so on")
    assert "<a" not in linked("javascript:alert(1)") and '"><' not in linked('https://x/"><img')


def test_a_duration_is_rounded():
    assert (duration(1.2), duration(119.4), duration(120)) == ("1 second", "119 seconds", "2 minutes")
