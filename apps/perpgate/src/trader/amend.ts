/** `perpgate amend` and `perpgate margin`: signed changes, each with a nonce of the profile's ledger. */

import { money } from "../cli/quantities.js";
import { UsageError } from "../cli/start-error.js";
import { orderNamed } from "./cancel.js";
import { withSession } from "./connection.js";
import { marketFormats } from "./market-format.js";
import { claimNonce } from "./nonce-ledger.js";
import { show } from "./order.js";
import type { VenueOptions } from "./venue-command.js";

export interface AmendOptions extends VenueOptions {
  readonly price?: number;
  readonly size?: number;
  readonly limit?: number;
  readonly expiresIn?: number;
  /** False for `--no-expiry`. */
  readonly expiry?: boolean;
  readonly nonce?: number;
}

export async function amend(name: string, options: AmendOptions): Promise<number> {
  const named = orderNamed(name);
  const { price, size, limit: limitPrice, expiresIn, expiry = true } = options;
  if (expiresIn !== undefined && !expiry) {
    throw new UsageError("give --expires-in or --no-expiry, not both");
  }
  const expiresAt = expiry ? (expiresIn === undefined ? undefined : Date.now() + expiresIn) : null;
  if ([price, size, limitPrice, expiresAt].every((given) => given === undefined)) {
    throw new UsageError("give --price, --size, --limit, --expires-in or --no-expiry");
  }
  const target = typeof named === "string" ? { orderId: named } : named;
  const changes = {
    ...(price === undefined ? {} : { price }),
    ...(size === undefined ? {} : { size }),
    ...(limitPrice === undefined ? {} : { limitPrice }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return withSession(options, async (venue) => {
    const { client, session, output, profile } = venue;
    const formatOf = await marketFormats(client);
    const nonce = options.nonce ?? claimNonce(profile.ledgerPath(session.token));
    const isRepeat = options.nonce !== undefined;
    const startedAt = performance.now();
    const ack = await session.amendOrder({ ...target, ...changes, nonce }, { isRepeat });
    if (output.isJson) output.json(ack);
    else show(venue, "amended", ack, formatOf(ack.symbol), performance.now() - startedAt);
    return 0;
  });
}

export function changeMargin(
  symbol: string,
  direction: "add" | "remove",
  dollars: number,
  options: VenueOptions & { readonly nonce?: number },
): Promise<number> {
  return withSession(options, async ({ session, output, profile }) => {
    const nonce = options.nonce ?? claimNonce(profile.ledgerPath(session.token));
    const isRepeat = options.nonce !== undefined;
    const amount = direction === "add" ? dollars : -dollars;
    const change = await session.changeMargin(symbol, amount, { nonce, isRepeat });
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
