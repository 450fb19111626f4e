"""Reads runs back from an MLflow server by its own client and compares them with their folders."""

import json
import sys

import mlflow

url, experiment, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
mlflow.set_tracking_uri(url)
client = mlflow.MlflowClient()
found = client.get_experiment_by_name(experiment)
runs = {run.info.run_name: run for run in client.search_runs([found.experiment_id], max_results=100)}
assert sorted(runs) == sorted(folders), (sorted(runs), folders)
assert len(client.search_runs([found.experiment_id], max_results=100)) == len(folders)


def lines(path):
    try:
        return [json.loads(line) for line in open(path)]
    except FileNotFoundError:
        return []


def history(run, key):
    return [(m.step, m.value) for m in sorted(client.get_metric_history(run.info.run_id, key), key=lambda m: m.step)]


def flat(value, prefix=""):
    """The numbers of an object by path."""
    out = {}
    for key, item in value.items():
        if isinstance(item, dict):
            out.update(flat(item, f"{prefix}{key}/"))
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            out[prefix + key] = item
    return out


def check_training(folder, run):
    steps = lines(f"{folder}/metrics.jsonl")
    want = {}
    for line in steps:
        for key, value in flat(line).items():
            if key != "step":
                want.setdefault(key, []).append((line["step"], value))
    assert len(want) > 60
    for key, series in want.items():
        assert history(run, key) == series, (key, history(run, key), series)


def check_curve(folder, run, prefix, plays):
    curve = history(run, f"{prefix}/solve_rate")
    assert len({step for step, _ in curve}) == len(curve) > 5, curve
    assert curve[-1][0] == len(plays)
    for step, value in curve:
        solved = sum(play["outcome"] == "solved" for play in plays[:step])
        assert abs(value - solved / step) < 1e-12, (step, value, solved)


def check_trace(trace, play):
    assert trace.info.state == "OK" and trace.info.tags["outcome"] == play["outcome"]
    spans = {span.span_id: span for span in trace.data.spans}
    roots = [span for span in spans.values() if not span.parent_id]
    assert len(roots) == 1 and roots[0].span_type == "AGENT"
    assert roots[0].outputs["answer"] == play["answer"] and roots[0].outputs["outcome"] == play["outcome"]
    assert roots[0].attributes["guessgym.reward"] == play["reward"]["total"]
    turns = sorted((s for s in spans.values() if s.span_type == "CHAT_MODEL"), key=lambda s: int(s.name.split()[1]))
    assert len(turns) == len(play["turns"]) and all(s.parent_id == roots[0].span_id for s in turns)
    calls = [s for s in spans.values() if s.span_type == "TOOL"]
    assert len(calls) == sum(len(turn["calls"]) for turn in play["turns"]) == len(spans) - len(turns) - 1
    for span, turn in zip(turns, play["turns"]):
        usage = turn["usage"]
        assert span.attributes["mlflow.chat.tokenUsage"]["input_tokens"] == usage["prompt"]
        assert span.attributes["gen_ai.usage.output_tokens"] == usage["completion"]
        assert span.inputs["messages"] and span.outputs["choices"][0]["message"]["role"] == "assistant"
        assert span.start_time_ns >= roots[0].start_time_ns and span.end_time_ns <= roots[0].end_time_ns
        mine = [c for c in calls if c.parent_id == span.span_id]
        assert [c.attributes["gen_ai.tool.call.id"] for c in mine] == [c["id"] for c in turn["calls"]]
        for got, call in zip(mine, turn["calls"]):
            assert got.name == call["name"] and same(got.outputs, call["result"])
    sums = [sum(turn["usage"][k] for turn in play["turns"]) for k in ("prompt", "completion")]
    assert [trace.info.token_usage[k] for k in ("input_tokens", "output_tokens")] == sums


def same(got, want):
    """Characters that no record can hold come back as U+FFFD."""
    clean = "".join("\ufffd" if ch == "\0" or 0xD800 <= ord(ch) < 0xE000 else ch for ch in want)
    return got == clean


for folder in folders:
    run, config = runs[folder], json.load(open(f"{folder}/run.json"))["config"]
    summary, plays = json.load(open(f"{folder}/summary.json")), lines(f"{folder}/episodes.jsonl")
    entry = [e for e in json.load(open(f"{folder}/mlflow.json"))["servers"] if e["experiment"] == experiment][0]
    assert entry["run_id"] == run.info.run_id and run.info.status == "FINISHED", run.info
    assert run.data.params["seed"] == str(config["seed"]) and run.data.params["game.length"] == "5"
    assert run.data.params["list.identity"] == config["list"]["identity"]
    assert run.inputs.dataset_inputs[0].dataset.digest == config["list"]["identity"][:36]
    assert run.data.tags["mlflow.source.name"] == "guessgym"
    for key, value in flat(summary, "summary/").items():
        assert run.data.metrics[key] == value, key
    if config["command"] == "train":
        check_training(folder, run)
    else:
        check_curve(folder, run, config["command"], plays)
    files = {f.path for f in client.list_artifacts(run.info.run_id)}
    want = {"run.json", "summary.json"} | ({"adapter.json"} if config["command"] == "train" else set())
    assert files == want, files
    for name in want:
        local = client.download_artifacts(run.info.run_id, name)
        assert open(local, "rb").read() == open(f"{folder}/{name}", "rb").read(), name
    by_id = {play["id"]: play for play in plays}
    traces = mlflow.search_traces(locations=[found.experiment_id], run_id=run.info.run_id, return_type="list", max_results=5000)
    share = entry["share"]
    if share == 1:
        assert len(traces) == len(plays), (len(traces), len(plays))
    assert len({t.info.tags["episode"] for t in traces}) == len(traces) > 0
    assert abs(len(traces) / len(plays) - share) <= 3 * (share * (1 - share) / len(plays)) ** 0.5 + 1e-9
    for trace in traces:
        check_trace(trace, by_id[trace.info.tags["episode"]])
    print(f"ok: {folder}: {len(run.data.params)} params, {len(run.data.metrics)} metrics, {len(files)} files, {len(traces)} traces")
