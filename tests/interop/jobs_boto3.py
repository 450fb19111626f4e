"""Jobs whose data and results lie at an S3 endpoint.

usage: jobs_boto3.py SERVICE_URL S3_URL
"""

import json
import sys

import boto3

import job_documents as jobs

service, endpoint = sys.argv[1:]
sagemaker = boto3.client("sagemaker", endpoint_url=service, region_name=jobs.REGION)
s3 = boto3.client("s3", endpoint_url=endpoint, region_name=jobs.REGION)
for bucket in ("data", "results"):
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": jobs.REGION})
with open("wordlists/splits/train.jsonl", "rb") as file:
    rows = file.read().splitlines(keepends=True)
# Names that need encoding, and two objects below one prefix.
s3.put_object(Bucket="data", Key="sets/first half & more/a b+c.jsonl", Body=b"".join(rows[:32]))
s3.put_object(Bucket="data", Key="sets/first half & more/d=é.jsonl", Body=b"".join(rows[32:64]))
s3.put_object(Bucket="data", Key="sets/first half & more and others/e.jsonl", Body=b"broken")
SETTINGS = {"global_batch_size": 32, "group_size": 2, "max_steps": 2, "max_steps_off_policy": 0, "learning_rate": 0.01}
document = jobs.training("s3://data/sets/first half & more", None, "s3://results/jobs", SETTINGS)
jobs.create(sagemaker, "remote", document)
done = jobs.follow(sagemaker, "remote")
assert done["JobStatus"] == "Completed", done
arn = jobs.service_output(done)["OutputModelPackageArn"]
container = sagemaker.describe_model_package(ModelPackageName=arn)["InferenceSpecification"]["Containers"][0]
uri = container["ModelDataSource"]["S3DataSource"]["S3Uri"]
assert uri.startswith("s3://results/jobs/remote/"), uri


def read(key):
    return s3.get_object(Bucket="results", Key=key)["Body"].read()


adapter = json.loads(read(uri[len("s3://results/") :] + "adapter.json"))
assert adapter["version"] == 2 and any(adapter["adapter"]), adapter
lines = [json.loads(line) for line in read("jobs/remote/metrics.jsonl").splitlines()]
assert [line["step"] for line in lines] == [1, 2], lines

# An evaluation reads the package back from S3.
jobs.create(sagemaker, "measured", jobs.evaluation("s3://data/sets/first half & more/a b+c.jsonl", "s3://results/jobs",
                                                   {"temperature": 1}, arn), "AgentRFTEvaluation")
assert jobs.follow(sagemaker, "measured", "AgentRFTEvaluation")["JobStatus"] == "Completed"
assert len(read("jobs/measured/rollouts.jsonl").splitlines()) == 32

# What is not there is told with the address.
jobs.create(sagemaker, "nothing", jobs.training("s3://data/none/", None, "s3://results/jobs", SETTINGS))
assert "there is no data at s3://data/none/" in jobs.follow(sagemaker, "nothing")["FailureReason"]
jobs.create(sagemaker, "nowhere", jobs.training("s3://no-such-bucket/a.jsonl", None, "s3://results/jobs", SETTINGS))
assert "HTTP 404" in jobs.follow(sagemaker, "nowhere")["FailureReason"]
print("ok", boto3.__version__)
