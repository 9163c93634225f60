/**
 * The accounts of the sandbox itself: one credits traders with test dollars, others quote. Their
 * commands are in the log as any trader's, without a signature, since no client sends them.
 */

import { createHash } from "node:crypto";
import type { SandboxCommand, SandboxCommandKind } from "./commands.js";
import type { Seed } from "./seed.js";

export interface SandboxAccount {
  readonly address: string;
  readonly session: number;
  readonly key: string;
  nonce: number;
}

/** Of a venue whose time is moved on for years. */
const NEVER_MS = 2 ** 43;
const MICROS = 1_000_000;

/** Resolves with the command's position once it is applied; rejects with why it was refused. */
type Execute = <K extends SandboxCommandKind>(command: SandboxCommand<K>) => Promise<number>;

export class SandboxAccounts {
  private treasurer: SandboxAccount | undefined;

  constructor(
    private readonly seed: Seed,
    private readonly nowMs: () => number,
    private readonly execute: Execute,
  ) {}

  /** An account with a session; the same seed gives the same address. */
  async open(name: string): Promise<SandboxAccount> {
    const address = this.seed.hex(`${name}/address`, 20);
    const key = sha256Hex(`${this.seed.number}/${name}/key`);
    const session = await this.execute({
      kind: "OpenSession",
      stampMs: this.nowMs(),
      address,
      key,
      tokenHash: sha256Hex(this.seed.hex(`${name}/token`, 32)),
      expiresAtMs: NEVER_MS,
      siweNonce: `${OWN_NONCE}${this.seed.hex(`${name}/nonce`, 16)}`,
      siweNonceUntilMs: this.nowMs(),
      maxOrderNotionalMicros: 0,
      maxNotionalMicros: 0,
      markets: [],
    });
    return { address, session, key, nonce: 1 };
  }

  /** Credits dollars to an address (hex, `0x` optional), as a deposit that the sandbox attests. */
  async fund(address: string, dollars: number): Promise<void> {
    const amountMicros = Math.round(dollars * MICROS);
    if (!(Number.isSafeInteger(amountMicros) && amountMicros > 0)) {
      throw new RangeError(
        `funds are a number of dollars above 0 and below 9 billion, not ${dollars}`,
      );
    }
    const account = address.replace(/^0x/i, "").toLowerCase();
    if (!/^[0-9a-f]{40}$/.test(account)) {
      throw new RangeError(`an address has 40 hexadecimal digits, not ${address}`);
    }
    this.treasurer ??= await this.open("treasurer");
    const depositId = await this.execute({
      kind: "RegisterDeposit",
      stampMs: this.nowMs(),
      session: this.treasurer.session,
      chain: CHAIN,
      txHash: this.seed.hex("deposit", 32),
      token: TOKEN,
    });
    await this.attest(depositId, [{ address: account, amountMicros, logIndex: 0 }]);
  }

  /** Credits a deposit that a client has registered. */
  async attest(
    depositId: number,
    credits: SandboxCommand<"AttestDeposit">["credits"],
  ): Promise<void> {
    await this.execute({
      kind: "AttestDeposit",
      stampMs: this.nowMs(),
      attestor: 0,
      depositId,
      verdict: "credit",
      votedAtMs: this.nowMs(),
      confirmations: 1,
      required: 1,
      credits,
      reason: "",
    });
  }

  /** What a restored sandbox goes on with. */
  state(): SandboxAccount | undefined {
    return this.treasurer === undefined ? undefined : { ...this.treasurer };
  }

  restore(treasurer: SandboxAccount | undefined): void {
    this.treasurer = treasurer === undefined ? undefined : { ...treasurer };
  }
}

/** Dollars of a new account. Several of them stay below the bound on all deposits of a venue. */
const FUNDS = 20_000_000;

export interface RotationState {
  readonly opened: number;
  readonly account: SandboxAccount | undefined;
}

/**
 * Who quotes or takes in a market. Once the position of an account has grown large a new one takes over,
 * so that it never runs out of money; the old position stays, as that of any holder.
 */
export class AccountRotation {
  current: SandboxAccount | undefined;
  private opened = 0;

  constructor(
    private readonly name: string,
    private readonly accounts: () => SandboxAccounts,
    /** Dollars of the account's position in the market, at mark and without sign. */
    private readonly exposureOf: (account: SandboxAccount) => number,
    /** Dollars of a position with which another account takes over. */
    private readonly worn: number,
  ) {}

  /** `beforeChange` is called with an account that another one replaces. */
  async next(beforeChange: () => Promise<void> = async () => undefined): Promise<SandboxAccount> {
    const { current } = this;
    if (current !== undefined && this.exposureOf(current) < this.worn) return current;
    await beforeChange();
    this.opened++;
    const account = await this.accounts().open(`${this.name}/${this.opened}`);
    await this.accounts().fund(account.address, FUNDS);
    this.current = account;
    return account;
  }

  state(): RotationState {
    const { opened, current } = this;
    return { opened, account: current === undefined ? undefined : { ...current } };
  }

  restore({ opened, account }: RotationState): void {
    this.opened = opened;
    this.current = account === undefined ? undefined : { ...account };
  }
}

/** What the nonces of their sign-ins begin with. */
export const OWN_NONCE = "sandbox";
export const CHAIN = "ethereum";
export const TOKEN = "USDC";

function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
