/**
 * TradingView's Universal Data Feed under `/udf`, if the operator has turned it on.
 *
 * Each request counts as a read of its client's address and costs as much as the read it stands for.
 * Parameters that the feed does not use are ignored, because the library sends some. What is wrong with a
 * request is an answer with `s: "error"` and status 200: the library does not look at statuses.
 */

import { getCandles, getMarkets, getTime, type Operation } from "@perpgate/protocol/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { chargeOperation } from "../../limits/charge-operation.js";
import { edgeOf } from "../../operations/handler.js";
import { currentMarkets } from "../../operations/markets.js";
import { RequestClient } from "../client.js";
import type { GatewayContext } from "../context.js";
import { type FeedQuery, feedError, history } from "./history.js";
import {
  EXCHANGE,
  feedConfiguration,
  plainSymbol,
  searchSymbols,
  symbolInfo,
  symbolTable,
} from "./symbols.js";

const DEFAULT_RESULTS = 30;

export function serveUdf(app: FastifyInstance, context: GatewayContext): void {
  const serve = (
    path: string,
    operation: Operation,
    answer: (query: FeedQuery, reply: FastifyReply) => unknown,
  ): void => {
    app.get(`/udf/${path}`, async (request, reply) => {
      count(request, reply, operation, context);
      return answer(queryOf(request.query), reply);
    });
  };
  serve("config", getMarkets, feedConfiguration);
  serve("time", getTime, async (_query, reply) => {
    const { link } = edgeOf(context, "udf/time");
    const { time } = (await link.request("getTime", { params: {}, query: {} })).result;
    void reply.type("text/plain; charset=utf-8");
    return String(Math.floor(time / 1_000));
  });
  serve("symbols", getMarkets, async ({ symbol = "" }) => {
    const name = plainSymbol(symbol);
    const market = (await currentMarkets(context)).find((candidate) => candidate.symbol === name);
    return market === undefined ? feedError("unknown_symbol") : symbolInfo(market);
  });
  serve("symbol_info", getMarkets, async ({ group = EXCHANGE }) =>
    symbolTable(group === EXCHANGE ? await currentMarkets(context) : []),
  );
  serve("search", getMarkets, async ({ query = "", type = "", exchange = "", limit = "" }) => {
    const count = /^[0-9]{1,9}$/.test(limit) ? Number(limit) : DEFAULT_RESULTS;
    return searchSymbols(await currentMarkets(context), { query, type, exchange, limit: count });
  });
  serve("history", getCandles, (query) => history(edgeOf(context, "udf/history").link, query));
}

function count(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  { addressLimits, budgets }: GatewayContext,
): void {
  const { address, header } = new RequestClient(request, reply);
  const { exchange } = request;
  if (exchange !== null) {
    exchange.isComputed = operation.needsVenue;
    chargeOperation(budgets, exchange, operation, undefined, header);
  }
  addressLimits.takeRead(address, header);
}

/** The parameters that came once; a repeated one is a list, and counts as missing. */
function queryOf(query: unknown): FeedQuery {
  const entries = Object.entries(Object(query));
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
