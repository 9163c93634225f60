/**
 * Signing in and out: with a browser wallet, or with a burner key that exists only in this page.
 * Either signs one message; then a session key, which the client keeps in memory, signs the orders.
 * Nothing is stored: a reload signs out.
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

export class SessionManager {
  readonly state = new Store<SessionState>(SIGNED_OUT, "immediate");

  constructor(private readonly client: PerpgateClient) {}

  get session(): Session | undefined {
    const state = this.state.get();
    return state.status === "in" ? state.session : undefined;
  }

  async signInWithBurner(): Promise<void> {
    const account = privateKeyToAccount(generatePrivateKey());
    await this.signIn("burner", () => this.client.signIn({ account }));
  }

  async signInWithWallet({ provider }: InjectedWallet): Promise<void> {
    await this.signIn("wallet", () => this.client.signIn({ wallet: provider }));
  }

  async signOut(): Promise<void> {
    const { session } = this;
    this.state.set(SIGNED_OUT);
    await session?.signOut();
  }

  /** The session has ended at the venue. */
  forget(): void {
    this.state.set(SIGNED_OUT);
  }

  private async signIn(kind: SignInKind, open: () => Promise<Session>): Promise<void> {
    this.state.set({ status: "signing", kind });
    try {
      const session = await open();
      this.state.set({ status: "in", kind, address: session.address, session });
    } catch (error) {
      this.state.set(SIGNED_OUT);
      throw error;
    }
  }
}
