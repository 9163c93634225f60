/** Runs a list of intents under checks, and shrinks a list that fails. */
import type { Command } from "../../commands.js";
import { Engine } from "../../engine.js";
import { TRADE_KINDS, type VenueEvent } from "../../events/event-table.js";
import { END_REASONS, REFUSALS } from "../../reasons.js";
import { Driver } from "./driver.js";
import { isExit } from "./exit-ledger.js";
import { FillReplay, keyOf } from "./fills.js";
import { FundingRecord } from "./funding-record.js";
import type { Intent } from "./intents.js";
import { LIMITS, type WorkLimits } from "./limits.js";
import { CONFIG } from "./listing.js";
import { VenueRecord } from "./record.js";
import { isTakingLoss } from "./risk-checks.js";
import { carriedOver, stopsReached, turnsHad } from "./service-checks.js";
import type { Check, Step } from "./step.js";
import { readView, type View } from "./view.js";

export interface Failure {
  readonly seq: number;
  readonly fault: string;
}

export interface Outcome {
  /** First failure of each rule. */
  readonly failures: Map<string, Failure>;
  readonly commands: Command[];
  readonly engine: Engine;
  /** How often each kind of event was seen. */
  readonly reached: Map<string, number>;
}

export interface RunOptions {
  readonly isRestoring?: boolean;
  readonly isStoppingAtFailure?: boolean;
  /** Those of the page if left out. */
  readonly limits?: WorkLimits;
}

export function runIntents(
  intents: readonly Intent[],
  checks: readonly Check[],
  options: RunOptions = {},
): Outcome {
  const { limits = LIMITS } = options;
  const failures = new Map<string, Failure>();
  const commands: Command[] = [];
  const reached = new Map<string, number>();
  const record = new VenueRecord(CONFIG);
  const funding = new FundingRecord();
  let before: View = readView(new Engine());
  const driver = new Driver(
    (command, events, engine) => {
      commands.push(command);
      const after = readView(engine);
      record.command(command, events, after.timeMs);
      funding.follow(record.config, before, events);
      const replay = new FillReplay(record.config, before, after, record.placed).replay(events);
      const { seq } = engine;
      const step: Step = {
        command,
        events,
        before,
        after,
        replay,
        record,
        funding,
        limits,
        seq,
        engine,
      };
      const left = carriedOver(step);
      const isRestored = left.length > 0 && seq % 2 === 0;
      const names = [...events.map(nameOf), ...termsOf(command, events), ...left];
      if (isTakingLoss(step)) names.push("takeover at a loss");
      if (isRestored) names.push("restored while carried over");
      for (const name of names) reached.set(name, (reached.get(name) ?? 0) + 1);
      // Before Genesis there is nothing to compare with.
      for (const check of command.kind === "Genesis" ? [] : checks) {
        if (failures.has(check.rule)) continue;
        const [fault] = check.faults(step);
        if (fault !== undefined) failures.set(check.rule, { seq, fault });
      }
      for (const id of stopsReached(step)) record.reachedStops.add(id);
      record.hadTurn = turnsHad(step);
      for (const { id, remaining } of after.orders) {
        if (isExit(id) && remaining === 0) record.reachedStops.delete(id);
      }
      for (const fill of replay.fills) {
        record.traded.add(keyOf(fill.account, fill.trade.market));
      }
      record.noteFund(after.timeMs, fundValue(after));
      before = after;
      return isRestored;
    },
    options.isRestoring ?? true,
    limits.ruleSets,
  );
  for (const intent of intents) {
    driver.run(intent);
    if (options.isStoppingAtFailure && failures.size > 0) break;
  }
  return { failures, commands, engine: driver.engine, reached };
}

/** Everything booked to the fund except its seed, plus the backstop's unrealised PnL. */
function fundValue({ fund, markets }: View): bigint {
  let value = BigInt(fund) - BigInt(CONFIG.fundSeedMicros);
  markets.forEach(({ backstopLots, backstopCost, mark }, market) => {
    const unit = BigInt(CONFIG.markets[market]!.microsPerTickLot);
    value += BigInt(backstopLots) * BigInt(mark) * unit - BigInt(backstopCost);
  });
  return value;
}

/** The kind of an accepted command, with its terms and whether it is part of a batch. */
function termsOf(command: Command, events: readonly VenueEvent[]): string[] {
  if (events.some(({ kind }) => kind === "CommandRefused")) return [];
  const names = [`done: ${command.kind}`];
  if ("batch" in command && command.batch !== undefined) names.push(`batch: ${command.kind}`);
  if (command.kind === "ChangeMargin") {
    names.push(command.amountMicros > 0 ? "margin: added" : "margin: removed");
  }
  if (command.kind !== "PlaceOrder" || command.extras === undefined) return names;
  const { sizeLots, timeInForce, expiresAtMs, clientOrderId, limitTicks } = command.extras;
  if (sizeLots > 0) names.push("term: size");
  if (timeInForce > 0) names.push(timeInForce === 1 ? "term: ioc" : "term: fok");
  if (expiresAtMs > 0) names.push("term: expiresAt");
  if (clientOrderId !== "") names.push("term: clientOrderId");
  if (limitTicks > 0) names.push("term: limitPrice");
  if (command.extras.trigger === 1) names.push("term: takeProfit");
  if (command.extras.closePosition) names.push("term: closePosition");
  if (command.extras.selfTrade > 0) names.push("term: selfTrade");
  return names;
}

/** The kind of an event, with its reason or kind of trade where it has one. */
function nameOf(event: VenueEvent): string {
  if (event.kind === "CommandRefused") return `refused: ${REFUSALS[event.refusal]}`;
  if (event.kind === "OrderEnded") return `ended: ${END_REASONS[event.reason]}`;
  if (event.kind === "OrderAcknowledged") return `acknowledged: ${END_REASONS[event.reason]}`;
  if (event.kind === "Traded") return `traded: ${TRADE_KINDS[event.tradeKind]}`;
  return event.kind;
}

/** The shortest list found, within a number of runs, that still fails the check. */
export function shrink(
  intents: readonly Intent[],
  check: Check,
  limits: WorkLimits,
  runs = 400,
): readonly Intent[] {
  let current = [...intents];
  let left = runs;
  const fails = (list: readonly Intent[]): boolean =>
    runIntents(list, [check], { isStoppingAtFailure: true, limits }).failures.size > 0;
  for (let chunk = Math.ceil(current.length / 2); chunk >= 1; chunk = Math.floor(chunk / 2)) {
    for (let at = current.length - chunk; at > -chunk && left > 0; at -= chunk) {
      const without = [...current.slice(0, Math.max(0, at)), ...current.slice(at + chunk)];
      left--;
      if (fails(without)) current = without;
    }
  }
  return current;
}

/** The failure with its commands, numbered. */
export function report(
  seed: number,
  intents: readonly Intent[],
  check: Check,
  limits: WorkLimits,
): string {
  const shortest = shrink(intents, check, limits);
  const options = { isStoppingAtFailure: true, limits };
  const { commands, failures } = runIntents(shortest, [check], options);
  const failure = failures.get(check.rule);
  const { commands: setUp } = runIntents([], []);
  const lines = commands.map((command, i) => `${i + 1}: ${JSON.stringify(command)}`);
  return [
    `seed ${seed}: ${check.rule}`,
    `at command ${failure?.seq}: ${failure?.fault}`,
    ...shortest.map((intent) => `  intent ${JSON.stringify(intent)}`),
    `commands, after the ${setUp.length} of the set-up:`,
    ...lines.slice(setUp.length),
  ].join("\n");
}
