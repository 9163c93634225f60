import { Book, BookQuery } from "../markets/book.js";
import { SymbolPath } from "../markets/market.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getBook = {
  id: "getBook",
  ...PUBLIC_READ,
  path: "/v1/markets/{symbol}/book",
  tag: "markets",
  summary: "Order book snapshot, best prices first",
  costMicros: 40,
  params: SymbolPath,
  query: BookQuery,
  success: { status: 200, description: "The book", schema: Book },
  errors: ["market_not_found"],
} satisfies Operation;
