/** A gateway that pays withdrawals; the test has its attestors' keys and sends their votes. */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { OpenWithdrawals } from "@perpgate/protocol";
import { voteText, withdrawalVoteText } from "@perpgate/protocol/core";
import { CHAINS, ChainGateway } from "./chain-gateway.js";

const { confirmations: _, ...ETHEREUM } = CHAINS.ethereum;
const WITHDRAWALS = {
  minWithdrawal: 10,
  fee: 0.5,
  accountPerDay: 1_000,
  venuePerHour: 5_000,
  venuePerDay: 5_000,
  maxUnpaid: { ethereum: 5_000 },
};

export class PayingGateway {
  private constructor(
    readonly gateway: ChainGateway,
    private readonly keys: readonly KeyObject[],
  ) {}

  static async start(page: string | false): Promise<PayingGateway> {
    const pairs = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
    const members = pairs.map(({ publicKey }) => {
      const { x = "" } = publicKey.export({ format: "jwk" });
      return Buffer.from(x, "base64url").toString("hex");
    });
    const bridge = {
      members,
      quorum: 2,
      chains: { ethereum: ETHEREUM },
      withdrawals: WITHDRAWALS,
    };
    const gateway = await ChainGateway.start(page, bridge);
    return new PayingGateway(
      gateway,
      pairs.map(({ privateKey }) => privateKey),
    );
  }

  /** The votes of both attestors on a registered deposit. */
  async credit(depositId: number, txHash: string, address: string, dollars: number): Promise<void> {
    const venue = await this.venueId();
    await this.submit((attestor) =>
      voteText({
        venue,
        attestor,
        depositId,
        chain: "ethereum",
        chainId: 1,
        vault: ETHEREUM.vault.slice(2),
        tokens: [{ token: "USDC", contract: ETHEREUM.tokens.USDC.contract.slice(2) }],
        txHash,
        verdict: "credit",
        confirmations: 64,
        required: 64,
        block: { number: 7, hash: "cd".repeat(32) },
        credits: [
          {
            logIndex: 0,
            token: "USDC",
            address: address.slice(2).toLowerCase(),
            amountMicros: dollars * 1e6,
          },
        ],
        reason: "",
        part: 1,
        parts: 1,
        votedAtMs: Date.now(),
      }),
    );
  }

  /** The votes of both attestors on the oldest open withdrawal. */
  async vote(verdict: "signed" | "pending" | "paid", hash: string): Promise<void> {
    const venue = await this.venueId();
    const answer = await fetch(`${this.gateway.url}/v1/bridge/withdrawals/open?chain=ethereum`);
    const { withdrawals }: OpenWithdrawals = JSON.parse(await answer.text());
    const [open] = withdrawals;
    if (open === undefined) throw new Error("no withdrawal is open");
    const isSigned = verdict === "signed";
    await this.submit((attestor) =>
      withdrawalVoteText({
        venue,
        attestor,
        withdrawalId: Number(open.withdrawalId),
        chain: "ethereum",
        chainId: 1,
        vault: ETHEREUM.vault.slice(2),
        token: "USDC",
        contract: ETHEREUM.tokens.USDC.contract.slice(2),
        decimals: 6,
        account: open.account.slice(2).toLowerCase(),
        amount: BigInt(Math.round(open.amount * 1e6)),
        deadline: open.deadline / 1_000,
        verdict,
        block: isSigned ? null : { number: 9, hash: "cd".repeat(32) },
        txHash: isSigned ? "" : hash,
        vaultSignature: isSigned ? "ab".repeat(65) : "",
        votedAtMs: Date.now(),
      }),
    );
  }

  private async venueId(): Promise<string> {
    const info: unknown = await (await fetch(`${this.gateway.url}/v1/bridge`)).json();
    return String(Object(info).venueId);
  }

  /** What each attestor says, signed with its key. */
  private async submit(textOf: (attestor: number) => string): Promise<void> {
    const votes = this.keys.map((key, attestor) => {
      const text = textOf(attestor);
      return { text, signature: sign(null, Buffer.from(text, "latin1"), key).toString("hex") };
    });
    const answer = await fetch(`${this.gateway.url}/v1/bridge/votes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ votes }),
    });
    const text = await answer.text();
    if (text !== '{"refusals":[null,null]}') throw new Error(text);
  }
}
