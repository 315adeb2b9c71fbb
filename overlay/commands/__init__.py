# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The subcommands: each module has `configure_parser(subparsers)` and `execute(args) -> int`."""
