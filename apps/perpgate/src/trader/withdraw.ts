/** `perpgate withdraw`: money to the account's own address, with a nonce of the profile's ledger. */

import type { Chain, Token } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { money } from "../cli/quantities.js";
import { withSender } from "./sender.js";
import { howToSettleChange, signingOf } from "./signed-request.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface WithdrawOptions extends VenueCommandOptions {
  readonly chain?: Chain;
  readonly token?: Token;
  readonly nonce?: number;
}

export function withdrawCommand(amount: number, options: WithdrawOptions): Promise<number> {
  const { chain = "ethereum", token = "USDC" } = options;
  return withSender(options, async (venue) => {
    const { session, output, sender, hint } = venue;
    const { nonce, isRepeat } = signingOf(venue, options.nonce);
    const what = `withdraw ${amount} --chain ${chain} --token ${token}, nonce ${nonce}`;
    const asked = await sender.send({ what, settle: howToSettleChange(nonce) }, (call) =>
      session.withdraw({ chain, token, amount }, { nonce, ...call, retries: 5, isRepeat }),
    );
    if (output.isJson) {
      output.json(asked);
      return 0;
    }
    output.line(`withdrawal ${asked.withdrawalId}: ${printable(asked.status)}`);
    output.list([
      ["amount", `${money(asked.amount)} in ${token} on ${chain}`],
      ["fee", money(asked.fee)],
      ["to", session.address],
      ["deadline", new Date(asked.deadline).toISOString()],
    ]);
    output.line(`\nFollow it: ${hint(`withdrawals --id ${asked.withdrawalId}`)}`);
    return 0;
  });
}
