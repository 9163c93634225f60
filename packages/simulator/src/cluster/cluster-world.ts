/**
 * A seeded cluster: two to five gateways on one stream, traders, and misfortunes: a slow or lossy
 * network, publishes that arrive much later, elections, gateways that are killed, stopped, paused,
 * clocks that are wrong, servers that come back with an older copy. Everything is determined by the
 * seed. At its end everything heals, every client gets its answers, and the auditor compares.
 */
import { type Command, GENESIS_WRITER } from "@perpgate/engine";
import { encodeMessage } from "@perpgate/journal";
import { Random } from "@perpgate/protocol/random";
import { encodeRecord, listingEvidence } from "@perpgate/venue";
import { encodeReplicaState } from "@perpgate/venue/testing";
import { mustHold } from "../auditor/violation.js";
import { GENESIS, LISTED, START_MS } from "../listing.js";
import { ClusterAuditor } from "./cluster-auditor.js";
import { type ClusterOptions, drawOptions } from "./cluster-options.js";
import { ClusterTrader, type OnAnswer, type TraderWorld } from "./cluster-trader.js";
import { GatewayProcess, type Saved } from "./gateway-process.js";
import { ModelStream } from "./model-stream.js";
import { Diverged, type Network } from "./stream-link.js";
import { SimulatedTime } from "./virtual-time.js";

interface Machine {
  readonly name: string;
  skewMs: number;
  /** The furthest ahead that its clock ever was: a gateway's time does not go back. */
  mostSkewMs: number;
  process: GatewayProcess | undefined;
  saved: Saved | undefined;
  isLeaving: boolean;
}

const CALM: Network = { lost: 0, slow: 0, late: 0 };
/** Everybody has an answer by then: ten seconds in flight, and a few attempts after that. */
const HEAL_MS = 40_000;
const REST_MS = 500;
const SLEEP_MS = 11_500;
/** The longest pause, and how long a stream must be shorter than what was read of it. */
const NOTICE_MS = 12_000 + 12_000;
/** A minute each time that one writer runs alone, which takes five seconds. */
const LONE_LEAPS_MS = 5 * 60_000;

export class ClusterWorld implements TraderWorld {
  readonly random: Random;
  readonly time = new SimulatedTime();
  readonly auditor = new ClusterAuditor();
  readonly options: ClusterOptions;
  readonly stream: ModelStream;
  readonly counts = {
    kills: 0,
    pauses: 0,
    cuts: 0,
    stalls: 0,
    leaves: 0,
    saves: 0,
    clocks: 0,
    losses: 0,
    diverged: 0,
    refilled: 0,
  };
  private readonly machines: Machine[];
  private readonly traders: ClusterTrader[];
  private readonly network: Network;
  private writers = 0;
  private failure: unknown;
  private isHealing = false;
  /** The stream has lost its end: nothing new happens before it is made again. */
  private isRestored = false;
  private startsNobody = false;

  constructor(seed: number, options: Partial<ClusterOptions> = {}) {
    const random = new Random(seed, "cluster");
    this.random = random;
    const gateways = options.gateways ?? random.pick([2, 3, 3, 3, 4, 5]);
    this.options = { ...drawOptions(random, gateways), ...options };
    this.network = { ...this.options.network };
    this.stream = new ModelStream(this.time, this.options.isStrict);
    this.machines = Array.from({ length: gateways }, (_, index) => ({
      name: `gateway-${index + 1}`,
      skewMs: this.options.skewsMs[index] ?? 0,
      mostSkewMs: this.options.skewsMs[index] ?? 0,
      process: undefined,
      saved: undefined,
      isLeaving: false,
    }));
    this.traders = Array.from(
      { length: this.options.traders },
      (_, index) => new ClusterTrader(this, index + 1),
    );
  }

  async run(): Promise<void> {
    this.begin();
    for (const machine of this.machines) this.startSoon(machine, this.random.below(300));
    for (const trader of this.traders) this.actSoon(trader);
    this.misfortuneSoon();
    await this.runFor(this.options.forMs);
    if (this.options.rollsBack) await this.rollBack();
    await this.heal();
    this.auditor.audit(this.stream.messages, this.processes);
  }

  get processes(): readonly GatewayProcess[] {
    return this.machines.flatMap(({ process }) => (process === undefined ? [] : [process]));
  }

  after(ms: number, run: () => void): void {
    this.time.after(ms, run);
  }

  gateway(): GatewayProcess | undefined {
    const { process } = this.random.pick(this.machines);
    return process?.isAlive === true && process.sequencer.writer !== "" ? process : undefined;
  }

  send(gateway: GatewayProcess, command: Command, onAnswer: OnAnswer): void {
    const { auditor, time } = this;
    const attempt = auditor.attempt(command, time.nowMs, gateway);
    let isOver = false;
    const onKilled = (): void => {
      if (isOver) return;
      isOver = true;
      this.guard(() => auditor.answered(attempt, null, "lost", time.nowMs, gateway));
      time.after(1 + this.random.below(50), () => onAnswer(null, "lost"));
    };
    gateway.onKilled.add(onKilled);
    gateway.after(0, () => {
      gateway.submit(command, auditor.evidenceOf(attempt), (applied, why) => {
        gateway.onKilled.delete(onKilled);
        if (isOver) return;
        isOver = true;
        this.guard(() => auditor.answered(attempt, applied, why, time.nowMs, gateway));
        const events = applied === null ? null : applied.events.decode();
        this.guard(() => onAnswer(events, applied === null ? why : "applied"));
      });
    });
  }

  /** `cluster init`. */
  private begin(): void {
    const bytes = encodeMessage({
      writer: GENESIS_WRITER,
      counter: 0,
      claim: { seq: 0, chain: new Uint8Array(32) },
      block: { number: 0, hash: new Uint8Array(32) },
      records: [encodeRecord(GENESIS, listingEvidence(LISTED, null))],
    });
    const onAcknowledged = (): void => undefined;
    this.stream.arrive({ writer: GENESIS_WRITER, bytes, expectedLast: 0, onAcknowledged });
  }

  private startSoon(machine: Machine, ms: number): void {
    this.time.after(ms, () => this.guard(() => this.start(machine)));
  }

  private start(machine: Machine): void {
    if (machine.process?.isAlive !== true && !this.startsNobody) this.startNow(machine);
  }

  private startNow(machine: Machine): void {
    machine.isLeaving = false;
    const process = new GatewayProcess({
      name: machine.name,
      time: this.time,
      stream: this.stream,
      network: this.network,
      random: this.random,
      skewMs: () => machine.skewMs,
      followsLog: this.options.clocksFollowLog,
      newWriter: () => (++this.writers).toString(16).padStart(32, "0"),
      // A disk that lost everything, or has a copy of before.
      saved: this.random.chance(0.3) ? undefined : machine.saved,
      onLost: () => this.counts.losses++,
      onExit: (error) => this.onExit(machine, error),
    });
    machine.process = process;
    process.start().catch((error: unknown) => {
      if (process.isAlive) this.failure ??= error;
    });
  }

  private onExit(machine: Machine, error: Error): void {
    if (!(error instanceof Diverged && this.options.rollsBack)) {
      this.failure ??= error;
      return;
    }
    this.counts.diverged++;
    machine.saved = undefined;
  }

  private actSoon(trader: ClusterTrader): void {
    this.time.after(this.random.below(500), () => {
      if (this.isHealing) return;
      if (!this.isRestored) this.guard(() => trader.act());
      this.actSoon(trader);
    });
  }

  private misfortuneSoon(): void {
    const { random } = this;
    this.time.after(random.below(2_000 / this.options.rate), () => {
      if (this.isHealing || this.startsNobody) return;
      this.guard(() => this.misfortune(random.pick(this.machines)));
      this.misfortuneSoon();
    });
  }

  private misfortune(machine: Machine): void {
    const { random, counts } = this;
    const { process } = machine;
    const kind = random.weighted({
      kill: 4,
      pause: 4,
      cut: 4,
      stall: 2,
      leave: 1,
      save: 3,
      clock: 1,
    });
    if (kind === "stall") {
      counts.stalls++;
      this.stream.stall(random.pick([200, 2_000, 8_000, 11_500]));
    }
    if (process?.isAlive !== true || machine.isLeaving) return;
    if (kind === "save") {
      counts.saves++;
      machine.saved = save(process);
    }
    if (kind === "clock") {
      counts.clocks++;
      machine.skewMs += random.int(-2_500, 2_500);
      machine.mostSkewMs = Math.max(machine.mostSkewMs, machine.skewMs);
    }
    if (kind === "pause") {
      counts.pauses++;
      process.pause(random.pick([300, 3_000, 7_000, 11_500]));
    }
    if (kind === "cut") {
      counts.cuts++;
      process.link.cut(random.pick([500, 3_000, 7_000, 11_500]));
    }
    if (kind === "kill") {
      counts.kills++;
      process.kill();
      this.startSoon(machine, random.below(random.pick([300, 1_000, 8_000])));
    }
    if (kind === "leave") {
      counts.leaves++;
      machine.isLeaving = true;
      void process.leave().then(() => this.startSoon(machine, random.below(1_000)));
    }
  }

  /**
   * The servers stop, and come back with an older copy. Everybody who had read more must notice and
   * acknowledge nothing; then the stream is made again from the longest mirror.
   */
  private async rollBack(): Promise<void> {
    const { stream, random, machines } = this;
    stream.stall(1_500);
    await this.runFor(1_400);
    this.startsNobody = true;
    const before = [...stream.messages];
    const to = Math.max(1, stream.last - 1 - random.below(30));
    const ahead = new Set<GatewayProcess>();
    for (const { process } of machines) {
      if (process?.isAlive === true && process.link.reader.last > to) ahead.add(process);
    }
    stream.rollBack(to);
    this.auditor.fork((process) => ahead.has(process), { after: to, upTo: before.length });
    this.fillAgain();
    await this.runFor(1_000);
    this.isRestored = true;
    await this.runFor(NOTICE_MS);
    for (const process of ahead) {
      const { name } = process.parts;
      mustHold(
        !process.isAlive,
        () => `${name} did not notice that the stream is not the one it has read`,
      );
    }
    for (const { process } of machines) process?.kill();
    for (const machine of machines) machine.saved = undefined;
    this.auditor.endFork();
    this.isRestored = false;
    this.startsNobody = false;
    stream.replace(before);
    for (const machine of machines) this.startSoon(machine, random.below(300));
  }

  /**
   * One gateway sleeps while another, which has lost its disk, fills the places again that the stream
   * has lost: when it wakes, the stream is longer than what it has read, and different.
   */
  private fillAgain(): void {
    const { random, machines, counts } = this;
    const sleeper = random.pick(machines);
    const other = random.pick(machines);
    if (sleeper === other || sleeper.process?.isAlive !== true) return;
    counts.refilled++;
    sleeper.process.pause(SLEEP_MS);
    other.process?.kill();
    other.saved = undefined;
    this.startNow(other);
  }

  private async heal(): Promise<void> {
    this.isHealing = true;
    Object.assign(this.network, CALM);
    const isPatient = this.random.chance(0.4);
    if (!isPatient) this.stream.endStall();
    for (const machine of this.machines) {
      const { process } = machine;
      if (!isPatient) process?.resume();
      if (!isPatient) process?.link.mend();
      this.startSoon(machine, 0);
    }
    await this.runFor(HEAL_MS, () => this.isSettled());
    for (const { process, name } of this.machines) {
      mustHold(process?.isAlive === true, () => `${name} is not running`);
      mustHold(process.sequencer.isLive, () => `${name} has no writer`);
    }
    const open = this.traders.reduce((sum, trader) => sum + trader.open, 0);
    mustHold(open === 0, () => `${open} orders never got an answer`);
    mustHold(this.isTimely(), () => this.timeText());
    for (const process of this.processes) process.resume();
    this.stream.isClosed = true;
    await this.runFor(REST_MS);
    if (!this.options.rollsBack) this.checkRefused();
    for (const { process } of this.machines) process?.kill();
  }

  /** What a restored stream has lost is executed again, so this holds for the others only. */
  private checkRefused(): void {
    const { sessions } = this.machines[0]!.process!.state.engine.state;
    for (const { session, nonce } of this.traders.flatMap(({ refused }) => refused)) {
      const isExecuted = sessions.orderOf(session, nonce) !== 0;
      mustHold(!isExecuted, () => `nonce ${nonce} of ${session} was refused, and executed later`);
    }
  }

  private isSettled(): boolean {
    return (
      this.traders.every(({ open }) => open === 0) &&
      this.auditor.waiting === 0 &&
      this.machines.every(isServing) &&
      this.isTimely()
    );
  }

  /**
   * The log's time is near the gateways' own of a majority, and not ahead of the machines' clocks, which
   * do not follow the log: of any of them, and, but for what a writer alone may leap, of the right ones.
   * All but one are right within seconds.
   */
  private isTimely(): boolean {
    const { timeMs } = this.machines[0]!.process!.state.engine.state;
    const clocks = this.clocks();
    const least = clocks[Math.floor((clocks.length - 1) / 2)]!;
    const furthest = Math.max(...this.machines.map(({ mostSkewMs }) => mostSkewMs));
    const most = START_MS + this.time.nowMs + Math.min(furthest, LONE_LEAPS_MS);
    return timeMs >= least - 1_500 && timeMs <= most + 1_500;
  }

  private timeText(): string {
    const { timeMs } = this.machines[0]!.process!.state.engine.state;
    const clocks = this.clocks().map((clock) => clock - START_MS);
    const walls = this.machines.map(({ mostSkewMs }) => this.time.nowMs + mostSkewMs);
    return `the log's time is ${timeMs - START_MS}, the clocks ${clocks}, the machines' ${walls}`;
  }

  private clocks(): number[] {
    return this.machines.map(({ process }) => process!.nowMs()).sort((a, b) => a - b);
  }

  private async runFor(ms: number, isDone: () => boolean = () => false): Promise<void> {
    await this.time.runFor(ms, () => this.failure !== undefined || isDone());
    if (this.failure !== undefined) throw this.failure;
  }

  private guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.failure ??= error;
    }
  }
}

function isServing({ process, isLeaving }: Machine): boolean {
  return process?.isAlive === true && process.sequencer.isLive && !isLeaving;
}

function save(process: GatewayProcess): Saved {
  const { state, link, blocks } = process;
  const bytes = Buffer.concat(encodeReplicaState(state, state.engine.snapshot()));
  return { state: bytes, reader: link.reader.copy(), blocks: new Map(blocks) };
}
