"""The Perpgate client: sign in, trade, read, stream, check receipts. Standard library alone.

    from perpgate import Client, Wallet

    client = Client("http://127.0.0.1:8080")
    session = client.sign_in(Wallet.create())
    ack = session.place_order(symbol="BTCUSD", side="long", type="market", margin=100, leverage=5)
"""

from .book import Book, PriceLevel
from .client import Client
from .errors import PerpgateError
from .order_proof import OrderProof, check_order_proof
from .receipts import Receipt, check_receipt
from .session import Session
from .stream import Event, Stream
from .wallet import Wallet, recover_address

__all__ = [
    "Book",
    "Client",
    "Event",
    "OrderProof",
    "PerpgateError",
    "PriceLevel",
    "Receipt",
    "Session",
    "Stream",
    "Wallet",
    "check_order_proof",
    "check_receipt",
    "recover_address",
]
