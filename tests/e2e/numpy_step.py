"""Training steps, datums in and weights out, against numpy: losses, sums, clipping and Adam are written here from their
definitions, the scores come from tests/lib/letters.py, and nothing of the program under test is used but its API."""

import itertools
import json
import sys
import time
import urllib.request

import numpy as np

sys.path.insert(0, "tests/lib")
from letters import Letters, effective  # noqa: E402
from local_service import MODEL, ROLE, group, s3_file  # noqa: E402
from token_play import groups  # noqa: E402

LIMIT = 1e-9
RANK, ALPHA = 32, 64
SCALE = 12 * ALPHA / RANK
# Loss, its bounds, and the optimiser's settings; two steps each, so that the second is off-policy.
CASES = [
    ("ppo", (0.8, 1.2), dict(learningRate=0.01, beta1=0.9, beta2=0.95, eps=1e-8, weightDecay=0.0, gradClipNorm=1.0)),
    ("ppo", (0.99, 1.01), dict(learningRate=0.01, beta1=0.5, beta2=0.7, eps=1e-4, weightDecay=0.3, gradClipNorm=0.05)),
    ("importance_sampling", None, dict(learningRate=0.003, beta1=0.9, beta2=0.999, eps=1e-8, gradClipNorm=0.0)),
    ("cispo", (0.9, 1.1), dict(learningRate=0.01, beta1=0.0, beta2=0.95, eps=1e-8, weightDecay=0.01, gradClipNorm=9.0)),
    ("cross_entropy", None, dict(learningRate=0.01, beta1=0.9, beta2=0.95, eps=1e-8, gradClipNorm=1.0)),
]


def gradient_factor(loss, bounds, new, old, advantage):
    """d loss / d new log-probability."""
    ratio = np.exp(new - old)
    if loss == "cross_entropy":
        return -np.ones_like(new)
    if loss == "importance_sampling":
        return -ratio * advantage
    held = np.clip(ratio, *bounds)
    if loss == "cispo":
        return -held * advantage
    return np.where(held * advantage < ratio * advantage, 0.0, -ratio * advantage)


class Adam:
    def __init__(self, count):
        self.m, self.v, self.t = np.zeros(count), np.zeros(count), 0

    def step(self, weights, mean, p):
        norm = np.linalg.norm(mean)
        clip = p.get("gradClipNorm", 0.0)
        if 0 < clip < norm:
            mean = mean * clip / norm
        self.t += 1
        self.m = p["beta1"] * self.m + (1 - p["beta1"]) * mean
        self.v = p["beta2"] * self.v + (1 - p["beta2"]) * mean**2
        m, v = self.m / (1 - p["beta1"] ** self.t), self.v / (1 - p["beta2"] ** self.t)
        lr = p["learningRate"]
        return weights - lr * m / (np.sqrt(v) + p["eps"]) - lr * p.get("weightDecay", 0.0) * weights


def mean_gradient(model, adapter, datums, loss, bounds):
    weights = effective(model, {"alpha": ALPHA, "rank": RANK, "adapter": adapter})
    total, weight_sum = np.zeros(model.count), 0.0
    for d in datums:
        tensors = {k: np.array(v["data"], dtype=float) for k, v in d["lossFnInputs"].items()}
        # The sequence whole: letters.py scores ids, the API targets, one place later.
        ids = d["modelInput"]["chunks"][0]["tokens"] + [d["lossFnInputs"]["target_tokens"]["data"][-1]]
        new = np.array(model.logprobs(ids, weights))[1:]
        factor = tensors["weights"] * gradient_factor(loss, bounds, new, tensors["logprobs"], tensors["advantages"])
        total += SCALE * np.array(model.gradient(ids, weights, [0.0, *factor]))
        weight_sum += tensors["weights"].sum()
    return total / weight_sum


class Session:
    def __init__(self, url, state, name):
        self.url, self.state, self.name, self.number = url, state, name, 0
        self.control("CreateTrainingSession", TrainingSessionName=name, RoleArn=ROLE,
                     LoraConfig={"Rank": RANK, "Alpha": ALPHA}, ModelConfig={"BaseModelArn": MODEL},
                     OutputConfig={"S3Location": {"Path": "s3://bucket/numpy"}}, ModelPackageGroupArn=group("numpy"))

    def call(self, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers or {})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def control(self, operation, **body):
        return self.call("/", body, {"X-Amz-Target": f"SageMaker.{operation}"})

    def run(self, kind, body):
        path = f"/v1/training-sessions/{self.name}/{kind}"
        operation = self.call(path, body)["operationId"]
        while True:
            answer = self.call(f"{path}/{operation}")
            if answer["status"] == "Completed":
                return answer["operationResult"]
            assert answer["status"] in ("Pending", "InProgress"), answer
            time.sleep(0.02)

    def train(self, **config):
        self.number += 1
        return self.run("operations", {"sequenceNumber": self.number, "operationConfig": config})

    def sample(self, ids, seed):
        config = dict(prompt={"chunks": [{"tokens": ids, "type": "encoded_text"}]}, numSamples=1,
                      samplingParams={"maxTokens": 512, "seed": seed})
        sequence = self.run("sampling-operations", {"operationConfig": {"sample": config}})["sample"]["sequences"][0]
        return sequence["tokens"], sequence["logprobs"]

    def adapter(self):
        arn = self.train(saveWeights={})["saveWeights"]["modelPackageArn"]
        described = self.control("DescribeModelPackage", ModelPackageName=arn)
        source = described["InferenceSpecification"]["Containers"][0]["ModelDataSource"]["S3DataSource"]
        with open(s3_file(self.state, source["S3Uri"], "adapter.json"), encoding="ascii") as file:
            return json.load(file)


def main(state, url):
    with open("wordlists/answers.txt", encoding="ascii") as file:
        model = Letters(file.read().split())
    player, seeds = Session(url, state, "player"), itertools.count(1)
    datums = groups(["crane", "pilot", "house", "mummy"], 4, lambda ids: player.sample(ids, next(seeds)))
    assert len(datums) >= 8, len(datums)
    worst = 0.0
    for case, (loss, bounds, settings) in enumerate(CASES):
        session, adam, adapter = Session(url, state, f"case-{case}"), Adam(model.count), np.zeros(model.count)
        for step in range(2):
            config = {"lossFnName": loss}
            if bounds:
                config["lossFnConfig"] = {"clip_low_threshold": bounds[0], "clip_high_threshold": bounds[1]}
            half = len(datums) // 2  # two operations: their gradients add up
            for part in (datums[:half], datums[half:]):
                session.train(forwardBackward={**config, "datumList": part})
            session.train(optimizerStep={"adamParamsConfig": settings})
            adapter = adam.step(adapter, mean_gradient(model, adapter, datums, loss, bounds), settings)
            have = session.adapter()
            assert have["version"] == step + 1 and len(have["adapter"]) == model.count
            away = np.abs(np.array(have["adapter"]) - adapter).max()
            assert np.abs(adapter).max() > 1e-3, "nothing was learnt"
            assert away < LIMIT, f"{loss}, step {step + 1}: {away} away"
            worst = max(worst, away)
    print("ok", len(datums), "datums,", 2 * len(CASES), "steps, largest difference", worst)


main(state=sys.argv[2], url=sys.argv[1])
