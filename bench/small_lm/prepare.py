# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Text, tokenizer and tokens that the small language model is trained on.

    python bench/small_lm/prepare.py --stdlib LIB --out DIR

LIB is the standard library of a CPython, as `make install` leaves it or as the folder Lib/ of its
source distribution (default: that of the Python this runs on). Its modules, tests among them, are
the text; HELD_OUT names those that are kept for validation, whole, with their tests. Written:

    tokenizer.json, tokenizer_config.json   byte-level BPE, trained on the training text alone
    train.npy, heldout.npy                  uint16 tokens; <|endoftext|> ends every file
    corpus.json                             sizes and sha256 of all of this

The same LIB gives the same bytes.
"""

import argparse
import hashlib
import json
import random
import sys
import sysconfig
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from needs import need

need("numpy", "tokenizers")

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

VOCAB_SIZE = 1920
END = "<|endoftext|>"
# Modules and packages of every kind: data structures, text, files, network, mathematics, tools.
HELD_OUT = [
    "bisect",
    "calendar",
    "colorsys",
    "configparser",
    "csv",
    "fnmatch",
    "getopt",
    "graphlib",
    "heapq",
    "imaplib",
    "mailbox",
    "pprint",
    "sched",
    "shelve",
    "statistics",
    "textwrap",
    "timeit",
    "tomllib",
    "wsgiref",
    "zipapp",
]
# What an installation adds, and tables: nothing to learn from.
LEFT_OUT = [
    "site-packages",
    "dist-packages",
    "lib-dynload",
    "config-",
    "_sysconfigdata",
    "encodings",
]
DIGITS_LIMIT = 0.15


def is_held_out(path: Path) -> bool:
    """Whether a path relative to the library belongs to a module of HELD_OUT or to its tests."""
    parts = [Path(part).stem for part in path.parts]
    if parts[0] == "test":
        parts = [part.removeprefix("test_") for part in parts[1:]]
    return any(part == name for part in parts[:2] for name in HELD_OUT)


def read_library(stdlib: Path) -> dict[str, str]:
    """Path -> text of the library's modules, in order of their paths."""
    texts = {}
    for path in sorted(stdlib.rglob("*.py"), key=lambda path: path.as_posix()):
        name = path.relative_to(stdlib)
        if name.as_posix().startswith(tuple(LEFT_OUT)):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # tests of source encodings
            continue
        if text and sum(map(str.isdigit, text)) <= DIGITS_LIMIT * len(text):
            texts[name.as_posix()] = text
    return texts


def train_tokenizer(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    end = tokenizer.token_to_id(END)
    pieces = [[*code.ids, end] for code in tokenizer.encode_batch_fast(texts)]
    return np.concatenate([np.array(piece, dtype=np.uint16) for piece in pieces])


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def describe(texts: dict[str, str], tokens: np.ndarray) -> dict[str, object]:
    data = b"".join(f"{name}\0{text}\0".encode() for name, text in texts.items())
    return {
        "files": len(texts),
        "bytes": sum(len(text.encode()) for text in texts.values()),
        "tokens": len(tokens),
        "text_sha256": sha256(data),
        "tokens_sha256": sha256(tokens.tobytes()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stdlib", type=Path, default=Path(sysconfig.get_paths()["stdlib"]))
    parser.add_argument("--version", required=True, help="the CPython that it belongs to")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json, instead of a new one")
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()

    texts = read_library(args.stdlib)
    heldout = {name: text for name, text in texts.items() if is_held_out(Path(name))}
    names = [name for name in texts if name not in heldout]
    random.Random(0).shuffle(names)
    train = {name: texts[name] for name in names}

    args.out.mkdir(parents=True, exist_ok=True)
    if args.tokenizer:
        tokenizer = Tokenizer.from_file(str(args.tokenizer))
    else:
        tokenizer = train_tokenizer(list(train.values()))
    tokenizer.save(str(args.out / "tokenizer.json"), pretty=False)
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "model_max_length": 4096,
        "clean_up_tokenization_spaces": False,
    }
    (args.out / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    train_tokens = encode(tokenizer, list(train.values()))
    heldout_tokens = encode(tokenizer, list(heldout.values()))
    np.save(args.out / "train.npy", train_tokens)
    np.save(args.out / "heldout.npy", heldout_tokens)
    report = {
        "text": f"standard library of CPython {args.version}",
        "train": describe(train, train_tokens),
        "heldout": describe(heldout, heldout_tokens) | {"modules": HELD_OUT},
        "tokenizer_sha256": sha256((args.out / "tokenizer.json").read_bytes()),
        "vocab_size": tokenizer.get_vocab_size(),
    }
    (args.out / "corpus.json").write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
