/** Signing in: the checks of the edge around those of the core. */

import { type CoreAccess, clientKeyOf } from "@perpgate/link";
import type { SessionToken, SignInBody } from "@perpgate/protocol";
import { ApiError, bindsSessionKey } from "@perpgate/protocol/core";
import { KeyedLimit, type Monotonic, type NewAccountLimit } from "../limits/limits.js";
import type { Client } from "../request.js";
import type { EdgeSessions } from "./edge-sessions.js";
import { refuseResource } from "./session-resource.js";
import { newSecret, tokenOf } from "./session-token.js";
import { checkSignIn, proveSignIn, type SignInRules, type SignInServices } from "./sign-in.js";

export class SignIns {
  private readonly contractChecks = new ContractChecks();

  constructor(
    private readonly link: CoreAccess,
    private readonly sessions: EdgeSessions,
    private readonly rules: SignInRules,
    private readonly services: SignInServices,
    private readonly newAccounts: NewAccountLimit,
  ) {}

  async signIn(client: Client, body: SignInBody, nowMs: number): Promise<SessionToken> {
    const { link, rules } = this;
    const { nonces, contracts, random } = this.services;
    const signIn = checkSignIn(body, nowMs, rules, nonces);
    const { account: address, message, resource, key, expiresAtMs } = signIn;
    if (rules.domains === "any" && client.isForwarded) {
      // "any" is for local use only; a proxy in front means that the gateway is public.
      const { domain } = message;
      throw new ApiError("siwe_domain_not_allowed", { domain }, { field: "message" });
    }
    const { nonce } = message;
    const symbols = resource?.symbols ?? [];
    const { markets, unlisted, isGranted } = await link.request("prepareSignIn", {
      address,
      nonce,
      symbols,
    });
    if (unlisted !== undefined) {
      throw refuseResource(resource?.line ?? 1, `symbols that are listed; ${unlisted} is not`);
    }
    const contractChainId = await proveSignIn(signIn, contracts, (check) =>
      this.contractChecks.run(client, check),
    );
    if (isGranted) this.newAccounts.take(client.address, client.header);
    const secret = newSecret(random);
    const { tokenHash } = secret;
    const { session, account } = await link.request("signIn", {
      address,
      publicKey: key.raw,
      tokenHash,
      nonce,
      expiresAt: expiresAtMs,
      nonceForgottenAt: signIn.nonceForgottenAtMs,
      maxOrderNotionalMicros: resource?.maxOrderNotionalMicros ?? 0,
      maxNotionalMicros: resource?.maxNotionalMicros ?? 0,
      markets,
      message: Buffer.from(message.text, "utf8"),
      signature: signIn.walletSignature,
      contractChainId,
    });
    const isKeyBound = bindsSessionKey(message.text);
    this.sessions.add(session, { account, tokenHash, publicKey: key.raw, isKeyBound });
    return { token: tokenOf(secret, session), expiresAt: expiresAtMs };
  }
}

export const CONTRACT_CHECKS_PER_MINUTE = 10;
export const MAX_CONTRACT_CHECKS_IN_FLIGHT = 16;

/**
 * Limits on contract checks, per minute and client address and on the number in flight: each is up to
 * three calls to a chain's RPC, which the operator pays for and which may take seconds.
 */
export class ContractChecks {
  private readonly perAddress: KeyedLimit<string>;
  private inFlight = 0;

  constructor(monotonic: Monotonic = () => performance.now()) {
    const rule = {
      name: "contract-checks",
      perSecond: CONTRACT_CHECKS_PER_MINUTE / 60,
      burst: CONTRACT_CHECKS_PER_MINUTE,
    };
    this.perAddress = new KeyedLimit(rule, monotonic);
  }

  /** @throws {ApiError} `rate_limited` or `overloaded` */
  async run<T>({ address, header }: Pick<Client, "address" | "header">, check: () => Promise<T>) {
    if (this.inFlight >= MAX_CONTRACT_CHECKS_IN_FLIGHT) throw new ApiError("overloaded", {});
    this.perAddress.take(clientKeyOf(address), header);
    this.inFlight++;
    try {
      return await check();
    } finally {
      this.inFlight--;
    }
  }
}
