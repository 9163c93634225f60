/** A person who uses the page at random: what was pressed is counted, what is shown is read. */

import type { Locator } from "playwright-core";
import { pressIfEnabled, type TradingPage } from "./trading-page.js";

export interface Press {
  readonly side: "long" | "short";
  readonly type: "market" | "limit" | "stop";
}

/** Numbers between 0 and 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const GARBAGE = ["", "abc", "-5", "0", "1e3", "9".repeat(30), "12,34", "0.0000001", " 7 "];

export class RandomTrader {
  /** Presses that may have sent an order: no more orders than these may exist. */
  readonly presses: Press[] = [];

  constructor(
    private readonly opened: TradingPage,
    private readonly random: () => number,
    private readonly mark: () => number,
  ) {}

  pick<const T>(options: readonly [T, ...T[]]): T {
    return options[Math.floor(this.random() * options.length)] ?? options[0];
  }

  async order(): Promise<void> {
    const side = this.pick(["long", "short"]);
    const type = this.pick(["market", "limit", "limit", "stop"]);
    const form = this.form();
    await form
      .getByText(side === "long" ? "Buy / Long" : "Sell / Short", { exact: true })
      .first()
      .click();
    await form
      .getByText({ market: "Market", limit: "Limit", stop: "Stop" }[type], { exact: true })
      .click();
    if (type !== "market") {
      // A stop beyond the mark; a limit on either side of it.
      const away = 0.001 + this.random() * 0.02;
      const up = type === "stop" ? side === "long" : this.random() < 0.5;
      const price = Math.round(this.mark() * (up ? 1 + away : 1 - away));
      await form.getByRole("textbox", { name: /^(Price|Trigger price)$/ }).fill(String(price));
    }
    await form.getByRole("textbox", { name: "Margin" }).fill((20 + this.random() * 200).toFixed(2));
    if (type !== "stop") await this.chooseExits();
    await this.submit({ side, type });
  }

  /** What cannot be read must not be sent. */
  async typeGarbage(): Promise<void> {
    const form = this.form();
    const boxes = await form.getByRole("textbox").all();
    const box = boxes[Math.floor(this.random() * boxes.length)];
    await box?.fill(this.pick(["", ...GARBAGE]));
    const type = await form.locator("input[name=type]:checked").evaluate(valueOfChoice);
    const side = await form.locator("input[name=side]:checked").evaluate(valueOfChoice);
    const isSell = side.startsWith("Sell");
    const types = { Market: "market", Limit: "limit", Stop: "stop" } as const;
    const found = Object.entries(types).find(([name]) => name === type)?.[1] ?? "market";
    await this.submit({ side: isSell ? "short" : "long", type: found });
  }

  async cancelOne(): Promise<void> {
    await this.opened.tab(/^Open orders/);
    const buttons = await this.opened.page.getByRole("button", { name: /^Cancel order/ }).all();
    const button = buttons[Math.floor(this.random() * buttons.length)];
    if (button !== undefined) await press(button);
  }

  async cancelAll(): Promise<void> {
    const { page } = this.opened;
    await this.opened.tab(/^Open orders/);
    await press(page.getByRole("button", { name: "Cancel all" }));
    await this.confirm(page.getByRole("button", { name: /^Cancel \d+ orders?$/ }));
  }

  async amend(): Promise<void> {
    const { page } = this.opened;
    await this.opened.tab(/^Open orders/);
    if (!(await press(page.getByRole("button", { name: /^Amend order/ }).first()))) return;
    const price = page.getByRole("textbox", { name: /^New price of order/ });
    const typed = Math.round(this.mark() * (0.97 + this.random() * 0.06));
    await price.fill(String(typed), { timeout: 2_000 }).catch(() => undefined);
    await press(page.getByRole("button", { name: /^Save order/ }));
  }

  async close(): Promise<void> {
    const { page } = this.opened;
    await this.opened.tab(/^Positions/);
    const size = await page
      .locator('td[data-title="Size"]')
      .first()
      .innerText({ timeout: 1_000 })
      .catch(() => "");
    if (!(await press(page.getByRole("button", { name: "Close BTCUSD at the market" })))) return;
    if (await this.confirm(page.getByRole("button", { name: "Close 1 position" }))) {
      // The position may have turned between the two presses.
      this.presses.push({ side: size.startsWith("−") ? "long" : "short", type: "market" });
    }
  }

  /** No dialog and no draft is left open. */
  async settle(): Promise<void> {
    const { page } = this.opened;
    await page.keyboard.press("Escape");
    await press(page.getByRole("button", { name: "Discard" }));
  }

  private form(): Locator {
    return this.opened.page.getByRole("form", { name: "Order" });
  }

  private async chooseExits(): Promise<void> {
    const form = this.form();
    const box = form.getByRole("checkbox", { name: "TP / SL" });
    const wanted = this.random() < 0.4;
    if ((await box.isChecked()) !== wanted) await box.click();
    if (!wanted) return;
    await form.getByText("% of price", { exact: true }).click();
    await form.getByRole("textbox", { name: "Take profit" }).fill("3");
    await form.getByRole("textbox", { name: "Stop loss" }).fill(this.pick(["2", ""]));
  }

  private async submit(pressed: Press): Promise<void> {
    if (await press(this.form().locator("button[type=submit]"))) this.presses.push(pressed);
  }

  private async confirm(button: Locator): Promise<boolean> {
    const isThere = await button.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    );
    return isThere && (await press(button));
  }
}

/** False if it is not there or disabled. */
async function press(button: Locator): Promise<boolean> {
  if ((await button.count()) === 0) return false;
  return button.evaluate(pressIfEnabled, undefined, { timeout: 2_000 }).catch(() => false);
}

/** Runs inside the page. */
function valueOfChoice(input: HTMLElement | SVGElement): string {
  return input.parentElement?.textContent ?? "";
}
