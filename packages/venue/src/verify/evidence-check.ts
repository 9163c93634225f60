/**
 * Checks every authorisation from the log alone: the signature of an order, an amendment, a change of
 * margin or a batch by its session's key, a session's key by the wallet that signed in, a rotation by the
 * old key if it signed, the end of another session by a key of the same account, a vote by its attestor's
 * key. A contract wallet can be asked only on its chain: such sign-ins count as not re-checkable.
 *
 * Checks run in the thread pool while the replay continues; the fault with the lowest seq counts.
 */
import type {
  AmendOrder,
  ChangeMargin,
  CloseSession,
  OpenSession,
  PlaceOrder,
  RotateSession,
} from "@perpgate/engine";
import type { Listing } from "../listing/listing.js";
import type { Evidence } from "../record/record.js";
import type { ReplicaState } from "../recovery/replica-state.js";
import type { Applied } from "../replica.js";
import { BatchCheck } from "./batch-check.js";
import {
  fingerprintOf,
  isSignedBy,
  isSignedExactly,
  type VerifyingKey,
  verifyingKey,
} from "./key-signature.js";
import { type BatchCommand, bodyFault } from "./order-body.js";
import { fingerprintOfHex, rotationFault } from "./rotation-body.js";
import { type OwnedSession, SessionOwners } from "./session-owners.js";
import { voteFault } from "./vote-check.js";

/** The address that signed a message (EIP-191), lower-case hex; null if no key can have signed it. */
export type RecoverWallet = (message: Uint8Array, signature: Uint8Array) => Promise<string | null>;

export interface Fault {
  /** The seq of the command, under its name in the JSON report. */
  readonly position: number;
  readonly reason: string;
}

const BOUND_KEY = /^- urn:perpgate:session\?(?:[^\n]*&)?key=(?:0x)?([0-9a-f]+)/im;
const MAX_IN_FLIGHT = 256;

export class EvidenceCheck {
  orders = 0;
  sessions = 0;
  votes = 0;
  /** Seqs of sign-ins by what can only be a contract wallet. */
  readonly notRecheckable: number[] = [];
  private fault: Fault | undefined;
  private readonly batches = new BatchCheck();
  private readonly owners = new SessionOwners();
  private readonly keys = new Map<string, VerifyingKey>();
  /** Sessions whose sign-in message names the key: a rotation needs the old key's signature. */
  private readonly bound = new Set<number>();
  private readonly inFlight = new Set<Promise<void>>();

  constructor(private readonly recover: RecoverWallet) {}

  /** The fault with the lowest seq so far. */
  get firstFault(): Fault | undefined {
    return this.fault;
  }

  /** Adds a session from before the log's start, and its key if the bytes are known. */
  addSession(session: OwnedSession, raw: Uint8Array | undefined): void {
    this.owners.add(session);
    if (raw !== undefined) this.addVerified(raw, session.key);
  }

  /** Starts the checks of a command. The evidence's bytes must stay valid. */
  onCommand(
    { command, evidence, seq }: Applied,
    { listing, engine }: Pick<ReplicaState, "listing" | "engine">,
  ): void {
    const isOperation = "batch" in command && command.batch !== undefined;
    if (!isOperation) {
      const cut = this.batches.onOther();
      if (cut !== null) this.report(seq, cut);
    }
    switch (command.kind) {
      case "PlaceOrder":
      case "AmendOrder":
      case "ChangeMargin":
        if (isOperation) this.onOperation(seq, command, evidence, listing);
        else this.onSigned(seq, command, evidence, listing);
        return;
      case "CancelOrder":
        // A cancel of its own is authorised by the session's token alone.
        if (isOperation) this.onOperation(seq, command, evidence, listing);
        return;
      case "OpenSession":
        this.onSignIn(seq, command, evidence, engine.state.sessions.get(seq));
        return;
      case "RotateSession":
        this.owners.addKey(command.session, command.newKey);
        this.onRotation(seq, command, evidence);
        return;
      case "CloseSession":
        // A session that ends itself is authorised by its token alone.
        if (evidence.signature.length > 0) this.onEnded(seq, command, evidence);
        return;
      case "AttestDeposit": {
        const deposit = engine.state.deposits.byId.get(command.depositId);
        const difference = voteFault(command, evidence, listing, deposit);
        this.onVote(seq, difference, evidence);
        return;
      }
    }
  }

  /** Waits until at most `atMost` checks are in flight. */
  async settle(atMost = MAX_IN_FLIGHT): Promise<void> {
    while (this.inFlight.size > atMost) await Promise.race(this.inFlight);
  }

  private onSigned(
    seq: number,
    command: PlaceOrder | AmendOrder | ChangeMargin,
    evidence: Evidence,
    listing: Listing,
  ): void {
    this.orders++;
    const difference = bodyFault(evidence.signed, command, listing);
    if (difference !== null) this.report(seq, difference);
    else this.checkSignature(seq, command.key, evidence);
  }

  private onOperation(
    seq: number,
    command: BatchCommand,
    evidence: Evidence,
    listing: Listing,
  ): void {
    this.orders++;
    const difference = this.batches.onOperation(seq, command, evidence, listing);
    if (difference !== null) this.report(seq, difference);
    else if (command.batch?.index === 0) this.checkSignature(seq, command.batch.key, evidence);
  }

  private checkSignature(seq: number, fingerprint: string, evidence: Evidence): void {
    const key = this.keys.get(fingerprint);
    if (key === undefined) {
      this.report(seq, `no session ever had the key ${fingerprint}`);
      return;
    }
    this.run(seq, async () => {
      const holds = await isSignedBy(key, evidence.signed, evidence.signature);
      return holds ? null : `the signature does not verify for the key ${fingerprint}`;
    });
  }

  /** `opened`: undefined if it was refused. */
  private onSignIn(
    seq: number,
    command: OpenSession,
    evidence: Evidence,
    opened: OwnedSession | undefined,
  ): void {
    this.sessions++;
    if (opened !== undefined) this.owners.add(opened);
    const problem = this.addVerified(evidence.publicKey, command.key);
    if (problem !== null) {
      this.report(seq, problem);
      return;
    }
    const message = Buffer.from(evidence.signed).toString("utf8");
    const address = message.split("\n")[1]?.toLowerCase();
    if (address !== `0x${command.address}`) {
      this.report(seq, `the message is of ${address}, the account is 0x${command.address}`);
      return;
    }
    const boundKey = BOUND_KEY.exec(message)?.[1];
    if (boundKey !== undefined) {
      this.bound.add(seq);
      if (fingerprintOfHex(boundKey) !== command.key) {
        this.report(seq, "the message binds another session key");
        return;
      }
    }
    this.run(seq, async () => {
      const signer = await this.recover(evidence.signed, evidence.signature);
      if (signer !== command.address) this.notRecheckable.push(seq);
      return null;
    });
  }

  private onRotation(seq: number, command: RotateSession, evidence: Evidence): void {
    const problem =
      this.addVerified(evidence.publicKey, command.newKey) ?? rotationFault(command, evidence);
    if (problem !== null) {
      this.report(seq, problem);
      return;
    }
    if (evidence.signature.length === 0) {
      if (this.bound.has(command.session)) {
        this.report(seq, "a session whose message binds its key was rotated unsigned");
      }
      return;
    }
    const old = this.keys.get(command.oldKey);
    this.run(seq, async () => {
      if (old === undefined) return `no session ever had the key ${command.oldKey}`;
      const holds = await isSignedBy(old, evidence.signed, evidence.signature);
      return holds ? null : "the rotation is not signed by the old key";
    });
  }

  private onEnded(seq: number, command: CloseSession, evidence: Evidence): void {
    const problem = this.owners.endFault(command, evidence);
    if (problem !== null) this.report(seq, problem);
    else this.checkSignature(seq, fingerprintOf(evidence.publicKey), evidence);
  }

  private onVote(seq: number, difference: string | null, evidence: Evidence): void {
    this.votes++;
    if (difference !== null) {
      this.report(seq, difference);
      return;
    }
    this.run(seq, async () => {
      const key = verifyingKey(evidence.publicKey);
      const holds = await isSignedExactly(key, evidence.signed, evidence.signature);
      return holds ? null : "the vote's signature does not verify";
    });
  }

  private addVerified(raw: Uint8Array, fingerprint: string): string | null {
    if (fingerprintOf(raw) !== fingerprint) return "the session key has another fingerprint";
    if (this.keys.has(fingerprint)) return null;
    try {
      this.keys.set(fingerprint, verifyingKey(raw));
      return null;
    } catch (error) {
      return `the session key is none: ${error instanceof Error ? error.message : error}`;
    }
  }

  private run(seq: number, check: () => Promise<string | null>): void {
    const done = check()
      .then((problem) => {
        if (problem !== null) this.report(seq, problem);
      })
      .catch((error: unknown) => {
        this.report(seq, error instanceof Error ? error.message : String(error));
      })
      .finally(() => this.inFlight.delete(done));
    this.inFlight.add(done);
  }

  private report(seq: number, reason: string): void {
    if (this.fault === undefined || seq < this.fault.position) {
      this.fault = { position: seq, reason };
    }
  }
}
