/** `perpgate amend` and `perpgate margin`: signed changes, each with a nonce of the profile's ledger. */

import { money } from "../cli/quantities.js";
import { UsageError } from "../cli/start-error.js";
import { orderNamed } from "../cli/values.js";
import { marketFormats } from "./market-format.js";
import { show } from "./order-text.js";
import { withSender } from "./sender.js";
import { expiryFor, howToSettleChange, signingOf } from "./signed-request.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface AmendOptions extends VenueCommandOptions {
  readonly price?: number;
  readonly size?: number;
  readonly limit?: number;
  readonly expiresIn?: number;
  /** False for `--no-expiry`. */
  readonly expiry?: boolean;
  readonly nonce?: number;
}

export async function amendCommand(name: string, options: AmendOptions): Promise<number> {
  const named = orderNamed(name);
  const { price, size, limit: limitPrice, expiresIn, expiry = true } = options;
  if (expiresIn !== undefined && !expiry) {
    throw new UsageError("give --expires-in or --no-expiry, not both");
  }
  if (expiry && [price, size, limitPrice, expiresIn].every((given) => given === undefined)) {
    throw new UsageError("give --price, --size, --limit, --expires-in or --no-expiry");
  }
  const target = typeof named === "string" ? { orderId: named } : named;
  const changes = {
    ...(price === undefined ? {} : { price }),
    ...(size === undefined ? {} : { size }),
    ...(limitPrice === undefined ? {} : { limitPrice }),
  };
  return withSender(options, async (venue) => {
    const { client, session, output, sender } = venue;
    const formatOf = await marketFormats(client);
    const { nonce, isRepeat } = signingOf(venue, options.nonce);
    const expiresAt = expiry ? expiryFor(nonce, expiresIn) : null;
    const expiring = expiresAt === undefined ? {} : { expiresAt };
    const startedAt = performance.now();
    const sent = { what: `amend ${name}, nonce ${nonce}`, settle: howToSettleChange(nonce) };
    const ack = await sender.send(sent, (call) =>
      session.amendOrder(
        { ...target, ...changes, ...expiring, nonce },
        { ...call, retries: 5, isRepeat },
      ),
    );
    if (output.isJson) output.json(ack);
    else show(venue, "amended", ack, formatOf(ack.symbol), performance.now() - startedAt);
    return 0;
  });
}

export function changeMarginCommand(
  symbol: string,
  direction: "add" | "remove",
  dollars: number,
  options: VenueCommandOptions & { readonly nonce?: number },
): Promise<number> {
  return withSender(options, async (venue) => {
    const { session, output, sender } = venue;
    const { nonce, isRepeat } = signingOf(venue, options.nonce);
    const amount = direction === "add" ? dollars : -dollars;
    const what = `margin ${symbol} ${direction} ${dollars}, nonce ${nonce}`;
    const change = await sender.send({ what, settle: howToSettleChange(nonce) }, (call) =>
      session.changeMargin(symbol, amount, { nonce, ...call, retries: 5, isRepeat }),
    );
    if (output.isJson) {
      output.json(change);
      return 0;
    }
    output.line(
      `${symbol}: ${money(Math.abs(change.amount))} ${direction === "add" ? "added" : "removed"}`,
    );
    output.list([
      ["margin", money(change.margin)],
      ["free", money(change.available)],
    ]);
    return 0;
  });
}
