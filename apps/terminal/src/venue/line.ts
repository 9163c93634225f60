/**
 * The state of the line to the venue, which gates every action of the user.
 *
 *   live          what every socket has shown is less than two seconds old
 *   stale         a socket is open, and what it has shown may be older: silent, or late
 *   reconnecting  a socket is being opened
 *   offline       the browser says that there is no network, and a request confirms it
 *
 * The age is the time since the newest ping that was answered: messages arrive in order, so a line that
 * delivers them late answers late too. Data that is not on a stream is reloaded by the listeners of
 * `onReturn`.
 */

import { ConnectionError, type PerpgateClient, type SessionStream } from "@perpgate/sdk";
import { Store } from "../state/store.js";

export type LineState = "live" | "stale" | "reconnecting" | "offline";

const STALE_MS = 2_000;
/** Options of the client: several pings are sent, and may be answered, before the line is stale. */
export const LINE_TIMES = { heartbeatMs: 500, silenceMs: 6_000 };
const LOOK_MS = 250;
/** Looks that are left out in a row because the page was busy. */
const MOST_SKIPPED = 3;
const OFFLINE_PROBE_MS = 2_000;

type Watched = Pick<SessionStream, "state" | "ageMs" | "onState">;

export class Line {
  readonly state = new Store<LineState>("reconnecting", "immediate");
  private readonly listeners = new Set<() => void>();
  private session: Watched | undefined;
  private stopSession: () => void = () => undefined;
  private isSessionOpened = false;
  private isOffline = false;
  private lookedAt = performance.now();
  private lookedOn = Date.now();
  private skipped = 0;
  /** When the machine woke up: what was shown before may be hours old. */
  private wokeAt = Number.NEGATIVE_INFINITY;
  private isOpened = false;
  private returned = true;

  constructor(private readonly client: PerpgateClient) {}

  /** Whether the line has been live once. */
  get wasLive(): boolean {
    return this.isOpened;
  }

  start(): void {
    this.client.stream.onState(() => this.look());
    setInterval(() => this.tick(), LOOK_MS);
    window.addEventListener("offline", () => this.goOffline());
    window.addEventListener("online", () => this.goOnline());
    if (!navigator.onLine) this.goOffline();
    this.look();
  }

  /** The session's socket counts from its first opening on. */
  follow(stream: Watched | undefined): void {
    this.stopSession();
    this.session = stream;
    this.isSessionOpened = false;
    this.stopSession = stream?.onState(() => this.look()) ?? (() => undefined);
    this.look();
  }

  /** @throws ConnectionError, not sent, unless the line is live. */
  requireLive(): void {
    const state = this.state.get();
    if (state === "live") return;
    throw new ConnectionError(`the line to the venue is ${state}`, { outcome: "not_sent" });
  }

  /** Calls back whenever the line is live again; returns a function that unsubscribes. */
  onReturn(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * A page that was busy has yet to read its messages: their age counts only if this timer was on time, or
   * if it never is.
   */
  private tick(): void {
    const now = performance.now();
    const passedMs = now - this.lookedAt;
    // The monotonic clock may stand while the machine sleeps; the other one may be set, which is rare.
    const sleptMs = Date.now() - this.lookedOn - passedMs;
    this.lookedAt = now;
    this.lookedOn = Date.now();
    if (sleptMs >= STALE_MS) this.wokeAt = now;
    const wasBusy = passedMs > 2 * LOOK_MS && this.skipped < MOST_SKIPPED;
    this.skipped = wasBusy ? this.skipped + 1 : 0;
    if (!wasBusy || sleptMs >= STALE_MS || document.hidden) this.look();
  }

  private look(): void {
    const state = this.stateNow();
    const before = this.state.get();
    // A socket that was opened again has missed messages; one that was silent has not.
    if (state === "reconnecting" || state === "offline") this.returned = false;
    this.state.set(state);
    if (state !== "live" || this.returned || before === state) return;
    this.returned = true;
    if (this.isOpened) for (const listener of [...this.listeners]) listener();
    this.isOpened = true;
  }

  private stateNow(): LineState {
    if (this.isOffline) return "offline";
    const { stream } = this.client;
    if (this.session?.state === "open") this.isSessionOpened = true;
    const isSessionDown = this.isSessionOpened && this.session?.state !== "open";
    if (stream.state !== "open" || isSessionDown) return "reconnecting";
    const ageMs = Math.max(stream.ageMs ?? 0, this.session?.ageMs ?? 0);
    const isFromBefore = performance.now() - ageMs < this.wokeAt;
    return ageMs >= STALE_MS || isFromBefore ? "stale" : "live";
  }

  private goOffline(): void {
    if (this.isOffline) return;
    this.isOffline = true;
    this.look();
    void this.probeWhileOffline();
  }

  private goOnline(): void {
    this.isOffline = false;
    this.client.connectNow();
    this.look();
  }

  /** A gateway on this machine is reached without a network. */
  private async probeWhileOffline(): Promise<void> {
    while (this.isOffline) {
      const isReached = await this.client.time({ retries: 0 }).then(
        () => true,
        () => false,
      );
      if (isReached && this.isOffline) this.goOnline();
      await new Promise((resolve) => setTimeout(resolve, OFFLINE_PROBE_MS));
    }
  }
}
