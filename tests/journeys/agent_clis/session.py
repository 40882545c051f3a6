"""What the scripted model does in a whole run: read, train by supervision, submit, train by reward, submit, look."""

from pathlib import Path

from tests.support.scripted_provider import Script, Turn

SFT = """import json
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained("MODEL")
model = AutoModelForCausalLM.from_pretrained("MODEL")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
rows = [json.loads(line) for line in open("data/train.jsonl")][:64]
for row in rows:
    ids = tokenizer(row["question"] + row["answer"], return_tensors="pt").input_ids
    loss = F.cross_entropy(model(ids).logits[0, :-1], ids[0, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.save_pretrained("output/sft")
tokenizer.save_pretrained("output/sft")
print("trained", len(rows), flush=True)
"""
GRPO = """import json
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(1)
tokenizer = AutoTokenizer.from_pretrained("output/sft")
policy = AutoModelForCausalLM.from_pretrained("output/sft")
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
rows = [json.loads(line) for line in open("data/train.jsonl")][:8]

def reward(text):
    return sum(letter.isdigit() for letter in text) / 4

for row in rows:
    prompt = tokenizer(row["question"], return_tensors="pt")
    length = prompt.input_ids.shape[1]
    with torch.no_grad():
        ids = policy.generate(**prompt, do_sample=True, num_return_sequences=8, max_new_tokens=4, min_new_tokens=4)
    texts = tokenizer.batch_decode(ids[:, length:])
    rewards = torch.tensor([reward(text) for text in texts])
    advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    logits = policy(ids).logits[:, length - 1:-1]
    logps = F.log_softmax(logits, -1).gather(-1, ids[:, length:, None]).squeeze(-1)
    loss = -(logps * advantages[:, None]).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
policy.save_pretrained("output/grpo")
tokenizer.save_pretrained("output/grpo")
print("trained", len(rows), flush=True)
"""
SUBMIT = (
    'curl -sS -X POST "$GRADING_SERVER_URL/submit" -H "Content-Type: application/json" '
    '-d \'{{"model_path": "output/{name}"}}\''
)
LOOKS = " ".join(map(str, range(20)))


def _write(name: str, code: str, model: str) -> str:
    return f"cat > code/{name}.py <<'END'\n{code.replace('MODEL', model)}END"


def _train(name: str) -> str:
    """Started apart and looked at: some agents cut what takes longer than half a minute. One line: OpenHands' rule."""
    return f'setsid nohup "$PYTHON" code/{name}.py > {name}.log 2>&1 < /dev/null & sleep 1; tail -n 3 {name}.log'


def _await(name: str, runs: Path) -> Turn:
    """Looks, of 20 s at most each, until it has ended: a busy machine takes minutes to import what trains."""
    earlier = set(runs.glob("*"))

    def ended() -> bool:
        logs = [run / "workspace" / f"{name}.log" for run in set(runs.glob("*")) - earlier]
        told = [log.read_text(errors="replace") for log in logs if log.exists()]
        return any("trained" in each or "Error" in each for each in told)

    ends = f"grep -qE 'trained|Error' {name}.log"
    return Turn(f"for i in {LOOKS}; do {ends} && break; sleep 1; done; tail -n 2 {name}.log", until=ended)


def whole_session(model: str, runs: Path) -> Script:
    """For the next run whose folder is made in `runs`; `model` is its base model's folder, from the workspace."""
    turns = [
        Turn("cat instructions.md description.md; ls data code output", "I read what to do."),
        Turn(_write("train_sft", SFT, model), "First supervised fine-tuning."),
        Turn(_train("train_sft")),
        _await("train_sft", runs),
        Turn(SUBMIT.format(name="sft"), "Submit it."),
        Turn(_write("train_grpo", GRPO, model), "Now reinforcement learning."),
        Turn(_train("train_grpo")),
        _await("train_grpo", runs),
        Turn(SUBMIT.format(name="grpo")),
        Turn('curl -sS "$GRADING_SERVER_URL/submissions"', "Look at the scores."),
        Turn("echo '1. SFT. 2. GRPO from it.' > summary.md"),
    ]
    return Script(turns, final="Two submissions are scored.")
