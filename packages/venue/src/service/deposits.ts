/** Registers deposits by transaction hash, and serves remote attestors. */

import type { RequestHandlers } from "@perpgate/link";
import type { Chain, Token } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import { askingSession } from "./account-calls.js";
import type { AccountLimit } from "./account-limits.js";
import type { Attestation } from "./attestation.js";
import {
  answered,
  executeCommand,
  isExecuted,
  sessionRefusal,
  unsignedTerms,
} from "./execution.js";

type Deposits = Pick<
  RequestHandlers,
  "registerDeposit" | "getBridge" | "submitDepositVotes" | "getDepositQueue" | "getOpenWithdrawals"
>;

interface DepositServices {
  readonly venue: Venue;
  /** Undefined under the `dev` attestor, which accepts any hash. */
  readonly attestation: Attestation | undefined;
  readonly limit: AccountLimit;
  /** Invented hashes cost nothing, so the unseen deposits per account are bounded. */
  readonly maxUnseen: number;
}

export function deposits({ venue, attestation, limit, maxUnseen }: DepositServices): Deposits {
  const { views } = venue;
  const isAccepted = (chain: Chain, token: Token): boolean => {
    if (attestation === undefined) return true;
    const watched = attestation.info().chains.find((entry) => entry.chain === chain);
    return watched?.tokens.some((entry) => entry.token === token) === true;
  };
  const refuseTooManyUnseen = (account: number, chain: Chain, txHash: string): void => {
    if (views.attestation.unseenBy(account) < maxUnseen) return;
    // Registering a known hash again adds nothing.
    if (views.registeredDeposit(account, chain, txHash) !== undefined) return;
    throw tooManyUnseen(maxUnseen);
  };
  const attestors = (): Attestation => {
    if (attestation === undefined) throw new ApiError("attestors_not_configured", {});
    return attestation;
  };
  return {
    registerDeposit: async ({ session, chain, txHash, token }, notes) => {
      const { account } = askingSession(venue, session, notes);
      const isCopy = isExecuted(venue, notes);
      if (!isCopy) limit.take(account, notes);
      if (!isAccepted(chain, token)) throw new ApiError("token_not_on_chain", { chain, token });
      if (!isCopy) refuseTooManyUnseen(account, chain, txHash);
      const command = {
        kind: "RegisterDeposit",
        stampMs: venue.nowMs(),
        session,
        chain,
        txHash,
        token,
        ...unsignedTerms(venue, notes),
      } as const;
      const { outcome } = await executeCommand(venue, command);
      if (outcome.kind === "refused") {
        const { refusal, detail1 } = outcome;
        if (refusal === "too_many_unseen_deposits") throw tooManyUnseen(detail1);
        throw sessionRefusal("RegisterDeposit", outcome);
      }
      const result = views.registeredDeposit(account, chain, txHash);
      if (result === undefined) throw new Error(`deposit ${chain} ${txHash} was not registered`);
      return { result };
    },
    getBridge: () => {
      const info = attestation?.info() ?? DEV_BRIDGE;
      return { result: { ...info, withdrawals: views.withdrawalRules } };
    },
    getOpenWithdrawals: async ({ query: { chain, after = "0" } }) => {
      const { rows, next } = await views.read(() => views.openWithdrawals(chain, Number(after)));
      const withdrawals = [];
      for (const row of rows) {
        const proof = (await venue.promises?.withdrawalProof(Number(row.withdrawalId))) ?? null;
        withdrawals.push({ ...row, proof });
      }
      return { result: { withdrawals, next: next === null ? null : String(next) } };
    },
    submitDepositVotes: async ({ body: { votes } }) => ({
      result: { refusals: [...(await answered(attestors().accept(votes)))] },
    }),
    getDepositQueue: async (request) => ({ result: await attestors().queue(request) }),
  };
}

function tooManyUnseen(limit: number): ApiError {
  return new ApiError("too_many_unseen_deposits", { limit });
}

const DEV_BRIDGE: ReturnType<Attestation["info"]> = {
  attestor: "dev",
  venue: null,
  venueId: null,
  members: [],
  quorum: 0,
  keys: [],
  paused: [],
  chains: [],
};
