"""The one exception of the package."""

from typing import Any, Mapping, Optional

REFUSED = "refused"
NOT_SENT = "not_sent"
UNKNOWN = "unknown"


class PerpgateError(Exception):
    """The venue refused, or there was no answer, or what came is not what it should be.

    ``code`` is stable and names the rule: one of docs/errors.md, or one of this package
    (``no_answer``, ``timed_out``, ``unexpected_answer``, ``malformed_frame``, ``closed``,
    ``receipt_invalid``, ``receipt_missing``, ``proof_invalid``).

    ``outcome`` says what became of the request: ``refused`` (nothing was done), ``not_sent``, or
    ``unknown`` (it may have been executed, or may still be). After ``unknown`` send the same order with
    ``nonce=error.nonce``: the venue executes a nonce at most once.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        field: Optional[str] = None,
        details: Optional[Mapping[str, Any]] = None,
        request_id: str = "",
        retry_after: Optional[float] = None,
        outcome: str = REFUSED,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        #: The HTTP status; 0 where there was no answer.
        self.status = status
        self.field = field
        self.details = details
        #: Quote it when you report a fault.
        self.request_id = request_id
        #: Seconds that the server asks to wait.
        self.retry_after = retry_after
        self.outcome = outcome
        #: How often the request was sent.
        self.attempts = 1
        #: Whether a try before the last may have been executed.
        self.is_doubtful = False
        #: Of the signed request.
        self.nonce: Optional[int] = None


def error_of(body: Any, status: int, retry_after: Optional[float] = None) -> Optional[PerpgateError]:
    """The error of a body with the venue's error shape; None for any other body."""
    if not isinstance(body, dict):
        return None
    code, message = body.get("code"), body.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    details = body.get("details")
    details = details if isinstance(details, dict) else None
    exact_ms = (details or {}).get("retryAfterMs")
    if isinstance(exact_ms, (int, float)):
        retry_after = exact_ms / 1000
    is_refused = 400 <= status < 500 or code in _NOT_EXECUTED
    return PerpgateError(
        code,
        message,
        status=status,
        field=body.get("field"),
        details=details,
        request_id=str(body.get("requestId", "")),
        retry_after=retry_after,
        outcome=REFUSED if is_refused else UNKNOWN,
    )


# Failures of the server (5xx) after which nothing was done. `stopped` is not one of them: it is also the
# answer to a request that is already in the log, which the next start executes.
_NOT_EXECUTED = frozenset({"overloaded", "not_executed", "lagging"})
