/** A gateway that pays withdrawals; the test has its attestors' keys and sends their votes. */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { voteText } from "@perpgate/protocol/core";
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

  static async start(page: string): Promise<PayingGateway> {
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
    const { url } = this.gateway;
    const info: unknown = await (await fetch(`${url}/v1/bridge`)).json();
    const { venueId } = Object(info);
    const votes = this.keys.map((key, attestor) => {
      const text = voteText({
        venue: String(venueId),
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
      });
      return { text, signature: sign(null, Buffer.from(text, "latin1"), key).toString("hex") };
    });
    const answer = await fetch(`${url}/v1/bridge/votes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ votes }),
    });
    const text = await answer.text();
    if (text !== '{"refusals":[null,null]}') throw new Error(text);
  }
}
