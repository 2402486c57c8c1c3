"""What the stand-in can be told to answer, beyond what any can."""

from tests.adapters import scripted


class RefusedError(scripted.RefusedError):
    """An error as the server itself makes it: over gRPC it is UNKNOWN, whatever it is.

    Args:
        text: The server's message.
        status: Its HTTP status.
        empty: Whether its HTTP answer has no body, as that to what is not there.
    """

    def __init__(self, text: str, status: int = 422, *, empty: bool = False):
        super().__init__(text)
        self.status, self.empty = status, empty


class RestAnswer(scripted.RestAnswer):
    """An HTTP answer, byte for byte."""

    @classmethod
    def error(cls, status: int, text: str) -> "RestAnswer":
        """An error in the server's JSON."""
        return cls.json({"error": [{"message": text}]}, status)
