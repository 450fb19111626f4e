#!/bin/sh
# The aws commands on docs/aws.md before the real command line tool: it checks names and forms itself, then finds that
# nobody listens at the address we give it.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python awscli awscli
aws=$(dirname "$python")/aws
export AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=y AWS_DEFAULT_REGION=us-west-2 AWS_MAX_ATTEMPTS=1 AWS_EC2_METADATA_DISABLED=true
ran=0
while read -r line; do
    case $line in
    *'cloudformation deploy'*) template=$(printf '%s' "$line" | sed 's/.*--template-file \([^ ]*\).*/\1/')
        [ -f "$template" ] || { echo "not ok: no $template"; exit 1; }
        continue ;; # it asks the service first; the templates have a test of their own
    esac
    command=$(printf '%s' "$line" | sed "s#^aws #$aws --endpoint-url http://127.0.0.1:9 #; s#file://iam#file://examples/deploy/iam#")
    sh -c "$command" >build/aws.out 2>&1 || : # it cannot but fail
    if ! grep -qi 'could not connect\|connection' build/aws.out; then
        echo "not ok: $line"
        cat build/aws.out
        exit 1
    fi
    ran=$((ran + 1))
done <<END
$(awk '/^```bash$/ { on = 1; next } /^```$/ { on = 0 } on && /^aws /' docs/aws.md)
END
[ $ran -ge 10 ]
echo "ok: $ran commands are well formed"
