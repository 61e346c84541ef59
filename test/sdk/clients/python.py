"""Evaluates with the vendor's SDK for Python. See sdk-process.ts for what is read and written."""

import json
import logging
import sys

from splitio import get_factory

logging.disable(logging.CRITICAL)
origin, key = sys.argv[1:3]
base = f"{origin}/sdk"
factory = get_factory(
    key,
    sdk_api_base_url=base,
    events_api_base_url=base,
    auth_api_base_url=base,
    telemetry_api_base_url=base,
    config={"featuresRefreshRate": 1, "segmentsRefreshRate": 1, "impressionsMode": "NONE"},
)
factory.block_until_ready(60)
client = factory.client()
print('"ready"', flush=True)
for line in sys.stdin:
    question = json.loads(line)
    answers = []
    for case in question["cases"]:
        served = client.get_treatments_with_config(case["key"], question["flags"], case["attributes"])
        answers.append([list(served[flag]) for flag in question["flags"]])
    print(json.dumps(answers), flush=True)
factory.destroy()
