"""The negotiation as an evaluation of Inspect, here with its mock model.

The same from a shell: ``inspect eval experiments/negotiation --model VENDOR/MODEL -T num_per_cell=2 -T seed=77``.
Needs the extra ``inspect``.
"""

import json
import tempfile

from inspect_ai import eval as run_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from experiments.adapters.inspect_task import negotiation


def leave(messages, tools, choice, config):
    reply = {"decision": "Reject", "price": None, "message": "I see no price that suits us both."}
    output = ModelOutput.from_content("mockllm", json.dumps(reply))
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


model = get_model("mockllm/model", custom_outputs=leave)
with tempfile.TemporaryDirectory() as folder:
    (log,) = run_eval(negotiation(families="candid"), model=model, log_dir=folder, display="none")
for score in log.results.scores:
    print(score.name, {name: metric.value for name, metric in score.metrics.items()})
