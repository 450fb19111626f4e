"""A training session by the real AWS client: create, sample, one whole step, save, sample from the new weights."""

import json
import sys
import time

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

sys.path.insert(0, "tests/lib")
from letters import Letters, effective  # noqa: E402
from local_service import MODEL, REGION, ROLE, group, s3_file  # noqa: E402
from token_play import PROMPT, groups  # noqa: E402

NAME = "boto3-session"


def client(name, url):
    return boto3.client(name, endpoint_url=url, region_name=REGION, aws_access_key_id="test",
                        aws_secret_access_key="test", config=Config(retries={"total_max_attempts": 1}))


def refused(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        return error.response["Error"]["Message"]
    raise AssertionError(f"{code} expected")


def finished(get, operation):
    while True:
        answer = get(trainingSessionName=NAME, operationId=operation)
        if answer["status"] in ("Completed", "Failed", "Skipped"):
            return answer
        time.sleep(0.05)


def main(state, url):
    control, runtime = client("sagemaker", url), client("sagemakertrainingsessionruntime", url)
    create = dict(TrainingSessionName=NAME, LoraConfig={"Rank": 32, "Alpha": 64}, RoleArn=ROLE,
                  ModelConfig={"BaseModelArn": MODEL}, ModelPackageGroupArn=group("boto3"),
                  OutputConfig={"S3Location": {"Path": "s3://demo-bucket/out"}}, Tags=[{"Key": "k", "Value": "v"}])
    arn = control.create_training_session(**create)["TrainingSessionArn"]
    assert arn.endswith(f":training-session/{NAME}"), arn
    refused("ResourceInUse", control.create_training_session, **create)
    detail = control.describe_training_session(TrainingSessionName=NAME)["TrainingSessionDetail"]
    assert detail["TrainingSessionStatus"] == "Running", detail
    assert abs(detail["CreationTime"].timestamp() - time.time()) < 600
    assert control.list_training_sessions(NameContains="boto3")["TrainingSessionSummaries"][0][
        "TrainingSessionArn"] == arn

    number = 0

    def train(**config):
        nonlocal number
        number += 1
        answer = runtime.execute_training_operation(trainingSessionName=NAME, sequenceNumber=number,
                                                    clientToken=f"boto3-{number}", operationConfig=config)
        return finished(runtime.get_training_operation_result, answer["operationId"])

    def sampling(**config):
        answer = runtime.execute_sampling_operation(trainingSessionName=NAME, operationConfig=config)
        answer = finished(runtime.get_sampling_operation_result, answer["operationId"])
        assert answer["status"] == "Completed", answer
        return answer["operationResult"]

    seeds = iter(range(1, 10**6))

    def sample(ids):
        result = sampling(sample=dict(
            prompt={"chunks": [{"tokens": ids, "type": "encoded_text"}]}, numSamples=1,
            samplingParams={"maxTokens": 512, "temperature": 1.0, "topP": 1.0, "seed": next(seeds)}))
        sequence = result["sample"]["sequences"][0]
        assert sequence["stopReason"] == "stop"
        return sequence["tokens"], sequence["logprobs"]

    datums = groups(["crane", "pilot", "house"], 4, sample)
    assert datums

    # Fresh samples: the recorded log-probabilities are the policy's, which settles the alignment.
    look = train(forward=dict(lossFnName="ppo", datumList=datums))
    metrics = look["operationResult"]["forward"]["metrics"]
    assert abs(metrics["actor/ppo_kl"]) < 1e-12, metrics
    tokens = sum(len(d["modelInput"]["chunks"][0]["tokens"]) for d in datums)
    assert look["tokenUsage"]["trainingTokens"] == tokens == metrics["global_token_num"]
    outputs = look["operationResult"]["forward"]["lossFnOutputs"]
    assert [o["logprobs"]["shape"] for o in outputs] == [d["lossFnInputs"]["weights"]["shape"] for d in datums]

    back = train(forwardBackward=dict(lossFnName="ppo", datumList=datums,
                                      lossFnConfig={"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}))
    assert back["status"] == "Completed" and back["operationResult"]["forwardBackward"]["metrics"]["actor/grad_norm"] > 0
    step = train(optimizerStep=dict(adamParamsConfig=dict(learningRate=0.01, beta1=0.9, beta2=0.95, eps=1e-8,
                                                          weightDecay=0.0, gradClipNorm=1.0)))
    assert step["operationResult"]["optimizerStep"]["metrics"]["actor/weight_version"] == 1
    weights = train(saveWeights={})["operationResult"]["saveWeights"]["modelPackageArn"]
    checkpoint = train(saveState={"description": "after one step"})["operationResult"]["saveState"]["modelPackageArn"]

    described = control.describe_model_package(ModelPackageName=weights)
    container = described["InferenceSpecification"]["Containers"][0]
    assert container["IsCheckpoint"] is False and container["BaseModel"]["HubContentName"] == "letters"
    uri = container["ModelDataSource"]["S3DataSource"]["S3Uri"]
    with open(s3_file(state, uri, "adapter.json"), encoding="ascii") as file:
        adapter = json.load(file)
    assert adapter["version"] == 1 and any(adapter["adapter"])
    listed = control.list_model_packages(ModelPackageGroupName="boto3", SortBy="CreationTime", SortOrder="Descending")
    assert [p["ModelPackageArn"] for p in listed["ModelPackageSummaryList"]] == [checkpoint, weights]

    # The session's model, by the pass-through: the base until the new weights are bound.
    chat = json.dumps({"messages": [{"role": "user", "content": "hello"}], "seed": 1}).encode()

    def version(**more):
        answer = runtime.sample_training_session(trainingSessionName=NAME, body=chat, contentType="application/json",
                                                 **more)
        return json.loads(answer["body"].read())["weight_version"]

    assert version() == 0
    assert version(modelPackageArn=weights) == 1
    assert sampling(loadWeightsForSampling={"modelPackageArn": weights}) == {"loadWeightsForSampling": {}}
    assert version() == 1
    stream = runtime.sample_training_session_with_response_stream(trainingSessionName=NAME, body=chat)
    assert stream["contentType"].startswith("text/event-stream")
    assert stream["body"].read().endswith(b"data: [DONE]\n\n")

    # The new weights sample as an independent implementation says they do.
    with open("wordlists/answers.txt", encoding="ascii") as file:
        model = Letters(file.read().split())
    ids = [*PROMPT, 262]
    reply, logprobs = sample(ids)
    wanted = model.logprobs(ids + reply, effective(model, adapter))[len(ids):]
    assert all(abs(a - b) < 1e-12 for a, b in zip(logprobs, wanted, strict=True)), (logprobs, wanted)
    scored = sampling(computeLogprobs={"prompt": {"chunks": [{"tokens": ids + reply, "type": "encoded_text"}]}})
    scored = scored["computeLogprobs"]["logprobs"]
    assert scored[0] is None and all(abs(a - b) < 1e-12 for a, b in zip(scored[len(ids):], wanted))

    assert train(loadState=dict(modelPackageArn=checkpoint, loadOptimizer=True))["operationResult"] == {"loadState": {}}

    # What is refused, with the codes a client looks for.
    refused("ResourceNotFoundException", runtime.get_training_operation_result, trainingSessionName=NAME,
            operationId="op-999")
    refused("ResourceNotFoundException", runtime.sample_training_session, trainingSessionName=NAME, body=chat,
            modelPackageArn=weights.rsplit("/", 1)[0] + "/99")
    refused("ValidationException", runtime.execute_training_operation, trainingSessionName=NAME, sequenceNumber=1,
            operationConfig={"saveWeights": {}})
    message = refused("ValidationException", runtime.execute_training_operation, trainingSessionName=NAME,
                      sequenceNumber=number + 1,
                      operationConfig={"optimizerStep": {"adamParamsConfig": {"learningRate": 0.02}}})
    assert "learningRate" in message
    usage = control.describe_training_session(TrainingSessionName=NAME)["TrainingSessionDetail"]["BillableTokenUsage"]
    assert usage["TrainingTokenCount"] == 2 * tokens and usage["SampleTokenCount"] > 0, usage
    control.stop_training_session(TrainingSessionName=NAME)
    refused("ConflictException", runtime.execute_training_operation, trainingSessionName=NAME,
            sequenceNumber=number + 1, operationConfig={"saveWeights": {}})
    assert "invalid session state transition" in refused("ValidationException", control.stop_training_session,
                                                         TrainingSessionName=NAME)
    control.delete_training_session(TrainingSessionName=NAME)
    refused("ResourceNotFound", control.describe_training_session, TrainingSessionName=NAME)
    print("ok", boto3.__version__, "datums", len(datums), "operations", number)


main(state=sys.argv[2], url=sys.argv[1])
