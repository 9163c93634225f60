/**
 * The currencies of a venue: the dollars that accounts are kept in, the tokens that are deposited as
 * dollars, and the bases of the markets, which nobody holds.
 */

import { TOKENS } from "@perpgate/protocol/core";
import type { BridgeInfo, Market } from "@perpgate/sdk";
import type { Currencies, Dict } from "ccxt";

/** What accounts are kept in. */
export const DOLLARS = "USD";
/** A millionth of a dollar, the venue's smallest amount. */
const MICRO = 1e-6;
/** The venue's chains by CCXT's codes. */
export const NETWORKS = { ethereum: "ERC20", arbitrum: "ARBONE", tron: "TRC20" } as const;

/** The part of the exchange that makes a currency of its fields. */
interface CurrencyMaker {
  safeCurrencyStructure(currency: Dict): Currencies[string];
}

/** CCXT writes into the limits that it is given: each has its own. */
const noLimit = () => ({ min: undefined, max: undefined });

export function currenciesOf(
  exchange: CurrencyMaker,
  markets: readonly Market[],
  bridge: BridgeInfo,
): Currencies {
  const found: Currencies = {};
  const add = (code: string, fields: Dict): void => {
    found[code] = exchange.safeCurrencyStructure({
      id: code,
      code,
      name: code,
      fee: undefined,
      networks: {},
      limits: { amount: noLimit(), withdraw: noLimit(), deposit: noLimit() },
      ...fields,
    });
  };
  for (const { base, lotSize } of markets) {
    const isHeld = { active: false, deposit: false, withdraw: false };
    add(base, { ...isHeld, type: "crypto", precision: lotSize, info: { base } });
  }
  for (const [token, networks] of tokensOf(bridge)) {
    const deposit = !bridge.paused.includes(token);
    const terms = { active: deposit, deposit, withdraw: false, type: "crypto" };
    add(token, { ...terms, precision: MICRO, networks, info: { token } });
  }
  const money = { active: true, deposit: true, withdraw: false, type: "fiat", precision: MICRO };
  for (const { quote } of markets) add(quote, { ...money, info: { quote } });
  add(DOLLARS, { ...money, info: { quote: DOLLARS } });
  return found;
}

/** The networks of each token. The `dev` attestor credits every token and has no networks. */
function tokensOf({ chains, paused, withdrawals }: BridgeInfo): Map<string, Dict> {
  const tokens = new Map<string, Dict>(TOKENS.map((token) => [token, {}]));
  for (const { chain, minDeposit, tokens: taken } of chains) {
    const paying = withdrawals?.chains.find((each) => each.chain === chain)?.tokens ?? [];
    for (const entry of taken) {
      const network = NETWORKS[chain];
      const isOpen = !paused.includes(chain) && !paused.includes(entry.token);
      const pays = paying.includes(entry.token);
      const networks = tokens.get(entry.token) ?? {};
      networks[network] = {
        id: chain,
        network,
        active: isOpen,
        deposit: isOpen,
        withdraw: isOpen && pays,
        fee: pays ? withdrawals?.fee : undefined,
        precision: 10 ** -entry.decimals,
        limits: {
          withdraw: { min: pays ? withdrawals?.minWithdrawal : undefined, max: undefined },
          deposit: { min: minDeposit, max: undefined },
        },
        info: entry,
      };
      tokens.set(entry.token, networks);
    }
  }
  return tokens;
}
