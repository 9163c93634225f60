/** Checks of what pays withdrawals: each chain's vault as its endpoints show it, against the terms of the settings. */

import type { ChainConfig, WithdrawalTermsConfig } from "@perpgate/bridge";
import { getReserves } from "@perpgate/protocol/operations";
import { createPublicClient, fallback, http } from "viem";
import { reasonOf } from "../cli/start-error.js";
import { readStatus } from "../operator/vault.js";
import { bridgeOf } from "../serve/bridge/settings-bridge.js";
import type { Settings } from "../serve/settings.js";
import { type Finding, ok, problem, warning } from "./finding.js";

const TIMEOUT_MS = 5_000;
const DOLLAR_DECIMALS = 6;

/** One finding per chain that pays; none for a venue that takes no withdrawals. */
export async function checkVaults(settings: Settings): Promise<readonly Finding[]> {
  try {
    const bridge = bridgeOf(settings, undefined);
    if (bridge.kind !== "chain" || bridge.withdrawals === undefined) return [];
    const { withdrawals, chains } = bridge;
    const paying = withdrawals.chains.map(({ chain }) => chain);
    const listed = chains.filter(({ chain }) => paying.includes(chain));
    return await Promise.all(listed.map((chain) => checkVault(chain, withdrawals)));
  } catch {
    // The check of the settings says what is wrong with them.
    return [];
  }
}

/** What the venue that runs with these settings says of its reserves; nothing if it does not answer. */
export async function reservesFindings({ host, port }: Settings): Promise<readonly Finding[]> {
  const check = "reserves";
  let difference: unknown;
  try {
    const origin = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
    const answer = await fetch(origin + getReserves.path, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const reserves: unknown = await answer.json();
    const liabilities = Object(reserves).liabilities ?? null;
    if (!answer.ok || liabilities === null) return [];
    ({ difference } = Object(reserves));
  } catch {
    return [];
  }
  if (typeof difference !== "number") {
    const advice = "a quorum of attestors with bridge.signing states it each minute";
    return [warning(check, "what the vaults hold is not known", advice)];
  }
  if (difference >= 0) {
    return [ok(check, `the vaults hold ${difference} dollars more than the venue owes`)];
  }
  const found = `the vaults hold ${-difference} dollars less than the venue owes`;
  return [problem(check, found, "pause withdrawals, then docs/withdrawals.md, Reserves")];
}

async function checkVault(
  { chain, chainId, vault, tokens, rpc }: ChainConfig,
  terms: WithdrawalTermsConfig,
): Promise<Finding> {
  const check = `vault on ${chain}`;
  const transport = fallback(rpc.map((url) => http(url, { timeout: TIMEOUT_MS, retryCount: 0 })));
  let state: Awaited<ReturnType<typeof readStatus>>;
  try {
    state = await readStatus(createPublicClient({ transport }), `0x${vault}`);
  } catch (error) {
    const advice = "deploy the vault, or correct the endpoints: see docs/vault.md";
    return problem(check, reasonOf(error).split("\n")[0] ?? "", advice);
  }
  if (state.chainId !== chainId) {
    return problem(check, `the endpoints serve chain ${state.chainId}`, "correct rpc");
  }
  if (state.isLocked) {
    return problem(check, "locked: nothing is paid", "find out why, then docs/vault.md, Unlock");
  }
  const { disputeSeconds, attestors } = state;
  if (terms.lifeSeconds < 2 * Number(disputeSeconds)) {
    const found = `a dispute period of ${disputeSeconds} s, and withdrawals live ${terms.lifeSeconds} s`;
    return problem(check, found, "raise withdrawals.lifeSeconds: payments would expire");
  }
  for (const [name, { contract, decimals }] of Object.entries(tokens)) {
    const token = state.tokens.find(({ token }) => token.slice(2).toLowerCase() === contract);
    if (token === undefined) {
      return problem(check, `it does not list ${name}`, "deploy a vault that does");
    }
    const unit = 10n ** BigInt(decimals - DOLLAR_DECIMALS);
    const cap = Number(token.hourCap / unit) / 10 ** DOLLAR_DECIMALS;
    if (terms.venuePerHour > cap) {
      const found = `its cap of an hour for ${name} is ${cap} dollars, and venuePerHour ${terms.venuePerHour}`;
      return warning(check, found, "lower venuePerHour: what is above the cap waits, and expires");
    }
  }
  const { members, quorum } = attestors;
  const found = `open, ${quorum} of ${members.length} attestors, dispute ${disputeSeconds} s`;
  return ok(check, `${found}; payments need perpgate relay --chain ${chain} somewhere`);
}
