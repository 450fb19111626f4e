"""Writes a small set in BEIR's layout into a folder: invented subjects, three documents each."""
import json
import os
import random
import sys

SEED, SUBJECTS, SPLITS = 20, 60, {"train": 24, "dev": 6, "test": 24}


def main(folder):
    rng = random.Random(SEED)
    syllables = [a + b for a in "bdfgklmnprstv" for b in "aeiou"]
    word = lambda: "".join(rng.choice(syllables) for _ in range(3))
    common = [word() for _ in range(30)]
    subjects = [[word() for _ in range(4)] for _ in range(SUBJECTS)]
    os.makedirs(os.path.join(folder, "qrels"))
    with open(os.path.join(folder, "corpus.jsonl"), "w") as f:
        for s, words in enumerate(subjects):
            for part in range(3):
                filler = [rng.choice(common) for _ in range(12 + 20 * part)]
                text = " ".join(words[: 4 - part] + filler)
                f.write(json.dumps({"_id": f"s{s}-{part}", "title": words[0].title(), "text": text + "."}) + "\n")
    order = rng.sample(range(SUBJECTS), SUBJECTS)
    with open(os.path.join(folder, "queries.jsonl"), "w") as queries:
        for split, count in SPLITS.items():
            with open(os.path.join(folder, "qrels", split + ".tsv"), "w") as qrels:
                qrels.write("query-id\tcorpus-id\tscore\n")
                for n in range(count):
                    s = order.pop()
                    words = rng.sample(subjects[s], 2) + rng.sample(common, 3) + subjects[rng.randrange(SUBJECTS)][:1]
                    rng.shuffle(words)
                    queries.write(json.dumps({"_id": f"{split}-{n}", "text": "What is " + " ".join(words) + "?"}) + "\n")
                    for part, grade in enumerate((2, 1, 0)):
                        qrels.write(f"{split}-{n}\ts{s}-{part}\t{grade}\n")


main(sys.argv[1])
