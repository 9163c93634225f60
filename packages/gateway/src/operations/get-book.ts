import { Book, BookQuery, SymbolPath } from "@perpgate/protocol";
import { defineVenueOperation, JsonText, noBody } from "../http/operation.js";
import { bookText } from "./book-text.js";

export const getBook = defineVenueOperation({
  id: "getBook",
  method: "GET",
  path: "/v1/markets/{symbol}/book",
  tag: "markets",
  summary: "Order book snapshot, best prices first",
  access: "public",
  limit: "reads",
  costMicros: 40,
  params: SymbolPath,
  query: BookQuery,
  body: noBody,
  success: { status: 200, description: "The book", schema: Book },
  errors: ["market_not_found"],
  handle: async ({ params, query }, venue) =>
    new JsonText(bookText(await venue.book(params.symbol, query.depth))),
});
