"""What the datasets are: figures, licences, papers, and where their files are, with their sums.

Figures were counted in these very files. Versions are pinned: an address holds the commit that the sums were taken of.
"""

from weft.data.datasets.info import File, Info

_RAW = "https://raw.githubusercontent.com"
_PLANETOID = f"{_RAW}/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
_SHCHUR = f"{_RAW}/shchur/gnn-benchmark/1e72912a0810cdf27ae54fd589a3b43358a2b161/data/npz"
_YANDEX = f"{_RAW}/yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318/data"

_CORA = (
    ("ind.cora.x", 22_119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
    ("ind.cora.y", 4_054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
    ("ind.cora.tx", 148_025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
    ("ind.cora.ty", 28_135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
    ("ind.cora.allx", 257_305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
    ("ind.cora.ally", 47_959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
    ("ind.cora.graph", 59_847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
    ("ind.cora.test.index", 5_000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
)

_PUBMED = (
    ("ind.pubmed.x", 23_172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"),
    ("ind.pubmed.y", 854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"),
    ("ind.pubmed.tx", 405_505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
    ("ind.pubmed.ty", 12_135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
    ("ind.pubmed.allx", 7_578_385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
    ("ind.pubmed.ally", 224_739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
    ("ind.pubmed.graph", 471_808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
    ("ind.pubmed.test.index", 6_000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
)


def _planetoid(sums: tuple[tuple[str, int, str], ...]) -> tuple[File, ...]:
    return tuple(File(name, size, digest, f"{_PLANETOID}/{name}") for name, size, digest in sums)


_SPLIT = "Published split: {} nodes to learn from, the next 500 rows to stop by, 1,000 test nodes. Score: accuracy."
_SHCHUR_SPLITS = (
    "No published split. The paper draws 20 nodes of each class to learn from and 30 to stop by, all others test, "
    "many times over: PerClass(20, 30, seed=…). Score: accuracy."
)
_SHCHUR_PAPER = "Shchur, Mumme, Bojchevski & Günnemann 2018, Pitfalls of Graph Neural Network Evaluation, arXiv:1811.05868"
_YANG = "Yang, Cohen & Salakhutdinov 2016, Revisiting Semi-Supervised Learning with Graph Embeddings, arXiv:1603.08861"

_ALL = (
    Info(
        name="amazon-photo",
        title="Amazon Photo: cameras and what belongs to them, linked if often bought together; words of their reviews",
        nodes=7650,
        edges=119_081,
        classes=8,
        licence="MIT (repository)",
        citation=f"{_SHCHUR_PAPER}; from McAuley, Targett, Shi & van den Hengel 2015",
        protocol=_SHCHUR_SPLITS,
        files=(
            File(
                "amazon_electronics_photo.npz",
                1_768_661,
                "76d52954664e2eaea2e62ede1e74f0ad7e657d92e22b1c6a1e307a43e2e027f2",
                f"{_SHCHUR}/amazon_electronics_photo.npz",
                "72f6ade37e5b6d5ca45ea063811dc60372f0b6b3c617817d96a9003e9f8b16f1",
            ),
        ),
    ),
    Info(
        name="coauthor-cs",
        title="Coauthor CS: computer scientists, linked if they wrote together; keywords of their papers",
        nodes=18_333,
        edges=81_894,
        classes=15,
        licence="MIT (repository)",
        citation=f"{_SHCHUR_PAPER}; from the Microsoft Academic Graph",
        protocol=_SHCHUR_SPLITS,
        files=(
            File(
                "ms_academic_cs.npz",
                2_794_699,
                "cc99dff7138335f634ca31e5ebe1ce92bae7972c09675ef820276019260eaa11",
                f"{_SHCHUR}/ms_academic_cs.npz",
                "9eff111bab9f878957a057b33f6a7c1e475ef0b0176c0eb602071237d5f3a472",
            ),
        ),
    ),
    Info(
        name="cora",
        title="Cora: papers on machine learning, linked if one cites the other; which words occur in them",
        nodes=2708,
        edges=5278,
        classes=7,
        licence="MIT (repository)",
        citation=f"{_YANG}; from Sen et al. 2008, Collective Classification in Network Data",
        protocol=_SPLIT.format(140),
        files=_planetoid(_CORA),
    ),
    Info(
        name="digits",
        title="Digits: small images of handwritten digits, each linked to the eight most like it; nothing to fetch",
        nodes=1797,
        edges=9929,
        classes=10,
        licence="CC BY 4.0 (UCI Machine Learning Repository); the copy is part of scikit-learn (BSD-3-Clause)",
        citation="Alpaydin & Kaynak 1998, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository",
        protocol="Ten nodes of each class to learn from, ten to stop by, all others test, drawn once. Score: accuracy.",
    ),
    Info(
        name="pubmed",
        title="PubMed: papers on diabetes, linked if one cites the other; words weighted by how rare they are",
        nodes=19_717,
        edges=44_324,
        classes=3,
        licence="MIT (repository)",
        citation=f"{_YANG}; from Namata, London, Getoor & Huang 2012, Query-driven Active Surveying",
        protocol=_SPLIT.format(60),
        files=_planetoid(_PUBMED),
    ),
    Info(
        name="tolokers",
        title="Tolokers: crowd workers, linked if they worked on the same task; which of them were banned",
        nodes=11_758,
        edges=519_000,
        classes=2,
        licence="MIT (repository)",
        citation="Platonov, Kuznedelev, Diskin, Babenko & Prokhorenkova 2023, A Critical Look at the Evaluation of GNNs "
        "under Heterophily, arXiv:2302.11640",
        protocol="Ten published splits of 50 % train, 25 % val and 25 % test. Score: mean area under the ROC curve.",
        files=(
            File(
                "tolokers.npz",
                1_329_769,
                "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667",
                f"{_YANDEX}/tolokers.npz",
            ),
        ),
    ),
)
CATALOGUE = {each.name: each for each in _ALL}
