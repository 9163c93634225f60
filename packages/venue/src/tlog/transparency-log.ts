/**
 * The transparency log: signs a checkpoint over the sealed blocks now and then, collects the cosignatures
 * of witnesses, and publishes it. It never delays an order: everything happens between blocks, one
 * checkpoint at a time, and a witness that does not answer is left out.
 *
 * Each round:
 *
 *   1. the tree at the size of the last signed checkpoint must have that checkpoint's root
 *   2. sign the tree's present size and root
 *   3. make that durable: from now on nothing else may be signed for any size up to it
 *   4. ask the witnesses, each with a time-out
 *   5. publish, with the cosignatures
 *
 * After a start each round submits the last durable checkpoint once more and signs nothing new, or a
 * checkpoint over nothing if there is none, until a witness answers: so one that has seen more than this
 * folder remembers is found before anything is signed. If none answers for `witnessWaitMs`, signing begins
 * without. A conflict ends signing for good; trading goes on, and the last published checkpoint that nothing
 * contradicts is served.
 *
 * With `required` witnesses a checkpoint is published only with that many cosignatures.
 *
 * Of the gateways of one venue one signs and announces what it publishes; the others take over what agrees
 * with their own blocks, serve it, and must continue it when their turn to sign comes.
 */
import {
  type Checkpoint,
  checkCosignatures,
  checkpointText,
  equalBytes,
  type NoteKey,
  noteKeyText,
  openCheckpoint,
  parseNote,
  signatureLine,
  signaturesBy,
} from "@perpgate/protocol/receipts";
import { type LogKey, signWith } from "../receipts/log-key.js";
import { verifyEd25519Now } from "../receipts/verify-ed25519.js";
import { ConfigRefused } from "../venue-errors.js";
import type { VenueLogger } from "../venue-options.js";
import type { BlockTree } from "./block-tree.js";
import type { CheckpointStore } from "./checkpoint-store.js";
import type { PublishedNotes } from "./published-notes.js";
import type { WitnessSetting } from "./witness.js";
import { type WitnessCounts, WitnessPanel } from "./witness-panel.js";

interface TransparencyOptions {
  readonly logKey: LogKey;
  /** Keys that this one succeeded, whose checkpoints it continues; default: none. */
  readonly earlierKeys?: readonly NoteKey[];
  readonly witnesses: readonly WitnessSetting[];
  /** Cosignatures that a checkpoint needs before it is published; default: none. */
  readonly required?: number;
  /** Milliseconds between two checkpoints, if blocks were sealed. */
  readonly intervalMs: number;
  /** Milliseconds after a start in which nothing is signed unless a witness has answered. */
  readonly witnessWaitMs: number;
  readonly logger: VenueLogger;
  /** Whether this process signs; others of one venue only publish what they know. Default: always. */
  readonly isSigner?: () => boolean;
  /** Gives the published note to the other gateways, again and again, since one may have missed it. */
  readonly announce?: (note: string) => void;
  /**
   * Resolves once every block is applied that another gateway had signed before the call. Undefined if no
   * other gateway signs blocks of this log.
   */
  readonly caughtUp?: () => Promise<void>;
  /** Called with each published checkpoint. */
  readonly onPublished?: (published: Published) => void;
}

/** A checkpoint as it is served. */
export interface Published extends Checkpoint {
  /** The signed note, with the cosignatures so far. */
  readonly note: string;
  /** Names of the witnesses that cosigned it. */
  readonly witnesses: readonly string[];
  /** Milliseconds from the log's signature to the last cosignature; null without one. */
  readonly cosignedMs: number | null;
}

/** How many checkpoints reached a stage since the start, and when the last did. */
class StageCount {
  count = 0;
  /** Unix milliseconds; null before the first. */
  lastAt: number | null = null;
  /** Blocks of the last. */
  size = 0;

  note(size: number): void {
    this.count++;
    this.lastAt = Date.now();
    this.size = size;
  }
}

interface Signed extends Checkpoint {
  readonly note: string;
}

/** At most, between two rounds that wait for a witness's first answer. */
const PROBE_MS = 1_000;

export class TransparencyLog {
  /** The newest checkpoint; undefined before the first. */
  published: Published | undefined;
  /** Why nothing more is signed; null while nothing conflicts. */
  conflict: string | null = null;
  readonly stages = {
    signed: new StageCount(),
    published: new StageCount(),
    /** By one witness or more. */
    cosigned: new StageCount(),
  };
  /** The witnesses' verifier keys. */
  readonly witnessKeys: readonly string[];
  private last: Signed | undefined;
  private readonly panel: WitnessPanel;
  private readonly ending = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private round: Promise<void> = Promise.resolve();
  /** Before this time of `performance.now` nothing is signed; 0 once a witness has answered. */
  private waitsUntil = 0;
  private sizeAtStart = 0;
  private isFollowing = false;
  /** Announced by another gateway, and not taken over yet. */
  private announced: string | undefined;

  constructor(
    private readonly tree: BlockTree,
    private readonly store: CheckpointStore,
    private readonly kept: PublishedNotes,
    private readonly options: TransparencyOptions,
  ) {
    this.witnessKeys = options.witnesses.map(({ key }) => noteKeyText(key));
    this.panel = new WitnessPanel(options.witnesses, options.logger, this.ending.signal);
  }

  get witnesses(): readonly WitnessCounts[] {
    return this.panel.counts;
  }

  /** Reads the last checkpoint. @throws {ConfigRefused} if that is of another key. */
  async start(): Promise<void> {
    const note = this.store.read();
    if (note !== undefined) {
      const opened = await openCheckpoint(note, this.logKeys, verifyEd25519Now);
      if (typeof opened === "string") {
        throw new ConfigRefused(
          "log_key_differs",
          `the last checkpoint is not of this log key: ${opened}; ` +
            "restore the key that signed it, announce this one with perpgate succeed, " +
            "or move log-checkpoint away to begin a new log",
        );
      }
      // The same size and root, also where an earlier key has signed them.
      this.last = this.signed(opened.size, opened.root);
    }
  }

  /** Begins to sign; needs the tree of all blocks. */
  follow(): void {
    if (this.ending.signal.aborted) return;
    this.isFollowing = true;
    this.sizeAtStart = this.tree.size;
    if (!this.panel.isEmpty) this.waitsUntil = performance.now() + this.options.witnessWaitMs;
    this.round = this.begin();
    void this.round.then(() => this.schedule());
  }

  async close(): Promise<void> {
    this.ending.abort();
    clearTimeout(this.timer);
    await this.round;
  }

  /** Signs and publishes now, if there is something new. For tests and a last checkpoint at a stop. */
  async advance(): Promise<void> {
    if (!this.isFollowing) return;
    await this.round;
    this.round = this.runRound();
    await this.round;
  }

  private get waitsForWitness(): boolean {
    return performance.now() < this.waitsUntil;
  }

  private schedule(): void {
    if (this.ending.signal.aborted) return;
    const { intervalMs } = this.options;
    const pauseMs = this.waitsForWitness ? Math.min(PROBE_MS, intervalMs) : intervalMs;
    this.timer = setTimeout(() => {
      this.round = this.round.then(() => this.runRound());
      void this.round.then(() => this.schedule());
    }, pauseMs);
    this.timer.unref();
  }

  private async begin(): Promise<void> {
    const { last } = this;
    try {
      if (last !== undefined && !(await this.continues(last))) return;
      if (last !== undefined) {
        const published = await this.keptBelow(last.size + 1);
        if (published !== undefined) this.show(published);
      }
      if (!this.panel.isEmpty) await this.probe();
      else if (last !== undefined && this.isNews(last.size, 0)) await this.publish(last, [], null);
    } catch (error) {
      this.options.logger.error({ err: error }, "the transparency log could not begin");
    }
  }

  /** Compares this folder with what witnesses have seen, without a new promise about any block. */
  private async probe(): Promise<void> {
    // A sole gateway has signed nothing since the start: no witness has seen the blocks since then.
    const isSole = this.options.caughtUp === undefined;
    const blocks = () => (isSole ? this.sizeAtStart : this.tree.size);
    const isAnswered = await this.askWitnesses(this.last ?? this.sign(0), blocks);
    if (isAnswered) this.waitsUntil = 0;
  }

  private async runRound(): Promise<void> {
    try {
      await this.takeOver();
      if (this.conflict !== null) return;
      if (this.waitsForWitness) await this.probe();
      if (this.conflict !== null || this.waitsForWitness) return;
      if (this.options.isSigner?.() === false) return;
      const { size } = this.tree;
      const { last } = this;
      if (last !== undefined && !(await this.continues(last))) return;
      const { published } = this;
      const isPublished = published?.size === size && this.isOwn(published);
      if (size === 0 || (size === last?.size && isPublished)) {
        if (published !== undefined) this.options.announce?.(published.note);
        return;
      }
      const signed = size === last?.size ? last : this.sign(size);
      if (signed !== last) {
        await this.store.write(signed.note);
        this.stages.signed.note(size);
      }
      this.last = signed;
      await this.askWitnesses(signed);
    } catch (error) {
      if (this.ending.signal.aborted) return;
      this.options.logger.error({ err: error }, "a checkpoint could not be signed");
    }
  }

  /** Takes over a checkpoint that another gateway has published; checks it first. */
  adopt(note: string): Promise<void> {
    const isQueued = this.announced !== undefined;
    this.announced = note;
    if (!isQueued) this.round = this.round.then(() => this.takeOver());
    return this.round;
  }

  private async takeOver(): Promise<void> {
    const { announced } = this;
    if (announced === undefined || this.conflict !== null) return;
    try {
      const { logKey } = this.options;
      const opened = await openCheckpoint(announced, logKey, verifyEd25519Now);
      // Blocks that this gateway has not applied yet: again in the next round.
      if (typeof opened !== "string" && opened.size > this.tree.size) return;
      this.announced = undefined;
      if (typeof opened === "string" || opened.size === 0) return;
      if (!equalBytes(this.tree.rootAt(opened.size), opened.root)) {
        await this.halt(`another gateway has signed ${opened.size} other blocks`, opened.size);
        return;
      }
      const keys = this.options.witnesses.map(({ key }) => key);
      const { cosigners, invalid } = await checkCosignatures(opened.note, keys, verifyEd25519Now);
      // Clients refuse every proof under a forged cosignature.
      if (invalid.length > 0 || !this.isNews(opened.size, cosigners.length)) return;
      if (cosigners.length < this.required) return;
      // The same key and the same blocks: this is the note that the other one has signed.
      const signed = this.sign(opened.size);
      if (opened.size > (this.last?.size ?? 0)) {
        await this.store.write(signed.note);
        this.last = signed;
      }
      this.show({ ...signed, note: announced, witnesses: cosigners, cosignedMs: null });
      await this.kept.add(signed.size, announced);
    } catch (error) {
      this.options.logger.error({ err: error }, "a checkpoint could not be taken over");
    }
  }

  private isNews(size: number, witnesses: number): boolean {
    const { published } = this;
    if (published === undefined || size > published.size || !this.isOwn(published)) return true;
    return size === published.size && witnesses > published.witnesses.length;
  }

  /** Whether the tree still has the root that was signed; otherwise nothing is signed any more. */
  private async continues({ size: signed, root }: Signed): Promise<boolean> {
    const { size } = this.tree;
    if (size < signed) {
      const reason = `the last signed checkpoint covers ${signed} blocks; the log has ${size}`;
      await this.halt(reason, signed);
      return false;
    }
    if (equalBytes(this.tree.rootAt(signed), root)) return true;
    const reason = `block ${signed} and those before it differ from the last signed checkpoint`;
    await this.halt(reason, signed);
    return false;
  }

  private get logKeys(): readonly NoteKey[] {
    return [this.options.logKey, ...(this.options.earlierKeys ?? [])];
  }

  /** Not by a key that this one succeeded. */
  private isOwn({ note }: Published): boolean {
    const parsed = parseNote(note);
    return parsed !== undefined && signaturesBy(parsed, this.options.logKey).length > 0;
  }

  private get required(): number {
    return this.options.required ?? 0;
  }

  private sign(size: number): Signed {
    return this.signed(size, this.tree.rootAt(size));
  }

  private signed(size: number, root: Uint8Array): Signed {
    const { logKey } = this.options;
    const checkpoint = { origin: logKey.name, size, root };
    const text = checkpointText(checkpoint);
    const signature = signWith(logKey.privateKey, Buffer.from(text));
    return { ...checkpoint, note: `${text}\n${signatureLine(logKey, signature)}` };
  }

  /** Publishes the checkpoint unless a witness contradicts it; returns whether one answered. */
  private async askWitnesses(signed: Signed, blocks = () => this.tree.size): Promise<boolean> {
    const startedAt = performance.now();
    const { isAnswered, lines, conflict } = await this.panel.ask({
      note: signed.note,
      size: signed.size,
      blocks,
      caughtUp: this.options.caughtUp ?? (() => Promise.resolve()),
      consistencyFrom: (size) => this.tree.consistency(size, signed.size),
    });
    if (conflict !== null) await this.halt(conflict.reason, conflict.fromSize);
    else if (signed.size > 0 && this.isNews(signed.size, lines.length)) {
      const cosignedMs = lines.length === 0 ? null : performance.now() - startedAt;
      await this.publish(signed, lines, cosignedMs);
    }
    return isAnswered;
  }

  private async publish(
    signed: Signed,
    lines: readonly { readonly name: string; readonly line: string }[],
    cosignedMs: number | null,
  ): Promise<void> {
    if (lines.length < this.required) return;
    const note = signed.note + lines.map(({ line }) => line).join("");
    const witnesses = lines.map(({ name }) => name);
    this.show({ ...signed, note, witnesses, cosignedMs });
    this.options.announce?.(note);
    await this.kept.add(signed.size, note);
  }

  private show(published: Published): void {
    const { size, witnesses } = published;
    this.published = published;
    this.stages.published.note(size);
    if (witnesses.length > 0) this.stages.cosigned.note(size);
    this.options.onPublished?.(published);
  }

  /** Ends signing; what covers `fromSize` blocks or more is contradicted, and not served any more. */
  private async halt(reason: string, fromSize: number): Promise<void> {
    this.conflict = reason;
    this.options.logger.error({ reason }, "no checkpoint is signed any more");
    const size = this.published?.size ?? 0;
    if (0 < size && size < fromSize && size <= this.tree.size) return;
    this.published = await this.keptBelow(fromSize);
  }

  /** The largest checkpoint below that size which was published and which this log's blocks agree with. */
  private async keptBelow(fromSize: number): Promise<Published | undefined> {
    const witnessKeys = this.options.witnesses.map(({ key }) => key);
    for (const note of this.kept.notes) {
      const opened = await openCheckpoint(note, this.logKeys, verifyEd25519Now);
      if (typeof opened === "string" || opened.size >= fromSize) continue;
      const { origin, size, root } = opened;
      if (size > this.tree.size || !equalBytes(this.tree.rootAt(size), root)) continue;
      const { cosigners, invalid } = await checkCosignatures(
        opened.note,
        witnessKeys,
        verifyEd25519Now,
      );
      if (invalid.length > 0 || cosigners.length < this.required) continue;
      return { origin, size, root, note, witnesses: cosigners, cosignedMs: null };
    }
    return undefined;
  }
}
