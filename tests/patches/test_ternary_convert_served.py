# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A converted model gives the logits of the floating point model that it was made from."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

import torch
from ternary_directories import CONFIG, convert, generator, one_thread, ternary_values, write_model

PROMPT = torch.randint(3, CONFIG["vocab_size"], (12,), generator=generator()).tolist()


@pytest.mark.slow
def test_logits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    from vllm import LLM, SamplingParams

    # Attention on the CPU takes heads of 32 and more.
    config = CONFIG | {"head_dim": 32, "dtype": "float32"}
    tensors = ternary_values(32, config, torch.float32)
    # Logits of about 1, so that the rounding to bfloat16 is small beside them.
    tensors["lm_head.weight"] *= 64**-0.5
    source = write_model(tmp_path / "source", tensors, config)
    assert convert(source, tmp_path / "result") == 0
    llm = LLM(
        str(tmp_path / "result"), skip_tokenizer_init=True, enforce_eager=True,
        max_model_len=64, max_num_seqs=1, dtype="bfloat16", gpu_memory_utilization=0.3,
    )  # fmt: skip
    params = SamplingParams(max_tokens=1, prompt_logprobs=5, temperature=0, detokenize=False)
    (out,) = llm.generate({"prompt_token_ids": PROMPT}, params)
    expected = reference(source)
    assert out.prompt_logprobs is not None
    for place, found in enumerate(out.prompt_logprobs[1:]):
        for token, entry in found.items():
            assert entry.logprob == pytest.approx(float(expected[place, token]), abs=0.05)


@one_thread()
def reference(path: Path) -> torch.Tensor:
    """Log probabilities [position, token] in float32, from transformers."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([PROMPT])).logits[0], -1)
