// Checks the project file and its targets; every file they name has to be there.
const fs = require('fs');
const path = require('path');
const schemas = path.join(__dirname, 'package/dist/schema/schemas');
const { AgentCoreProjectSpecSchema } = require(path.join(schemas, 'agentcore-project.js'));
const { AwsDeploymentTargetsSchema } = require(path.join(schemas, 'aws-targets.js'));

const root = process.argv[2];
const read = name => JSON.parse(fs.readFileSync(path.join(root, 'agentcore', name), 'utf8'));
const project = AgentCoreProjectSpecSchema.parse(read('agentcore.json'));
AwsDeploymentTargetsSchema.parse(read('aws-targets.json'));
for (const runtime of project.runtimes) {
  const code = path.join(root, runtime.codeLocation);
  const named = [path.join(root, runtime.buildContextPath, runtime.dockerfile), ...runtime.additionalPolicies.map(file => path.join(code, file))];
  for (const file of named) fs.accessSync(file);
}
const broken = { ...read('agentcore.json'), name: 'not a name' };
if (AgentCoreProjectSpecSchema.safeParse(broken).success) throw new Error('the schema takes anything');
console.log(`ok: project ${project.name}, ${project.runtimes.length} runtime`);
