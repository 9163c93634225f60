/**
 * The writers of the log: each is one incarnation of a gateway, from its join to its end. Changes have
 * no undo: they are made before a command, by the batch that brings it, or as its last step.
 */
import type { CoreLeads, WriterJoined } from "../commands.js";
import { TICKS_MISSED } from "../config.js";
import { type Presence, WRITER_PLACES } from "./presence.js";

/** Ticks are not limited: no batch was accepted yet, as in tests that apply commands alone. */
export const UNLIMITED_TICKS = -1;

/** The place of those who were connected before the core led that leads now; it is at place 0. */
export const FORMER_PLACE = WRITER_PLACES - 1;

/** Why a batch is dropped. */
export type DropReason =
  /** The venue has not begun, and the batch does not begin it. */
  | "not_started"
  /** The venue has begun already. */
  | "already_started"
  /** Its counter is 0, and it is not exactly the join of its writer. */
  | "not_a_join"
  /** The writer has not joined. */
  | "writer_unknown"
  /** The writer was replaced, has left or is gone, or its join was refused. */
  | "writer_ended"
  /** The counter was applied before. */
  | "counter_passed"
  /** A batch before this one is missing. */
  | "counter_gap"
  /** It claims to lead, and is not exactly that. */
  | "not_a_claim"
  /** A core leads, and the batch is not of its epoch, nor the claim of the next one. */
  | "not_leading";

/** What a join says of its writer. */
type WriterTerms = Omit<WriterJoined, "kind" | "stampMs">;

export class Writer {
  readonly id: string;
  /** The gateway's name: of one name one writer is live. */
  readonly name: string;
  /** The oldest and the newest version of the rules that it can read. */
  readonly versions: readonly [number, number];
  readonly receiptKey: string;
  readonly certificate: string;
  /** Counter of its last batch. */
  counter = 0;
  /** Ticks in a row without a batch of its own. */
  ticksMissed = 0;
  /** Whether a batch of its own came since the last tick. */
  isHeard = true;
  /** The time that it asks for; 0: none. */
  askMs = 0;
  /** Ticks since it asked. */
  askTicks = 0;
  /** Asks of others since its last batch, by the asking writer's number. */
  readonly asksOfOthers = new Map<number, number>();

  constructor(
    /** Position of its join. */
    readonly number: number,
    terms: WriterTerms,
    /** Its place in the presence of sessions; free again after its end. */
    readonly place: number,
    private readonly presence: Presence,
  ) {
    this.id = terms.writer;
    this.name = terms.name;
    this.versions = [terms.versions[0], terms.versions[1]];
    this.receiptKey = terms.receiptKey;
    this.certificate = terms.certificate;
  }

  /** Sessions that are connected there. */
  get sessions(): number {
    return this.presence.countAt(this.place);
  }

  /** A batch of its own is a sign of life. */
  hear(): void {
    this.isHeard = true;
    this.ticksMissed = 0;
    if (this.asksOfOthers.size > 0) this.asksOfOthers.clear();
  }

  clearAsk(): void {
    this.askMs = 0;
    this.askTicks = 0;
  }
}

export class WriterBook {
  /** Live writers, in the order of joining. */
  readonly live: Writer[] = [];
  /** Ids of all that have ever joined. */
  readonly ids = new Set<string>();
  /** Id of the writer whose batch is applied; empty: none. */
  current = "";
  /** Whether that batch is the one that its writer joins with. */
  isJoining = false;
  /** Ticks that the batch may still apply. */
  ticksLeft = UNLIMITED_TICKS;
  /** Of the core that leads, the only live writer then; 0 before the first. */
  epoch = 0;
  /** Accepted ticks of the epoch, at most `TICKS_MISSED`. */
  epochTicks = 0;
  /** While connections return: dead-man's switches of this time and before are due. */
  switchesHeldMs = 0;
  private readonly byId = new Map<string, Writer>();

  constructor(private readonly presence: Presence) {}

  /** The live writer with that id. */
  get(id: string): Writer | undefined {
    return this.byId.get(id);
  }

  named(name: string): Writer | undefined {
    return this.live.find((writer) => writer.name === name);
  }

  /** The live writer whose batch is applied. */
  get writing(): Writer | undefined {
    return this.byId.get(this.current);
  }

  join(number: number, terms: WriterTerms): Writer {
    const writer = new Writer(number, terms, this.freePlace(), this.presence);
    this.live.push(writer);
    this.byId.set(writer.id, writer);
    return writer;
  }

  /** Whether the epoch is so young that edges may not have found its leader. */
  get isReturning(): boolean {
    return this.epoch > 0 && this.epochTicks < TICKS_MISSED;
  }

  /** Dead-man's switches of this time and before are due. */
  switchesDueMs(lastTickMs: number): number {
    return this.isReturning ? this.switchesHeldMs : lastTickMs;
  }

  /** The core leads; everybody who is connected may come back. */
  lead(number: number, command: CoreLeads, lastTickMs: number): void {
    if (!this.isReturning) this.switchesHeldMs = lastTickMs;
    this.presence.gather(FORMER_PLACE);
    this.live.length = 0;
    this.byId.clear();
    this.ids.clear();
    this.ids.add(command.run);
    this.isJoining = false;
    this.epoch = command.epoch;
    this.epochTicks = 0;
    this.join(number, { ...command, writer: command.run, name: command.core });
  }

  end(writer: Writer): void {
    this.live.splice(this.live.indexOf(writer), 1);
    this.byId.delete(writer.id);
    for (const other of this.live) other.asksOfOthers.delete(writer.number);
    this.presence.clear(writer.place);
  }

  /** The caller has made sure that there is one. */
  private freePlace(): number {
    const taken = new Set(this.live.map(({ place }) => place));
    let place = 0;
    while (taken.has(place)) place++;
    if (place >= WRITER_PLACES) throw new RangeError("too many writers");
    return place;
  }
}
