# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Stands in for setuptools while pip downloads a source distribution: see build_meta."""
