"""The targets of a store: which collections they are, and where everything is in them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from soev_retrieval.domain import InvalidQueryError, RetrievalError, Target, Unconfigured
from soev_retrieval.targets import Targets
from soev_retrieval_weaviate._collection import Collection, Tenant, collection_name
from soev_retrieval_weaviate._connection import Connection
from soev_retrieval_weaviate._errors import is_gone, may_be_outdated
from soev_retrieval_weaviate._existing import laid_out
from soev_retrieval_weaviate._layout import Layout, laid_out_made
from soev_retrieval_weaviate._making import Made, made_of, place_of
from soev_retrieval_weaviate._objects import Objects
from soev_retrieval_weaviate._shards import check_shards, spread

R = TypeVar("R")

_STORE = "WeaviateStore"
_SAMPLE = 10  # objects, of which one may have a vector


class Collections(Targets[Layout, Made]):
    """The collections of a configuration, and those that `create` made.

    Args:
        connection: Where they are.
        collections: Those of the configuration.
        tenants: Those of which each tenant is a target that `create` makes.
        checks_shards: Whether to look if all shards answered.
    """

    looks_before_writing = True

    def __init__(
        self,
        connection: Connection,
        collections: Mapping[Target, Collection],
        tenants: Mapping[Target, Tenant],
        *,
        checks_shards: bool,
    ) -> None:
        if both := sorted({*collections} & {*tenants}):
            raise InvalidQueryError(
                f"target {both[0]!r} is in collections and in tenants; it can be one of them"
            )
        super().__init__(collections, store=_STORE, what="collection")
        self._connection = connection
        self._tenants = dict(tenants)
        self._checks_shards = checks_shards

    def place(self, target: Target) -> tuple[str, str | None]:
        """As `place_of`."""
        return place_of(target, self._tenants)

    async def made(self, target: Target, operation: str) -> Made | None:
        """As `Targets.made`; the tenant need not be there."""
        self.forget(target)
        name, tenant = self.place(target)
        config = await self._config(name, operation)
        return None if config is None else _made(target, config, tenant)

    async def as_a_whole(
        self, target: Target, work: Callable[[Layout], Awaitable[R]], *, operation: str
    ) -> R:
        """As `on`, if all shards of the collection are there after it."""

        async def whole(layout: Layout) -> R:
            found = await work(layout)
            if layout.shards:  # after it, so that none can have gone meanwhile
                await check_shards(self._connection, layout.name, layout.shards, operation)
            return found

        return await self.on(target, whole, operation=operation)

    async def read(self, target: Target, operation: str) -> tuple[Layout, Made | None] | None:
        """As `Targets.read`: what the server says of the collection."""
        of: Collection | None = self._configured.get(target)
        if of is not None:
            return await self._read_configured(target, of, operation), None
        name, tenant = self.place(target)
        config = await self._config(name, operation)
        made = None if config is None else _made(target, config, tenant)
        if made is None:
            return None
        version, shards = await self._served(target, name, tenant, config, operation)
        return laid_out_made(name, made, tenant=tenant, version=version, shards=shards), made

    def may_be_outdated(self, error: RetrievalError) -> bool:
        """As `Targets.may_be_outdated`: what we refuse by what the collection was, too."""
        if error.__cause__ is None:
            return isinstance(error, InvalidQueryError | Unconfigured)
        return may_be_outdated(error)

    async def _read_configured(self, target: Target, of: Collection, operation: str) -> Layout:
        name = collection_name(of.name, "the name of a Collection")
        if (config := await self._config(name, operation)) is None:
            raise InvalidQueryError(f"there is no collection {name!r}", target=target)
        version, shards = await self._served(target, name, of.tenant, config, operation)
        layout = laid_out(of, config, version=version, shards=shards)
        if isinstance(layout.vectors, str):
            return layout
        return layout.measured(await self._dimension(layout, layout.vectors.name, operation))

    async def _served(
        self, target: Target, name: str, tenant: str | None, config: Any, operation: str
    ) -> tuple[tuple[int, ...], int]:
        """The server's version, and how many shards have to answer."""
        await self._check_tenant(target, name, tenant, config, operation)
        shards = 0
        if self._checks_shards:
            shards = await spread(self._connection, name, config, operation)
        return await self._connection.version(operation), shards

    async def _config(self, name: str, operation: str) -> Any:
        """What the server says of a collection, or None where there is none."""
        try:
            return await self._connection.call(
                lambda client: client.collections.use(name).config.get(), operation=operation
            )
        except RetrievalError as error:
            if not is_gone(error):
                raise
            return None

    async def _check_tenant(
        self, target: Target, name: str, tenant: str | None, config: Any, operation: str
    ) -> None:
        has_tenants = config.multi_tenancy_config.enabled
        if tenant is None:
            if has_tenants:
                raise Unconfigured(
                    f"collection {name!r} has tenants; name one in the Collection",
                    store=_STORE,
                    operation=operation,
                )
            return
        if not has_tenants:
            raise Unconfigured(
                f"collection {name!r} has no tenants, and {tenant!r} is given",
                store=_STORE,
                operation=operation,
            )
        found = await self._connection.call(
            lambda client: client.collections.use(name).tenants.get_by_names([tenant]),
            operation=operation,
        )
        if tenant not in found:
            raise InvalidQueryError(f"collection {name!r} has no tenant {tenant!r}", target=target)

    async def _dimension(self, layout: Layout, name: str | None, operation: str) -> int | None:
        """The length of the vectors: of the first that is found, as no schema says."""
        objects = await Objects(self._connection, layout, None, operation).ask(
            lambda query: query.fetch_objects(
                limit=_SAMPLE, include_vector=True if name is None else [name], return_properties=[]
            )
        )
        lengths = [len(each.vector.get(name or "default") or ()) for each in objects]
        return next((length for length in lengths if length), None)

    def __repr__(self) -> str:
        every = {**self._configured, **self._tenants}
        return ", ".join(f"{name}: {of}" for name, of in every.items())


def _made(target: Target, config: Any, tenant: str | None) -> Made | None:
    """What `create` made of a collection, if it made it for that target."""
    made = made_of(config.description)
    if made is None or made.target != (None if tenant is not None else target):
        return None
    return made
