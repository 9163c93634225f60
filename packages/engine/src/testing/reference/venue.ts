/**
 * The reference venue: docs/engine.md written down a second time, for obviousness instead of speed.
 * It shares with the engine only the vocabulary (commands, events, reasons, constants), so that
 * agreement between the two means something.
 *
 * Left out: deposits, and halting a market by an invariant (it throws instead).
 */
import type { Command } from "../../commands.js";
import { MAX_LEAD_MS } from "../../config.js";
import type { VenueEvent } from "../../events/event-table.js";
import { REFUSAL } from "../../reasons.js";
import type { DropReason } from "../../state/writers.js";
import { amendOrder } from "./amendments.js";
import { bestAsk, bestBid } from "./book.js";
import { cancelAfter, cancelAll, cancelOrder } from "./cancels.js";
import { setSessionOption } from "./disconnects.js";
import { emit, reportWork, reservedIn } from "./end-events.js";
import { unitOf } from "./margin.js";
import { updateIndex } from "./mark.js";
import { controlMarket } from "./market-control.js";
import { placeOrder } from "./placement.js";
import { changeMargin } from "./position-margin.js";
import { type Refused, refused } from "./refusal.js";
import { answerOf, keepRequest } from "./requests.js";
import { closeSession, openSession, rotateSession, setCohort } from "./sessions.js";
import { configure, genesis, upgrade } from "./setup.js";
import { newState, type Rules, type State, VERSIONS } from "./state.js";
import { tick } from "./tick.js";
import { beginWork, OVER, unitsLeft } from "./work.js";
import {
  acceptBatch,
  askTime,
  coreLeads,
  sessionConnected,
  sessionDisconnected,
  writerJoined,
  writerLeft,
} from "./writers.js";

/**
 * "Operator commands": they expire, and at most ten are executed in a minute.
 */
const MINUTE_MS = 60_000;
const PER_MINUTE = 10;

/** Runs the command if it may run now, and counts it if it was executed. */
function operate(
  state: State,
  { expiresAtMs }: { expiresAtMs: number },
  run: () => Refused | null,
): Refused | null {
  if (state.time > expiresAtMs) return refused("command_expired");
  const recent = state.operations.filter((time) => time + MINUTE_MS > state.time);
  if (recent.length >= PER_MINUTE) {
    return refused("operator_rate_limit", (recent.at(-PER_MINUTE) ?? 0) + MINUTE_MS);
  }
  const refusal = run();
  if (refusal === null) state.operations.push(state.time);
  return refusal;
}

/**
 * "The identity", recomputed from nothing over every account, and throwing when it fails.
 */
function assertIdentity(state: State): void {
  let money = state.fees + state.fund + state.fundingPool;
  let owed = state.deposits;
  const lots = state.markets.map((market) => market.backstop.lots);
  for (const account of state.accounts) {
    if (account.wallet < 0n) throw new Error(`account ${account.number}: wallet below 0`);
    money += account.wallet;
    for (const position of account.positions) {
      if (position.margin < 0n) throw new Error(`account ${account.number}: margin below 0`);
      if (position.lots === 0n && (position.cost !== 0n || position.margin !== 0n)) {
        throw new Error(`account ${account.number}: flat with cost or margin`);
      }
      money += position.margin + reservedIn(position);
      owed += position.cost;
      lots[position.market] = (lots[position.market] ?? 0n) + position.lots;
    }
  }
  for (const market of state.markets) {
    owed += market.backstop.cost;
    const { settlement } = market;
    if (settlement !== null) {
      money += settlement.pool;
      owed += settlement.lots * settlement.price * unitOf(market);
      lots[market.number] = (lots[market.number] ?? 0n) + settlement.lots;
    }
    if (lots[market.number] !== 0n) throw new Error(`market ${market.number}: lots do not balance`);
    const bid = bestBid(market);
    const ask = bestAsk(market);
    if (bid !== null && ask !== null && bid >= ask) {
      throw new Error(`market ${market.number}: crossed, bid ${bid} ask ${ask}`);
    }
  }
  if (money !== owed) throw new Error(`money not conserved: ${money} held, ${owed} owed`);
}

/** A tick is no work for a seal, and a replay of a signed command is not an execution. */
const SAY_THEMSELVES: readonly Command["kind"][] = [
  "Tick",
  "PlaceOrder",
  "AmendOrder",
  "CancelOrder",
  "ChangeMargin",
];

export class ReferenceVenue {
  /** Open to tests and to the command flow, which look but do not write. */
  readonly state: State;

  /** `checkEvery`: the identity is tested after every this many commands. */
  constructor(
    private readonly checkEvery = 1,
    versions: ReadonlyMap<number, Rules> = VERSIONS,
  ) {
    this.state = newState(versions);
  }

  /** Why the batch is dropped, or null; to be asked before its commands are applied. */
  acceptBatch(writer: string, counter: number, commands: readonly Command[]): DropReason | null {
    return acceptBatch(this.state, writer, counter, commands);
  }

  apply(command: Command): VenueEvent[] {
    const { state } = this;
    state.position += 1;
    state.events = [];
    state.touched = [];
    state.resizedExits.clear();
    state.undone = [];
    state.work.account = accountOfCommand(state, command);
    beginWork(state, 8_000, 8_000, OVER);
    state.liquidatedOrders = 0;
    const answer = this.answer(command);
    const refusal = answer === undefined ? this.execute(command) : answer;
    if (refusal !== null) {
      if (state.events.length > 0) throw new Error("a refused command has no other event");
      emit(state, {
        kind: "CommandRefused",
        refusal: REFUSAL[refusal.refusal],
        detail1: refusal.details[0] ?? 0,
        detail2: refusal.details[1] ?? 0,
      });
      reportWork(state);
    } else if (answer === undefined && !SAY_THEMSELVES.includes(command.kind)) {
      state.block.executed = true;
    }
    if (answer === undefined) keepRequest(state, command);
    const { batch } = state;
    if (batch?.last === state.position) batch.unitsLeft = unitsLeft(state);
    if (state.position % this.checkEvery === 0) assertIdentity(state);
    return state.events;
  }

  /** Of a command that is not executed, undefined otherwise. */
  private answer(command: Command): Refused | null | undefined {
    if (!this.state.started) {
      return command.kind === "Genesis" ? undefined : refused("not_started");
    }
    this.moveTime(command);
    return answerOf(this.state, command);
  }

  private execute(command: Command): Refused | null {
    const { state } = this;
    if (!state.started && command.kind === "Genesis") return genesis(state, command);
    switch (command.kind) {
      case "Genesis":
        return refused("already_started");
      case "Configure":
        return operate(state, command, () => configure(state, command));
      case "Upgrade":
        return operate(state, command, () => upgrade(state, command));
      case "ControlMarket":
        return operate(state, command, () => controlMarket(state, command));
      case "Tick":
        tick(state, command);
        return null;
      case "CoreLeads":
        return coreLeads(state, command);
      case "WriterJoined":
        return writerJoined(state, command);
      case "WriterLeft":
        return writerLeft(state);
      case "AskTime":
        return askTime(state, command);
      case "SessionConnected":
        return sessionConnected(state, command);
      case "UpdateIndex":
        return updateIndex(state, command);
      case "OpenSession":
        return openSession(state, command);
      case "RotateSession":
        return rotateSession(state, command);
      case "CloseSession":
        return closeSession(state, command);
      case "SetSessionOption":
        return setSessionOption(state, command);
      case "SessionDisconnected":
        sessionDisconnected(state, command);
        return null;
      case "PlaceOrder":
        return placeOrder(state, command);
      case "AmendOrder":
        return amendOrder(state, command);
      case "ChangeMargin":
        return changeMargin(state, command);
      case "CancelOrder":
        return cancelOrder(state, command);
      case "CancelAll":
        return cancelAll(state, command);
      case "CancelAfter":
        return cancelAfter(state, command);
      case "SetCohort":
        if (state.block.number > 1) return operate(state, command, () => setCohort(state, command));
        return setCohort(state, command);
      case "RegisterDeposit":
      case "AttestDeposit":
      case "PauseDeposits":
      case "RejudgeDeposit":
      case "SettleReorgedDeposit":
      case "Withdraw":
      case "AttestWithdrawal":
      case "CountReserves":
      case "CommitReserves":
        throw new Error(`${command.kind}: not part of the reference`);
    }
  }

  /** "Time". A tick moves it itself, once it is known that it is not ignored. */
  private moveTime(command: Command): void {
    const { state } = this;
    if (command.kind === "Tick") return;
    const lead = Math.min(command.stampMs, state.lastTick + MAX_LEAD_MS);
    state.time = Math.max(state.time, lead);
  }
}

function accountOfCommand(state: State, command: Command): number | null {
  if (!("session" in command)) return null;
  return state.sessions.get(command.session)?.account ?? null;
}
