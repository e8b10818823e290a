"""What is known spreads: cases one can do by hand, and the formulas written out densely."""

import torch

from weft import Sparse
from weft.nn.relational.propagate import correct_and_smooth, label_propagation, spread


def path(nodes: int) -> Sparse:
    ahead = [*range(nodes - 1)], [*range(1, nodes)]
    return Sparse.from_edges(ahead[0] + ahead[1], ahead[1] + ahead[0], nodes)


def dense(over: Sparse) -> torch.Tensor:
    """D^(-1/2) A D^(-1/2) as a matrix."""
    matrix = torch.zeros(over.num_targets, over.num_targets)
    source, target = over.ends()
    matrix[target, source] = 1
    scale = matrix.sum(1).clamp(min=1).rsqrt()
    return scale[:, None] * matrix * scale


def test_spread_is_the_formula():
    over, start = path(5), torch.randn(5, 2)
    expected = start
    for _ in range(3):
        expected = 0.3 * start + 0.7 * dense(over) @ expected
    torch.testing.assert_close(spread(start, over, share=0.7, steps=3), expected)


def test_kept_positions_do_not_move():
    start = torch.randn(5, 2)
    assert torch.equal(spread(start, path(5), share=1.0, steps=4, keep=torch.tensor([1, 3]))[[1, 3]], start[[1, 3]])


def test_labels_between_two_ends_are_harmonic():
    """On a path with known ends the answer falls in a straight line."""
    known, where = torch.eye(2), torch.tensor([0, 4])
    found = label_propagation(known, where, path(5), steps=500)
    torch.testing.assert_close(found[:, 0], torch.tensor([1.0, 0.75, 0.5, 0.25, 0.0]), atol=1e-4, rtol=0)


def test_what_nothing_reaches_is_undecided():
    over = Sparse.from_edges([0], [1], 3)
    found = label_propagation(torch.tensor([[1.0, 0.0]]), torch.tensor([0]), over)
    assert found.tolist() == [[1, 0], [1, 0], [0.5, 0.5]]


def test_correct_and_smooth_is_the_formula():
    torch.manual_seed(0)
    over, guess, where = path(6), torch.rand(6, 3).softmax(1), torch.tensor([0, 2])
    known = torch.eye(3)[[1, 2]]
    matrix, error = dense(over), torch.zeros(6, 3)
    error[where] = known - guess[where]
    size, wrong = error[where].abs().sum(1).mean(), error
    for _ in range(4):
        wrong = 0.2 * error + 0.8 * matrix @ wrong
    length = wrong.abs().sum(1, keepdim=True)
    better = guess + torch.where(length > 0, wrong * size / length.clamp(min=1e-12), 0)
    better[where] = known
    found = better
    for _ in range(4):
        found = 0.2 * better + 0.8 * matrix @ found
    found = found.clamp(min=0)
    expected = found / found.sum(1, keepdim=True)
    torch.testing.assert_close(correct_and_smooth(guess, known, where, over, steps=4), expected)


def test_a_right_guess_is_left_alone():
    guess = torch.eye(2)[[0, 0, 0]]
    assert torch.equal(correct_and_smooth(guess, guess[:1], torch.tensor([0]), path(3)).argmax(1), guess.argmax(1))
