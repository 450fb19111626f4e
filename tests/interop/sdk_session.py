"""One training step by the SageMaker SDK's training-session client, as its own documentation shows it."""

import os
import sys

URL = sys.argv[1]
# The SDK takes its addresses from these; set before it is imported.
os.environ.update(SAGEMAKER_TRAINING_SESSION_RUNTIME_ENDPOINT=URL, SAGEMAKER_TRAINING_SESSION_ENDPOINT=URL,
                  AWS_ENDPOINT_URL=URL, AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test",
                  AWS_DEFAULT_REGION="us-west-2")

from sagemaker.train.training_session import (  # noqa: E402
    AdamParams, Datum, ModelInput, SamplingParams, ServiceClient, TensorData, TensorDtype)

sys.path.insert(0, "tests/lib")
from local_service import MODEL, REGION, ROLE, group  # noqa: E402
from token_play import groups  # noqa: E402

service = ServiceClient(region=REGION, role_arn=ROLE, model_package_group_arn=group("sdk"),
                        s3_output_path="s3://demo-bucket/sdk")
with service.create_lora_training_client(base_model=MODEL) as trainer:
    sampler = trainer.save_weights_and_get_sampling_client()
    seeds = iter(range(1, 10**6))

    def sample(ids):
        result = sampler.sample(ModelInput.from_ints(ids), num_samples=1,
                                sampling_params=SamplingParams(max_tokens=512, seed=next(seeds))).result()
        return list(result.sequences[0].tokens), list(result.sequences[0].logprobs)

    def as_datum(d):
        tensors = {k: TensorData(data=v["data"], dtype=TensorDtype(v["dtype"]))
                   for k, v in d["lossFnInputs"].items()}
        return Datum(model_input=ModelInput.from_ints(d["modelInput"]["chunks"][0]["tokens"]), loss_fn_inputs=tensors)

    datums = [as_datum(d) for d in groups(["crane"], 3, sample)]
    assert datums
    back = trainer.forward_backward(datums, loss_fn="ppo")
    step = trainer.optim_step(AdamParams(learning_rate=0.01))
    metrics = back.result().metrics
    assert abs(metrics["actor/ppo_kl"]) < 1e-12 and metrics["actor/grad_norm"] > 0, metrics
    assert step.result().metrics["actor/weight_version"] == 1
    saved = trainer.save_state().result().model_package_arn
    sampler = trainer.save_weights_and_get_sampling_client()
    ids = [256, 259, 269, 268, 262]
    reply, logprobs = sample(ids)
    scored = sampler.compute_logprobs(ModelInput.from_ints(ids + reply)).result()
    assert scored[0] is None and all(abs(a - b) < 1e-12 for a, b in zip(scored[len(ids):], logprobs, strict=True))
    trainer.load_state_with_optimizer(saved).result()
    kinds = [p.model_package_arn for p in trainer.list_model_packages()]
    assert saved in kinds, kinds
print("ok", len(datums), "datums")
