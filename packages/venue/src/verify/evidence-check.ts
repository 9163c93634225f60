/**
 * Checks every authorisation from the log alone: the signature of an order, an amendment, a change of
 * margin, a withdrawal or a batch by its session's key, a session's key by the wallet that signed in, a rotation by the
 * old key if it signed, the end of another session by a key of the same account, a vote by its attestor's
 * key. A contract wallet can be asked only on its chain: such sign-ins count as not re-checkable. So do, in a
 * pruned log, signatures by keys that only the removed part had.
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
import type { VenueState } from "@perpgate/engine/reading";
import { sha256 } from "../blocks/merkle.js";
import { refusalIn } from "../event-fields.js";
import type { SessionKeyRow } from "../history/session-projection.js";
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
import { rotationFault } from "./rotation-body.js";
import { type OwnedSession, SessionOwners } from "./session-owners.js";
import { boundKeyOf, signInFault } from "./sign-in-message.js";
import { voteFault } from "./vote-check.js";
import { WithdrawalCheck, withdrawalBodyFault, withdrawalVoteFault } from "./withdrawal-check.js";

/** The address that signed a message (EIP-191), lower-case hex; null if no key can have signed it. */
export type RecoverWallet = (message: Uint8Array, signature: Uint8Array) => Promise<string | null>;

interface Fault {
  /** The seq of the command, under its name in the JSON report. */
  readonly position: number;
  readonly reason: string;
}

const MAX_IN_FLIGHT = 256;

export class EvidenceCheck {
  orders = 0;
  sessions = 0;
  votes = 0;
  /** Seqs of sign-ins that no key of the address signed: by contract wallets, or forged. */
  readonly notRecheckable: number[] = [];
  /** Seqs of sign-ins whose message has opened a session before. */
  readonly repeatedMessages: number[] = [];
  /** Signatures by session keys whose bytes were pruned. */
  prunedKeySignatures = 0;
  private fault: Fault | undefined;
  private readonly batches = new BatchCheck();
  private readonly withdrawals = new WithdrawalCheck();
  private readonly owners: SessionOwners;
  private readonly keys = new Map<string, VerifyingKey>();
  /** Fingerprints of keys from before the log's start whose bytes are unknown. */
  private readonly prunedKeys = new Set<string>();
  /** Digests of the messages that opened a session. */
  private readonly messages = new Set<string>();
  /** Sessions whose sign-in message names the key: a rotation needs the old key's signature. */
  private readonly bound = new Set<number>();
  private readonly inFlight = new Set<Promise<void>>();

  /** `isPruned`: the log's beginning is missing. */
  constructor(
    private readonly recover: RecoverWallet,
    private readonly isPruned: boolean,
  ) {
    this.owners = new SessionOwners(isPruned);
  }

  /** The fault with the lowest seq so far. */
  get firstFault(): Fault | undefined {
    return this.fault;
  }

  /** Adds a session from before the log's start. Its row has the current key, which may be a later one. */
  addSession(session: OwnedSession, row: SessionKeyRow | undefined): void {
    this.owners.add(session);
    const candidates: Uint8Array[] = [];
    if (row !== undefined) {
      this.messages.add(digestOf(row.message));
      const bound = boundKeyOf(row.message.toString("utf8"));
      if (bound !== undefined) this.bound.add(session.number);
      candidates.push(row.publicKey, ...(bound === undefined ? [] : [bound]));
    }
    if (!candidates.some((raw) => this.addVerified(raw, session.key) === null)) {
      this.prunedKeys.add(session.key);
    }
  }

  /** Starts the checks of a command. The evidence's bytes must stay valid. */
  onCommand(
    { command, evidence, seq, events }: Applied,
    { listing, engine }: Pick<ReplicaState, "listing" | "engine">,
  ): void {
    const isRefused = refusalIn(events) !== "";
    const isOperation = "batch" in command && command.batch !== undefined;
    if (!isOperation) {
      const cut = this.batches.onOther();
      if (cut !== null) this.report(seq, cut);
    }
    switch (command.kind) {
      case "PlaceOrder":
      case "AmendOrder":
      case "ChangeMargin":
        if (isOperation) this.onOperation(seq, command, evidence, listing, isRefused);
        else this.onSigned(seq, command, evidence, listing, isRefused);
        return;
      case "CancelOrder":
        // A cancel of its own is authorised by the session's token alone.
        if (isOperation) this.onOperation(seq, command, evidence, listing, isRefused);
        return;
      case "OpenSession":
        this.onSignIn(seq, command, evidence, listing, engine.state);
        return;
      case "RotateSession":
        this.owners.addKey(command.session, command.newKey);
        this.onRotation(seq, command, evidence, isRefused);
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
      case "Withdraw": {
        this.orders++;
        const difference = withdrawalBodyFault(evidence.signed, command);
        if (difference !== null) this.report(seq, difference);
        else this.checkSignature(seq, command.key, evidence, isRefused);
        this.withdrawals.note(engine.state, seq);
        return;
      }
      case "AttestWithdrawal": {
        const { state } = engine;
        const { withdrawalId } = command;
        const withdrawal = this.withdrawals.get(withdrawalId);
        const addressOf = (account: number): string | undefined => state.addresses.at(account);
        const difference = withdrawalVoteFault(command, evidence, listing, withdrawal, addressOf);
        this.onVote(seq, difference, evidence);
        this.withdrawals.note(state, withdrawalId);
        return;
      }
    }
  }

  /** Call after the last command of the log. */
  atEnd(seq: number): void {
    const cut = this.batches.onOther();
    if (cut !== null) this.report(seq, cut);
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
    isRefused: boolean,
  ): void {
    this.orders++;
    const difference = bodyFault(evidence.signed, command, listing);
    if (difference !== null) this.report(seq, difference);
    else this.checkSignature(seq, command.key, evidence, isRefused);
  }

  private onOperation(
    seq: number,
    command: BatchCommand,
    evidence: Evidence,
    listing: Listing,
    isRefused: boolean,
  ): void {
    this.orders++;
    const difference = this.batches.onOperation(seq, command, evidence, listing);
    if (difference !== null) this.report(seq, difference);
    else if (command.batch?.index === 0) {
      this.checkSignature(seq, command.batch.key, evidence, isRefused);
    }
  }

  private checkSignature(
    seq: number,
    fingerprint: string,
    evidence: Evidence,
    mayBeEnded: boolean,
  ): void {
    const key = this.keys.get(fingerprint);
    if (key === undefined) {
      this.onUnknownKey(seq, fingerprint, mayBeEnded);
      return;
    }
    this.run(seq, async () => {
      const holds = await isSignedBy(key, evidence.signed, evidence.signature);
      return holds ? null : `the signature does not verify for the key ${fingerprint}`;
    });
  }

  /** `mayBeEnded`: the key may be of a session that ended, or an earlier one, before the log's start. */
  private onUnknownKey(seq: number, fingerprint: string, mayBeEnded: boolean): void {
    if (this.prunedKeys.has(fingerprint) || (this.isPruned && mayBeEnded)) {
      this.prunedKeySignatures++;
    } else {
      this.report(seq, `no session ever had the key ${fingerprint}`);
    }
  }

  private onSignIn(
    seq: number,
    command: OpenSession,
    evidence: Evidence,
    listing: Listing,
    { sessions, rules }: VenueState,
  ): void {
    const opened = sessions.get(seq);
    const saysWho = rules.hasWithdrawals;
    this.sessions++;
    if (opened !== undefined) this.owners.add(opened);
    const message = Buffer.from(evidence.signed).toString("utf8");
    if (boundKeyOf(message) !== undefined) this.bound.add(seq);
    const problem =
      this.addVerified(evidence.publicKey, command.key) ?? signInFault(command, message, listing);
    if (problem !== null) {
      this.report(seq, problem);
      return;
    }
    if (opened !== undefined) this.noteMessage(seq, evidence);
    this.run(seq, async () => {
      const signer = await this.recover(evidence.signed, evidence.signature);
      const isContract = signer !== command.address;
      if (isContract) this.notRecheckable.push(seq);
      // By it the engine pays a contract on its own chain alone.
      if (!saysWho || isContract === (command.contractChainId !== undefined)) return null;
      return isContract
        ? "a contract signed in, its chain is not logged"
        : "a key signed in, a contract's chain is logged";
    });
  }

  /**
   * With a second session, the orders of the first could be placed again. It is no proof of that: gateways
   * accept a message by their own clocks, and one that is behind, a message whose nonce is forgotten.
   */
  private noteMessage(seq: number, { signed }: Evidence): void {
    const digest = digestOf(signed);
    if (this.messages.has(digest)) this.repeatedMessages.push(seq);
    this.messages.add(digest);
  }

  private onRotation(
    seq: number,
    command: RotateSession,
    evidence: Evidence,
    isRefused: boolean,
  ): void {
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
    if (old === undefined) {
      this.onUnknownKey(seq, command.oldKey, isRefused);
      return;
    }
    this.run(seq, async () => {
      const holds = await isSignedBy(old, evidence.signed, evidence.signature);
      return holds ? null : "the rotation is not signed by the old key";
    });
  }

  private onEnded(seq: number, command: CloseSession, evidence: Evidence): void {
    const problem = this.owners.endFault(command, evidence);
    if (problem !== null) this.report(seq, problem);
    else this.checkSignature(seq, fingerprintOf(evidence.publicKey), evidence, true);
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

function digestOf(message: Uint8Array): string {
  return sha256(message).toString("base64");
}
