"""What a session can read about its account."""

from typing import TYPE_CHECKING, Any, List, Optional

from .http import Http, Query, expect, path_of
from .types import AccountPage, Json, page_query

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AccountReader:
    http: Http
    #: Keep it like a password.
    token: str

    def get(self, path: str, query: Optional[Query] = None) -> Any:
        """Any read of the interface with this session's token."""
        return self.http.call("GET", path, query=query, token=self.token).body

    def account(self) -> Json:
        """Balances, cohort and the caps of this session."""
        return expect(dict, self.get(path_of("account")))

    def orders(
        self,
        status: str = "open",
        *,
        nonce: Optional[int] = None,
        clientOrderId: Optional[str] = None,
        **page: "Unpack[AccountPage]",
    ) -> List[Json]:
        """The open orders, oldest first; with ``status="all"`` those in any state, newest first."""
        query = {"status": status, "nonce": nonce, "clientOrderId": clientOrderId, **page_query(page)}
        return expect(list, self.get(path_of("orders"), query))

    def order(self, order_id: str) -> Json:
        return expect(dict, self.get(path_of("orders", order_id)))

    def positions(self) -> List[Json]:
        return expect(list, self.get(path_of("positions")))

    def fills(self, **page: "Unpack[AccountPage]") -> List[Json]:
        return expect(list, self.get(path_of("fills"), page_query(page)))

    def ledger(self, **page: "Unpack[AccountPage]") -> List[Json]:
        """Every change of the balance."""
        return expect(list, self.get(path_of("ledger"), page_query(page)))

    def funding_payments(self, **page: "Unpack[AccountPage]") -> List[Json]:
        return expect(list, self.get(path_of("funding-payments"), page_query(page)))

    def deposits(self) -> List[Json]:
        return expect(list, self.get(path_of("bridge", "deposits")))

    def deposit_by_id(self, deposit_id: str) -> Json:
        return expect(dict, self.get(path_of("bridge", "deposits", deposit_id)))

    def withdrawals(self) -> List[Json]:
        return expect(list, self.get(path_of("bridge", "withdrawals")))

    def withdrawal_by_id(self, withdrawal_id: str) -> Json:
        return expect(dict, self.get(path_of("bridge", "withdrawals", withdrawal_id)))

    def preconfirm(self, ack_nonce: str) -> Json:
        """An acknowledgement with its place in a block; ``not_sealed`` for about 200 ms."""
        return expect(dict, self.get(path_of("preconfirms", ack_nonce)))

    def preconfirm_proof(self, ack_nonce: str) -> str:
        """The proof file of an order, for ``check_order_proof``; ``not_in_checkpoint`` for about a second."""
        return expect(str, self.get(path_of("preconfirms", ack_nonce, "proof")))
