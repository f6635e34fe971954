"""The tree: imports point one way, sizes stay human, everything says what it is.

Nothing is dangerous.
"""

import ast
import builtins
from pathlib import Path

import steinmetz

ROOT = Path(steinmetz.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}

# From low to high: a layer may import itself and what stands before it.
LAYERS = (
    *("errors", "shapes", "host", "pieces", "reading", "registry", "records", "laplace"),
    *("cache", "claims"),
    *("progress", "interrupts", "threads", "workers", "data", "materials", "laws"),
    *("experiments", "potentials", "sparsify", "posterior", "infer", "ranks", "predict"),
    *(
        "assess",
        "scores",
        "exporters",
        "studies",
        "engine",
        "report",
        "fe",
        "calibrate",
        "paper",
        "campaign",
        "api",
    ),
    *(
        "commands",
        "finished",
        "many",
        "options",
        "engine_options",
        "placement_options",
        "run_commands",
        "table_commands",
        "fe_commands",
    ),
    *("campaign_commands", "cli", "__main__"),
)
# A sampler sees a log density and nothing of mechanics.
BLIND = {"infer": {"errors", "shapes", "host", "registry", "records", "laplace", "infer"}}
# Materials know nothing of tests, mechanics nothing of samplers: that follows from the order.
UNSAFE_CALLS = {"eval", "exec", "sympify", "parse_expr", "compile", "system", "read_pickle"}
UNSAFE_IMPORTS = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}
UNSAFE_WORDS = {"allow_pickle", "shell"}

MOST_LINES = 300
MOST_IN_FUNCTION = 65
MOST_PARAMETERS = 6
MOST_ANY = 60


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _for_types(node: ast.AST) -> bool:
    """What stands under `if TYPE_CHECKING` is never imported."""
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def imported(tree: ast.Module) -> set[str]:
    """Modules of the package that a file imports, anywhere in it, as dotted paths."""
    modules = set()
    typing = {id(inner) for node in ast.walk(tree) if _for_types(node) for inner in ast.walk(node)}
    for node in (node for node in ast.walk(tree) if id(node) not in typing):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("steinmetz"):
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names if alias.name.startswith("steinmetz.")}
    return {module.removeprefix("steinmetz.") for module in modules}


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def test_imports_point_down() -> None:
    wrong = []
    for path, tree in TREES.items():
        if path == ROOT / "__init__.py":
            continue
        own = layer(path)
        allowed = BLIND.get(own, set(LAYERS[: LAYERS.index(own) + 1]))
        used = {module.split(".")[0] for module in imported(tree)} & set(LAYERS)
        wrong += [f"{name(path)} imports {other}" for other in sorted(used - allowed)]
    assert wrong == []


def test_no_import_goes_in_a_circle() -> None:
    """Modules in the order in which they can be imported: all of them have a place."""
    graph = {}
    for path, tree in TREES.items():
        if path != ROOT / "__init__.py":
            graph[name(path).removesuffix(".py").replace("/", ".")] = imported(tree)
    known = {module.removesuffix(".__init__") for module in graph}

    def target(reference: str) -> str | None:
        if reference in known:
            return reference
        parent = reference.rpartition(".")[0]
        return parent if parent in known else None

    left = {module: {target(r) for r in used} - {None, module} for module, used in graph.items()}
    while ready := {module for module, used in left.items() if not used & left.keys()}:
        left = {module: used for module, used in left.items() if module not in ready}
    assert sorted(left) == []


def test_modules_and_functions_stay_small() -> None:
    wrong = []
    for path, tree in TREES.items():
        lines = path.read_text(encoding="utf-8").count("\n")
        wrong += [f"{name(path)} has {lines} lines"] if lines > MOST_LINES else []
        for node in functions(tree):
            start = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
            length = (node.end_lineno or 0) - (start or 0)
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            count = len([argument for argument in arguments if argument.arg not in ("self", "cls")])
            if length > MOST_IN_FUNCTION:
                wrong.append(f"{name(path)}: {node.name} is too long")
            if count > MOST_PARAMETERS:
                wrong.append(f"{name(path)}: {node.name} takes {count} parameters")
    assert wrong == []


def test_everything_public_says_what_it_is() -> None:
    wrong = []
    for path, tree in TREES.items():
        parts: list[tuple[str, ast.Module | ast.FunctionDef | ast.ClassDef]] = [(name(path), tree)]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                parts.append((f"{name(path)}: {node.name}", node))
        wrong += [label for label, node in parts if not ast.get_docstring(node)]
    assert wrong == []


def test_types_are_known() -> None:
    """`Any` where JSON or another library's objects are read, hardly elsewhere."""
    used = [n for tree in TREES.values() for n in ast.walk(tree) if isinstance(n, ast.Name)]
    assert sum(node.id == "Any" for node in used) <= MOST_ANY


def test_time_spent_is_told_by_a_clock_that_never_jumps() -> None:
    """`time.time` and `datetime.now` jump when a clock is set; nothing is measured with them."""
    wrong = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                jumps = (node.value.id, node.attr) in {("time", "time"), ("datetime", "now")}
                wrong += [name(path)] if jumps else []
    assert wrong == []


def test_everything_is_read_with_caps() -> None:
    """Nothing but `reading` opens what others wrote; the rest reads its own package or /proc."""
    own = {"reading.py", "registry.py", "report/page.py"}
    own |= {"exporters/program/templates.py"}
    wrong = []
    for path, tree in TREES.items():
        calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        names = {getattr(function, "attr", "") for function in calls}
        if names & {"read_text", "read_bytes"} and not name(path).startswith("paper/"):
            wrong += [name(path)] if name(path) not in own else []
    assert wrong == []


def test_nothing_dangerous_is_called() -> None:
    wrong = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                function = node.func
                called = getattr(function, "id", "") or getattr(function, "attr", "")
                wrong += [f"{name(path)} calls {called}"] if called in UNSAFE_CALLS else []
                words = {each.arg for each in node.keywords if ast.unparse(each.value) != "False"}
                wrong += [f"{name(path)} says {bad}" for bad in words & UNSAFE_WORDS]
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", "")}
                wrong += [f"{name(path)} imports {bad}" for bad in names & UNSAFE_IMPORTS]
    assert wrong == []


def bound(node: ast.AST) -> set[str]:
    """Names that a node gives a meaning to."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return {node.name} if node.name else set()
    return set()


def test_every_name_has_a_meaning() -> None:
    """Shapes are written as strings, for which linters cannot look for names that nobody gave."""
    known, wrong = {*dir(builtins), "__file__", "__name__"}, []
    for path, tree in TREES.items():
        nodes = list(ast.walk(tree))
        own = known.union(*(bound(node) for node in nodes))
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        wrong += [f"{name(path)} uses {word}" for word in sorted(used - own)]
    assert wrong == []
