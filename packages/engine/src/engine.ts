/**
 * The venue as a pure state machine: `apply(command)` changes the state and leaves the command's
 * events in `events`. No clock, no randomness, no I/O: the same commands give the same state and
 * the same events on every machine.
 *
 * A command is all or nothing. Checks precede changes; should an invariant fail all the same, every
 * touched row is put back, the market at fault is halted, and the command is applied again to a
 * venue in which that market takes no part. Any other exception is a fault of the program: it
 * leaves the engine unusable, and whoever runs it must stop.
 */
import type { Command, PlaceOrder } from "./commands.js";
import { MAX_LEAD_MS, TICK_MS } from "./config.js";
import { attestDeposit, creditDevDeposits, registerDeposit } from "./deposits/deposit-commands.js";
import {
  pauseDeposits,
  rejudgeDeposit,
  settleReorgedDeposit,
} from "./deposits/operator-commands.js";
import { recountVotes } from "./deposits/recount.js";
import { EVENT, type EventLog } from "./event-log.js";
import { begin, configure } from "./genesis.js";
import { checkInvariants, InvariantViolation, invariantOf } from "./invariants.js";
import { emitSettlements } from "./margin/settlements.js";
import { updateIndex } from "./mark/update-index.js";
import { cancelAfter, cancelAllOrders, cancelOrder, reportCancelAll } from "./matching/cancel.js";
import { acknowledge, placeOrder } from "./matching/place.js";
import { REFUSAL } from "./reasons.js";
import { refuse } from "./refuse.js";
import {
  disconnectAll,
  disconnectSession,
  reportDisconnected,
  setSessionOption,
} from "./sessions/disconnect.js";
import {
  closeSession,
  expireSessions,
  liveSession,
  openSession,
  reportClosed,
  rotateSession,
  setCohort,
} from "./sessions/session-commands.js";
import { MARKET } from "./state/market.js";
import { rebuildIndexes } from "./state/rebuild.js";
import { readSnapshot, writeSnapshot } from "./state/snapshot.js";
import { GLOBAL, VenueState } from "./state/venue.js";
import { runTick } from "./tick/tick.js";

export class Engine {
  constructor(readonly state: VenueState = new VenueState()) {}

  /** Log index of the last command applied. */
  get seq(): number {
    return this.state.seq;
  }

  /** The whole state as canonical bytes. */
  snapshot(): Uint8Array {
    return writeSnapshot(this.state);
  }

  /** An engine that goes on from a snapshot exactly as the one that wrote it would have. */
  static restore(snapshot: Uint8Array): Engine {
    return new Engine(readSnapshot(snapshot));
  }

  /**
   * A hash that is equal exactly when states are. The digest (SHA-256 everywhere) is passed in,
   * because the engine depends on nothing.
   */
  stateHash(digest: (bytes: Uint8Array) => string): string {
    return digest(this.snapshot());
  }

  /**
   * Whether a batch of the log is to be applied: false if its writer's counter was passed already,
   * since a writer that did not learn the outcome of an append sends the same batch again.
   */
  acceptBatch(writer: number, counter: number): boolean {
    const { writers } = this.state;
    if (counter <= (writers.get(writer) ?? -1)) return false;
    writers.set(writer, counter);
    return true;
  }

  /** Applies one command. The answer is valid until the next call. */
  apply(command: Command): EventLog {
    const s = this.state;
    s.seq++;
    s.focus = 0;
    s.events.reset();
    if (s.config === null && command.kind !== "Genesis") {
      refuse(s, REFUSAL.not_started);
      return s.events;
    }
    if (!this.advanceTime(command)) return s.events;
    for (;;) {
      const mark = s.events.length;
      const { carriedLiquidations, carriedStops, carriedDisconnects } = s;
      s.undo.begin();
      s.globals.touch(0);
      try {
        this.run(command);
        return s.events;
      } catch (error) {
        const invariant = invariantOf(error);
        if (invariant === null) throw error;
        const market = error instanceof InvariantViolation ? error.market : s.focus;
        s.undo.rollback();
        s.carriedLiquidations = carriedLiquidations;
        s.carriedStops = carriedStops;
        s.carriedDisconnects = carriedDisconnects;
        s.events.cutTo(mark);
        rebuildIndexes(s);
        halt(s, market, invariant, error);
      }
    }
  }

  /** Moves the venue's clock; false for a tick that is old or too far ahead. */
  private advanceTime(command: Command): boolean {
    const s = this.state;
    if (command.kind === "Tick") {
      const time = command.slot * TICK_MS;
      if (!(time > s.lastTickMs && time <= s.lastTickMs + MAX_LEAD_MS)) return false;
      s.timeMs = Math.max(s.timeMs, time);
      s.lastTickMs = time;
      return true;
    }
    if (command.kind === "Resume" || (command.kind === "Genesis" && s.config === null)) {
      s.timeMs = Math.max(s.timeMs, command.stampMs);
      s.lastTickMs = Math.max(s.lastTickMs, Math.floor(s.timeMs / TICK_MS) * TICK_MS);
      return true;
    }
    s.timeMs = Math.max(s.timeMs, Math.min(command.stampMs, s.lastTickMs + MAX_LEAD_MS));
    return true;
  }

  private run(command: Command): void {
    const s = this.state;
    if (command.kind === "PlaceOrder") {
      this.place(command);
      return;
    }
    if (command.kind === "Tick") {
      this.tick();
      return;
    }
    if (!this.execute(command)) return;
    s.globals.data[GLOBAL.BLOCK_WORK] = 1;
    checkInvariants(s);
    // VenueStarted has told the fund already.
    if (command.kind !== "Genesis") emitSettlements(s);
    conclude(s, command);
  }

  private place(order: PlaceOrder): void {
    const s = this.state;
    const session = liveSession(s, order.session);
    if (session === undefined) return;
    const original = session.nonces.orderOf(order.nonce);
    if (original !== 0) {
      s.events.emit(EVENT.OrderReplayed, session.number, order.nonce, original);
      return;
    }
    if (session.nonces.isTooOld(order.nonce)) {
      refuse(s, REFUSAL.nonce_too_old, session.nonces.lowest());
      return;
    }
    if (!placeOrder(s, session, order)) return;
    s.globals.data[GLOBAL.BLOCK_WORK] = 1;
    checkInvariants(s);
    emitSettlements(s);
    acknowledge(s, session, order);
  }

  private tick(): void {
    const s = this.state;
    runTick(s);
    checkInvariants(s);
    // Nothing below can fail: it is not undone.
    creditDevDeposits(s);
    expireSessions(s);
    emitSettlements(s);
    sealBlock(s);
  }

  /** Whether the command was executed, not refused. */
  private execute(command: Exclude<Command, { kind: "PlaceOrder" | "Tick" }>): boolean {
    const s = this.state;
    switch (command.kind) {
      case "Genesis":
        return begin(s, command);
      case "Configure":
        return configure(s, command);
      case "Resume":
        if (command.afterPause !== true) disconnectAll(s);
        return true;
      case "UpdateIndex":
        return updateIndex(s, command);
      case "OpenSession":
        return openSession(s, command);
      case "RotateSession":
        return rotateSession(s, command);
      case "CloseSession":
        return closeSession(s, command);
      case "SetSessionOption":
        return setSessionOption(s, command);
      case "SessionDisconnected":
        return disconnectSession(s, command);
      case "CancelOrder":
        return cancelOrder(s, command);
      case "CancelAll":
        return cancelAllOrders(s, command);
      case "CancelAfter":
        return cancelAfter(s, command);
      case "SetCohort":
        return setCohort(s, command);
      case "RegisterDeposit":
        return registerDeposit(s, command);
      case "AttestDeposit":
        return attestDeposit(s, command);
      case "PauseDeposits":
        return pauseDeposits(s, command);
      case "RejudgeDeposit":
        return rejudgeDeposit(s, command);
      case "SettleReorgedDeposit":
        return settleReorgedDeposit(s, command);
    }
  }
}

/** What follows once a command is known to have kept every invariant. */
function conclude(s: VenueState, command: Command): void {
  switch (command.kind) {
    case "Configure":
      recountVotes(s, command);
      return;
    case "PauseDeposits":
      // A quorum that changed during the pause may be reached without another vote.
      if (!command.isPaused) recountVotes(s, {});
      return;
    case "CancelAll":
      reportCancelAll(s, command);
      return;
    case "SessionDisconnected":
      reportDisconnected(s, command);
      return;
    case "CloseSession":
      reportClosed(s, command);
      return;
  }
}

function halt(s: VenueState, number: number, invariant: number, cause: unknown): void {
  const market = s.markets[number];
  // A second failure in a halted market would loop for ever: nothing there may run any more.
  if (market === undefined || market.halted) throw cause;
  s.undo.begin();
  market.set(MARKET.HALTED, 1);
  s.events.emit(EVENT.MarketHalted, number, invariant);
}

function sealBlock(s: VenueState): void {
  const g = s.globals.data;
  if (g[GLOBAL.BLOCK_WORK] === 0) return;
  const first = g[GLOBAL.BLOCK_FIRST]!;
  s.events.emit(EVENT.BlockSealed, g[GLOBAL.BLOCK]!, first, s.seq, g[GLOBAL.BLOCK_ACKS]!, s.timeMs);
  g[GLOBAL.BLOCK] = g[GLOBAL.BLOCK]! + 1;
  g[GLOBAL.BLOCK_FIRST] = s.seq + 1;
  g[GLOBAL.BLOCK_ACKS] = 0;
  g[GLOBAL.BLOCK_WORK] = 0;
}
