#!/bin/sh
# The agent runtime's project file before the schema of its own command line tool.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build
node=build/node-agentcore
if ! command -v npm >/dev/null; then
    echo "SKIP: no npm here; the project file was not checked"
    exit 0
fi
# Unpacked rather than installed: the schema needs zod alone, the tool some hundred packages.
if [ ! -f $node/.ready ]; then
    rm -rf $node
    mkdir -p $node
    if ! (cd $node && npm install --silent --no-fund --no-audit zod@4 && npm pack --silent @aws/agentcore &&
        tar xzf aws-agentcore-*.tgz) >$node.log 2>&1; then
        echo "SKIP: cannot get @aws/agentcore: $(tail -n 1 $node.log)"
        exit 0
    fi
    touch $node/.ready
fi
cp tests/interop/deploy_project.cjs $node/
node $node/deploy_project.cjs examples/deploy
