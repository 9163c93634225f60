import { Book, BookQuery } from "../book.js";
import { SymbolPath } from "../market.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getBook = {
  id: "getBook",
  method: "GET",
  path: "/v1/markets/{symbol}/book",
  tag: "markets",
  summary: "Order book snapshot, best prices first",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 40,
  ...NO_INPUT,
  params: SymbolPath,
  query: BookQuery,
  success: { status: 200, description: "The book", schema: Book },
  errors: ["market_not_found"],
} satisfies Operation;
