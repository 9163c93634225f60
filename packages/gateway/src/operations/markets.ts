import type { Market } from "@perpgate/protocol";
import { getBook, getMarkets } from "@perpgate/protocol/operations";
import type { GatewayContext } from "../http/context.js";
import { edgeOf, handle, handleByLink, JsonText } from "./handler.js";

export const MARKET_HANDLERS = [
  handle(getMarkets, (_, context) => currentMarkets(context)),
  handleByLink(getBook, async ({ params, query }, _, context) => {
    return new JsonText(await edgeOf(context, getBook.id).books.text(params, query));
  }),
];

/** None while no core is linked. */
export async function currentMarkets({ edge }: Pick<GatewayContext, "edge">): Promise<Market[]> {
  return edge === undefined
    ? []
    : (await edge.link.request("getMarkets", { params: {}, query: {} })).result;
}
