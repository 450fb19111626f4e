"""Checks runs of the three baselines against the judgments' own file: nDCG@10, fusion, no secret in a message."""
import json
import math
import sys

folder, qrels, runs = sys.argv[1], sys.argv[2], sys.argv[3:]
judged = {}
for line in open(qrels):
    query, document, grade = line.split()
    if grade.isdigit():
        judged.setdefault(query, {})[document] = int(grade)


def ndcg(ranking, grades):
    gain = lambda values: sum(g / math.log2(i + 2) for i, g in enumerate(values[:10]))
    return gain([grades.get(d, 0) for d in ranking]) / gain(sorted(grades.values(), reverse=True))


def page(text):
    lines = [line.split(" | ") for line in text.splitlines()]
    return [fields[0] for fields in lines if len(fields) == 3]


for name in runs:
    means = []
    for line in open(f"{folder}/{name}/episodes.jsonl"):
        episode = json.loads(line)
        calls = [call for turn in episode["turns"] for call in turn["calls"]]
        ranking = calls[-1]["facts"]["ranking"]
        answer = {item["id"]: item["grade"] for item in episode["answer"]}
        query = next(q for q, grades in judged.items() if grades == answer)
        value = ndcg(ranking, judged[query])
        assert abs(value - episode["measure"]["value"]) < 1e-12, (query, value)
        assert abs(value - episode["reward"]["total"]) < 1e-12
        assert episode["outcome"] == ("solved" if value >= 0.5 else "lost")
        pages = [page(call["result"]) for call in calls[:-1]]
        assert len(pages) == (2 if name == "hybrid" else 1) and all(pages)
        score = {}
        for found in pages:  # reciprocal rank fusion once more
            for rank, document in enumerate(found, 1):
                score[document] = score.get(document, 0) + 1 / (60 + rank)
        assert ranking == sorted(score, key=lambda d: -score[d])[:10], query
        said = json.dumps(episode["messages"])
        assert "grade\\\"" not in said and query not in said, "a message tells of judgments"
        means.append(value)
    print(name, sum(means) / len(means))
