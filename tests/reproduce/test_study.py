"""Studies are valid, their names resolve, and the results that are shipped belong to them."""

import os

import pytest

from weft.data import datasets
from weft.encoders import builder_of
from weft.errors import DataError, WeftValueError
from weft.reproduce import names, read_study, reproduce
from weft.reproduce.runner import Outcome, kept, save
from weft.reproduce.study import check_study
from weft.training import Trainer

every = pytest.mark.parametrize("name", names())
GOOD = {"title": "t", "paper": "p", "data": "cora", "published": 81.5, "source": "s"}


@every
def test_a_study_names_what_exists(name):
    study = read_study(name)
    assert study.data in datasets.names() and (study.published is None or 0 < study.published < 100)
    assert study.paper and study.source
    if study.model == "encoder":
        told = dict(study.encoder)
        build = builder_of(told.pop("name"))
        build(5, 3, **told)
        Trainer(**study.trainer)


@every
def test_a_shipped_result_is_of_its_study(name):
    found = kept(name)
    if found is not None:
        study = read_study(name)
        assert found.study == name and len(found.values) >= min(study.seeds, 10)
        assert all(0 < value < 100 for value in found.values)


def test_results_belong_to_studies():
    from weft.reproduce.runner import RESULTS

    assert {path.name.removesuffix(".json") for path in RESULTS.iterdir()} <= set(names())


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"publishd": 3}, ["no setting 'publishd'", "Did you mean 'published'?"]),
        ({"protocol": "mine"}, ["protocol must be one of", "'mine'"]),
        ({"model": "magic"}, ["model must be one of", "'magic'"]),
        ({"measure": "luck"}, ["measure must be one of", "'luck'"]),
    ],
)
def test_a_wrong_file_is_refused(told, words):
    with pytest.raises(DataError) as caught:
        check_study("x", GOOD | told)
    assert all(word in str(caught.value) for word in ["study x", *words])


def test_what_is_required_is_named():
    with pytest.raises(DataError, match=r"study x: .*title"):
        check_study("x", {name: value for name, value in GOOD.items() if name != "title"})


def test_an_unknown_study():
    with pytest.raises(WeftValueError, match=r"no study 'kipf2017_gcn_coda'. Did you mean 'kipf2017_gcn_cora'\?"):
        read_study("kipf2017_gcn_coda")


def outcome(*values: float) -> Outcome:
    return Outcome("x", values, 1.0, "2026-01-01", "a machine", {})


@pytest.mark.parametrize(
    ("values", "spread", "verdict"),
    [
        ((81.0, 82.0), None, "reproduced (+0.00 points)"),
        ((80.4,), None, "not reproduced (-1.10 points)"),
        ((80.4,), 1.2, "reproduced (-1.10 points)"),
        ((83.0,), 0.3, "above the published number (+1.50 points)"),
    ],
)
def test_a_verdict_is_a_point_or_the_published_spread(values, spread, verdict):
    assert outcome(*values).verdict(check_study("x", GOOD | {"spread": spread})) == verdict


def test_without_a_published_number_there_is_no_verdict():
    study = check_study("x", {name: value for name, value in GOOD.items() if name != "published"})
    assert outcome(80.0).verdict(study) == "nothing was published for this protocol" and study.number == "none"


def test_a_result_is_one_file(tmp_path):
    save(outcome(80.0, 82.0), tmp_path / "x.json")
    assert '"values": [\n  80.0,\n  82.0\n ]' in (tmp_path / "x.json").read_text()


@pytest.mark.skipif("WEFT_DATA" not in os.environ, reason="needs the published files of Cora: set WEFT_DATA")
def test_studies_run():
    """One seed of the two quickest: near what was published."""
    for name, room in (("zhu2002_label_propagation_cora", 4.0), ("kipf2017_gcn_cora", 3.0)):
        study, heard = read_study(name), []
        found = reproduce(study, seeds=1, heard=lambda *told, heard=heard: heard.append(told))
        assert heard == [(0, found.values[0])]
        assert study.published is not None and abs(found.mean - study.published) < room
