import type { Market } from "@perpgate/protocol";
import {
  getBlock,
  getBook,
  getCandles,
  getFunding,
  getHonesty,
  getLatestBlock,
  getMarkets,
  getTicker,
  getTickers,
  getTrades,
} from "@perpgate/protocol/operations";
import type { GatewayContext } from "../http/context.js";
import { edgeOf, handle, handleByLink, JsonText } from "./handler.js";

export const MARKET_HANDLERS = [
  handle(getMarkets, (_, context) => marketsOf(context)),
  handleByLink(getBook, async ({ params, query }, _, context) => {
    return new JsonText(await edgeOf(context, getBook.id).books.text(params, query));
  }),
  handleByLink(getTicker, async ({ params, query }, link) => {
    const { result } = await link.request("getTicker", { params, query });
    return result;
  }),
  handleByLink(getTickers, async ({ params, query }, link) => {
    const { result } = await link.request("getTickers", { params, query });
    return result;
  }),
  handleByLink(getTrades, async ({ params, query }, link) => {
    const { result } = await link.request("getTrades", { params, query });
    return result;
  }),
  handleByLink(getCandles, async ({ params, query }, link) => {
    const { result } = await link.request("getCandles", { params, query });
    return result;
  }),
  handleByLink(getFunding, async ({ params, query }, link) => {
    const { result } = await link.request("getFunding", { params, query });
    return result;
  }),
  handleByLink(getHonesty, async ({ params, query }, link) => {
    const { result } = await link.request("getHonesty", { params, query });
    return result;
  }),
  handleByLink(getLatestBlock, async ({ params, query }, link) => {
    const { result } = await link.request("getLatestBlock", { params, query });
    return result;
  }),
  handleByLink(getBlock, async ({ params, query }, link) => {
    const { result } = await link.request("getBlock", { params, query });
    return result;
  }),
];

/** None while no core is linked. */
export async function marketsOf({ edge }: Pick<GatewayContext, "edge">): Promise<Market[]> {
  return edge === undefined
    ? []
    : (await edge.link.request("getMarkets", { params: {}, query: {} })).result;
}
