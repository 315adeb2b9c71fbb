# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""torch.compile takes a lookup whole, for any number of tokens, and gives the same rows."""

import pytest

pytest.importorskip("vllm")

import torch
from ternary_embeddings import embedding, fill, rows_of
from ternary_layers import make_config, random_codes, random_scale
from ternary_stand_in import use_stand_in

VOCABULARY, SIZE_K = 100, 256


@pytest.fixture(params=["dequantized", "packed"])
def rows_are(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """As a CPU holds them, and as a GPU does."""
    if request.param == "packed" and not torch.cuda.is_available():
        use_stand_in(monkeypatch)
    return str(request.param)


@pytest.mark.usefixtures("rows_are")
def test_one_graph_for_all_sizes(device: str) -> None:
    codes, scale = random_codes(VOCABULARY, SIZE_K), random_scale(VOCABULARY, 2)
    config = make_config(group_size=128, embeddings=True)
    layer = fill(embedding(config, VOCABULARY, SIZE_K), codes, scale)
    graphs = []

    def count(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph

    compiled = torch.compile(layer.forward, fullgraph=True, dynamic=True, backend=count)

    for tokens in (2, 5, 64):
        ids = (torch.arange(tokens) * 37 + 3) % VOCABULARY
        assert torch.equal(compiled(ids).cpu(), rows_of(codes, scale, ids))
    assert len(graphs) == 1
