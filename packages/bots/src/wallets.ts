/**
 * The bots' wallets. Their keys follow from the seed, which is public: whoever reads this can sign
 * for them. They are worth nothing, hold nothing but a testnet's credit, and must never be given
 * more. Because they follow from the seed, a restarted crowd finds its own accounts again.
 */

import { createHash } from "node:crypto";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

export function botWallet(seed: number, name: string): PrivateKeyAccount {
  const label = `perpgate testnet bot, worthless: ${seed}/${name}`;
  return privateKeyToAccount(`0x${createHash("sha256").update(label).digest("hex")}`);
}
