"""The stores of this distribution keep every law, whatever they declare and whoever fills them."""

from collections.abc import Sequence

from soev_retrieval.domain import Field, FieldSpec, Record
from soev_retrieval.memory import MemoryStore
from soev_retrieval.testing import StoreConformance, corpus


class TestMemoryStore(StoreConformance):
    make_store = MemoryStore


class TestWithoutVectors(StoreConformance):
    make_store = MemoryStore
    examples = 10

    @staticmethod
    def spec() -> FieldSpec:
        return FieldSpec(corpus.spec().fields)


class TestWithoutWords(StoreConformance):
    make_store = MemoryStore
    examples = 10

    @staticmethod
    def spec() -> FieldSpec:
        return FieldSpec([Field("label", "text"), Field("flags", "bool", many=True)], 3, "dot")


class TestWithoutOperators(StoreConformance):
    make_store = MemoryStore
    examples = 10

    @staticmethod
    def spec() -> FieldSpec:
        text = Field("text", "text", searchable=True, sortable=False, operators=[])
        return FieldSpec([text], 3, "euclidean")


class TestWithoutFields(StoreConformance):
    make_store = MemoryStore
    examples = 10

    @staticmethod
    def spec() -> FieldSpec:
        return FieldSpec([], 3)


class TestNarrowed(StoreConformance):
    """Some operators of each field, one order, and names and types that are nobody else's."""

    make_store = MemoryStore
    examples = 10

    @staticmethod
    def spec() -> FieldSpec:
        return FieldSpec(
            [
                Field(
                    "title", "text", searchable=True, sortable=False, operators=["ne", "missing"]
                ),
                Field("body", "text", many=True, searchable=True, operators=["contains_any"]),
                Field("tenant", "text", operators=["eq"], sortable=False),
                Field("text", "int", operators=["in", "gt"]),
                Field("when", "datetime", operators=[], sortable=False),
            ]
        )


class TestOtherNames(StoreConformance):
    """Names that the laws might take for ones that nobody has, and lists of text to search in."""

    make_store = MemoryStore
    examples = 10

    @staticmethod
    def spec() -> FieldSpec:
        return FieldSpec(
            [
                Field("undeclared", "text", many=True, searchable=True),
                Field("more", "text", operators=["under", "prefix"]),
                Field("tenant", "int"),
            ],
            2,
        )


class TestFilledByAFunction(StoreConformance):
    make_store = MemoryStore
    examples = 10

    @staticmethod
    async def fill(
        store: MemoryStore, target: str, spec: FieldSpec, records: Sequence[Record]
    ) -> None:
        await store.create(target, spec)
        for record in records:
            await store.upsert(target, [record])


RULES = [
    Record("leave", {"text": "Days, days: vacation days.", "tenant": "north"}, [1.0, 0.0]),
    Record("year", {"text": "A vacation DAY is of the year"}, [1.0, 1.0]),
    Record("none", {"text": "The of"}),
    Record("empty", {}, [2.0, 2.0]),
]


async def rules() -> MemoryStore:
    store = MemoryStore()
    fields = [Field("text", "text", searchable=True), Field("tenant", "text")]
    await store.create("rules", FieldSpec(fields, 2))
    await store.upsert("rules", RULES)
    return store


class TestReadOnly(StoreConformance):
    """Records of one's own, with real words in them, some without a tenant."""

    make_store = rules
    target = "rules"
    records = RULES
    examples = 10


class TestReadOnlyWithTerms(TestReadOnly):
    @staticmethod
    def terms(text: str) -> list[str]:
        return MemoryStore()._analysis.terms(text)
