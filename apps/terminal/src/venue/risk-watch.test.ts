/** A warning is given once, and again after the position had been safe. */

import type { Position } from "@perpgate/protocol";
import { PerpgateClient } from "@perpgate/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { changeUserSettings } from "../state/user-settings.js";
import { Terminal } from "../terminal.js";
import { LISTED } from "../testing/listed-market.js";
import { viewOf } from "./market-view.js";
import { RiskWatch } from "./risk-watch.js";

const POSITION: Position = {
  symbol: "BTCUSD",
  side: "long",
  size: 1,
  avgEntry: 50_000,
  markPrice: 50_000,
  liquidationPrice: 45_500,
  margin: 5_000,
  leverage: 10,
  unrealizedPnl: 0,
  realizedPnl: 0,
  fundingPaid: 0,
  updatedAt: 0,
};

function start() {
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback));
  onTestFinished(() => {
    vi.unstubAllGlobals();
    changeUserSettings({ warnsAt: "80" });
  });
  // Nothing is sent: neither is started.
  const terminal = new Terminal(new PerpgateClient({ url: "http://127.0.0.1:1" }));
  const view = viewOf({ ...LISTED, markPrice: 50_000, indexPrice: 50_000 });
  terminal.marketFeed.markets.set([view]);
  terminal.account.positions.set(new Map([["BTCUSD", POSITION]]));
  const watch = new RiskWatch(terminal, terminal.toasts);
  /** The titles of the warnings at this mark. */
  const at = (mark: number) => {
    for (const { id } of terminal.toasts.list.get()) terminal.toasts.close(id);
    terminal.marks.sample.set(new Map([["BTCUSD", mark]]));
    watch.check();
    return terminal.toasts.list.get().map(({ title, text }) => `${title}. ${text}`);
  };
  return { at, terminal };
}

test("risk: warned at the bound, once, again after it was safe, and of the next position", () => {
  const { at, terminal } = start();
  // Maintenance 456.5, equity 650: 70.2 %.
  expect(at(45_650)).toEqual([]);
  // Maintenance 455.6, equity 560.
  const text = "Close to liquidation: BTCUSD. Margin ratio 81.4%. The mark is 0.13% from 45,500.0.";
  expect(at(45_560)).toEqual([text]);
  expect(at(45_550)).toEqual([]);
  expect(at(45_580)).toEqual([]);
  expect(at(46_000)).toEqual([]);
  expect(at(45_560)).toEqual([text]);
  terminal.account.positions.set(new Map());
  expect(at(45_560)).toEqual([]);
  terminal.account.positions.set(new Map([["BTCUSD", POSITION]]));
  expect(at(45_560)).toEqual([text]);
});

test("risk: the bound is the trader's; one that cannot be read is the usual one", () => {
  const { at } = start();
  changeUserSettings({ warnsAt: "9" });
  expect(at(50_000)).toHaveLength(1);
  changeUserSettings({ warnsAt: "x" });
  expect(at(49_000)).toEqual([]);
  expect(at(45_560)).toHaveLength(1);
});
