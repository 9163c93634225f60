/**
 * Signing in and out: with a browser wallet, or with a burner key made here. Either signs one message;
 * then a session key signs the orders. Or with a key file, which another machine has made.
 *
 * With "Stay signed in" the session and the burner key survive a reload (see `kept-store.ts`); without
 * it nothing is stored, and what was is deleted.
 */

import {
  createSessionKey,
  newPrivateKey,
  type PerpgateClient,
  privateKeyAccount,
  type Session,
  type SignerChoice,
  type StoredSession,
} from "@perpgate/sdk";
import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";
import { t } from "../text/texts.js";
import { type InjectedProvider, type InjectedWallet, injectedWallets } from "./injected-wallets.js";
import { canKeep, KeptStore, sessionIdOf } from "./kept-store.js";
import { endingWith, WalletCanceled } from "./wallet-request.js";

type SignInKind = "burner" | "wallet" | "file";

type SessionState =
  | { readonly status: "out" }
  /** Reads what an earlier visit kept. */
  | { readonly status: "restoring" }
  | { readonly status: "signing"; readonly kind: SignInKind }
  | {
      readonly status: "in";
      readonly kind: SignInKind;
      readonly address: string;
      readonly session: Session;
      /** Whether a reload goes on with it. */
      readonly isKept: boolean;
    };

const SIGNED_OUT: SessionState = { status: "out" };

/** Not signed in: the browser keeps another burner wallet. */
export class OtherBurnerError extends Error {
  override readonly name = "OtherBurnerError";
}

/** What the wallet of the session reports. */
interface WalletListener {
  /** Its account is another one now, or it has disconnected. */
  onOtherAccount(): void;
  onOtherChain(): void;
}

interface SigningIn {
  readonly kind: SignInKind;
  readonly walletId?: string;
  readonly open: () => Promise<Session>;
  /** Keeps the wallet's own key. */
  readonly keepKey?: () => Promise<void>;
  readonly ending?: AbortSignal;
}

export class SessionManager {
  readonly state = new Store<SessionState>(SIGNED_OUT, "immediate");
  /** The private key of the burner wallet, of this visit or kept from an earlier one. */
  readonly burner = new Store<string | undefined>(undefined, "immediate");
  private readonly kept = new KeptStore();
  private signing: AbortController | undefined;
  private stopWallet: () => void = () => undefined;
  /** The wallet of the session. */
  private walletId: string | undefined;
  /** To the other tabs: what is kept of the session has changed. */
  private tabs: BroadcastChannel | undefined;

  constructor(
    private readonly client: PerpgateClient,
    private readonly listener: WalletListener,
  ) {}

  get session(): Session | undefined {
    const state = this.state.get();
    return state.status === "in" ? state.session : undefined;
  }

  /** Whether the browser keeps the session. */
  get isKept(): boolean {
    const state = this.state.get();
    return this.isStaying && state.status === "in" && state.isKept;
  }

  get canStay(): boolean {
    return canKeep();
  }

  get isStaying(): boolean {
    return this.canStay && readPreference("stay") !== "off";
  }

  set isStaying(isOn: boolean) {
    writePreference("stay", isOn ? "on" : "off");
    void (isOn ? this.keepBurner() : this.forgetKept());
  }

  /** Goes on with the session of an earlier visit, if one was kept. */
  async restore(): Promise<void> {
    this.tabs = new BroadcastChannel("perpgate.session");
    this.tabs.onmessage = () => void this.learnKeys().catch(() => undefined);
    if (!this.isStaying) {
      // A page that was left may not have deleted it.
      if (this.canStay) void this.kept.forgetAll().catch(() => undefined);
      return;
    }
    this.state.set({ status: "restoring" });
    try {
      this.burner.set(await this.kept.readBurner());
      const found = await this.kept.readSession();
      const isAlive = found !== undefined && found.stored.expiresAt > Date.now();
      if (!isAlive) {
        this.state.set(SIGNED_OUT);
        return;
      }
      this.enter(found.kind, this.client.restore(found.stored), true);
      if (found.walletId !== undefined) this.watchWallet(found.walletId);
    } catch {
      // Written by another version, or by another browser profile: sign in again.
      this.state.set(SIGNED_OUT);
    }
  }

  /**
   * With the burner wallet of an earlier visit or an imported key; with a new one otherwise.
   *
   * @throws OtherBurnerError if another tab has kept another wallet, which this page shows from then on.
   */
  async signInWithBurner(privateKey: string = newPrivateKey()): Promise<void> {
    const account = privateKeyAccount(privateKey);
    const open = async () => {
      if (this.burner.get() === undefined) await this.showKept(account.address);
      return this.client.signIn({ account });
    };
    const keepKey = () => this.kept.addBurner(privateKey);
    await this.signIn({ kind: "burner", open, keepKey });
    this.burner.set(privateKey);
  }

  async signInWithWallet({ id, provider }: InjectedWallet): Promise<void> {
    const signing = new AbortController();
    this.signing = signing;
    const wallet = endingWith(provider, signing.signal);
    const open = () => this.client.signIn({ wallet });
    await this.signIn({ kind: "wallet", walletId: id, open, ending: signing.signal });
    this.watchWallet(id);
  }

  /** With the session of a key file; `open` replaces its key, and has the new one kept before. */
  async signInWithFile(
    open: (keep: (stored: StoredSession) => Promise<void>) => Promise<Session>,
  ): Promise<void> {
    const keep = async (stored: StoredSession) => {
      if (!this.isStaying) return;
      const kept = { stored, kind: "file", walletId: undefined } as const;
      // Not if the browser forbids storage.
      await this.kept.writeSession(kept).catch(() => undefined);
    };
    await this.signIn({ kind: "file", open: () => open(keep) });
  }

  /** What signs for the account, to open another session. @throws Error if this browser does not have it. */
  signer(): SignerChoice {
    const state = this.state.get();
    if (state.status === "in" && state.kind === "burner") {
      const account = privateKeyAccount(this.burner.get() ?? "");
      if (account.address === state.address) return { account };
    }
    const found = injectedWallets.get().find(({ id }) => id === this.walletId);
    if (found === undefined) throw new Error(t.signIn.walletMissing);
    this.signing = new AbortController();
    return { wallet: endingWith(found.provider, this.signing.signal) };
  }

  /**
   * Replaces the session's key; streams and orders go on. What is kept, and the other tabs, have the new
   * key before the venue does: a page that is left in between is still signed in.
   */
  async newKey(session: Session): Promise<void> {
    const next = await createSessionKey();
    const { kind, publicKey, handle } = next;
    const state = this.state.get();
    const isKept = state.status === "in" && state.isKept && handle !== undefined;
    if (isKept) {
      const nextSessionKey = { kind, publicKey, handle };
      await this.shareKeys({ ...session.store(), nextSessionKey });
    }
    try {
      await session.rotate({ sessionKey: next });
    } finally {
      if (isKept) await this.shareKeys(session.store()).catch(() => undefined);
    }
  }

  /** Gives up a wallet that does not answer; a late answer is ignored. */
  cancelSignIn(): void {
    this.signing?.abort();
  }

  async signOut(): Promise<void> {
    const { session } = this;
    this.forget();
    await session?.signOut();
  }

  /** The session has ended at the venue. */
  forget(): void {
    const { session } = this;
    this.stopWallet();
    this.state.set(SIGNED_OUT);
    if (session === undefined) return;
    void this.kept.forgetSession(sessionIdOf(session)).catch(() => undefined);
  }

  /** Removes the burner wallet from this browser; without a copy of its key, its funds are lost. */
  forgetBurner(): void {
    const privateKey = this.burner.get();
    if (privateKey === undefined) return;
    this.burner.set(undefined);
    const { address } = privateKeyAccount(privateKey);
    void this.kept.forgetBurner(address).catch(() => undefined);
  }

  private async shareKeys(stored: StoredSession): Promise<void> {
    await this.kept.updateSession(stored);
    this.tabs?.postMessage("keys");
  }

  private async learnKeys(): Promise<void> {
    const found = await this.kept.readSession();
    const { session } = this;
    if (found !== undefined && session?.token === found.stored.token) {
      session.learnKeys(found.stored);
    }
  }

  /** What `forgetKept` may have deleted, or a wallet that was never kept. */
  private async keepBurner(): Promise<void> {
    const privateKey = this.burner.get();
    if (privateKey === undefined) return;
    // Not if the browser forbids storage or keeps another wallet.
    await this.kept.addBurner(privateKey).catch(() => undefined);
  }

  /** The burner wallet stays in memory until the page is left. */
  private async forgetKept(): Promise<void> {
    try {
      if (this.burner.get() === undefined) this.burner.set(await this.kept.readBurner());
      // Turned on again meanwhile.
      if (this.isStaying) return;
      await this.kept.forgetAll();
    } catch {
      // The next visit tries again.
    }
  }

  private async showKept(address: string): Promise<void> {
    if (!this.isStaying) return;
    const kept = await this.kept.readBurner().catch(() => undefined);
    if (kept === undefined || privateKeyAccount(kept).address === address) return;
    this.burner.set(kept);
    throw new OtherBurnerError(t.signIn.otherBurner);
  }

  /** What stays is kept before the page shows the session: a reload right after must not lose it. */
  private async signIn({ kind, walletId, open, keepKey, ending }: SigningIn): Promise<void> {
    this.state.set({ status: "signing", kind });
    try {
      const session = await open();
      if (ending?.aborted === true) throw new WalletCanceled("canceled in the page");
      const keep = async () => {
        await keepKey?.();
        await this.kept.writeSession({ stored: session.store(), kind, walletId });
        return true;
      };
      // Not if the browser forbids storage, has no keys that cannot be read, or keeps another burner wallet.
      const isKept = this.isStaying && (await keep().catch(() => false));
      this.enter(kind, session, isKept);
    } catch (error) {
      this.state.set(SIGNED_OUT);
      throw error;
    }
  }

  private enter(kind: SignInKind, session: Session, isKept: boolean): void {
    this.state.set({ status: "in", kind, address: session.address, session, isKept });
  }

  /** An extension may announce itself after a restored page has started. */
  private watchWallet(id: string): void {
    this.stopWallet();
    this.walletId = id;
    let stopListening: (() => void) | undefined;
    const look = () => {
      const found = injectedWallets.get().find((wallet) => wallet.id === id);
      if (found !== undefined) stopListening ??= this.listenTo(found.provider);
    };
    const stopLooking = injectedWallets.watch(look);
    this.stopWallet = () => {
      stopLooking();
      stopListening?.();
      this.walletId = undefined;
      this.stopWallet = () => undefined;
    };
    look();
  }

  private listenTo(provider: InjectedProvider): () => void {
    const onAccounts = (accounts: unknown) => {
      const [first]: unknown[] = Array.isArray(accounts) ? accounts : [];
      const current = this.session?.address.toLowerCase();
      const isSame = typeof first === "string" && first.toLowerCase() === current;
      if (current !== undefined && !isSame) this.listener.onOtherAccount();
    };
    const onChain = () => {
      if (this.session !== undefined) this.listener.onOtherChain();
    };
    provider.on?.("accountsChanged", onAccounts);
    provider.on?.("chainChanged", onChain);
    return () => {
      provider.removeListener?.("accountsChanged", onAccounts);
      provider.removeListener?.("chainChanged", onChain);
    };
  }
}
