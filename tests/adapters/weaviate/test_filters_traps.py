"""Text that Weaviate takes for other text: trimmed, folded, cut, empty, as a pattern."""

from typing import Any

import pytest
from weaviate.classes.config import Configure, DataType, Property, Tokenization
from weaviate.classes.query import Filter as Native
from weaviate.collections.classes.config import TextAnalyzerConfigCreate

from soev_retrieval.domain import AllOf, AnyOf, Filter, Not, field
from tests.adapters.weaviate.existing import TARGET, exact, existing, objects, refusal
from tests.adapters.weaviate.formulas import EDGED, expect_same, indexed
from tests.adapters.weaviate.stores import EVERYWHERE

everywhere = pytest.mark.parametrize("place", EVERYWHERE)
t = field("t")


def texts(*values: Any) -> list[Any]:
    """An object for each text, without the property for None."""
    return objects(*({} if value is None else {"t": value} for value in values))


@everywhere
async def test_white_space_at_the_edges_is_looked_for_here(place: str) -> None:
    """The server finds `a` and ` a ` by one another: what it finds is looked at again."""
    values = ("alpha", " alpha", "alpha ", "\talpha\n", "\u00a0alpha", "\u200balpha", "", " ")
    async with existing(place, [exact("t")], texts(*values, None)) as there:
        for at, value in enumerate(values):
            assert await there.numbers(t == value) == [at]
            assert await there.numbers(t.in_([value, "beta"])) == [at]
        assert await there.numbers(t.in_(["alpha", "alpha "])) == [0, 2]
        assert await there.numbers(t.exists()) == [*range(8)]
        assert await there.numbers(~t.exists()) == [8]
        for where in (~(t == "alpha"), ~(t.in_(["alpha"]) & t.exists())):
            said = await refusal(there.ids(where))
            assert said.startswith(
                "InvalidQueryError: field 't' cannot be asked for what it is not"
            )
            assert "trimmed" in said
        for served in (t != "alpha", t > "alpha", t.prefix("al")):
            assert "does not serve" in await refusal(there.ids(served))


@everywhere
async def test_what_was_replaced_by_what_seems_the_same_is_told_apart(place: str) -> None:
    """The server keeps the lengths of the old text, so no index of them would tell."""
    lengths = {"inverted_index_config": Configure.inverted_index(index_property_length=True)}
    async with existing(place, [exact("t")], texts("alpha", "beta "), making=lengths) as there:
        made = there.client.collections.use(there.name)
        for each, now in zip(texts("alpha", "beta "), ("alpha ", "beta"), strict=True):
            each.properties["t"] = now
            assert not (await made.data.insert_many([each])).errors
        for value, expected in (("alpha", []), ("alpha ", [0]), ("beta", [1]), ("beta ", [])):
            assert await there.numbers(t == value) == expected
        # By the lengths it would have been the reverse.
        by = Native.by_property
        both = by("t").equal("alpha") & by("t", length=True).equal(5)
        assert len((await made.query.fetch_objects(filters=both)).objects) == 1


@everywhere
@pytest.mark.parametrize("nulls", [True, False])
async def test_trimmed_text_is_asked_for_what_has_edges(place: str, nulls: bool) -> None:
    """No value has white space at its edges, but a bound and a beginning may."""
    values = ("The", "The end", "Then", "The\x1f", "a", "a\x1fb", "a b", "\x08", "!", "\x1fx", "")
    making = indexed(nulls=nulls)
    async with existing(
        place, [exact("t")], texts(*values, None), making=making, trimmed=["t"]
    ) as there:
        assert await there.numbers(t.prefix("The ")) == [1]
        assert await there.numbers(t.prefix("a\x1f")) == [5]
        assert await there.numbers(t.prefix("\x1f")) == [9]
        assert await there.numbers(t.prefix("\x08")) == [7]
        assert await there.numbers(t.prefix(" ")) == await there.numbers(t == "a ") == []
        chunks = await there.fetch()
        for value in (*EDGED, "The ", " The", " ", "a\x1f", "a ", "\x08\t"):
            for where in (t > value, t >= value, t < value, t <= value, t.prefix(value)):
                await expect_same(there, chunks, where)
                await expect_same(there, chunks, ~where)


@everywhere
async def test_nothing_in_a_beginning_is_a_pattern(place: str) -> None:
    """`*` and `?` are themselves, and a line break may follow."""
    values = ("a*c", "abc", "a?", "ab", "a\nb", "a", "a\\*", "a.c", None)
    async with existing(place, [exact("t")], texts(*values), trimmed=["t"]) as there:
        assert await there.numbers(t.prefix("a*")) == [0]
        assert await there.numbers(t.prefix("a?")) == [2]
        assert await there.numbers(t.prefix("a\\")) == [6]
        assert await there.numbers(t.prefix("a.")) == [7]
        assert await there.numbers(t.prefix("a")) == [0, 1, 2, 3, 4, 5, 6, 7]


@everywhere
async def test_a_beginning_ends_at_the_last_characters(place: str) -> None:
    """Behind U+D7FF comes U+E000, behind U+10FFFF nothing, and every text begins with none."""
    values = ("\ud7ff", "\ud7ffa", "\ue000", "a\U0010ffff", "a\U0010ffffz", "b", "\U0010ffff", "")
    async with existing(place, [exact("t")], texts(*values, None), trimmed=["t"]) as there:
        assert await there.numbers(t.prefix("\ud7ff")) == [0, 1]
        assert await there.numbers(t.prefix("a\U0010ffff")) == [3, 4]
        assert await there.numbers(t.prefix("\U0010ffff")) == [6]
        assert await there.numbers(t.prefix("")) == [0, 1, 2, 3, 4, 5, 6, 7]
        assert await there.numbers(~t.prefix("")) == [8]


@everywhere
@pytest.mark.parametrize("nulls", [True, False])
async def test_the_empty_text_is_a_value_and_an_empty_list_none(place: str, nulls: bool) -> None:
    """The server takes both for null; a list of one empty text is neither."""
    stored = [*texts("", "a", None), *objects({"s": []}, {"s": [""]}, {"s": ["a"]})]
    for at, each in enumerate(stored):
        each.uuid = objects(*({} for _ in stored))[at].uuid
    properties = [exact("t"), exact("s", DataType.TEXT_ARRAY)]
    async with existing(place, properties, stored, making=indexed(nulls=nulls)) as there:
        s = field("s")
        assert await there.numbers(t.exists()) == [0, 1]
        assert await there.numbers(t.missing()) == [2, 3, 4, 5]
        assert await there.numbers(t == "") == [0]
        assert await there.numbers(t.in_(["", "b"])) == [0]
        assert await there.numbers(s.exists()) == [4, 5]
        assert await there.numbers(s.missing()) == [0, 1, 2, 3]
        found = {chunk.id: chunk.properties for chunk in await there.fetch()}
        assert sorted(map(repr, found.values())) == sorted(
            map(repr, [{"t": ""}, {"t": "a"}, {}, {}, {"s": ("",)}, {"s": ("a",)}])
        )


@everywhere
@pytest.mark.parametrize("nulls", [True, False])
async def test_a_negation_holds_where_the_property_is_not(place: str, nulls: bool) -> None:
    """`ne`, `not_in` and `not` are complements, of objects that are older than the property too."""
    async with existing(
        place, [exact("t")], texts("a", None), making=indexed(nulls=nulls), trimmed=["t"]
    ) as there:
        made = there.client.collections.use(there.name)
        await made.config.add_property(Property(name="n", data_type=DataType.INT))
        await made.data.insert_many(objects({}, {}, {"n": 1}, {"t": "a"})[2:])
        n = field("n")
        wheres: list[tuple[Filter, list[int]]] = [
            (n == 1, [2]),
            (n != 1, [0, 1, 3]),
            (n.not_in([1, 2]), [0, 1, 3]),
            (~(n >= 1), [0, 1, 3]),
            (n.exists(), [2]),
            (n.missing(), [0, 1, 3]),
            (~n.missing(), [2]),
            (t != "a", [1, 2]),
            (Not(AnyOf([n == 1, t == "a"])), [1]),
            (Not(AllOf([n.missing(), t.missing()])), [0, 2, 3]),
        ]
        for where, expected in wheres:
            assert await there.numbers(where) == expected, where


@everywhere
@pytest.mark.parametrize(
    "tokenization",
    [Tokenization.WORD, Tokenization.LOWERCASE, Tokenization.WHITESPACE, Tokenization.TRIGRAM],
)
async def test_text_that_is_cut_is_not_compared(place: str, tokenization: Tokenization) -> None:
    """The refusal says how it is cut, and what would do."""
    cut = Property(name="t", data_type=DataType.TEXT, tokenization=tokenization)
    async with existing(place, [cut], texts("hello world", "Hello World again")) as there:
        assert (await there.store.fields(TARGET))["t"].operators == ()
        for where in (t == "hello world", t.exists(), t.prefix("h"), t > "a"):
            said = await refusal(there.ids(where))
            assert f"cut by the tokenization '{tokenization.value}'" in said
            assert "make the property with 'field'" in said
            assert "recheck" in said


@everywhere
async def test_text_without_a_token_is_looked_for_here(place: str) -> None:
    """A stop word, punctuation and blanks are an error to the server, and a text as any to us."""
    values = ("the", "The", "!!!", "", " ", "the cat", "cat", None)
    cut = Property(name="t", data_type=DataType.TEXT, tokenization=Tokenization.WORD)
    async with existing(place, [cut], texts(*values), recheck=["t"]) as there:
        for at, value in enumerate(values[:-1]):
            assert await there.numbers(t == value) == [at]
            assert await there.numbers(t.in_([value, "dog"])) == [at]
            assert await there.numbers(t != value) == [each for each in range(8) if each != at]
        assert await there.numbers(t.prefix("the")) == [0, 5]
        assert await there.numbers(t.missing()) == [7]


@everywhere
async def test_accents_and_case_count(place: str) -> None:
    """`café`, `cafe` and `Café` are three, in one token and rechecked."""
    values = ("café", "cafe", "Café", "cafe\u0301")
    cut = Property(name="t", data_type=DataType.TEXT, tokenization=Tokenization.WORD)
    kinds: list[tuple[Property, dict[str, Any]]] = [
        (exact("t"), {"trimmed": ["t"]}),
        (cut, {"recheck": ["t"]}),
    ]
    for property, more in kinds:
        async with existing(place, [property], texts(*values), **more) as there:
            for at, value in enumerate(values):
                assert await there.numbers(t == value) == [at]


@everywhere
@pytest.mark.parametrize("tokenization", [Tokenization.FIELD, Tokenization.WORD])
async def test_text_that_is_folded_to_ascii_is_not_compared(
    place: str, tokenization: Tokenization
) -> None:
    """Without accents `é` is `e` and as long: it is refused with the reason, or rechecked."""
    folded = Property(
        name="t",
        data_type=DataType.TEXT,
        tokenization=tokenization,
        text_analyzer=TextAnalyzerConfigCreate(ascii_fold=True),
    )
    stored = texts("the", "thé", "été", "ete")
    async with existing(place, [folded], stored) as there:
        said = await refusal(there.ids(t == "thé"))
        assert ("asciiFold" if tokenization is Tokenization.FIELD else "tokenization") in said
    async with existing(place, [folded], stored, recheck=["t"]) as there:
        for at, value in enumerate(("the", "thé", "été", "ete")):
            assert await there.numbers(t == value) == [at]
    if tokenization is Tokenization.FIELD:
        async with existing(place, [folded], stored, trimmed=["t"]) as there:
            assert "asciiFold" in await refusal(there.ids(t >= "thé"))
