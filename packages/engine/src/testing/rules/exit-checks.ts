/** Attached exits: what they cover, and what they never do. */
import { isExit, placeKey } from "./exit-ledger.js";
import { type Check, eventsOf, positionIn, type Step } from "./step.js";

const coverage: Check = {
  rule: "exits: they cover exactly the lots that their order has opened and that are still open",
  faults({ after, record }) {
    return after.orders
      .filter(({ id }) => isExit(id))
      .flatMap(({ id, account, market, remaining }) => {
        const lots = record.exits.lotsOf(account, market, id);
        return lots === remaining ? [] : [`exit ${id} covers ${remaining}, not ${lots}`];
      });
  },
};

const withinPosition: Check = {
  rule: "exits: all pairs together cover no more than the position, on its side",
  faults({ after }) {
    const covered = new Map<string, Map<number, number>>();
    const faults: string[] = [];
    for (const { id, account, market, side, remaining } of after.orders) {
      if (!isExit(id) || remaining === 0) continue;
      const { lots } = positionIn(after, market, account);
      if (lots * side >= 0) faults.push(`exit ${id} has nothing to close`);
      const pairs = covered.get(placeKey(account, market)) ?? new Map<number, number>();
      covered.set(placeKey(account, market), pairs);
      const pair = Math.floor(id);
      pairs.set(pair, Math.max(pairs.get(pair) ?? 0, remaining));
    }
    for (const [place, pairs] of covered) {
      const [account, market] = place.split(" ").map(Number) as [number, number];
      const sum = [...pairs.values()].reduce((all, lots) => all + lots, 0);
      const { lots } = positionIn(after, market, account);
      if (sum > Math.abs(lots)) faults.push(`account ${account}: ${sum} covered of ${lots}`);
    }
    return faults;
  },
};

const neverOpen: Check = {
  rule: "exits: reduce-only, an exit never opens or flips a position",
  faults: ({ record }) => record.exits.wrongFills,
};

const noneLeft: Check = {
  rule: "exits: none is left without lots and without its order",
  faults({ after }) {
    const open = new Set(after.orders.map(({ id }) => id));
    return after.orders
      .filter(({ id, remaining }) => isExit(id) && remaining === 0 && !open.has(Math.floor(id)))
      .map(({ id }) => `exit ${id} waits for nothing`);
  },
};

const onlyReached: Check = {
  rule: "exits: one without lots is not triggered",
  faults({ before, events }) {
    const idle = new Set(
      before.orders
        .filter(({ id, remaining }) => isExit(id) && remaining === 0)
        .map(({ id }) => id),
    );
    return eventsOf(events, "StopTriggered")
      .filter(({ orderId }) => idle.has(orderId))
      .map(({ orderId }) => `exit ${orderId} had nothing to close`);
  },
};

const accepted: Check = {
  rule: "exits: their prices lie on the right side of the order's price, or of the mark",
  faults(step: Step) {
    const { command, events, before } = step;
    if (command.kind !== "PlaceOrder" || command.exits === undefined) return [];
    if (!events.some(({ kind }) => kind === "OrderAcknowledged")) return [];
    const base = command.type === 1 ? command.priceTicks : before.markets[command.market]!.mark;
    const { takeProfitTicks, stopLossTicks } = command.exits;
    const isProfit = takeProfitTicks === 0 || (takeProfitTicks - base) * command.side > 0;
    const isLoss = stopLossTicks === 0 || (stopLossTicks - base) * command.side < 0;
    return isProfit && isLoss ? [] : [`accepted around ${base}`];
  },
};

const neverLater: Check = {
  rule: "closePosition: once triggered it never trades lots that were opened after that",
  faults: ({ record }) => record.closes.faults,
};

const endsWithIt: Check = {
  rule: "closePosition: once triggered it ends with the position of that moment, whatever rests",
  faults({ after, record }) {
    return after.orders.flatMap(({ id, remaining }) => {
      const lots = record.closes.triggered.get(id)?.lots;
      if (lots === undefined || (lots > 0 && lots === remaining)) return [];
      return [`order ${id} has ${remaining} lots, not ${lots}`];
    });
  },
};

export const EXIT_CHECKS: readonly Check[] = [
  coverage,
  withinPosition,
  neverOpen,
  noneLeft,
  onlyReached,
  accepted,
  neverLater,
  endsWithIt,
];
