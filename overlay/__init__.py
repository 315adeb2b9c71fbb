# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The overlay tool: an ordered quilt of patches over a pinned vLLM, and the wheel made of both."""
