/**
 * Signing in and out.
 *
 * Two ways in: a wallet of the browser, or a burner key that is made here and forgotten with the
 * page. Either signs one message; from then on a session key, which the client makes and keeps in
 * memory, signs the orders. Nothing of it is stored: a reload begins signed out.
 */

import type { PerpgateClient, Session } from "@perpgate/sdk";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { Store } from "../state/store.js";
import type { InjectedWallet } from "./injected-wallets.js";

export type SignInKind = "burner" | "wallet";

export type SessionState =
  | { readonly status: "out" }
  | { readonly status: "signing"; readonly kind: SignInKind }
  | {
      readonly status: "in";
      readonly kind: SignInKind;
      readonly address: string;
      readonly session: Session;
    };

export const SIGNED_OUT: SessionState = { status: "out" };

export class SessionDesk {
  readonly state = new Store<SessionState>(SIGNED_OUT, "at-once");

  constructor(private readonly client: PerpgateClient) {}

  get session(): Session | undefined {
    const state = this.state.get();
    return state.status === "in" ? state.session : undefined;
  }

  async signInWithBurner(): Promise<void> {
    const account = privateKeyToAccount(generatePrivateKey());
    await this.enter("burner", () => this.client.signIn({ account }));
  }

  async signInWithWallet({ provider }: InjectedWallet): Promise<void> {
    await this.enter("wallet", () => this.client.signIn({ wallet: provider }));
  }

  async signOut(): Promise<void> {
    const { session } = this;
    this.state.set(SIGNED_OUT);
    await session?.signOut();
  }

  /** The venue no longer knows the session. */
  forget(): void {
    this.state.set(SIGNED_OUT);
  }

  private async enter(kind: SignInKind, signIn: () => Promise<Session>): Promise<void> {
    this.state.set({ status: "signing", kind });
    try {
      const session = await signIn();
      this.state.set({ status: "in", kind, address: session.address, session });
    } catch (error) {
      this.state.set(SIGNED_OUT);
      throw error;
    }
  }
}
