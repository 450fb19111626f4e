"""Job documents for the local service, and following a job."""

import json
import time

ACCOUNT = "123456789012"
REGION = "us-west-2"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/JobRole"
RUNTIME = f"arn:aws:bedrock-agentcore:{REGION}:{ACCOUNT}:runtime/agent-AbCdEf0123"


def group(name):
    return f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:model-package-group/{name}"


def model(name="letters"):
    return f"arn:aws:sagemaker:{REGION}:aws:hub-content/SageMakerPublicHub/Model/{name}"


def channel(name, uri):
    return {"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}}


def training(train, validation, output, hyper, groups=("jobs", "jobs-checkpoint"), start=None):
    packages = {
        "OutputModelPackageGroupArn": group(groups[0]),
        "IntermediateCheckpointModelPackageGroupArn": group(groups[1]),
    }
    if start:
        packages["InputModelPackageArn"] = start
    channels = [channel("train", train)]
    if validation:
        channels.append(channel("validation", validation))
    return {
        "AgentConfig": {"BedrockAgentCoreConfig": {"AgentRuntimeArn": RUNTIME, "Qualifier": "DEFAULT"}},
        "InputDataConfig": channels,
        "OutputDataConfig": {"S3OutputPath": output},
        "ModelPackageConfig": packages,
        "TrainingConfig": {
            "BaseModelArn": model(),
            "AcceptEula": True,
            "HyperParameters": {k: str(v) for k, v in hyper.items()},
        },
    }


def evaluation(data, output, hyper, start=None):
    document = {
        "AgentConfig": {"BedrockAgentCoreConfig": {"AgentRuntimeArn": RUNTIME}},
        "InputDataConfig": [channel("evaluation", data)],
        "OutputDataConfig": {"S3OutputPath": output},
        "EvaluationConfig": {"BaseModelArn": model(), "HyperParameters": {k: str(v) for k, v in hyper.items()}},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    }
    if start:
        document["ModelPackageConfig"] = {"InputModelPackageArn": start}
    return document


def create(sagemaker, name, document, category="AgentRFT"):
    return sagemaker.create_job(
        JobName=name,
        RoleArn=ROLE,
        JobCategory=category,
        JobConfigSchemaVersion="1.0.0",
        JobConfigDocument=json.dumps(document),
    )["JobArn"]


def follow(sagemaker, name, category="AgentRFT", limit=120, until=lambda d: False):
    """Describes until the job has ended (or `until` says so)."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        found = sagemaker.describe_job(JobName=name, JobCategory=category)
        if found["JobStatus"] not in ("InProgress", "Stopping") or until(found):
            return found
        time.sleep(0.2)
    raise SystemExit(f"job {name} did not end in {limit} s: {found}")


def service_output(described):
    return json.loads(described["JobConfigDocument"])["ServiceOutput"]
