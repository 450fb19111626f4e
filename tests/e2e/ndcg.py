"""Compares our nDCG with trec_eval's own code (pytrec-eval-terrier) on random runs."""

import random
import subprocess
import sys

import pytrec_eval

CUTS = (1, 3, 10, 100)
QUERIES = 1000
SEED = 20260101

rng = random.Random(SEED)
qrels, run, lines, keys = {}, {}, [], []
for q in range(QUERIES):
    pool = [f"d{i:03}" for i in range(rng.randint(1, 150))]
    grades = {d: rng.choice((-1, 0, 0, 1, 1, 2, 3, 7)) for d in pool if rng.random() < 0.5}
    ranking = [d for d in pool if rng.random() < 0.8]
    rng.shuffle(ranking)
    if not grades or not ranking:
        continue
    name = f"q{q}"
    qrels[name] = grades
    # Scores that say exactly this order: trec_eval sorts by them.
    run[name] = {d: float(len(ranking) - i) for i, d in enumerate(ranking)}
    for cut in CUTS:
        ranked = " ".join(str(grades.get(d, 0)) for d in ranking)
        judged = " ".join(str(g) for g in grades.values())
        lines.append(f"{cut} | {ranked} | {judged}")
        keys.append((name, cut))

wanted = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut." + ",".join(map(str, CUTS))}).evaluate(run)
out = subprocess.run([sys.argv[1], "--lines"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
ours = [float(line) for line in out.stdout.split()]
assert len(ours) == len(keys), (len(ours), len(keys))
worst, positive = 0.0, 0
for (name, cut), value in zip(keys, ours):
    there = wanted[name][f"ndcg_cut_{cut}"]
    worst = max(worst, abs(there - value))
    positive += there > 0
    assert abs(there - value) <= 1e-9, f"seed {SEED}, {name}, cut {cut}: {value}, trec_eval says {there}"
assert positive > len(keys) / 2
print(f"ok: {len(keys)} values of {len(qrels)} runs, largest difference {worst:.2g}")
