# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Experts can be loaded again into a running model, and dummy ones can be made."""

import pytest

pytest.importorskip("vllm")

from ternary_layers import finish, make_config, random_input
from ternary_moe_layers import (
    HIDDEN,
    assert_close,
    expected,
    experts,
    fill,
    make_weights,
    routing,
    run,
    tensors_of,
)
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
    record_metadata_for_reloading,
)
from vllm.model_executor.model_loader.weight_utils import initialize_single_dummy_weight


@pytest.mark.parametrize("group_size", [0, -1, 32])
@pytest.mark.parametrize("packed", [False, True], ids=["int8", "packed"])
def test_second_checkpoint_replaces_the_first(device: str, group_size: int, packed: bool) -> None:
    config = make_config(group_size=group_size, format="packed" if packed else "int8")
    weights = make_weights(group_size)
    layer = experts(config)
    record_metadata_for_reloading(layer)
    others = {name: (-codes, scale) for name, (codes, scale) in weights.items()}
    fill(layer, tensors_of(others, packed))
    initialize_layerwise_reload(layer)
    list(layer.load_weights(tensors_of(weights, packed).items()))
    finalize_layerwise_reload(layer, None)
    x, (router_weights, ids) = random_input(3, HIDDEN), routing(3)

    out = run(layer, x, router_weights, ids)

    assert_close(out, expected(weights, x, router_weights, ids))


def test_dummy_weights_are_valid(device: str) -> None:
    layer = experts(make_config(group_size=32))
    for param in layer.parameters():
        initialize_single_dummy_weight(param)
    assert run(finish(layer), random_input(3, HIDDEN), *routing(3)).isfinite().all()
