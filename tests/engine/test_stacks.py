"""Stacks of layers: what is handed on, what may be overridden, what is printed."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from soev_retrieval.calls import Call, CallStore, Layer, R
from soev_retrieval.domain import DeclaredFilter, Filter, Hit, StoreUnavailable, Target, field
from soev_retrieval.engine import (
    AncestorScope,
    Blocklist,
    Deduplicated,
    FolderScope,
    Lookup,
    MappingCatalog,
    PostFiltered,
    PreFiltered,
    Renamed,
    Replaying,
    Retrying,
    ScoreFloor,
)
from soev_retrieval.memory import MemoryStore
from soev_retrieval.store import VectorStore
from soev_retrieval.testing.faults import Scripted

Asked = Callable[..., tuple[Any, Callable[[VectorStore], Any]]]
METHODS = ["hybrid", "near_vector", "bm25", "fetch", "fields"]


@attrs.frozen(repr=False, eq=False)
class Watched(Layer):
    """A layer that records the values that are handed to it."""

    seen: list[Call[Any]]

    async def send(self, call: Call[R]) -> R:
        self.seen.append(call)
        return await call.on(self.inner)


async def as_it_is(target: Target, term: DeclaredFilter, /) -> Filter:
    return term


async def everything(target: Target, results: Sequence[Any], /) -> Sequence[Any]:
    return results


class Methods:
    """A store that is no CallStore: it records by which method it is asked, and with what."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        async def method(*arguments: Any, **named: Any) -> list[Any]:
            self.asked.append((name, arguments, named))
            return []

        return method


class Quiet(CallStore):
    """A store of one method that records the values it is handed."""

    def __init__(self) -> None:
        self.seen: list[Call[Any]] = []

    async def send(self, call: Call[R]) -> R:
        self.seen.append(call)
        return []  # type: ignore[return-value]


LAYERS: dict[str, Callable[[VectorStore], Layer]] = {
    "Layer": Layer,
    "Retrying": lambda inner: Retrying(inner, attempts=2),
    "PreFiltered": lambda inner: PreFiltered(inner, as_it_is),
    "PostFiltered": lambda inner: PostFiltered(inner, everything),
}


@pytest.mark.parametrize("layer", LAYERS)
async def test_a_layer_hands_on_the_very_same_call(asked: Asked, method: str, layer: str) -> None:
    """Between layers a call is one value, made once by the outermost, and never made anew."""
    expected, ask = asked(method)
    above: list[Call[Any]] = []
    below: list[Call[Any]] = []
    await ask(Watched(LAYERS[layer](Watched(Scripted([]), below)), above))
    assert above == [expected]
    assert len(below) == 1
    assert below[0] is above[0]


async def test_a_retry_hands_on_the_very_same_call(asked: Asked) -> None:
    """Every attempt is the value of the first."""

    async def sleep(seconds: float) -> None:
        pass

    call, _ = asked("hybrid")
    seen: list[Call[Any]] = []
    inner = Watched(Scripted(StoreUnavailable("x"), StoreUnavailable("x"), []), seen)
    await call.on(Retrying(inner, 3, sleep=sleep))
    assert len(seen) == 3
    assert all(one is call for one in seen)


async def test_a_call_performed_on_a_layer_goes_through_its_rule(asked: Asked) -> None:
    """`call.on` is the same as the method: the rule of the layer is in it."""
    call, _ = asked("bm25")
    store = PostFiltered(Scripted([Hit("a", 1.0), Hit("b", 1.0)]), Blocklist({"a"}))
    assert await call.on(store) == [Hit("b", 1.0)]


async def test_a_call_performed_on_a_store_is_its_method(asked: Asked, method: str) -> None:
    """`call.on` asks a store by the method of its kind, with every argument."""
    call, ask = asked(method, field("a") == 1)
    performed: Any = Methods()
    expected: Any = Methods()
    await call.on(performed)
    await ask(expected)
    assert performed.asked == expected.asked
    assert performed.asked[0][0] == method


async def test_a_store_of_one_method_is_sent_every_call(asked: Asked, method: str) -> None:
    """The five methods of a CallStore make the value of their call and hand it to `send`."""
    call, ask = asked(method, field("a") == 1)
    store = Quiet()
    await ask(store)
    assert store.seen == [call]
    assert type(store.seen[0]) is type(call)


async def test_a_store_of_one_method_is_handed_the_very_same_call(
    asked: Asked, method: str
) -> None:
    """`call.on` hands a CallStore the value itself, through layers and without."""
    call, _ = asked(method)
    store = Quiet()
    await call.on(store)
    await call.on(Layer(store))
    assert len(store.seen) == 2
    assert all(one is call for one in store.seen)


async def test_a_store_of_one_method_must_have_it() -> None:
    """A CallStore that defines no `send` answers nothing."""
    with pytest.raises(NotImplementedError):
        await CallStore().fields("t")


@pytest.mark.parametrize("name", METHODS)
def test_a_store_of_one_method_may_not_define_another(name: str) -> None:
    """One of the five methods in a CallStore would be passed over, so it is refused by name."""
    with pytest.raises(TypeError, match=rf"^Loud overrides {name}; override send$"):
        type("Loud", (CallStore,), {name: None, "send": None})


def test_a_store_of_one_method_is_a_store() -> None:
    """A CallStore is a VectorStore, and so are the script and the recording that are ones."""
    for store in (Quiet(), Scripted([]), Replaying([])):
        assert isinstance(store, CallStore)
        assert isinstance(store, VectorStore)


@pytest.mark.parametrize("name", METHODS)
def test_a_layer_may_not_override_a_method(name: str) -> None:
    """A rule in a method would be passed over within a stack, so it is refused by name."""
    with pytest.raises(TypeError, match=rf"^Loud overrides {name}; override send$"):
        type("Loud", (Layer,), {name: None})


def test_several_methods_are_named() -> None:
    """The error names every method that is overridden."""
    with pytest.raises(TypeError, match=r"^Loud overrides bm25, hybrid; override send$"):
        type("Loud", (Retrying,), {"hybrid": None, "bm25": None, "send": None})


def test_a_mixin_may_not_override_a_method() -> None:
    """A method that comes from a class beside Layer would be passed over just the same."""

    class Logging:
        async def bm25(self, *arguments: Any, **named: Any) -> Any:
            raise NotImplementedError

    with pytest.raises(TypeError, match=r"overrides bm25; override send$"):
        type("Loud", (Logging, Layer), {})


def test_a_layer_is_a_store() -> None:
    """Whatever wraps a store is a store."""
    for layer in LAYERS.values():
        assert isinstance(layer(layer(MemoryStore())), VectorStore)


def test_layers_compare_by_identity() -> None:
    """Two layers alike are two layers, and either can be a key."""
    inner = MemoryStore()
    one, two = (Retrying(inner, 3) for _ in range(2))
    assert one != two
    assert {one: 1, two: 2}[one] == 1


def test_the_repr_prints_the_stack_outermost_first() -> None:
    """Each layer with its settings, then what it is around, down to the store."""
    stack = Retrying(
        PostFiltered(
            PreFiltered(Layer(MemoryStore()), FolderScope(MappingCatalog({}))),
            ScoreFloor(0.5),
        ),
        attempts=3,
        backoff=0.25,
    )
    assert repr(stack) == (
        "Retrying(attempts=3, backoff=0.25)"
        " > PostFiltered(keep=ScoreFloor(floor=0.5))"
        " > PreFiltered(rewrite=FolderScope(catalog=MappingCatalog(),"
        " folder='folder', document='document_id'))"
        " > Layer() > MemoryStore()"
    )


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Deduplicated("doc"), "PostFiltered(keep=Deduplicated(field='doc'))"),
        (Blocklist({"x"}, "doc"), "PostFiltered(keep=Blocklist(field='doc'))"),
        (
            AncestorScope(),
            "PreFiltered(rewrite=AncestorScope(folder='folder', ancestors='ancestors'))",
        ),
        (Renamed({"a": "b"}), "PreFiltered(rewrite=Renamed(names={'a': 'b'}))"),
        (Lookup("a", "b", as_it_is), "PreFiltered(rewrite=Lookup(field='a', key='b'))"),  # type: ignore[arg-type]
    ],
    ids=lambda given: type(given).__name__,
)
def test_the_repr_names_the_rule(rule: Any, expected: str) -> None:
    """The settings of a rule are in the repr of its layer."""
    layer: Any = PostFiltered if expected.startswith("Post") else PreFiltered
    assert repr(layer(MemoryStore(), rule)) == f"{expected} > MemoryStore()"


def test_a_layer_of_ones_own_prints_alike() -> None:
    """A subclass, decorated or not, prints its name and its settings."""

    class Plain(Layer):
        pass

    assert repr(Plain(MemoryStore())) == "Plain() > MemoryStore()"
    assert repr(Watched(MemoryStore(), [])) == "Watched(seen=[]) > MemoryStore()"


@pytest.mark.parametrize(
    "blocked", [{"secret-1"}, ["secret-1"], lambda keys: {"secret-1"}], ids=["set", "list", "rule"]
)
def test_the_repr_holds_no_blocked_id(blocked: Any) -> None:
    """What is blocked, and which documents lie where, is nobody's to read in a log."""
    tree = {"secret-2": "secret-3"}
    stack = PostFiltered(
        PreFiltered(MemoryStore(), FolderScope(MappingCatalog(tree))), Blocklist(blocked)
    )
    assert "secret" not in repr(stack)
    assert "Blocklist(field=None)" in repr(stack)
