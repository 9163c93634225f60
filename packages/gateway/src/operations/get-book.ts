import { Book, BookQuery, SymbolPath } from "@perpgate/protocol";
import { defineVenueOperation, noBody } from "../http/operation.js";

export const getBook = defineVenueOperation({
  id: "getBook",
  method: "GET",
  path: "/v1/markets/{symbol}/book",
  tag: "markets",
  summary: "Order book snapshot, best prices first",
  access: "public",
  limit: "reads",
  params: SymbolPath,
  query: BookQuery,
  body: noBody,
  success: { status: 200, description: "The book", schema: Book },
  errors: ["market_not_found"],
  handle: ({ params, query }, venue) => venue.book(params.symbol, query.depth),
});
