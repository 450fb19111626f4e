"""Names on the local service, and where its s3:// lies."""

import os

ACCOUNT = "123456789012"
REGION = "us-west-2"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/SessionRole"
MODEL = f"arn:aws:sagemaker:{REGION}:aws:hub-content/SageMakerPublicHub/Model/letters"


def group(name):
    return f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:model-package-group/{name}"


def s3_file(state, uri, name):
    """Path of a file of the package at s3://bucket/prefix/, for a service with --state."""
    assert uri.startswith("s3://") and uri.endswith("/"), uri
    return os.path.join(state, "s3", uri[len("s3://") :], name)
