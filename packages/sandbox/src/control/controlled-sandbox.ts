/** A sandbox that is driven over HTTP: its traders and saved moments have names that cross a wire. */

import type { KeyedTrader, SavedVenue } from "../options.js";
import type { SandboxVenue } from "../sandbox.js";

interface NewTrader {
  readonly id: string;
  readonly address: string;
  readonly token: string;
  readonly sessionKey: string;
  readonly expiresAt: number;
}

/** Saved moments that exist together: each is a copy of the whole log and history. */
const MAX_SAVED = 16;
const MAX_TRADERS = 10_000;

export class ControlledSandbox {
  private readonly traders = new Map<string, KeyedTrader>();
  private readonly saved = new Map<string, SavedVenue>();
  private savedCount = 0;

  constructor(readonly venue: SandboxVenue) {}

  async newTrader(funds: number): Promise<NewTrader> {
    if (this.traders.size >= MAX_TRADERS) {
      throw new RangeError(`a sandbox has at most ${MAX_TRADERS} traders of its own`);
    }
    const trader = await this.venue.keyedTrader({ funds });
    const id = String(this.traders.size + 1);
    this.traders.set(id, trader);
    const { address, token, sessionKey, expiresAt } = trader.session;
    return { id, address, token, sessionKey, expiresAt };
  }

  /** For languages without Ed25519: the value of `X-Service-Sig` for a body. */
  sign(id: string, body: string): Promise<string> {
    const trader = this.traders.get(id);
    if (trader === undefined) throw new RangeError(`no trader ${JSON.stringify(id)} was made here`);
    return trader.sign(body);
  }

  async save(): Promise<string> {
    if (this.saved.size >= MAX_SAVED) {
      throw new RangeError(`${MAX_SAVED} moments are saved: discard one`);
    }
    const saved = await this.venue.save();
    const id = String(++this.savedCount);
    this.saved.set(id, saved);
    return id;
  }

  restore(id: string): Promise<void> {
    return this.venue.restore(this.momentOf(id));
  }

  discard(id: string): void {
    this.momentOf(id).discard();
    this.saved.delete(id);
  }

  private momentOf(id: string): SavedVenue {
    const saved = this.saved.get(id);
    if (saved === undefined) throw new RangeError(`no moment ${JSON.stringify(id)} is saved`);
    return saved;
  }
}
