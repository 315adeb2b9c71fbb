# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Without triton-cpu, tokens are given the cache slots that the block table says."""

import pytest

pytest.importorskip("vllm")

import torch
from vllm.platforms import current_platform
from vllm.triton_utils.dispatcher import KernelOverride
from vllm.utils.cpu_triton_utils import _compute_slot_mapping_kernel_impl
from vllm.v1.worker.block_table import ComputeSlotMappingKernel

BLOCK_SIZE = 16


def test_slots_follow_the_block_table() -> None:
    current_platform.import_kernels()
    block_table = torch.tensor([[7, 2, 0], [5, 9, 4]], dtype=torch.int32)
    query_start = torch.tensor([0, 3, 5], dtype=torch.int32)
    positions = torch.tensor([14, 15, 16, 0, 33])
    slots = torch.full((8,), -100)

    launch = KernelOverride(ComputeSlotMappingKernel.kernel, _compute_slot_mapping_kernel_impl)
    launch[(3,)](
        num_tokens=5,
        max_num_tokens=8,
        query_start_loc_ptr=query_start,
        positions_ptr=positions,
        block_table_ptr=block_table,
        block_table_stride=block_table.stride(0),
        slot_mapping_ptr=slots,
        KV_CACHE_BLOCK_SIZE=BLOCK_SIZE,
        TOTAL_CP_WORLD_SIZE=1,
        TOTAL_CP_RANK=0,
        CP_KV_CACHE_INTERLEAVE_SIZE=1,
        PAD_ID=-1,
        BLOCK_SIZE=1024,
    )

    blocks = [7, 7, 2, 5, 4]
    expected = [
        block * BLOCK_SIZE + position % BLOCK_SIZE
        for block, position in zip(blocks, positions.tolist(), strict=True)
    ]
    assert slots[:5].tolist() == expected
