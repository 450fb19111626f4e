"""boto3 drives jobs of the local service: train, evaluate, go on, start from weights, stop, delete, and what is refused.

usage: boto3_jobs.py URL STATE ADAPTER: the service's state folder, and an adapter that `train` made with the same settings
"""

import json
import os
import sys

import boto3
import botocore.config
import botocore.exceptions

import job_documents as jobs

url, state, adapter = sys.argv[1:]
config = botocore.config.Config(retries={"max_attempts": 0})
sagemaker = boto3.client("sagemaker", endpoint_url=url, region_name=jobs.REGION, config=config)
runtime = boto3.client("sagemakerjobruntime", endpoint_url=url, region_name=jobs.REGION, config=config)
SETTINGS = {"global_batch_size": 32, "group_size": 2, "max_epochs": 4, "learning_rate": 0.01, "max_steps_off_policy": 0}
DATA, VALIDATION, OUT = "s3://data/train.jsonl", "s3://data/val.csv", "s3://out/jobs"


def package_bytes(arn):
    container = sagemaker.describe_model_package(ModelPackageName=arn)["InferenceSpecification"]["Containers"][0]
    uri = container["ModelDataSource"]["S3DataSource"]["S3Uri"]
    with open(os.path.join(state, "s3", uri[len("s3://") :], "adapter.json"), "rb") as file:
        return file.read()


def metrics(name):
    with open(os.path.join(state, "s3/out/jobs", name, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def train(name, start=None, groups=("jobs", "jobs-checkpoint"), **hyper):
    document = jobs.training(DATA, VALIDATION, OUT, {**SETTINGS, **hyper}, groups, start)
    arn = jobs.create(sagemaker, name, document)
    assert arn == f"arn:aws:sagemaker:{jobs.REGION}:{jobs.ACCOUNT}:job/AgentRFT/{name}", arn
    return jobs.follow(sagemaker, name)


def refused(code, call, **arguments):
    try:
        call(**arguments)
    except botocore.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        return str(error)
    raise AssertionError(f"{arguments} was taken")


# A training job gives the weights that a training session gives.
done = train("first", max_steps=4)
assert done["JobStatus"] == "Completed", done
assert [t["Status"] for t in done["SecondaryStatusTransitions"]] == [
    "Starting",
    "Downloading",
    "Training",
    "Uploading",
    "Completed",
]
output = jobs.service_output(done)
assert output["ProgressInfo"]["CurrentStep"] == output["ProgressInfo"]["MaxSteps"] == 4, output
assert output["RolloutInfo"] == {"Total": 256, "Completed": 256}, output
assert min(output["BillableTokenUsage"].values()) > 0, output
with open(adapter, "rb") as file:
    assert file.read() == package_bytes(output["OutputModelPackageArn"]), "job and session differ"

# Its metrics.
lines = metrics("first")
assert [line["step"] for line in lines] == [0, 1, 2, 3, 4]
assert "val/reward/pass_at_1" in lines[0] and "val/reward/pass_at_1" in lines[4]
assert "val/reward/mean" not in lines[2]
for name in ("rollout/reward/mean", "rollout/turns/mean", "training/total_tokens", "training/num_trajectories",
             "rollout/advantage/std", "analysis/zero_adv_groups", "timing_s/step", "timing_s/save_checkpoint"):
    assert name in lines[1], name

# Two steps, and from their checkpoint to the fourth: the same weights.
half = jobs.service_output(train("half", max_steps=2))
rest = train("rest", start=half["ResumableCheckpoint"], groups=("more", "more-checkpoint"), max_steps=4)
assert rest["JobStatus"] == "Completed", rest
assert package_bytes(jobs.service_output(rest)["OutputModelPackageArn"]) == package_bytes(
    output["OutputModelPackageArn"]
)

# From weights alone, the optimiser and the count of steps begin anew.
again = train("again", start=half["OutputModelPackageArn"], max_steps=1)
assert again["JobStatus"] == "Completed" and jobs.service_output(again)["ProgressInfo"]["CurrentStep"] == 1, again

# An evaluation.
document = jobs.evaluation("s3://data/eval/", OUT, {"eval_group_size": 2, "temperature": 1, "pass_k_values": [1, 2]},
                           output["OutputModelPackageArn"])
jobs.create(sagemaker, "measured", document, "AgentRFTEvaluation")
done = jobs.follow(sagemaker, "measured", "AgentRFTEvaluation")
assert done["JobStatus"] == "Completed", done
(line,) = metrics("measured")
assert line["eval/reward/num_prompts"] == 16 and line["eval/reward/rollouts_per_prompt"] == 2, line
assert line["eval/reward/pass_at_1"] <= line["eval/reward/pass_at_2"]
with open(os.path.join(state, "s3/out/jobs/measured/rollouts.jsonl"), encoding="utf-8") as file:
    assert len(file.readlines()) == 32

# Rollouts ahead of the training, with the default bound: every one counts once.
ahead = train("ahead", max_steps=4, max_steps_off_policy=3)
assert jobs.service_output(ahead)["RolloutInfo"] == {"Total": 256, "Completed": 256}, ahead
assert all(line["training/oldest_rollout_steps"] <= 3 for line in metrics("ahead")[1:])

# One at a time, stopped, deleted.
long = jobs.training(DATA, None, OUT, {**SETTINGS, "max_epochs": 30, "max_steps": 1000, "group_size": 32})
jobs.create(sagemaker, "long", long)
refused("ResourceInUse", jobs.create, sagemaker=sagemaker, name="long", document=long)
refused("ResourceLimitExceeded", jobs.create, sagemaker=sagemaker, name="other", document=long)
refused("ResourceInUse", sagemaker.delete_job, JobName="long", JobCategory="AgentRFT")
sagemaker.stop_job(JobName="long", JobCategory="AgentRFT")
assert jobs.follow(sagemaker, "long")["SecondaryStatus"] == "Stopped"
refused("ValidationException", sagemaker.stop_job, JobName="long", JobCategory="AgentRFT")
sagemaker.delete_job(JobName="long", JobCategory="AgentRFT")
refused("ResourceNotFound", sagemaker.describe_job, JobName="long", JobCategory="AgentRFT")

# Lists and schemas.
names = [job["JobName"] for job in sagemaker.list_jobs(JobCategory="AgentRFT", SortBy="Name", SortOrder="Ascending")
         ["JobSummaries"]]
assert names == ["again", "ahead", "first", "half", "rest"], names
page = sagemaker.list_jobs(JobCategory="AgentRFT", MaxResults=2, StatusEquals="Completed")
assert len(page["JobSummaries"]) == 2 and page["NextToken"], page
schemas = sagemaker.list_job_schema_versions(JobCategory="AgentRFT")["JobConfigSchemas"]
schema = sagemaker.describe_job_schema_version(JobCategory="AgentRFT", **schemas[0])
assert "global_batch_size" in schema["JobConfigSchema"]

# Data that cannot be used fails the job with file and line.
for name, text in {"empty": "line 2: the prompt is empty", "utf8": "line 1: invalid UTF-8"}.items():
    jobs.create(sagemaker, name, jobs.training(f"s3://data/{name}.jsonl", None, OUT, SETTINGS))
    found = jobs.follow(sagemaker, name)
    assert found["JobStatus"] == "Failed" and text in found["FailureReason"], found
jobs.create(sagemaker, "parquet", jobs.training("s3://data/rows.parquet", None, OUT, SETTINGS))
assert "convert it" in jobs.follow(sagemaker, "parquet")["FailureReason"]

# What the runtime refuses, as its client sees it.
first = f"arn:aws:sagemaker:{jobs.REGION}:{jobs.ACCOUNT}:job/AgentRFT/first"
body = json.dumps({"model": "default", "messages": [{"role": "user", "content": "a"}]})
for arn, code in (
    (first, "ValidationException"),
    (first.replace("first", "none"), "ValidationException"),
    (first.replace(jobs.ACCOUNT, "999999999999"), "AccessDeniedException"),
):
    for call in (runtime.sample, runtime.sample_with_response_stream):
        refused(code, call, JobArn=arn, TrajectoryId="r1-s1-g0-0-t0", Body=body)
    refused(code, runtime.complete_rollout, JobArn=arn, TrajectoryId="r1-s1-g0-0-t0")
    refused(code, runtime.update_reward, JobArn=arn, TrajectoryId="r1-s1-g0-0-t0", Rewards=[1.0])
assert "Could not find job" in refused(
    "ValidationException", runtime.complete_rollout, JobArn=first.replace("first", "none"), TrajectoryId="t"
)

# Other keys than the service's.
stranger = boto3.client("sagemaker", endpoint_url=url, region_name=jobs.REGION, config=config,
                        aws_access_key_id="AKIASTRANGER", aws_secret_access_key="secret")
refused("UnrecognizedClientException", stranger.list_jobs, JobCategory="AgentRFT")
forger = boto3.client("sagemaker", endpoint_url=url, region_name=jobs.REGION, config=config,
                      aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"], aws_secret_access_key="guessed")
refused("InvalidSignatureException", forger.list_jobs, JobCategory="AgentRFT")
print("ok", boto3.__version__)
