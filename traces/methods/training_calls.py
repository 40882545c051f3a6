"""What changes weights: trainers that are trained, and `backward()` with an optimiser's step."""

import ast

from traces.methods.core import Args, Backward, Core
from traces.methods.libraries import KNOWN_ROOTS, is_lightning, trainer_method
from traces.methods.losses import loss_verdict
from traces.methods.outside import FUNCTIONS, function, method
from traces.methods.store import Step, merged
from traces.methods.tagging import OPTIMISER, SCHEDULER, derived, is_weighted
from traces.methods.values import UNKNOWN, External, Function, Obj, Scope, Value
from traces.methods.words import Method


def _made_trainer(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    made = Obj("trainer", name=name, attrs=dict(args.keywords), tags=set(args.tags()))
    _place(made, args)
    return Value((made,))


def _place(trainer: Obj, args: Args) -> None:
    """Positional arguments: the model is the first that is one; old trainers take the configuration first."""
    for place, value in enumerate(args.positional):
        trainer.attrs.setdefault(f"<{place}>", value)
    for value in args.positional:
        if value.objects("model") or value.text() is not None:
            trainer.attrs.setdefault("model", value)
            break


FUNCTIONS["<trainer>"] = _made_trainer


@method("__init__")
def _init(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for trainer in receiver.objects("trainer"):
        trainer.attrs.update(args.keywords)
        _place(trainer, args)
        trainer.tags |= args.tags()
    return UNKNOWN


@method("compute_loss", "training_step")
def _library_loss(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    return Value(tags=args.tags() | {"out", "ce"})


@method("train")
def _train(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    held = receiver.objects("trainer")
    for trainer in held:
        _trained(machine, trainer, node, scope)
    return UNKNOWN if held else (receiver if receiver.objects("model") else None)


def _trained(machine: Core, trainer: Obj, node: ast.AST, scope: Scope) -> None:
    line = machine.line(node)
    settings = _settings(trainer)
    for name in ("num_train_epochs", "learning_rate", "max_steps"):
        known = settings.get(name, UNKNOWN).constant()
        if known is not None and known.value == 0 and not isinstance(known.value, bool):
            machine.store.note(scope.path, line, f"{trainer.name} with {name}=0 trains nothing")
            return
    model = _model_of(machine, trainer)
    step = _trainer_step(machine, trainer, model, line, scope)
    if step is None:
        return
    # One trainer is trained once per line and object: two trainers on one line are two steps.
    step = machine.store.step(step)
    model.lineage = merged(model.lineage, (step,))
    trainer.lineage = model.lineage
    path = settings.get("output_dir", UNKNOWN).text() or trainer.attrs.get("output_dir", UNKNOWN).text()
    if path:
        trainer.attrs["<out>"] = settings.get("output_dir", trainer.attrs.get("output_dir", UNKNOWN))
        machine.store.saved(path, trainer.lineage)


def _settings(trainer: Obj) -> dict[str, Value]:
    for place in ("args", "<1>", "config", "<0>"):
        for ref in trainer.attrs.get(place, UNKNOWN).refs:
            if isinstance(ref, Obj):
                return {**ref.attrs, **{key: value for key, value in ref.table.items() if isinstance(key, str)}}
    return {}


def _model_of(machine: Core, trainer: Obj) -> Obj:
    given = trainer.attrs.get("model", UNKNOWN)
    held = given.objects("model")
    if held:
        return held[0]
    path = given.text()
    made = machine.model(path or "*")
    made.lineage = (machine.lookup_lineage(path) or ()) if path else tuple(machine.orphans)
    trainer.attrs["model"] = Value((made,))
    return made


def _trainer_step(machine: Core, trainer: Obj, model: Obj, line: int, scope: Scope) -> Step | None:
    method_ = trainer_method(trainer.name) or Method.NONE
    short = trainer.name.rpartition(".")[2]
    doubts = list(machine.doubts)
    root = trainer.name.partition(".")[0]
    if root not in KNOWN_ROOTS:
        doubts.append(f"{short} comes from {root}, which is not in the folder")
    why = f"{short} is trained"
    data = _data_tags(trainer)
    if method_ is Method.SFT:
        if "classifier" in model.tags:
            machine.store.note(scope.path, line, "trains a classifier or reward model, not the submitted policy")
            return None
        own = _own_loss(machine, trainer, data)
        if own is not None:
            verdict = loss_verdict(own)
            if verdict.method is None:
                machine.store.note(scope.path, line, f"{short} with its own compute_loss: {verdict.why}")
                machine.store.trains_unknown |= verdict.trains_unknown
                return None
            method_, why = verdict.method, f"{short} with its own compute_loss: {verdict.why}"
            doubts += [] if verdict.is_sure else ["the kind of loss is judged from its structure"]
        elif {"sampled", "filtered"} <= data:
            method_, why = Method.RFT, f"{short} is trained on the model's own completions that passed a check"
    return Step(method_, scope.path, line, why, tuple(doubts), data)


def _data_tags(trainer: Obj) -> frozenset[str]:
    if "train_dataset" in trainer.attrs:
        return trainer.attrs["train_dataset"].all_tags()
    return frozenset(trainer.tags)


def _own_loss(machine: Core, trainer: Obj, data: frozenset[str]) -> frozenset[str] | None:
    found = trainer.cls.find("compute_loss") if trainer.cls is not None else None
    if found is None and "compute_loss_func" in trainer.attrs:
        found = trainer.attrs["compute_loss_func"]
    for ref in found.refs if found is not None else ():
        if isinstance(ref, Function):
            batch = Value(tags=data)
            names = [each.arg for each in ref.node.args.args]
            given = {"inputs": batch, "model": trainer.attrs.get("model", UNKNOWN)}
            keywords = {name: given.get(name, batch) for name in names if name != "self"}
            return machine.invoke(ref, Args(keywords=keywords, rest=batch), trainer).all_tags()
    return None


@method("fit")
def _fit(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    """Lightning: the loss is what the module's `training_step` returns."""
    if not any(isinstance(ref, Obj) and is_lightning(ref.name) for ref in receiver.refs):
        return None
    for ref in args.get("model", 0).refs:
        found = ref.cls.find("training_step") if isinstance(ref, Obj) and ref.cls is not None else None
        for each in found.refs if found is not None else ():
            if isinstance(each, Function) and isinstance(ref, Obj):
                tags = machine.invoke(each, Args(rest=Value(tags=args.tags())), ref).all_tags()
                machine.pending.append(_backward_at(machine, tags, node, scope))
    apply_pending(machine)
    return UNKNOWN


def _backward_at(machine: Core, tags: frozenset[str], node: ast.AST, scope: Scope) -> Backward:
    return Backward(tags, scope.path, machine.line(node), tuple(machine.doubts), tuple(machine.sites))


@method("backward", "manual_backward")
def _backward(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    # accelerator.backward(loss) and engine.backward(loss) are given the loss; loss.backward() is the loss.
    value = Value(tags=args.tags() if args.positional else receiver.all_tags())
    machine.pending.append(_backward_at(machine, machine.guarded(value).all_tags(), node, scope))
    return UNKNOWN


@method("step")
def _step(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for trainer in receiver.objects("trainer"):
        if trainer_method(trainer.name) is Method.PPO and len(args.positional) >= 3:
            _trained(machine, trainer, node, scope)
            return UNKNOWN
    if not _is_optimiser(receiver, args, node):
        return None
    apply_pending(machine)
    return UNKNOWN


def _is_optimiser(receiver: Value, args: Args, node: ast.AST) -> bool:
    if "optimiser" in receiver.all_tags() or "optimiser" in args.tags():
        return not any(isinstance(ref, Obj) and SCHEDULER.search(ref.name) for ref in receiver.refs)
    target = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    if SCHEDULER.search(name) or any(isinstance(ref, Obj) and SCHEDULER.search(ref.name) for ref in receiver.refs):
        return False
    looks = ("opt", "engine", "scaler", "model")
    return not args.positional or OPTIMISER.search(name) is not None or any(word in name.lower() for word in looks[:3])


def apply_pending(machine: Core) -> None:
    """An optimiser steps: every awaiting `backward()` has changed weights."""
    machine.has_stepped = True
    pending, machine.pending = machine.pending, []
    for each in pending:
        key = (each.file, each.line, each.key)
        tags = machine.losses[key] = machine.losses.get(key, frozenset()) | each.tags
        verdict = loss_verdict(tags)
        if verdict.method is None:
            machine.store.note(each.file, each.line, verdict.why)
            machine.store.trains_unknown |= verdict.trains_unknown
            continue
        doubts = each.doubts if verdict.is_sure else (*each.doubts, "the kind of loss is judged from its structure")
        step = machine.store.step(Step(verdict.method, each.file, each.line, verdict.why, doubts, tags), each.key)
        models = machine.behind(tags)
        for model in models:
            model.lineage = merged(model.lineage, (step,))
        if not models and step not in machine.orphans:
            machine.orphans.append(step)


def leave_pending(machine: Core) -> None:
    """At the end of a program: gradients that nothing applied."""
    for each in machine.pending:
        machine.store.note(each.file, each.line, "backward() without an optimiser's step: nothing is trained")
    machine.pending = []


@function("torch.no_grad", "torch.inference_mode", "no_grad", "inference_mode")
def _no_grad(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return Value((External("no_grad"),))


@method("mul", "dot", "matmul", "einsum", "inner", "bmm", "mm", "multiply")
def _product(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    sides = [each.all_tags() for each in ([receiver] if receiver.all_tags() else []) + args.all()]
    tags = frozenset().union(*sides)
    made = {"weighted"} if any(is_weighted(a, b) for a in sides for b in sides) else set()
    return Value(tags=tags | made)


@method("mean", "average", "lerp", "stack", "slerp", "weighted_sum")
def _mean(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    tags = receiver.all_tags() | args.tags()
    name = args.callee
    made: set[str] = set(derived(name, tags))
    if "weights" in tags and name in ("lerp", "slerp", "weighted_sum"):
        made.add("averaged")
    if "weights" in tags and name == "stack":
        made.add("stacked")
    if {"weights", "stacked"} <= tags and name in ("mean", "average"):
        made.add("averaged")
    if "judged" in tags and ("dim" in args.keywords or "axis" in args.keywords or (receiver.tags and args.positional)):
        axis = (args.keywords.get("dim") or args.keywords.get("axis") or args.get("", 0)).constant()
        if axis is not None and axis.value in (1, -1):
            made.add("grouped")
    return Value(tags=tags | made)


@method("view", "reshape", "unflatten")
def _reshape(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    tags = receiver.all_tags()
    is_rows = len(args.positional) >= 2 and "judged" in tags
    return Value(tags=tags | {"grouped"} if is_rows else tags)


@method("filter", "query")
def _filter(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    tags = receiver.all_tags()
    for value in args.all():
        for ref in value.refs:
            if isinstance(ref, Function):
                machine.invoke(ref, Args(rest=Value(tags=tags)))
    return Value(tags=tags | {"filtered"} if "sampled" in tags else tags)


@function("builtins.sum")
def _sum(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    tags = args.tags()
    made = {"averaged"} if "weights" in tags else set()
    return Value(tags=tags | made | ({"sum"} if "judged" in tags else set()))


@method("numel", "norm", "item", "size", "nelement", "tolist", "keys", "shape")
def _scalar(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    tags = receiver.all_tags()
    return Value(tags=tags - {"weights"}) if "weights" in tags and args.callee != "keys" else None


@method("detach", "clone", "contiguous", "squeeze", "unsqueeze", "expand")
def _unchanged(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    return Value(receiver.refs if receiver.objects("model") else (), receiver.all_tags())
