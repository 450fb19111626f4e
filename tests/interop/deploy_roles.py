"""Role documents: well formed, no finding of the linter, every action one that exists, nothing but the listed actions."""
import json
import pathlib
import sys

import botocore.session
import parliament

# What the linter's table, older than the service, does not know and no service model lists as an operation.
PERMISSION_ONLY = {"sagemaker:CallWithBearerToken", "sagemaker:AccessModelPackage", "sagemaker:CallMlflowAppApi",
                   "bedrock-agentcore:InvokeAgentRuntime", "bedrock-agentcore:StopRuntimeSession"}
MODELS = {"sagemaker": ["sagemaker", "sagemakerjobruntime"],
          "bedrock-agentcore": ["bedrock-agentcore", "bedrock-agentcore-control"]}
TRUSTED = {"job": ("job.sagemaker.amazonaws.com", ["sts:AssumeRole", "sts:TagSession"]),
           "agent": ("bedrock-agentcore.amazonaws.com", ["sts:AssumeRole"])}


def operations():
    session = botocore.session.get_session()
    for prefix, names in MODELS.items():
        for name in names:
            for operation in session.get_service_model(name).operation_names:
                yield f"{prefix}:{operation}"


def listed(value):
    return [value] if isinstance(value, str) else value


def check_permissions(path, known):
    text = path.read_text()
    for finding in parliament.analyze_policy_string(text).findings:
        assert finding.issue in ("UNKNOWN_ACTION", "UNKNOWN_PREFIX"), f"{path}: {finding.issue} {finding.detail}"
        assert finding.issue == "UNKNOWN_PREFIX" or finding.detail.split()[-1] in known, f"{path}: {finding.detail}"
    for statement in json.loads(text)["Statement"]:
        for action in listed(statement["Action"]):
            assert "*" not in action, f"{path}: {action} allows more than is needed"
            if action.split(":")[0] in MODELS:
                assert action in known, f"{path}: no operation {action}"


def main(folder):
    known = set(operations()) | PERMISSION_ONLY
    documents = sorted(pathlib.Path(folder).glob("*-permissions.json"))
    assert len(documents) == 6, [path.name for path in documents]
    for path in documents:
        check_permissions(path, known)
    for role, (service, actions) in TRUSTED.items():
        statement, = json.loads((pathlib.Path(folder) / f"{role}-trust.json").read_text())["Statement"]
        assert statement["Principal"] == {"Service": service}, role
        assert listed(statement["Action"]) == actions, role
    print(f"ok: {len(documents)} permission documents, {len(TRUSTED)} trust documents")


main(sys.argv[1])
