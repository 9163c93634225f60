/**
 * The venue as a pure state machine: `apply(command)` changes the state and leaves the command's
 * events in `events`. No clock, no randomness, no I/O: the same commands give the same state and
 * the same events on every machine.
 *
 * A command is all or nothing. Checks precede changes; if an invariant fails nevertheless, every
 * touched row is restored, the market at fault is halted, and the command is applied again to a
 * venue in which that market takes no part. Any other exception is a bug: it leaves the engine
 * unusable, and the process must stop.
 */
import { type ClientIdWords, NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import type { Command, PlaceOrder, Tick } from "./commands.js";
import { MAX_LEAD_MS, TICK_MS, UNITS_UNREPORTED } from "./config.js";
import { creditDevDeposits } from "./deposits/conclude.js";
import {
  applyRegisterDeposit,
  forgetDeposits,
  pauseDeposits,
  rejudgeDeposit,
  settleReorgedDeposit,
} from "./deposits/register.js";
import { attestDeposit, recountVotes } from "./deposits/votes.js";
import { type EventLog, emit } from "./events/event-log.js";
import { applyConfigure, applyGenesis, applyUpgrade, recall } from "./genesis.js";
import { checkInvariants, InvariantViolation, invariantOf } from "./invariants.js";
import { controlMarket } from "./markets/control.js";
import { applyChangeMargin, reportMargin } from "./money/change-margin.js";
import { updateIndex } from "./money/mark.js";
import { emitSettlements } from "./money/settlements.js";
import { countOperation, mayOperate } from "./operator.js";
import { acknowledgeAmendment, applyAmendOrder } from "./orders/amend.js";
import {
  applyCancelAll,
  applyCancelOrder,
  cancelAfter,
  concludeCancel,
  reportCancelAll,
} from "./orders/cancel.js";
import { enterCoveringExits } from "./orders/open-orders.js";
import { fireIfDue } from "./orders/over.js";
import { acknowledge, applyPlaceOrder } from "./orders/place.js";
import { REFUSAL } from "./reasons.js";
import { refuse } from "./refuse.js";
import { isAnswered, keepRequest } from "./requests.js";
import { Scratch } from "./scratch.js";
import {
  concludeConnect,
  connectSession,
  disconnectSession,
  reportDisconnected,
  setSessionOption,
} from "./sessions/disconnect.js";
import {
  applyOpenSession,
  applyRotateSession,
  closeSession,
  expireSessions,
  reportClosed,
  reportOpened,
  setCohort,
} from "./sessions/session-commands.js";
import { noteBatchWork } from "./sessions/signing.js";
import { rebuildIndexes } from "./snapshot/rebuild.js";
import { readSnapshot, writeSnapshot } from "./snapshot/snapshot.js";
import { MARKET_HALTED, MARKET_SETTLING } from "./state/market.js";
import { FIXED_SEED, type HashSeed } from "./state/seeded-hash.js";
import { VenueState } from "./state/venue.js";
import type { DropReason } from "./state/writers.js";
import { runTick } from "./tick.js";
import { knownVersions, RULE_SETS, type RuleSet, UnknownToRelease } from "./versions.js";
import { attestWithdrawal, concludeAttestation, recountWithdrawals } from "./withdrawals/attest.js";
import { commitReserves, countReserves, reportReserves } from "./withdrawals/commit-reserves.js";
import { applyWithdraw, reportWithdrawal } from "./withdrawals/request.js";
import { ageAsks, askTime, concludeAsk } from "./writers/asks.js";
import { acceptBatch } from "./writers/batches.js";
import { concludeLead, countReturn, leadLog } from "./writers/leader.js";
import { concludeJoin, concludeLeave, countTick, joinWriter, leaveWriter } from "./writers/life.js";

export class Engine {
  constructor(readonly state: VenueState = new VenueState(new Scratch())) {}

  /** An engine for a new log with a seed of its own: see seeded-hash.ts. */
  static seeded(seed: HashSeed): Engine {
    return new Engine(new VenueState(new Scratch(), RULE_SETS, seed));
  }

  /** An engine for a new log that knows other versions of the rules than this release does. */
  static knowing(ruleSets: readonly RuleSet[]): Engine {
    return new Engine(new VenueState(new Scratch(), ruleSets));
  }

  /** Log index of the last command applied. */
  get seq(): number {
    return this.state.seq;
  }

  /** The whole state as canonical bytes. */
  snapshot(): Uint8Array {
    return writeSnapshot(this.state);
  }

  /** An engine in the state that the snapshot was taken of. */
  static restore(
    snapshot: Uint8Array,
    ruleSets: readonly RuleSet[] = RULE_SETS,
    seed: HashSeed = FIXED_SEED,
  ): Engine {
    return new Engine(readSnapshot(snapshot, ruleSets, seed));
  }

  /**
   * A hash that is equal exactly when states are. The digest (SHA-256 everywhere) is passed in,
   * because the engine depends on nothing.
   */
  stateHash(digest: (bytes: Uint8Array) => string): string {
    return digest(this.snapshot());
  }

  /**
   * Whether a batch of the log is to be applied: null, or why it is dropped whole. Called before its
   * commands are applied; they are the writer's.
   */
  acceptBatch(writer: string, counter: number, commands: readonly Command[]): DropReason | null {
    return acceptBatch(this.state, writer, counter, commands);
  }

  /** Applies one command. The returned log is valid until the next call. */
  apply(command: Command): EventLog {
    const s = this.state;
    s.seq++;
    s.focus = 0;
    s.events.reset();
    s.scratch.work.begin(0);
    if (s.config === null && command.kind !== "Genesis") {
      refuse(s, REFUSAL.not_started);
      return s.events;
    }
    if (!this.advanceTime(command) || isAnswered(s, command)) return s.events;
    for (;;) {
      const mark = s.events.length;
      const { config, carriedDisconnects, behind, lookedAgain } = s;
      const { fresh, again } = s.ends;
      s.undo.begin();
      s.reaches.begin();
      s.totals.table.touch(0);
      beginWork(s, command);
      try {
        this.run(command);
        keepRequest(s, command);
        return s.events;
      } catch (error) {
        const invariant = invariantOf(error);
        if (invariant === null) throw error;
        const market = error instanceof InvariantViolation ? error.market : s.focus;
        s.undo.rollback();
        s.scratch.trial.isOn = false;
        s.reaches.rollback(s.seq);
        s.carriedDisconnects = carriedDisconnects;
        s.behind = behind;
        s.lookedAgain = lookedAgain;
        s.ends.fresh = fresh;
        s.ends.again = again;
        recall(s, config);
        s.events.cutTo(mark);
        rebuildIndexes(s);
        halt(s, market, invariant, error);
      }
    }
  }

  /** Moves the venue's clock; false for a tick that is old, too far ahead, or not its batch's first. */
  private advanceTime(command: Command): boolean {
    const s = this.state;
    if (command.kind === "Tick") {
      const { writers } = s;
      if (writers.ticksLeft === 0) return false;
      if (writers.ticksLeft > 0) writers.ticksLeft--;
      const time = command.slot * TICK_MS;
      if (!(time > s.lastTickMs && time <= s.lastTickMs + MAX_LEAD_MS)) return false;
      s.timeMs = Math.max(s.timeMs, time);
      s.lastTickMs = time;
      return true;
    }
    if (command.kind === "Genesis" && s.config === null) {
      s.timeMs = Math.max(s.timeMs, command.stampMs);
      s.lastTickMs = Math.floor(s.timeMs / TICK_MS) * TICK_MS;
      return true;
    }
    s.timeMs = Math.max(s.timeMs, Math.min(command.stampMs, s.lastTickMs + MAX_LEAD_MS));
    return true;
  }

  private run(command: Command): void {
    const s = this.state;
    if (command.kind === "Tick") {
      this.tick();
      return;
    }
    if (!this.execute(command)) {
      noteBatchWork(s);
      reportWork(s, command);
      return;
    }
    enterCoveringExits(s);
    s.totals.markBlockWork();
    checkInvariants(s);
    // VenueStarted has reported the fund.
    if (command.kind !== "Genesis") emitSettlements(s, false);
    reportWork(s, command);
    conclude(s, command);
  }

  private tick(): void {
    const s = this.state;
    runTick(s);
    enterCoveringExits(s);
    checkInvariants(s);
    // Nothing below may fail: it has no undo.
    creditDevDeposits(s);
    forgetDeposits(s);
    expireSessions(s);
    s.requests.forget(s.timeMs);
    countTick(s);
    countReturn(s);
    ageAsks(s);
    emitSettlements(s, true);
    sealBlock(s);
  }

  /** Whether the command was executed, not refused. */
  private execute(command: Exclude<Command, Tick>): boolean {
    const s = this.state;
    switch (command.kind) {
      case "PlaceOrder":
        return applyPlaceOrder(s, command);
      case "AmendOrder":
        return applyAmendOrder(s, command);
      case "ChangeMargin":
        return applyChangeMargin(s, command);
      case "Genesis":
        return applyGenesis(s, command);
      case "Configure":
        return mayOperate(s, command) && applyConfigure(s, command);
      case "Upgrade":
        return mayOperate(s, command) && applyUpgrade(s, command);
      case "ControlMarket":
        return mayOperate(s, command) && controlMarket(s, command);
      case "CoreLeads":
        return leadLog(s, command);
      case "WriterJoined":
        return joinWriter(s, command);
      case "WriterLeft":
        return leaveWriter(s);
      case "AskTime":
        return askTime(s, command);
      case "UpdateIndex":
        return updateIndex(s, command);
      case "OpenSession":
        return applyOpenSession(s, command);
      case "RotateSession":
        return applyRotateSession(s, command);
      case "CloseSession":
        return closeSession(s, command);
      case "SetSessionOption":
        return setSessionOption(s, command);
      case "SessionConnected":
        return connectSession(s, command);
      case "SessionDisconnected":
        return disconnectSession(s, command);
      case "CancelOrder":
        return applyCancelOrder(s, command);
      case "CancelAll":
        return applyCancelAll(s, command);
      case "CancelAfter":
        return cancelAfter(s, command);
      case "SetCohort":
        return (isFirstList(s) || mayOperate(s, command)) && setCohort(s, command);
      case "RegisterDeposit":
        return applyRegisterDeposit(s, command);
      case "AttestDeposit":
        return attestDeposit(s, command);
      case "PauseDeposits":
        return mayOperate(s, command) && pauseDeposits(s, command);
      case "RejudgeDeposit":
        return mayOperate(s, command) && rejudgeDeposit(s, command);
      case "SettleReorgedDeposit":
        return mayOperate(s, command) && settleReorgedDeposit(s, command);
      case "Withdraw":
        return applyWithdraw(s, command);
      case "AttestWithdrawal":
        return attestWithdrawal(s, command);
      case "CountReserves":
        return mayOperate(s, command) && countReserves(s);
      case "CommitReserves":
        return commitReserves(s, command);
      default:
        return unknownCommand(s, command);
    }
  }
}

function beginWork({ rules, scratch }: VenueState, command: Command): void {
  const { unitsForOver } = rules;
  if (command.kind === "Tick") {
    scratch.beginWork(rules.unitsPerTick, rules.unitsPerTickAndMarket, unitsForOver);
  } else scratch.beginWork(rules.unitsPerCommand, rules.unitsPerCommand, unitsForOver);
}

/** Reports the work that an account is charged for. */
function reportWork(s: VenueState, command: Command): void {
  const { spent } = s.scratch.work;
  if (spent <= UNITS_UNREPORTED || !s.rules.reportsWork || !("session" in command)) return;
  const session = s.sessions.find(command.session);
  if (session !== undefined) emit.WorkDone(s.events, { account: session.account, units: spent });
}

/** A log of another release: ignoring the command would give another state than it has there. */
function unknownCommand(s: VenueState, command: never): never {
  const { kind }: { kind?: unknown } = command;
  throw new UnknownToRelease(
    `the log has a command of kind ${String(kind)}, and this release, which knows ` +
      `${knownVersions(s.ruleSets)}, does not know it; run a release that does`,
  );
}

/** What follows after the check of the invariants. */
function conclude(s: VenueState, command: Command): void {
  switch (command.kind) {
    case "PlaceOrder":
      fireIfDue(s, s.scratch.session!.account);
      acknowledge(s, command, s.seq, clientIdOf(s, command));
      return;
    case "AmendOrder":
      acknowledgeAmendment(s, command);
      return;
    case "CancelOrder":
      concludeCancel(s, command);
      return;
    case "ChangeMargin":
      reportMargin(s, command);
      return;
    case "Configure":
      countOperation(s);
      recountVotes(s, command);
      recountWithdrawals(s, command);
      return;
    case "Withdraw":
      reportWithdrawal(s, command);
      return;
    case "AttestWithdrawal":
      concludeAttestation(s, command);
      return;
    case "CommitReserves":
      reportReserves(s, command);
      return;
    case "Upgrade":
    case "ControlMarket":
    case "RejudgeDeposit":
    case "SettleReorgedDeposit":
    case "CountReserves":
      countOperation(s);
      return;
    case "SetCohort":
      if (!isFirstList(s)) countOperation(s);
      return;
    case "PauseDeposits":
      countOperation(s);
      // A quorum that changed during the pause may be reached without another vote.
      if (command.isPaused) return;
      recountVotes(s, {});
      recountWithdrawals(s, {});
      return;
    case "CancelAll":
      reportCancelAll(s, command);
      return;
    case "SessionConnected":
      concludeConnect(s, command);
      return;
    case "SessionDisconnected":
      reportDisconnected(s, command);
      return;
    case "CoreLeads":
      concludeLead(s, command);
      return;
    case "WriterJoined":
      concludeJoin(s, command);
      return;
    case "WriterLeft":
      concludeLeave(s);
      return;
    case "AskTime":
      concludeAsk(s, command);
      return;
    case "CloseSession":
      reportClosed(s, command);
      return;
    case "OpenSession":
      reportOpened(s, command);
      return;
  }
}

/** The client's id of the order that was just placed. */
function clientIdOf({ scratch }: VenueState, { extras }: PlaceOrder): ClientIdWords {
  return extras === undefined ? NO_CLIENT_ID : scratch.clientId;
}

/** Until the first block is sealed, the venue's first list, however long, is part of its beginning. */
function isFirstList(s: VenueState): boolean {
  return s.totals.block === 1;
}

function halt(s: VenueState, number: number, invariant: number, cause: unknown): void {
  const market = s.markets[number];
  // Nothing may run in a halted market: a second failure there would loop for ever. A settlement
  // that fails is halted, too.
  if (market === undefined) throw cause;
  if (market.halted && market.status !== MARKET_SETTLING) throw cause;
  s.undo.begin();
  market.status = MARKET_HALTED;
  emit.MarketHalted(s.events, { market: number, invariant });
}

function sealBlock(s: VenueState): void {
  const { block, blockFirst, blockAcks, blockHasWork } = s.totals;
  if (!blockHasWork) return;
  emit.BlockSealed(s.events, {
    number: block,
    firstPosition: blockFirst,
    lastPosition: s.seq,
    ackCount: blockAcks,
    timeMs: s.timeMs,
  });
  s.totals.openBlock(block + 1, s.seq + 1);
}
