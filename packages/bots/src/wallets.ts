/**
 * The bots' wallets. Their keys are derived from the seed, so that a restarted crowd has the same
 * accounts. The seed is public: anyone can sign for them. They must never own anything but a testnet's
 * credit.
 */

import { createHash } from "node:crypto";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

export function botWallet(seed: number, name: string): PrivateKeyAccount {
  const label = `perpgate testnet bot, worthless: ${seed}/${name}`;
  return privateKeyToAccount(`0x${createHash("sha256").update(label).digest("hex")}`);
}
