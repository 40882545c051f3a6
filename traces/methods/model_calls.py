"""Models, their weights and checkpoints: loading, merging, saving, copying."""

import ast

from traces.methods.core import Args, Core, Place
from traces.methods.outside import function, method
from traces.methods.store import Step, merged
from traces.methods.values import UNKNOWN, Obj, Scope, Value, listed
from traces.methods.words import Method

NOT_MODELS = ("Tokenizer", "Processor", "Config", "Dataset", "FeatureExtractor", "Scheduler")
MAX_SOURCES = 8


def is_base(machine: Core, path: str) -> bool:
    """Whether `path` names the base model or another published one, as far as its name tells."""
    if machine.base_path and path.strip("/").endswith(machine.base_path.strip("/")):
        return True
    if path in ("$MODEL_PATH", "$BASE_MODEL") or path.lstrip("./").startswith("models/"):
        return True
    parts = path.split("/")
    is_hub_id = len(parts) == 2 and all(parts) and parts[0] not in ("output", "outputs", "checkpoints", "ckpts", "data")
    return is_hub_id and not path.startswith((".", "$", "*")) and any(each.isdigit() for each in parts[1])


def copied(machine: Core, source: str, target: str, place: Place, how: str) -> None:
    """`target` now holds what `source` does."""
    lineage = machine.lookup_lineage(source)
    if not lineage and is_base(machine, source):
        step = Step(Method.COPY, place.file, place.line, f"{how}: {source} unchanged", place.doubts)
        lineage = (machine.store.step(step),)
    if lineage is not None:
        machine.store.saved(target, lineage)


@function("from_pretrained")
@function("AutoModelForCausalLM.from_config", "from_config")
def _from_pretrained(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    kind = name.rpartition(".")[0].rpartition(".")[2]
    paths = [text for each in args.all() for text in each.texts()]
    if any(word in kind for word in NOT_MODELS):
        return Value((Obj("external", name=f"{name}"),))
    tags: set[str] = set()
    if "SequenceClassification" in kind or "RewardModel" in kind or "TokenClassification" in kind:
        tags |= {"classifier", "value"}
    if "ValueHead" in kind:
        tags |= {"value"}
    path = paths[0] if paths else "*"
    base = [ref for each in args.all() for ref in each.objects("model")]
    made = machine.model(path, tags)
    known = [machine.lookup_lineage(each) or () for each in paths[:MAX_SOURCES]]
    made.lineage = merged(*(each.lineage for each in base), *known)
    made.touched = name.endswith("from_config") or "Peft" in kind
    return Value((made,))


@method("from_pretrained")
def _method_from_pretrained(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    return _from_pretrained(machine, ".from_pretrained", args, node, scope)


@function("LLM", "SamplingParams", "GenerationConfig", "pipeline", "transformers.pipeline")
def _sampler(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    made = Obj("external", name="generate" if name.endswith("pipeline") else name)
    many = args.keywords.get("n") or args.keywords.get("num_return_sequences")
    known = many.constant() if many is not None else None
    if many is not None and (known is None or known.value != 1):
        made.tags.add("many")
    return Value((made,))


@function("OpenAI", "AsyncOpenAI")
def _client(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    made = Obj("external", name=name)
    url = args.get("base_url").text() or ""
    if "localhost" in url or "127.0.0.1" in url or "0.0.0.0" in url:  # noqa: S104 - compared, not bound
        made.tags.add("own_server")
    return Value((made,))


@method("create")
def _complete(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    tags = receiver.all_tags() | args.tags()
    return Value(tags=tags | {"sampled", "text"}) if "own_server" in tags else None


@function("requests.post", "httpx.post", "session.post")
def _post(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    url = args.get("url", 0).text() or ""
    is_local = "localhost" in url or "127.0.0.1" in url
    if is_local and any(word in url for word in ("generate", "completions")):
        return Value(tags=args.tags() | {"sampled", "text"})
    return None


@function(
    "get_peft_model", "prepare_model_for_kbit_training", "torch.compile", "FullyShardedDataParallel", "FSDP",
    "fully_shard", "DistributedDataParallel", "DDP", "DataParallel", "unwrap_model", "for_training", "for_inference"
)  # fmt: skip
def _wrapped(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    first = args.get("model", 0)
    return first if first.refs else None


@method("unwrap_model")
def _unwrap(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    return args.get("model", 0)


@method("prepare", "setup")
def _prepare(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    if not args.positional:
        return None
    return args.positional[0] if len(args.positional) == 1 else listed(args.positional)


@function("deepspeed.initialize")
def _deepspeed(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return listed([args.get("model", 1), Value(tags=frozenset({"optimiser"})), UNKNOWN, UNKNOWN])


@method(
    "to", "cuda", "cpu", "eval", "half", "float", "bfloat16", "requires_grad_", "merge_and_unload", "unload", "module",
    "gradient_checkpointing_enable", "enable_input_require_grads", "merge_adapter", "get_base_model"
)  # fmt: skip
def _same_model(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    held = receiver.objects("model")
    for each in held if args.callee == "merge_and_unload" else ():
        if not each.lineage:
            each.touched = True
    return receiver if held else None


@method("state_dict", "parameters", "named_parameters", "get_parameter")
def _weights(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    tags = receiver.all_tags() | {"weights"}
    for each in receiver.objects("model"):
        tags |= each.attrs["_tag"].tags
    if args.callee == "named_parameters":
        return listed([listed([UNKNOWN, Value(tags=tags)])], exact=False)
    return Value(tags=tags)


@function("load_file", "safe_open", "torch.load", "load_safetensors")
def _load_weights(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    first = args.get("filename", 0)
    path = first.text() or "*"
    data = machine.lookup_tags(path)
    if data:
        return Value(tags=data | first.all_tags())
    made = machine.model(path)
    made.lineage = machine.lookup_lineage(path) or ()
    return Value(tags=made.attrs["_tag"].tags | {"weights"} | first.all_tags())


@method("get_tensor")
def _tensor(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    return Value(tags=receiver.all_tags())


def _merge(machine: Core, tags: frozenset[str], node: ast.AST, scope: Scope, why: str) -> tuple[Step, ...]:
    step = Step(Method.MERGING, scope.path, machine.line(node), why, tuple(machine.doubts))
    return merged(*(each.lineage for each in machine.behind(tags)), (machine.store.step(step),))


@method("load_state_dict")
def _load_state(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    tags = args.tags()
    for model in receiver.objects("model"):
        if "averaged" in tags:
            model.lineage = _merge(machine, tags, node, scope, "loads averaged weights of several state dicts")
        elif "weights" in tags:
            model.lineage = merged(*(each.lineage for each in machine.behind(tags))) or model.lineage
        model.touched = True
    return UNKNOWN


@function("save_file", "torch.save", "save_model")
def _save_weights(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    value, path = args.get("tensors", 0), args.get("filename", 1).text()
    tags = value.all_tags()
    if path is None:
        path = next((each.name for each in args.get("f", 1).objects("file")), "*")
    if "averaged" in tags:
        machine.store.saved(path, _merge(machine, tags, node, scope, "saves averaged weights of several state dicts"))
    elif "weights" in tags:
        machine.store.saved(path, merged(*(each.lineage for each in machine.behind(tags))))
    elif tags:
        machine.store.wrote(path, tags)
    return UNKNOWN


@method("copy_", "add_", "lerp_", "mul_", "sub_")
def _in_place(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    old, more = receiver.all_tags(), args.tags()
    if "weights" not in old or "weights" not in more or "delta" in more:
        if "weights" in old and "grad" in more:
            return machine.call_method(Value(tags=frozenset({"optimiser"})), "step", Args(), node, scope)
        return None
    is_mixed = args.callee != "copy_" or "averaged" in more
    # An average kept beside an optimiser is part of training until it is saved.
    if not is_mixed or machine.has_stepped:
        return Value(tags=old | more | ({"averaged"} if is_mixed else set()))
    lineage = _merge(machine, old | more, node, scope, "parameters are overwritten by a mixture of several models'")
    for model in machine.behind(old):
        model.lineage = merged(lineage, model.lineage)
    return Value(tags=old | more | {"averaged"})


@method("add_weighted_adapter")
def _adapters(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    held = args.get("adapters", 0).objects("list")
    if held and held[0].exact and len(held[0].items) < 2:
        return UNKNOWN
    step = Step(
        Method.MERGING, scope.path, machine.line(node), "combines several adapters by weight", tuple(machine.doubts)
    )
    machine.store.step(step)
    for model in receiver.objects("model"):
        model.lineage = merged(model.lineage, (step,))
    return UNKNOWN


@method("load_adapter")
def _load_adapter(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    path = args.get("model_id", 0).text()
    for model in receiver.objects("model"):
        model.touched = True
        model.lineage = merged(model.lineage, (machine.lookup_lineage(path) or ()) if path else ())
    return UNKNOWN


@function("run_merge", "mergekit.merge.run_merge", "merge_linear", "slerp_merge")
def _mergekit(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    if "mergekit" not in name and name.rpartition(".")[2] != "run_merge":
        return None
    lineage = _merge(machine, frozenset(), node, scope, "mergekit's run_merge")
    path = args.get("out_path", 1).text()
    if path:
        machine.store.saved(path, lineage)
    return UNKNOWN


@method("save_pretrained", "save_model", "save_pretrained_merged", "save_checkpoint")
def _save(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value:
    path = args.get("save_directory", 0).text() or args.get("output_dir", 0).text()
    state = args.get("state_dict").all_tags()
    for trainer in receiver.objects("trainer"):
        path = path or trainer.attrs.get("<out>", UNKNOWN).text()
        if path:
            machine.store.saved(path, trainer.lineage)
    for model in receiver.objects("model"):
        lineage = model.lineage or tuple(machine.orphans)
        if "averaged" in state:
            lineage = _merge(machine, state, node, scope, "saves averaged weights of several state dicts")
        if lineage or model.touched:
            if path and lineage:
                machine.store.saved(path, lineage)
        elif path:
            copied(machine, model.name, path, machine.place(node, scope), "saved without training")
    if path and not receiver.refs and machine.orphans:
        machine.store.saved(path, tuple(machine.orphans))
    return UNKNOWN


@function("shutil.copytree", "shutil.move", "os.symlink", "os.rename", "copytree", "os.replace", "dir_util.copy_tree")
def _copytree(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    source, target = args.get("src", 0).text(), args.get("dst", 1).text()
    if source and target:
        copied(machine, source, target, machine.place(node, scope), "copied")
    return UNKNOWN


@function("snapshot_download", "huggingface_hub.snapshot_download")
def _download(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    source, target = args.get("repo_id", 0).text(), args.get("local_dir").text()
    if source and target and args.get("repo_type").text() != "dataset":
        copied(machine, source, target, machine.place(node, scope), "downloaded")
    return UNKNOWN
