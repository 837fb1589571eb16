"""stories.py FOLDER ids|text [OPTION...]: `ck-jit generate OPTION...` over the prompts of FOLDER/greedy.json, given as
ids or as text, against the ids of FOLDER/NAME.tokens.bin and the texts of greedy.json."""

import json
import struct
import subprocess
import sys

folder, form, options = sys.argv[1], sys.argv[2], sys.argv[3:]


def generate(*arguments):
    command = ["ck-jit", "generate", "--weights", folder + "/model.bump", *arguments, *options]
    return subprocess.run(command, check=True, capture_output=True).stdout


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")


with open(folder + "/greedy.json") as file:
    prompts = json.load(file)
for name, prompt in prompts.items():
    with open(f"{folder}/{name}.tokens.bin", "rb") as file:
        data = file.read()
    ids = struct.unpack(f"<{len(data) // 4}i", data)
    start = prompt["greedy_from"]
    count = str(len(ids) - start)
    if form == "ids":
        printed = generate("--ids", ",".join(map(str, ids[:start])), "-n", count)
    else:
        printed = generate("--prompt", prompt["prompt"], "-n", count, "--print-ids")
        # Until the context is full, which is a token beyond the ids, or the model begins another text.
        text = generate("--prompt", prompt["prompt"], "--stop", "1").decode()
        expect(name, text, prompt["text"] + "\n")
    expect(name + ", its ids", list(map(int, printed.split())), list(ids[start:]))
expect("prompts", len(prompts), 4)
