/**
 * One run of a gateway of the cluster: the real sequencer, replica, engine, blocks and clocks, on a
 * simulated stream and in simulated time. What its sockets are is modelled here, as the gateway does it:
 * the first and the last of a session are commands.
 */
import { type Command, TICK_MS } from "@perpgate/engine";
import { rankOf, writerOf } from "@perpgate/engine/reading";
import type { Random } from "@perpgate/protocol/random";
import {
  type Evidence,
  NO_EVIDENCE,
  Replica,
  Sequencer,
  SlotClock,
  type Submitter,
  type Unanswered,
  VenueClock,
} from "@perpgate/venue";
import {
  decodeReplicaState,
  newReplicaState,
  observe,
  type ReplicaState,
} from "@perpgate/venue/testing";
import { START_MS, START_TICKS } from "../listing.js";
import { ChainedReader } from "./chain.js";
import type { ModelStream } from "./model-stream.js";
import { SimulatedProcess } from "./process.js";
import { type Network, StreamLink } from "./stream-link.js";
import type { SimulatedTime } from "./virtual-time.js";

/** What a process finds on its disk. */
export interface Saved {
  readonly state: Uint8Array;
  readonly reader: ChainedReader;
  readonly blocks: ReadonlyMap<number, Uint8Array>;
}

interface GatewayParts {
  readonly name: string;
  readonly time: SimulatedTime;
  readonly stream: ModelStream;
  readonly network: Network;
  readonly random: Random;
  /** How far the machine's clock is ahead. */
  readonly skewMs: () => number;
  /** Whether its clock follows the log. */
  readonly followsLog: boolean;
  readonly newWriter: () => string;
  readonly saved: Saved | undefined;
  /** The log has ended its writer. */
  readonly onLost: () => void;
  /** The process has failed and ended. */
  readonly onExit: (error: Error) => void;
}

export class GatewayProcess extends SimulatedProcess {
  readonly state: ReplicaState;
  readonly link: StreamLink;
  readonly sequencer: Sequencer;
  /** Hashes by number. */
  readonly blocks: Map<number, Uint8Array>;
  /** Sockets of each session; their tokens are the objects. */
  readonly sockets = new Map<number, Set<object>>();
  /** Called when it is killed. */
  readonly onKilled = new Set<() => void>();
  /** How often the log has ended its writer. */
  losses = 0;
  private readonly openClock: () => VenueClock;
  private clock: VenueClock;
  private slots: SlotClock | undefined;

  constructor(readonly parts: GatewayParts) {
    super(parts.time);
    const { saved, time, stream, network, random } = parts;
    this.state =
      saved === undefined ? newReplicaState([3, 4]) : decodeReplicaState(saved.state, [5, 6]);
    this.blocks = new Map(saved?.blocks);
    const { engine } = this.state;
    const replica = new Replica(engine, [
      {
        onCommand: (applied) => {
          const sealed = observe(this.state, applied);
          if (sealed !== null) this.blocks.set(sealed.number, sealed.hash);
        },
      },
    ]);
    const reader = saved?.reader.copy() ?? new ChainedReader();
    this.link = new StreamLink(this, stream, network, random, reader, {
      lastBlock: () => {
        const { number, parentHash } = this.state.blocks.open();
        return { number: number - 1, hash: parentHash };
      },
      blockHash: (number) => this.blocks.get(number),
      isLive: (writer) => writerOf(engine.state, writer) !== undefined,
    });
    const wall = (): number => START_MS + Math.floor(time.nowMs) + parts.skewMs();
    const monotonic = (): number => time.nowMs;
    this.openClock = () => {
      const startMs = Math.max(engine.state.timeMs, wall());
      const log = parts.followsLog ? { logMs: () => engine.state.lastTickMs } : {};
      return new VenueClock({ wall, monotonic, boot: () => undefined, ...log }, startMs);
    };
    this.clock = this.openClock();
    const identity = { name: parts.name, receiptKey: "", certificate: "" };
    const machine = {
      monotonic,
      every: (ms: number, run: () => void) => this.every(ms, run),
      after: (ms: number, run: () => void) => this.after(ms, run),
      newWriter: parts.newWriter,
    };
    const hooks = {
      onFailure: (error: Error) => this.exit(error),
      atPublish: () => this.slots?.due() ?? [],
      nowMs: () => this.clock.nowMs(),
      onWriterLost: () => this.loseSockets(),
    };
    this.sequencer = new Sequencer(this.link, replica, () => identity, hooks, machine);
  }

  get seq(): number {
    return this.state.engine.seq;
  }

  nowMs(): number {
    return this.clock.nowMs();
  }

  /** Reads the log to its end, joins, ticks. */
  async start(): Promise<void> {
    await this.sequencer.start({ batch: 0, record: 0 });
    // The log's time is known now.
    this.clock = this.openClock();
    await this.sequencer.join();
    this.slots = new SlotClock({
      clock: this.clock,
      monotonic: () => this.time.nowMs,
      state: this.state.engine.state,
      writer: () => this.sequencer.writer,
      mayLeapAlone: () => false,
      wake: () => this.sequencer.publishSoon(),
    });
    this.wake();
  }

  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.link.end();
    for (const onKilled of [...this.onKilled]) onKilled();
    this.sockets.clear();
  }

  /** SIGTERM: ends the writer in the log first. */
  async leave(): Promise<void> {
    this.slots = undefined;
    await this.sequencer.close();
    this.kill();
  }

  submit(command: Command, evidence: Evidence, submitter: Submitter): void {
    this.sequencer.submit(command, evidence, submitter);
  }

  /** A client's socket; `onAnswer` gets whether the session is connected; never called if the process dies. */
  connect(session: number, socket: object, onAnswer: (isConnected: boolean) => void): void {
    const known = this.sockets.get(session);
    if (known !== undefined) {
      // The first one's command is before anything that this one sends.
      known.add(socket);
      onAnswer(true);
      return;
    }
    const sockets = new Set([socket]);
    this.sockets.set(session, sockets);
    const { losses } = this;
    this.presence("SessionConnected", session, (isApplied, why) => {
      if (!isApplied && this.sockets.get(session) === sockets) this.sockets.delete(session);
      // The log may have it later.
      if (why === "outcome_unknown") this.reportGoneSoon(session, losses);
      onAnswer(isApplied && this.sockets.get(session) === sockets);
    });
  }

  disconnect(session: number, socket: object): void {
    const sockets = this.sockets.get(session);
    if (sockets?.delete(socket) !== true || sockets.size > 0) return;
    this.sockets.delete(session);
    this.reportGone(session, this.losses);
  }

  /** Until it is in the log, or the log has ended the writer, or the session has a socket again. */
  private reportGone(session: number, losses: number): void {
    this.presence("SessionDisconnected", session, (isApplied) => {
      if (!isApplied) this.reportGoneSoon(session, losses);
    });
  }

  private reportGoneSoon(session: number, losses: number): void {
    if (this.losses !== losses || this.sockets.has(session)) return;
    this.after(100, () => {
      if (this.losses === losses && !this.sockets.has(session)) this.reportGone(session, losses);
    });
  }

  private presence(
    kind: "SessionConnected" | "SessionDisconnected",
    session: number,
    onAnswer: (isApplied: boolean, why: Unanswered | undefined) => void,
  ): void {
    const command = { kind, stampMs: this.nowMs(), session };
    this.submit(command, NO_EVIDENCE, (applied, why) => {
      if (applied === null) onAnswer(false, why);
      else
        onAnswer(
          applied.events.decode().every(({ kind }) => kind !== "CommandRefused"),
          undefined,
        );
    });
  }

  private loseSockets(): void {
    this.losses++;
    this.parts.onLost();
    this.sockets.clear();
  }

  private exit(error: Error): void {
    if (!this.isAlive) return;
    this.kill();
    this.parts.onExit(error);
  }

  private wake(): void {
    const { random } = this.parts;
    this.index(random);
    this.sequencer.publishSoon();
    this.after(TICK_MS - (this.nowMs() % TICK_MS), () => {
      if (this.slots !== undefined) this.wake();
    });
  }

  /** The first writer proposes the index; others sometimes do, too. */
  private index(random: Random): void {
    const { state } = this.state.engine;
    if (rankOf(state, this.sequencer.writer) !== 0 && !random.chance(0.05)) return;
    const market = random.below(START_TICKS.length);
    const indexTicks = Math.round(START_TICKS[market]! * (1 + 0.01 * (random.next() - 0.5)));
    const stampMs = this.nowMs();
    const slot = Math.floor(stampMs / TICK_MS);
    this.submit(
      { kind: "UpdateIndex", stampMs, market, indexTicks, slot },
      NO_EVIDENCE,
      () => undefined,
    );
  }
}
