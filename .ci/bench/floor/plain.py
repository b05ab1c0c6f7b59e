"""The loop of the specification's pseudo code, written plainly: plain.py BOARD AGENT MANAGER STEPS."""
import json
import subprocess
import sys

import jsonschema
import yaml

STATUS = {"enum": ["ok", "blocked", "error", "escalate"]}
REPLY = {"type": "object", "required": ["status", "message"], "properties": {"status": STATUS, "message": {"type": "string"}}}
MANAGER = {
    "type": "object",
    "required": ["status", "message", "next_task", "tasks"],
    "properties": {
        "status": STATUS,
        "message": {"type": "string"},
        "next_task": {"type": ["string", "null"]},
        "tasks": {"type": "array", "items": {"type": "string"}},
    },
}
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def spawn(command, given, schema):
    for _ in range(4):
        done = subprocess.run([command], input=json.dumps(given, separators=(",", ":")), capture_output=True, text=True)
        try:
            reply = json.loads(done.stdout)
            jsonschema.validate(reply, schema)
            return reply
        except (ValueError, jsonschema.ValidationError):
            continue
    raise SystemExit(command + " failed")


def role_of(task):
    with open(task) as f:
        text = f.read()
    return yaml.load(text.split("---")[1], LOADER).get("role", "Implementor")


def main(board, agent, manager, steps):
    for _ in range(steps):
        with open(board) as f:
            kanban = yaml.load(f, LOADER)
        if kanban["current"] is None or kanban["phase"] == "complete":
            break
        task = kanban["current"]
        role_of(task)
        spawn(agent, {"task_file": task, "kanban_file": board}, REPLY)
        reply = spawn(manager, {"kanban_file": board, "done_task": task, "tasks": kanban["tasks"]}, MANAGER)
        if reply["next_task"] is None:
            break


main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
