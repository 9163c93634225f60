/**
 * A venue in this process whose time and prices are in the caller's hands.
 *
 * It is the venue that `perpgate serve` runs: the same gateway on a real port, core, engine, log and
 * history. Only what comes from outside is given: the time, the index, who else quotes, random bytes. In
 * manual time the same seed and the same calls, one after the other, give the same log to the byte.
 *
 * Calls that move time or prices run one after the other, in the order in which they were made.
 */

import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { LOG_START, nodeDisk, SegmentReader } from "@perpgate/journal";
import {
  PerpgateClient,
  privateKeyAccount,
  type Session,
  sessionKeyFromSecret,
} from "@perpgate/sdk";
import { NO_EVIDENCE, NotApplied, TICK_MS } from "@perpgate/venue";
import { OWN_NONCE, type SandboxAccount, SandboxAccounts } from "./accounts.js";
import type { SandboxCommand, SandboxCommandKind } from "./commands.js";
import { Deferred } from "./deferred.js";
import { type Duration, durationMs } from "./durations.js";
import { SandboxStopped } from "./failures.js";
import { PlannedFaults } from "./faults.js";
import { newFolder, removeLeftovers } from "./folders.js";
import { FollowedClock } from "./followed-clock.js";
import type { LiquidityOptions } from "./liquidity.js";
import { type SandboxMarketState, SandboxMarkets } from "./markets.js";
import type {
  KeyedTrader,
  PlayOptions,
  SandboxOptions,
  SandboxTime,
  SavedVenue,
  TraderOptions,
} from "./options.js";
import { openParts, type Parts } from "./parts.js";
import { openRecording, type RecordingFile } from "./replay/recording.js";
import {
  Replay,
  type ReplayOptions,
  type ReplayProgress,
  type ReplayResult,
} from "./replay/replay.js";
import { RunRecorder, type RunState } from "./report/run-recorder.js";
import { type RunReport, reportOf } from "./report/run-report.js";
import type { Stage } from "./scenario/actions.js";
import { Playback, type PlaybackState, type ScenarioProgress } from "./scenario/playback.js";
import { namedScenario, type Scenario } from "./scenario/scenario.js";
import { Seed } from "./seed.js";
import type { TakerOptions } from "./takers.js";
import { Faults, type VenueFaults } from "./venue-faults.js";

interface SavedState extends SavedVenue {
  readonly folder: string;
  readonly seed: ReadonlyMap<string, number>;
  readonly markets: readonly SandboxMarketState[];
  readonly treasurer: SandboxAccount | undefined;
  readonly known: ReadonlySet<string>;
  readonly playback: PlaybackState | undefined;
  readonly downUntilMs: number | undefined;
  readonly run: RunState;
}

/** What goes on as time passes. */
export interface Playing<T> {
  readonly isOver: boolean;
  /** Resolves at its end; rejects if it fails. */
  readonly over: Promise<T>;
}

/** The year 2248; sessions of the sandbox end after it. */
const MAX_START_MS = 2 ** 43;
const MANUAL_START_MS = Date.parse("2026-01-01T00:00:00Z");
/** Ticks that are applied together: sockets and timers get their turn between two such steps. */
const TICKS_PER_STEP = 64;
/** A sign-in that is sent again is a second session, and another log, only because the machine was slow. */
const SIGN_IN_MS = 600_000;
/** One gives the venue the index, the next serves what it has caused, and then the quotes follow. */
const TICKS_OF_A_PRICE = 2;
/** More than the venue holds a jump back. */
const TICKS_OF_A_JUMP = 20;

/** A log that is continued would be another one for the same seed. */
function emptyFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length === 0) return folder;
  throw new RangeError(`${folder} is not empty: a sandbox begins with a new log`);
}

interface ControlServer {
  readonly url: string;
  close(): Promise<void>;
}

type StartControl = (venue: SandboxVenue, port: number) => Promise<ControlServer>;

export class SandboxVenue {
  private random: Seed;
  private readonly folder: string;
  private readonly markets: SandboxMarkets;
  private readonly clients = new Set<PerpgateClient>();
  private readonly saved = new Set<SavedState>();
  /** Addresses that have signed in: `grant` is for the first time. */
  private known = new Set<string>();
  private granting: Promise<void> = Promise.resolve();
  private nowMs: number;
  private accounts: SandboxAccounts;
  private runs: Parts | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private clock: FollowedClock | undefined;
  private controlServer: ControlServer | undefined;
  private traders = 0;
  private port: number;
  private playback: Playback | undefined;
  private replaying: Replay | undefined;
  /** While the gateway is closed for a time. */
  private downUntilMs: number | undefined;
  /** For those that wait until it is open again. */
  private reopening: Deferred<void> | undefined;
  /** How often the way in which time moves was set. */
  private timesSet = 0;
  private readonly planned = new PlannedFaults();
  private readonly recorder: RunRecorder;
  private readonly startMs: number;
  readonly faults: VenueFaults = new Faults(
    this.planned,
    () => this.parts,
    (downMs) => this.restartGateway(downMs),
  );
  /** What every call rejects with, once it has failed or is stopping. */
  private ended: Error | undefined;
  private readonly failure = new Deferred<Error>();
  private stopping: Promise<void> | undefined;

  private constructor(private readonly options: SandboxOptions) {
    const { seed = 1, start, time = "manual", folder, grant = 0 } = options;
    if (!Number.isSafeInteger(seed)) throw new RangeError(`seed is a whole number, not ${seed}`);
    if (!(grant >= 0)) {
      throw new RangeError(`grant is a number of dollars of at least 0, not ${grant}`);
    }
    this.random = new Seed(seed);
    this.port = options.port ?? 0;
    const begins = start ?? (time === "manual" ? MANUAL_START_MS : Date.now());
    this.nowMs = Math.floor(Number(begins) / TICK_MS) * TICK_MS;
    if (!(this.nowMs >= 0 && this.nowMs < MAX_START_MS)) {
      throw new RangeError(`start is a date, or Unix milliseconds, not ${start}`);
    }
    this.startMs = this.nowMs;
    this.markets = new SandboxMarkets(
      options.markets ?? ["BTCUSD"],
      () => this.parts.venue,
      () => this.accounts,
      (name) => this.random.fraction(name),
    );
    this.accounts = this.newAccounts();
    removeLeftovers();
    this.folder = folder === undefined ? newFolder() : emptyFolder(folder);
    const symbols = this.markets.definitions.map(({ symbol }) => symbol);
    this.recorder = new RunRecorder(() => this.parts.venue, symbols);
  }

  /** `startControl` begins the control API, where the options ask for one. */
  static async start(options: SandboxOptions, startControl: StartControl): Promise<SandboxVenue> {
    const sandbox = new SandboxVenue(options);
    options.until?.(() => sandbox.stop());
    try {
      if (options.control !== undefined) {
        sandbox.controlServer = await startControl(sandbox, options.control);
      }
      await sandbox.open();
      const { liquidity = {} } = options;
      if (liquidity !== false) sandbox.markets.quoteAll(liquidity);
      await sandbox.exclusive(() => sandbox.step(TICKS_OF_A_PRICE));
      sandbox.follow(options.time ?? "manual");
    } catch (error) {
      await sandbox.stop().catch(() => undefined);
      throw error;
    }
    return sandbox;
  }

  /** The address of the gateway, for any client. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The venue's time, Unix milliseconds. */
  get time(): number {
    return this.nowMs;
  }

  /** Whether time moves by `advance` alone. */
  get isManual(): boolean {
    return this.clock === undefined;
  }

  /** Times that of the clock; 0 in manual time. */
  get speed(): number {
    return this.clock?.speed ?? 0;
  }

  /** How fast time went in the last seconds; less than `speed` where the machine cannot keep that. */
  get measuredSpeed(): number {
    return this.clock?.measuredSpeed ?? 0;
  }

  /**
   * Resolves with what made the sandbox fail, such as a full disk: time stands then, and every call rejects
   * with it.
   */
  get failed(): Promise<Error> {
    return this.failure.promise;
  }

  /** The address of the control API; undefined unless `control` was given. */
  get control(): string | undefined {
    return this.controlServer?.url;
  }

  get seed(): number {
    return this.random.number;
  }

  /** The last position of the log. */
  get position(): number {
    return this.parts.venue.seq;
  }

  /** A client without a session, with the venue's time. */
  client(): PerpgateClient {
    const clock = { nowMs: () => this.nowMs, random: () => this.random.fraction("client") };
    const client = new PerpgateClient({ url: this.url, clock });
    this.clients.add(client);
    return client;
  }

  /** A signed-in account with money: the session of an SDK client. */
  async trader(options: TraderOptions = {}): Promise<Session> {
    return (await this.keyedTrader(options)).session;
  }

  /** The same, with a way to sign what another program sends for the session. */
  async keyedTrader({ funds = 10_000 }: TraderOptions = {}): Promise<KeyedTrader> {
    this.requireRunning();
    const name = `trader/${++this.traders}`;
    const account = privateKeyAccount(this.random.hex(`${name}/wallet`, 32));
    const sessionKey = sessionKeyFromSecret("ed25519", this.random.hex(`${name}/key`, 32));
    this.known.add(account.address.slice(2).toLowerCase());
    // Not the address of the gateway: its port differs from start to start.
    const named = { domain: "sandbox", timeoutMs: SIGN_IN_MS };
    const session = await this.client().signIn({ account, sessionKey, ...named });
    if (funds !== 0) await this.fund(account.address, funds);
    const sign = async (body: string) =>
      Buffer.from(await sessionKey.sign(Buffer.from(body, "utf8"))).toString("hex");
    return { session, sign };
  }

  /** Credits an account with dollars, however it signed in. */
  fund(address: string, dollars: number): Promise<void> {
    return this.exclusive(() => this.accounts.fund(address, dollars));
  }

  /** Sets the index, or moves it there evenly within a time; `advance` then takes it along the way. */
  price(symbol: string, price: number, { within = 0 }: { within?: Duration } = {}): Promise<void> {
    return this.exclusive(async () => {
      const withinMs = durationMs(within);
      this.markets.move(symbol, price, this.nowMs, withinMs);
      if (withinMs > 0) return;
      await this.step(TICKS_OF_A_PRICE);
      for (let ticks = 0; ticks < TICKS_OF_A_JUMP && this.markets.isHeld(symbol); ticks++) {
        await this.step(1);
      }
    });
  }

  /** Lets the index fall by a part within a time, and time pass until it has. */
  async crash(
    symbol: string,
    { by, within = "2s" }: { by: number; within?: Duration },
  ): Promise<void> {
    if (!(by > -10 && by < 1))
      throw new RangeError(`by is a part below 1, such as 0.15, not ${by}`);
    const now = this.markets.priceOf(symbol, this.nowMs);
    await this.price(symbol, now * (1 - by), { within });
    if (this.isManual) await this.advance(within);
  }

  /** Lets time pass with everything that happens in it: ticks, funding, expiries, switches. */
  advance(duration: Duration): Promise<void> {
    const ms = durationMs(duration);
    if (!this.isManual)
      throw new RangeError("time passes without a call here: advance is for manual time");
    return this.exclusive(async () => {
      await this.step(Math.round(ms / TICK_MS));
    });
  }

  /** Lets time stand still, or go with the machine's clock, from now on; resolves once it does. */
  setTime(time: SandboxTime): Promise<void> {
    this.follow(time);
    return this.exclusive(async () => undefined);
  }

  /** Replaces the quotes of a market; false: takes them away. */
  liquidity(symbol: string, options: LiquidityOptions | false): Promise<void> {
    return this.exclusive(async () => {
      await this.markets.quote(symbol, options, this.nowMs);
      await setImmediate();
    });
  }

  /** Has others send market orders at random moments, from the seed; false: none do. */
  takers(symbol: string, options: TakerOptions | false): Promise<void> {
    return this.exclusive(async () => {
      this.markets.take(symbol, options === false ? undefined : options);
    });
  }

  /**
   * Plays a scenario from now on; one after the other. In manual time this lets the time of the scenario
   * pass, and calls `each` after every part of it, unless `setTime` is called meanwhile; otherwise it
   * resolves at its end.
   */
  async play(scenario: Scenario | string, turns: PlayOptions = {}): Promise<void> {
    return this.passed(this.beginPlay(scenario), turns);
  }

  /** Begins a scenario, and leaves it to the caller to let time pass. */
  beginPlay(scenario: Scenario | string): Playing<void> {
    this.requireRunning();
    const parsed = typeof scenario === "string" ? namedScenario(scenario) : scenario;
    for (const market of parsed.markets) this.markets.priceOf(market, this.nowMs);
    if (this.playback?.isOver === false) {
      throw new RangeError(`${this.playback.scenario.name} is not over yet`);
    }
    const playback = new Playback(parsed, this.nowMs);
    this.playback = playback;
    return playback;
  }

  /** The scenario that plays, or was the last to play. */
  get scenario(): ScenarioProgress | undefined {
    return this.playback?.progress(this.nowMs);
  }

  /**
   * Plays recordings (docs/recordings.md) from now on, as `play` plays a scenario.
   *
   * @throws RecordingError with file and place.
   */
  async replay(
    files: string | readonly RecordingFile[],
    { depth, ...turns }: ReplayOptions & PlayOptions = {},
  ): Promise<ReplayResult> {
    const given = typeof files === "string" ? [files] : files;
    return this.passed(await this.beginReplay(given, depth === undefined ? {} : { depth }), turns);
  }

  /** Begins a recording, and leaves it to the caller to let time pass. @throws RecordingError */
  async beginReplay(
    files: readonly RecordingFile[],
    options: ReplayOptions,
  ): Promise<Playing<ReplayResult>> {
    this.requireNoReplay();
    const recording = await openRecording(files);
    const parts = {
      recording,
      markets: this.markets,
      venue: () => this.parts.venue,
      send: (command: SandboxCommand<SandboxCommandKind>) => this.attempt(command),
    };
    // Another call may have begun one, or stopped the sandbox, while the files were opened.
    if (this.ended !== undefined || this.replaying?.isOver === false) await recording.close();
    this.requireNoReplay();
    const replay = new Replay(parts, this.nowMs, options);
    this.replaying = replay;
    return replay;
  }

  /** The recording that plays, or was the last to play. */
  get replayed(): ReplayProgress | undefined {
    return this.replaying?.progress;
  }

  /** In manual time: time passes until it is over. */
  private async passed<T>(playing: Playing<T>, { every = "1s", each }: PlayOptions): Promise<T> {
    const everyMs = durationMs(every);
    if (everyMs < TICK_MS) throw new RangeError(`every is at least ${TICK_MS} ms`);
    const { timesSet } = this;
    const isOurs = () => this.isManual && this.timesSet === timesSet;
    while (isOurs() && !playing.isOver) {
      await this.advance(everyMs);
      if (isOurs()) await each?.(this.nowMs);
    }
    return playing.over;
  }

  private requireRunning(): void {
    if (this.ended !== undefined) throw this.ended;
  }

  private requireNoReplay(): void {
    this.requireRunning();
    if (this.replaying?.isOver === false) throw new RangeError("a recording is not over yet");
  }

  /** A copy to go back to. */
  save(): Promise<SavedVenue> {
    return this.exclusive(async () => {
      this.requireNoReplay();
      const folder = newFolder();
      await this.parts.close();
      cpSync(this.folder, folder, { recursive: true });
      await this.open();
      const saved: SavedState = {
        nowMs: this.nowMs,
        folder,
        seed: this.random.state(),
        markets: this.markets.state(),
        treasurer: this.accounts.state(),
        known: new Set(this.known),
        playback: this.playback?.state(),
        downUntilMs: this.downUntilMs,
        run: this.recorder.state(),
        discard: () => {
          this.saved.delete(saved);
          rmSync(folder, { recursive: true, force: true });
        },
      };
      this.saved.add(saved);
      return saved;
    });
  }

  /** Goes back to a saved moment: sessions, orders, positions, prices and time are as they were. */
  restore(saved: SavedVenue): Promise<void> {
    const state = [...this.saved].find((one) => one === saved);
    if (state === undefined) throw new Error("this copy was discarded, or is another sandbox's");
    return this.exclusive(async () => {
      this.requireNoReplay();
      await this.parts.close();
      rmSync(this.folder, { recursive: true, force: true });
      cpSync(state.folder, this.folder, { recursive: true });
      this.nowMs = state.nowMs;
      this.random = new Seed(this.seed, state.seed);
      this.accounts = this.newAccounts();
      this.accounts.restore(state.treasurer);
      this.known = new Set(state.known);
      this.recorder.restore(state.run);
      this.playback = state.playback === undefined ? undefined : Playback.from(state.playback);
      this.downUntilMs = state.downUntilMs;
      await this.open();
      if (this.downUntilMs === undefined) this.noteReopened();
      this.markets.restore(state.markets);
    });
  }

  /** What the run of each trader was worth so far. */
  report(): Promise<RunReport> {
    return this.exclusive(async () => {
      const { seed, startMs, nowMs, recorder, parts } = this;
      await parts.countRefusals();
      return reportOf({ seed, startMs, nowMs, venue: parts.venue, recorder });
    });
  }

  /**
   * SHA-256 over the records of the log so far: equal if and only if the same commands were logged in the
   * same order.
   */
  logHash(): Promise<string> {
    return this.exclusive(async () => {
      const hash = createHash("sha256");
      const until = this.parts.venue.end.batch;
      const reader = new SegmentReader(nodeDisk, join(this.folder, "journal"), LOG_START);
      for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
        for (const record of batch.records) hash.update(record);
      }
      reader.close();
      return hash.digest("hex");
    });
  }

  /**
   * Closes clients, sockets and port; removes the data, unless a folder was given for them. Calls that wait
   * for time to pass reject. Rejects at its end if the sandbox had failed.
   */
  stop(): Promise<void> {
    this.stopping ??= this.stopOnce();
    return this.stopping;
  }

  private async stopOnce(): Promise<void> {
    const failed = this.ended;
    this.end(new SandboxStopped());
    await this.controlServer?.close();
    await this.last;
    for (const client of this.clients) client.close();
    try {
      await this.runs?.close();
    } finally {
      this.runs = undefined;
      for (const saved of [...this.saved]) saved.discard();
      if (this.options.folder === undefined) rmSync(this.folder, { recursive: true, force: true });
    }
    if (failed !== undefined) throw failed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Of a part that nobody called: every call says it from now on. */
  private fail(error: unknown): void {
    const reason = error instanceof Error ? error : new Error(String(error));
    if (this.ended === undefined) this.failure.resolve(reason);
    this.end(reason);
  }

  /** No time passes from now on, so what waits for that ends. */
  private end(reason: Error): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    this.clock?.stop();
    this.playback?.fail(reason);
    this.replaying?.fail(reason);
    this.reopening?.reject(reason);
  }

  private get parts(): Parts {
    if (this.runs === undefined) throw this.ended ?? new SandboxStopped();
    return this.runs;
  }

  /** Resolves once it is open again, which happens as the venue's time passes. */
  private async restartGateway(downMs: number): Promise<void> {
    await this.exclusive(() => this.closeGateway(downMs));
    const { reopening } = this;
    if (this.isManual) {
      await this.exclusive(async () => {
        const { downUntilMs = this.nowMs } = this;
        await this.step(Math.ceil((downUntilMs - this.nowMs) / TICK_MS));
      });
    }
    await reopening?.promise;
  }

  /** Until the end of the longest restart, where several overlap. */
  private async closeGateway(downMs: number): Promise<void> {
    await this.parts.closeGateway();
    this.downUntilMs = Math.max(this.downUntilMs ?? 0, this.nowMs + downMs);
    this.reopening ??= new Deferred<void>();
    // A scenario waits for nothing.
    this.reopening.promise.catch(() => undefined);
    await this.reopenIfDue();
  }

  private async reopenIfDue(): Promise<void> {
    if (this.downUntilMs === undefined || this.nowMs < this.downUntilMs) return;
    await this.openGateway();
    this.downUntilMs = undefined;
    this.noteReopened();
  }

  private noteReopened(): void {
    this.reopening?.resolve();
    this.reopening = undefined;
  }

  private async openGateway(): Promise<void> {
    await this.parts.openGateway(this.port);
    this.port = this.parts.gateway.port;
  }

  /** What a scenario acts on, within a step. */
  private get stage(): Stage {
    const { nowMs, markets, planned } = this;
    return {
      nowMs,
      markets,
      faults: planned,
      dropSockets: () => {
        if (this.downUntilMs === undefined) this.parts.gateway.streams.cut();
      },
      restartGateway: (downMs) => this.closeGateway(downMs),
      restartVenue: async () => {
        await this.parts.close();
        await this.open();
      },
    };
  }

  private async open(): Promise<void> {
    this.runs = await openParts({
      directory: this.folder,
      seed: this.random,
      markets: this.markets.definitions,
      parameters: this.options.parameters ?? {},
      nowMs: () => this.nowMs,
      hasLimits: this.options.limits ?? false,
      faults: this.planned,
      recorder: this.recorder,
      granted: () => this.granting,
      page: this.options.page,
      control: this.control,
      onFault: (error) => this.fail(error),
    });
    void this.runs.venue.failed.then((error) => this.fail(error));
    this.markets.indexAgain();
    if (this.downUntilMs === undefined) await this.openGateway();
    this.runs.venue.observe({
      onCommand: (applied) => {
        const { command } = applied;
        // The sandbox's own accounts sign in with a nonce of its own making.
        const isOwn = command.kind === "OpenSession" && command.siweNonce.startsWith(OWN_NONCE);
        this.recorder.onCommand(applied, isOwn);
        this.replaying?.onCommand();
        if (command.kind === "OpenSession" && !isOwn) this.grantTo(command.address);
      },
    });
  }

  /** Credits accounts that sign in for the first time; the sign-in is answered once that is done. */
  private grantTo(address: string): void {
    const { grant = 0 } = this.options;
    if (grant === 0 || this.known.has(address)) return;
    this.known.add(address);
    this.granting = this.fund(address, grant);
    this.granting.catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      this.fail(new Error(`a grant of ${grant} dollars: ${why}`, { cause: error }));
    });
  }

  /** Follows the machine's clock from now on, or stands still. */
  private follow(time: SandboxTime): void {
    this.requireRunning();
    this.clock?.stop();
    this.clock = undefined;
    this.timesSet++;
    if (time === "manual") return;
    this.clock = new FollowedClock(
      time === "real" ? 1 : time.speed,
      (ticks, goesOn) => this.exclusive(() => this.step(ticks, goesOn)),
      (error) => this.fail(error),
    );
  }

  /** One call after the other. */
  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(async () => {
      this.requireRunning();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NotApplied)) throw error;
        // The log has ended; the venue says why in this turn.
        await setImmediate();
        throw this.ended ?? error;
      }
    });
    this.last = done.catch(() => undefined);
    return done;
  }

  /** Resolves with how many ticks have passed: all of them, unless `goesOn` says otherwise before. */
  private async step(ticks: number, goesOn: () => boolean = () => true): Promise<number> {
    let done = 0;
    while (done < ticks && goesOn()) {
      // A year has 158 million ticks.
      this.requireRunning();
      const until = Math.min(done + TICKS_PER_STEP, ticks);
      let applied: Promise<unknown> = Promise.resolve();
      for (; done < until && goesOn(); done++) {
        this.nowMs += TICK_MS;
        applied = this.execute({ kind: "Tick", slot: Math.floor(this.nowMs / TICK_MS) });
        // Awaited at the end, where a part of the step does not fail before.
        applied.catch(() => undefined);
        // Before the index of this tick: until the next one has served it, the venue refuses orders.
        await this.replaying?.follow(this.nowMs);
        await this.markets.follow(this.nowMs);
        await this.reopenIfDue();
        await this.playback?.follow(this.stage);
        this.recorder.sample(this.nowMs);
        // The log takes one tick in a batch, and what is sent in one turn is one batch.
        await undefined;
      }
      await applied;
      await setImmediate();
    }
    return done;
  }

  private newAccounts(): SandboxAccounts {
    return new SandboxAccounts(
      this.random,
      () => this.nowMs,
      (command) => this.execute(command),
    );
  }

  /** Resolves with the command's position; rejects if it was refused. */
  private async execute<K extends SandboxCommandKind>(command: SandboxCommand<K>): Promise<number> {
    const [seq, refusal] = await this.applied(command);
    if (refusal === undefined) return seq;
    throw new Error(`the sandbox's own ${command.kind} was refused: ${refusal}`);
  }

  /** The same; resolves with why, if it was refused. */
  private async attempt(command: SandboxCommand<SandboxCommandKind>) {
    const [seq, refusal] = await this.applied(command);
    return refusal === undefined ? { seq } : { refusal };
  }

  private applied<K extends SandboxCommandKind>(
    command: SandboxCommand<K>,
  ): Promise<readonly [seq: number, refusal: string | undefined]> {
    const { venue } = this.parts;
    return venue.submitted(command, NO_EVIDENCE, (applied) => {
      const outcome = venue.views.outcome(applied);
      return [
        applied.seq,
        outcome.kind === "refused" ? String(outcome.refusal) : undefined,
      ] as const;
    });
  }
}
