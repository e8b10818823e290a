"""Equations, one per file: each layer sees tensors and a structure, and nothing else."""

from weft.nn.attention.attention import Attention
from weft.nn.bag import Bag
from weft.nn.block import Everywhere, Plain, PostNorm, PreNorm
from weft.nn.dropout import Dropout
from weft.nn.mean_heads import MeanHeads
from weft.nn.mlp import MLP
from weft.nn.readout import AttentionReadout, Readout
from weft.nn.recurrent.gru import GRU
from weft.nn.recurrent.lstm import LSTM
from weft.nn.relational.gat import GAT
from weft.nn.relational.gatv2 import GATv2
from weft.nn.relational.gcn import GCN
from weft.nn.relational.gin import GIN
from weft.nn.relational.sage import SAGE
from weft.nn.relational.transformer import TransformerConv

__all__ = [
    "GAT",
    "GCN",
    "GIN",
    "GRU",
    "LSTM",
    "MLP",
    "SAGE",
    "Attention",
    "AttentionReadout",
    "Bag",
    "Dropout",
    "Everywhere",
    "GATv2",
    "MeanHeads",
    "Plain",
    "PostNorm",
    "PreNorm",
    "Readout",
    "TransformerConv",
]
