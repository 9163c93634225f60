/**
 * Seeded clusters of cores on one modelled stream: slow and lossy links, publishes that arrive seconds
 * late and twice, links that are cut or half open, elections, stream leaders of before that still answer,
 * cores that are killed, stopped at any step, restarted with an older disk, wrong clocks, strangers' bytes,
 * servers that come back with an older copy and are filled again. The cores run `LogCore`, the code of the
 * real ones; only the stream, the links and the engine's rule of epochs are modelled here.
 *
 * At the end everything heals, and the log is compared with every answer.
 */

import type { Settled } from "@perpgate/journal";
import { type Batch, decodeMessage } from "@perpgate/journal";
import { MessageChain } from "../chain.js";
import { ClusterError } from "../errors.js";
import { decodeHeartbeat, encodeHeartbeat } from "../heartbeat.js";
import type { Incoming } from "../incoming.js";
import { judgeMessage } from "../judge.js";
import { HANDS_OVER_MS, LogCore } from "../log-core.js";
import { coreSubject } from "../subjects.js";
import { Dice, VirtualTime } from "./virtual-time.js";

const STREAM = "venue";
const SUBJECT = coreSubject(STREAM);
const TICK_MS = 200;
const ASK_MS = 250;
const HEARTBEAT_MS = 250;
const PULSE_MS = 50;
const READ_MS = 10;
const CLAIM = "claim ";
const WINDOW = 512;
const NO_BLOCK = { number: 0, hash: new Uint8Array(32) };
const ONE_BLOCK = { lastBlock: () => NO_BLOCK, blockHash: () => NO_BLOCK.hash };

/** What a submitted operation came to. */
export type OperationOutcome = "executed" | "not_executed" | "lost";

class ModelStream {
  messages: Incoming[] = [];
  /** Nobody leads it until then. */
  electsUntilMs = 0;
  /** A leader of before answers until then, with what it had. */
  staleUntilMs = 0;
  staleLast = 0;
  refused = 0;

  constructor(private readonly time: VirtualTime) {}

  get last(): number {
    return this.messages.length;
  }

  get hasLeader(): boolean {
    return this.time.nowMs >= this.electsUntilMs;
  }

  elect(ms: number, staleMs: number): void {
    this.staleLast = this.last;
    this.electsUntilMs = Math.max(this.electsUntilMs, this.time.nowMs + ms);
    this.staleUntilMs = this.time.nowMs + staleMs;
  }

  append(subject: string, data: Uint8Array, expectedLast?: number): void {
    if (expectedLast !== undefined && expectedLast !== this.last) {
      this.refused++;
      return;
    }
    const sequence = this.last + 1;
    this.messages.push({ sequence, subject, data });
  }
}

/** What a core's process leaves behind. */
interface Disk {
  readonly chain: readonly Uint8Array[];
  readonly state: CoreState;
}

interface CoreState {
  readonly epoch: number;
  readonly run: string;
  /** Batches that the rule of epochs has dropped. */
  readonly drops: number;
}

class CoreProcess {
  readonly log: LogCore;
  readonly chain: readonly Uint8Array[] & Uint8Array[];
  state: CoreState;
  isAlive = true;
  stoppedBy = "";
  pausedUntilMs = 0;
  /** What it sends is lost, or held, until then; what is sent to it does not arrive. */
  sendsFromMs = 0;
  receivesFromMs = 0;
  acknowledged = 0;
  private readonly values: MessageChain;
  private readonly pending: FenceOperation[] = [];
  private inFlight: FenceOperation[] = [];
  private isReading = false;
  private tickedAtMs = 0;
  private readonly stopped: (() => void)[] = [];

  constructor(
    readonly world: FenceWorld,
    readonly machine: Machine,
    readonly run: string,
    disk: Disk | undefined,
  ) {
    this.chain = [...(disk?.chain ?? [])];
    this.state = disk?.state ?? { epoch: 0, run: "", drops: 0 };
    this.values = new MessageChain(this.chain.length, this.chain.slice(-WINDOW), WINDOW);
    const { time, stream } = world;
    this.log = new LogCore(
      {
        stream: STREAM,
        core: machine.name,
        run,
        rank: machine.rank,
        versions: [3, 3],
        chain: this.values,
      },
      {
        publish: (message, expectedLast) => {
          this.send(() => stream.append(SUBJECT, message, expectedLast));
        },
        mirror: (_, record) => void this.chain.push(Uint8Array.from(record.subarray(1, 33))),
        blocks: ONE_BLOCK,
        deliver: (batch, settled) => this.deliver(batch, settled),
        leader: () => this.state,
        claim: () => {
          const counter = this.state.epoch + 1;
          return { counter, records: [Buffer.from(`${CLAIM}${counter} ${run}`)] };
        },
        isReady: () => true,
        edges: () => machine.edges,
        nowMs: () => time.nowMs,
        clockMs: () => time.nowMs + machine.skewMs,
      },
    );
    this.every(PULSE_MS, () => this.pulse());
    this.every(ASK_MS, () => this.ask());
    this.every(HEARTBEAT_MS, () => this.say());
    this.every(READ_MS, () => this.readSoon());
  }

  get isPaused(): boolean {
    return this.world.time.nowMs < this.pausedUntilMs;
  }

  disk(): Disk {
    return { chain: [...this.chain], state: this.state };
  }

  pause(ms: number): void {
    this.pausedUntilMs = Math.max(this.pausedUntilMs, this.world.time.nowMs + ms);
    this.world.time.after(ms, () => this.goOn());
  }

  resume(): void {
    this.pausedUntilMs = 0;
    this.goOn();
  }

  kill(): void {
    this.isAlive = false;
    for (const operation of [...this.pending.splice(0), ...this.inFlight.splice(0)]) {
      this.world.answer(operation, "lost", 0, this);
    }
  }

  submit(operation: FenceOperation): void {
    this.run_(() => {
      if (!this.log.leads) this.world.answer(operation, "not_executed", 0, this);
      else {
        this.pending.push(operation);
        this.flush();
      }
    });
  }

  accept(stored: Incoming): void {
    if (stored.sequence !== this.values.last + 1) return;
    this.guard(() => this.log.accept(stored));
  }

  /** As code of the process: late if it is paused, never if it is dead. */
  after(ms: number, run: () => void): void {
    this.world.time.after(ms, () => this.run_(run));
  }

  private run_(run: () => void): void {
    if (!this.isAlive) return;
    if (this.isPaused) this.stopped.push(run);
    else run();
  }

  private goOn(): void {
    if (this.isPaused) return;
    for (const run of this.stopped.splice(0)) this.run_(run);
  }

  private every(ms: number, run: () => void): void {
    this.after(ms, () => {
      run();
      this.every(ms, run);
    });
  }

  private guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      this.stoppedBy = error.message;
      this.kill();
    }
  }

  private pulse(): void {
    const { nowMs } = this.world.time;
    if (this.log.mayPropose && nowMs - this.tickedAtMs >= TICK_MS) {
      this.tickedAtMs = nowMs;
      this.flush(true);
    }
    this.log.tick();
  }

  private flush(isTick = false): void {
    if (!this.log.mayPropose || (this.pending.length === 0 && !isTick)) return;
    this.inFlight = this.pending.splice(0, 8);
    this.log.propose(this.inFlight.map(({ id }) => Buffer.from(String(id))));
  }

  private deliver({ id, records, isUnfit }: Batch, settled: Settled): void {
    const sequence = this.chain.length;
    const mine = this.inFlight.splice(0);
    const text = Buffer.from(records[0] ?? "").toString();
    const { epoch, run, drops } = this.state;
    const isClaim = text.startsWith(CLAIM);
    const isRight = isClaim ? id.counter === epoch + 1 : id.counter === epoch && id.writer === run;
    if (isUnfit === true) {
      // A stranger's bytes.
    } else if (!isRight) this.state = { epoch, run, drops: drops + 1 };
    else if (isClaim) this.state = { epoch: id.counter, run: id.writer, drops };
    for (const operation of mine) {
      if (settled === "stored") {
        this.acknowledged++;
        this.world.answer(operation, "executed", sequence, this);
      } else if (this.log.leads) this.pending.push(operation);
      else this.world.answer(operation, "not_executed", 0, this);
    }
    if (this.log.leads) {
      this.after(0, () => this.flush());
      return;
    }
    for (const operation of this.pending.splice(0)) {
      this.world.answer(operation, "not_executed", 0, this);
    }
  }

  /** On the way to the servers: lost, late, twice, or held until a leader is elected. */
  private send(arrive: () => void): void {
    const { dice, network, time, stream } = this.world;
    const arriveLater = (): void => {
      const cutMs = Math.max(0, this.sendsFromMs - time.nowMs);
      if (cutMs > 0 ? dice.chance(0.7) : dice.chance(network.lost)) return;
      const { restored } = this.world;
      const lateMs = dice.chance(network.late) ? dice.below(15_000) : 0;
      const tryIt = (): void => {
        // The connections to servers that were restored are gone, with what was in them.
        if (restored !== this.world.restored) return;
        if (stream.hasLeader) arrive();
        else if (dice.chance(0.5)) time.after(1 + dice.below(6_000), tryIt);
      };
      time.after(cutMs + lateMs + 1 + dice.below(dice.chance(network.slow) ? 500 : 4), tryIt);
    };
    arriveLater();
    if (dice.chance(network.twice)) arriveLater();
  }

  /** Reads what the servers push or answer to direct gets; stale servers simply have less. */
  private readSoon(): void {
    const { dice, network, time, stream } = this.world;
    if (this.isReading || time.nowMs < this.receivesFromMs) return;
    const next = stream.messages[this.values.last];
    if (next === undefined) return;
    this.isReading = true;
    const delay = dice.chance(network.slow) ? dice.below(400) : 1 + dice.below(3);
    const batch = stream.messages.slice(this.values.last, this.values.last + 20);
    this.after(delay, () => {
      this.isReading = false;
      for (const stored of batch) if (this.isAlive) this.accept(stored);
    });
  }

  private ask(): void {
    const { dice, network, time, stream } = this.world;
    const askedAtMs = time.nowMs;
    const sequence = this.values.last;
    const own = this.chain.at(-1);
    let isAnswered = false;
    const isCut = (): boolean => time.nowMs < Math.max(this.sendsFromMs, this.receivesFromMs);
    if (!isCut() && !dice.chance(network.lost)) {
      time.after(1 + dice.below(dice.chance(network.slow) ? 300 : 4), () => {
        const isStale = time.nowMs < stream.staleUntilMs;
        if (!stream.hasLeader && !isStale) return;
        const last = stream.hasLeader ? stream.last : stream.staleLast;
        const has = this.world.has(sequence, own, last);
        this.after(1 + dice.below(4), () => {
          if (isCut()) return;
          isAnswered = true;
          this.guard(() => this.log.answered({ sequence, has, last, askedAtMs }));
        });
      });
    }
    this.after(600, () => {
      if (!isAnswered) this.log.unanswered();
    });
  }

  private say(): void {
    const { world } = this;
    if (world.time.nowMs < this.sendsFromMs) return;
    const data = Buffer.from(encodeHeartbeat({ ...this.log.heartbeat(), server: "", release: "" }));
    for (const { process } of world.machines) {
      if (process === undefined || process === this || world.dice.chance(world.network.lost))
        continue;
      process.after(1 + world.dice.below(5), () => {
        const heartbeat = decodeHeartbeat(data);
        const isCut = world.time.nowMs < process.receivesFromMs;
        if (heartbeat !== undefined && !isCut) process.log.takeover.heard(heartbeat);
      });
    }
  }
}

export interface FenceOperation {
  readonly id: number;
}

interface Machine {
  readonly name: string;
  readonly rank: number;
  skewMs: number;
  edges: number;
  process: CoreProcess | undefined;
  /** A copy of its disk, of any age. */
  copy: Disk | undefined;
}

interface Network {
  lost: number;
  slow: number;
  late: number;
  twice: number;
}

interface FenceOptions {
  readonly cores?: number;
  readonly forMs?: number;
  /** Misfortunes a second. */
  readonly rate?: number;
  readonly network?: Network;
  /** Whether servers come back with an older copy at the end. */
  readonly restores?: boolean;
}

const CALM: Network = { lost: 0, slow: 0, late: 0, twice: 0 };

export class FenceWorld {
  readonly dice: Dice;
  readonly time = new VirtualTime();
  readonly stream = new ModelStream(this.time);
  readonly machines: Machine[];
  readonly network: Network;
  /** How often servers came back with an older copy. */
  restored = 0;
  readonly counts: Record<string, number> = {};
  private runs = 0;
  private operations = 0;
  private isHealing = false;
  private restoredFrom: readonly Incoming[] = [];
  private readonly executed = new Map<number, number>();
  private readonly refused = new Set<number>();

  constructor(
    seed: number,
    private readonly options: FenceOptions = {},
  ) {
    const dice = new Dice(seed);
    this.dice = dice;
    const cores = options.cores ?? dice.pick([2, 3, 3, 3, 4]);
    this.network = options.network ?? {
      lost: dice.pick([0, 0.02, 0.2]),
      slow: dice.pick([0, 0.1, 0.5]),
      late: dice.pick([0, 0.02, 0.1]),
      twice: dice.pick([0, 0.1]),
    };
    this.machines = Array.from({ length: cores }, (_, rank) => ({
      name: `core-${rank + 1}`,
      rank,
      edges: 2,
      skewMs: dice.chance(0.1) ? dice.between(-3_000, 3_000) : dice.between(-300, 300),
      process: undefined,
      copy: undefined,
    }));
  }

  run(): void {
    const { options, time, dice } = this;
    for (const machine of this.machines) this.startSoon(machine, dice.below(300));
    this.workSoon();
    if (options.rate !== 0) this.misfortuneSoon();
    time.runFor(options.forMs ?? 20_000 + dice.below(20_000));
    if (options.restores === true) this.restore();
    this.heal();
    this.audit();
  }

  /** Whether a server that has the messages up to `last` has the one with this chain at the sequence. */
  has(sequence: number, chain: Uint8Array | undefined, last: number): "same" | "other" | "none" {
    if (sequence === 0) return "same";
    if (sequence > last) return "none";
    const own = this.chainOf(sequence);
    return chain !== undefined && Buffer.compare(own, chain) === 0 ? "same" : "other";
  }

  answer(
    { id }: FenceOperation,
    outcome: OperationOutcome,
    sequence: number,
    core: CoreProcess,
  ): void {
    this.count(outcome);
    if (outcome === "not_executed") this.refused.add(id);
    if (outcome !== "executed") return;
    // Also what is read late, of what restored servers have lost.
    const histories = [this.stream.messages, this.restoredFrom];
    const isThere = histories.some((messages) => {
      const stored = messages[sequence - 1];
      return stored !== undefined && idsOf(stored).includes(id);
    });
    if (!isThere) throw new Error(`${core.machine.name}: ${id} is not in message ${sequence}`);
    this.executed.set(id, sequence);
  }

  count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  get leading(): readonly CoreProcess[] {
    return this.alive.filter(({ log, isPaused }) => log.leads && !isPaused);
  }

  get alive(): readonly CoreProcess[] {
    return this.machines.flatMap(({ process }) => (process?.isAlive === true ? [process] : []));
  }

  startSoon(machine: Machine, ms: number, disk?: Disk): void {
    this.time.after(ms, () => {
      if (machine.process?.isAlive === true) return;
      const run = (++this.runs).toString(16).padStart(32, "0");
      machine.process = new CoreProcess(this, machine, run, disk);
    });
  }

  /** An operation at any core that runs. */
  submit(): FenceOperation {
    const operation = { id: ++this.operations };
    const { alive } = this;
    if (alive.length > 0) this.dice.pick(alive).submit(operation);
    return operation;
  }

  private chains: { readonly stored: Incoming; readonly chain: Uint8Array }[] = [];

  private chainOf(sequence: number): Uint8Array {
    const { chains, stream } = this;
    let from = Math.min(chains.length, sequence);
    while (from > 0 && chains[from - 1]!.stored !== stream.messages[from - 1]) from--;
    chains.length = Math.max(from, 0);
    const values = new MessageChain(
      from,
      chains.slice(-WINDOW).map(({ chain }) => chain),
      WINDOW,
    );
    for (let at = from; at < sequence; at++) {
      const stored = stream.messages[at]!;
      chains.push({ stored, chain: Uint8Array.from(values.append(stored.subject, stored.data)) });
    }
    return chains[sequence - 1]!.chain;
  }

  private workSoon(): void {
    this.time.after(this.dice.below(60), () => {
      this.submit();
      if (!this.isHealing) this.workSoon();
    });
  }

  private misfortuneSoon(): void {
    this.time.after(this.dice.below(2_000 / (this.options.rate ?? 1)), () => {
      if (this.isHealing) return;
      this.misfortune(this.dice.pick(this.machines));
      this.misfortuneSoon();
    });
  }

  private misfortune(machine: Machine): void {
    const { dice, stream, time } = this;
    const { process } = machine;
    const kind = dice.pick([
      ...["kill", "kill", "pause", "pause", "cut", "cut", "deaf", "mute"],
      ...["edges", "elect", "copy", "clock", "stranger", "hand"],
    ]);
    const ms = dice.pick([200, 1_000, 3_000, 8_000]);
    this.count(kind);
    if (kind === "elect") stream.elect(ms, dice.chance(0.3) ? dice.below(ms) : 0);
    if (kind === "stranger")
      stream.append(dice.pick([SUBJECT, `${STREAM}.log.x`]), Buffer.from("?"));
    if (kind === "edges") machine.edges = dice.below(4);
    if (kind === "clock") machine.skewMs += dice.between(-2_500, 2_500);
    if (process?.isAlive !== true) return;
    if (kind === "pause") process.pause(ms);
    if (kind === "cut" || kind === "deaf") process.receivesFromMs = time.nowMs + ms;
    if (kind === "cut" || kind === "mute") process.sendsFromMs = time.nowMs + ms;
    if (kind === "copy") machine.copy = process.disk();
    if (kind === "hand") process.log.handOver();
    if (kind !== "kill") return;
    const disk = process.disk();
    process.kill();
    this.startSoon(machine, dice.below(ms), dice.pick([disk, disk, machine.copy, undefined]));
  }

  /**
   * The servers stop, and come back with an older copy. Mostly only one core has seen what is lost, sleeps
   * meanwhile, and wakes when others, which have not seen it, fill the places again.
   */
  private restore(): void {
    const { dice, stream, time, machines } = this;
    const leader = machines.find(
      ({ process }) => process !== undefined && this.leading.includes(process),
    );
    const sleeper = leader ?? dice.pick(machines);
    const sleepsMs = dice.between(3_500, 14_000);
    stream.elect(2_500, 0);
    time.runFor(dice.below(500));
    sleeper.process?.pause(sleepsMs);
    time.runFor(2_000);
    this.restored++;
    this.restoredFrom = stream.messages;
    stream.messages = stream.messages.slice(0, Math.max(1, stream.last - 1 - dice.below(20)));
    stream.staleUntilMs = 0;
    const isSeen = dice.chance(0.2);
    for (const machine of machines) {
      if (machine === sleeper || isSeen) continue;
      machine.process?.kill();
      machine.copy = undefined;
      this.startSoon(machine, 0);
    }
    time.runFor(25_000);
  }

  private heal(): void {
    const { machines, network, stream, time } = this;
    this.isHealing = true;
    Object.assign(network, CALM);
    stream.electsUntilMs = time.nowMs;
    for (const machine of machines) {
      machine.skewMs = 0;
      const { process } = machine;
      if (process === undefined) continue;
      process.sendsFromMs = 0;
      process.receivesFromMs = 0;
      process.resume();
    }
    // Publishes that were held arrive, and starts that were due happen.
    time.runFor(16_000);
    for (const machine of machines) if (!this.restored) this.startSoon(machine, 0);
    time.runFor(6_000);
  }

  private audit(): void {
    const { stream, executed, refused } = this;
    const at = new Map<number, number>();
    const chain = new MessageChain(0, [], WINDOW);
    for (const stored of stream.messages) {
      const { verdict, problem } = judgeMessage(STREAM, chain, stored, ONE_BLOCK);
      if (verdict === "chain") throw new Error(`message ${stored.sequence} forks: ${problem}`);
      chain.append(stored.subject, stored.data);
      for (const id of idsOf(stored)) {
        if (at.has(id)) throw new Error(`${id} is in ${at.get(id)} and ${stored.sequence}`);
        at.set(id, stored.sequence);
      }
    }
    const lost = new Set(this.restoredFrom.slice(0).flatMap(idsOf));
    for (const [id, sequence] of executed) {
      // What restored servers have lost is void.
      if (at.get(id) !== sequence && !(this.restored && lost.has(id))) {
        throw new Error(`${id} was executed at ${sequence}, and is at ${at.get(id)}`);
      }
    }
    for (const id of refused) {
      if (at.has(id)) throw new Error(`${id} was refused, and is at ${at.get(id)}`);
    }
    for (const { process, name } of this.machines) {
      if (process === undefined) continue;
      if (process.state.drops > 0) throw new Error(`${name}: a batch of another epoch was stored`);
      if (process.stoppedBy !== "" && !this.restored) throw new Error(process.stoppedBy);
      if (process.stoppedBy !== "") this.count("stopped");
    }
    if (this.restored) return;
    const { leading, alive } = this;
    if (alive.length !== this.machines.length) throw new Error("a core does not run");
    if (leading.length !== 1) {
      const why = alive.map(({ log }) => log.takeover.obstacle ?? "none");
      throw new Error(`${leading.length} cores lead; against a claim: ${why}`);
    }
    const [leader] = leading;
    const before = leader!.acknowledged;
    for (let i = 0; i < 40; i++) this.submit();
    this.time.runFor(1_000);
    if (leader!.acknowledged === before) throw new Error("the leader acknowledges nothing");
    for (const { chain, machine } of alive) {
      const own = chain.at(-1);
      if (this.has(chain.length, own, stream.last) !== "same" || chain.length < stream.last - 2) {
        throw new Error(`${machine.name} has another log`);
      }
    }
  }
}

function idsOf({ data }: Incoming): number[] {
  const records = decodeMessage(data)?.records ?? [];
  return records.map((record) => Number(Buffer.from(record).toString())).filter(Number.isFinite);
}

/** How long until another core acknowledges, after the leader was killed or stopped without a warning. */
export function takeoverMs(seed: number, how: "killed" | "stopped" | "handed over"): number {
  const world = new FenceWorld(seed, { cores: 3, rate: 0, network: CALM, forMs: 0 });
  for (const machine of world.machines) {
    machine.skewMs = 0;
    world.startSoon(machine, 0);
  }
  world.time.runFor(6_000 + world.dice.below(1_000));
  const [leader] = world.leading;
  if (leader === undefined) throw new Error("nobody leads");
  if (how === "killed") leader.kill();
  else if (how === "stopped") leader.pause(60_000);
  else if (leader.log.handOver() === "") throw new Error("nobody to hand over to");
  const fromMs = world.time.nowMs;
  const done = (): boolean =>
    world.alive.some((core) => core !== leader && core.log.leads && core.acknowledged > 0);
  while (!done() && world.time.nowMs - fromMs < 20_000) {
    world.submit();
    world.time.runFor(10);
  }
  return world.time.nowMs - fromMs;
}

export const HANDOVER_MS = HANDS_OVER_MS;
