"""The OpenEnv server: its own validator, sessions that do not meet, steps paid as the environment pays them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import pytest

from experiments.adapters.negotiation_env import NegotiationEnv

pytestmark = [pytest.mark.doors, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
OFFERS = [{"decision": "Offer", "price": price, "message": "An offer."} for price in (40.0, 45.0, 50.0, 55.0, 60.0)]
REPLIES = [json.dumps(each) for each in OFFERS * 3]


@pytest.fixture(scope="module")
def address():
    import uvicorn

    from experiments.adapters.openenv_server import make_app

    server = uvicorn.Server(uvicorn.Config(make_app(), host="127.0.0.1", port=0, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def client(address):
    from openenv.core import GenericEnvClient

    return GenericEnvClient(base_url=address).sync()


def test_its_own_validator_passes(address):
    command = [sys.executable, "-m", "openenv.cli", "validate", "--url", address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["passed"]
    assert found["summary"]["passed_count"] == found["summary"]["total_count"] == 6


def expected(seed):
    env = NegotiationEnv(actions="text", view="text", credit="exact", regimes=["overlap"])
    prompt, info = env.reset(seed=seed)
    steps = []
    for reply in REPLIES:
        steps.append(env.step(reply))
        if steps[-1][2]:
            break
    return prompt, info, steps


def test_sessions_of_one_server_play_for_themselves(address):
    """Four talks in turns over one socket are the talks of the environment."""
    talks = [expected(seed) for seed in range(4)]
    sessions = [client(address) for _ in talks]
    for session in sessions:
        session.__enter__()
    for seed, (session, (prompt, info, _)) in enumerate(zip(sessions, talks, strict=True)):
        seen = session.reset(seed=seed, regimes=["overlap"]).observation
        state = session.state()
        assert (seen["prompt"], state["scenario_id"], state["value"]) == (prompt, info["scenario_id"], info["value"])
        assert info["scenario_id"] not in json.dumps(seen)  # it names the regime and the family
        assert "JSON" in seen["rules"]
    for place, reply in enumerate(REPLIES):
        for session, (_, start, steps) in zip(sessions, talks, strict=True):
            if place >= len(steps):
                continue
            result = session.step({"reply": reply})
            prompt, reward, is_over, _, info = steps[place]
            assert (result.reward, result.done) == (reward, is_over)
            assert result.observation["prompt"] == ("" if is_over else prompt)
            if is_over:
                told = result.observation
                assert told["turn_rewards"] == info["turn_rewards"]
                assert told["ending"] == info["record"].termination.value
                assert sum(told["turn_rewards"]) + start["value"] == pytest.approx(told["share"], abs=1e-9)
            assert session.state()["step_count"] == place + 1
    for session in sessions:
        session.close()


def test_step_rewards_are_the_frameworks_own():
    from experiments.adapters.openenv_server import NegotiationReply, NegotiationServer

    env = NegotiationServer()
    env.reset(seed=3)
    while not (seen := env.step(NegotiationReply(reply=REPLIES[0]))).done:
        pass
    assert env.rubric.compute_step_rewards() == seen.turn_rewards
    assert env.rubric.last_score == seen.share
    with pytest.raises(ValueError, match="call reset first"):
        env.step(NegotiationReply(reply=REPLIES[0]))
    with pytest.raises(ValueError, match="is not for training"):
        env.reset(split="test")
    other = NegotiationServer(training=False)
    other.reset(seed=3, split="test")
    assert other.state.scenario_id.startswith("fresh-3")


def test_a_move_that_came_as_json_is_a_reply():
    from experiments.adapters.openenv_server import NegotiationReply

    move = {"decision": "Offer", "price": 40.0, "message": "An offer."}
    assert json.loads(NegotiationReply(**move).reply) == move
