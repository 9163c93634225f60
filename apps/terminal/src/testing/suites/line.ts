/** The line to the venue: one state that gates every action. */

import type { Page, WebSocketRoute } from "playwright-core";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { intercept, OFFLINE, POLL, type TradingPage } from "../trading-page.js";
import { sellTo } from "../venue-reads.js";

export function lineTests(test: PageTest): void {
  test("line: offline by the browser's event, stale within seconds of silence; every action is off", async ({
    open,
    quiet,
  }) => {
    const opened = await open({ url: quiet.url });
    const { page, context } = opened;
    // A sign-in without an answer ends, and the next one works. The dialog is a file of its own, which
    // is loaded when the page has nothing else to do, and must be there before the venue is gone.
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    const create = page.getByRole("button", { name: "Create a burner key" });
    await create.waitFor();
    quiet.freeze();
    await create.click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    quiet.thaw();
    await opened.untilLive();
    await page.keyboard.press("Escape");
    await opened.signInWithBurner();
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.result().getByText("Buy limit resting").waitFor();
    await opened.tab(/Open orders \(1\)/);
    await context.setOffline(true);
    await opened.untilLine("offline");
    await page.getByRole("button", { name: "Offline", disabled: true }).waitFor();
    await expectActionsOff(opened);
    expect(await page.title()).toBe("Not live · BTCUSD · Perpgate");
    await page.locator(".switcher").click();
    for (const old of [...OLD, ".market-item"]) {
      const marked = page.locator(old).first();
      expect(await marked.evaluate((each) => getComputedStyle(each).fontStyle), old).toBe("italic");
    }
    await page.keyboard.press("Escape");
    await opened.tab(/Positions/);
    await page.getByText("Not known while the line is down.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    const leaving = page.getByRole("dialog", { name: "Sign out" });
    await leaving.getByText("Your positions and orders are not known now.").waitFor();
    await leaving.getByRole("button", { name: "Back" }).click();
    await opened.tab(/Open orders \(1\)/);
    await opened.inspect("line-offline");
    await context.setOffline(false);
    await opened.untilLive();

    quiet.freeze();
    await opened.untilLine("stale");
    await page.getByRole("button", { name: "Data older than 2 s…", disabled: true }).waitFor();
    await expectActionsOff(opened);
    await opened.inspect("line-stale", "header, section.trade");
    // No longer silent but dead: the client has given the socket up.
    await opened.untilLine("reconnecting");
    await expectActionsOff(opened);
    quiet.thaw();
    await opened.untilLive();
    await cancelButton(page).click();
    await page.getByText("No open orders.").waitFor();
    opened.expectClean(OFFLINE);
  });

  test("line: messages that keep arriving late are stale, of the public and of the session's socket", async ({
    enter,
    venueUrl,
  }) => {
    const late = { ms: 0, isPrivate: false };
    const prepare = (page: Page) =>
      page.routeWebSocket(/\/ws\//, (socket) => delayAnswers(socket, late));
    const { opened, page } = await enter({ url: venueUrl, prepare });
    for (const isPrivate of [false, true]) {
      Object.assign(late, { ms: 4_000, isPrivate });
      await opened.untilLine("stale");
      await page.getByRole("button", { name: "Data older than 2 s…", disabled: true }).waitFor();
      // Prices go on to change: it is not silence.
      const before = await page.locator(".last-price").innerText();
      if (!isPrivate) {
        await expect.poll(() => page.locator(".last-price").innerText(), POLL).not.toBe(before);
      }
      expect(await page.locator(".connection").getAttribute("data-state")).toBe("stale");
      late.ms = 0;
      await opened.untilLive();
    }
    opened.expectClean();
  });

  test("line: what was shown before the machine slept is stale until the venue has answered again", async ({
    open,
    quiet,
  }) => {
    const opened = await open({ url: quiet.url });
    const { page } = opened;
    await page.evaluate(NOTE_STATES);
    // The clock of the browser's timers stands while the machine sleeps.
    await page.evaluate("{ const now = Date.now; Date.now = () => now() + 3_600_000; }");
    const states = () => page.evaluate<string[]>("window.lineStates");
    await expect.poll(states, POLL).toEqual(["stale", "live"]);
    opened.expectClean();
  });

  test("line: silence is stale in a page that is always busy, too", async ({ open, quiet }) => {
    const opened = await open({ url: quiet.url });
    const { page } = opened;
    await page.evaluate(NOTE_STATES);
    await page.evaluate(`setInterval(() => {
      const until = performance.now() + 550;
      while (performance.now() < until);
    }, 5)`);
    quiet.freeze();
    await opened.untilLine("reconnecting");
    expect(await page.evaluate("window.lineStates")).toEqual(["stale", "reconnecting"]);
    quiet.thaw();
    opened.expectClean(OFFLINE);
  });

  test("line: an order and a cancel whose answers are lost are shown as unknown, then settled; also by the next session", async ({
    enter,
    quiet,
  }) => {
    const cut = new AnswerCut();
    const { opened, page } = await enter({ url: quiet.url, prepare: (page) => cut.install(page) });
    cut.isArmed = true;
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await page.getByTestId("unsettled").waitFor();
    await opened.inspect("order-unsettled", "section.trade");
    // A held-back order must not be executed unseen later: it says until when it is valid.
    const [sent] = cut.orders;
    expect(sent?.validUntil).toBeLessThan(Date.now() + 60_000);
    cut.end();
    await page.getByText("Buy limit BTCUSD: executed").waitFor();
    await opened.result().getByText("(repeated)").waitFor();
    // Nobody has measured the way of the answer that was lost.
    expect(await page.getByTestId("result-browser-ms").count()).toBe(0);
    expect(await page.getByTestId("unsettled").count()).toBe(0);
    expect(new Set(cut.orders.map(({ nonce }) => nonce)).size).toBe(1);
    await opened.tab(/Open orders \(1\)/);
    cut.isCancelArmed = true;
    await cancelButton(page).click();
    await page
      .getByTestId("unsettled")
      .getByText(/^Cancel of order \d+: outcome unknown/)
      .waitFor();
    cut.end();
    await page.locator(".toast", { hasText: /^Cancel of order \d+: executed/ }).waitFor();
    await page.getByText("No open orders.").waitFor();
    cut.isArmed = true;
    await opened.order("Limit", "Sell / Short", { margin: "100", price: "70000" });
    await page.getByTestId("unsettled").waitFor();
    await opened.signOut();
    await page.getByRole("banner").getByRole("button", { name: "Sign in" }).click();
    cut.end();
    await opened.untilLive();
    await page.getByRole("button", { name: /^Use burner/ }).click();
    await page.getByText("Sell limit BTCUSD: executed").waitFor();
    await opened.press(cancelButton(page));
    await page.getByText("No open orders.", { exact: true }).waitFor();
    opened.expectClean(OFFLINE);
  });

  test("line: a change whose answer is lost is not sent twice; then it is settled", async ({
    enter,
    quiet,
    onTestFinished,
  }) => {
    const { opened, page } = await enter({ url: quiet.url });
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "64000" });
    await opened.tab(/Open orders \(1\)/);
    await Promise.all([
      sellTo(quiet.url, onTestFinished),
      page.locator(".toast", { hasText: "Partly filled: BTCUSD" }).waitFor(),
    ]);
    const unsettled = page.getByTestId("unsettled");
    const executed = (title: RegExp) => page.locator(".toast", { hasText: title }).waitFor();
    const stillWaiting = page.locator(".toast", { hasText: "Still waiting for an answer" });

    const answersReturn = await loseAnswers(page, "**/amend");
    const row = page.getByRole("row").filter({ hasText: "Buy limit" });
    await amend(page, "63000");
    await unsettled.getByText(/^Change of order \d+: outcome unknown/).waitFor();
    await amend(page, "62000");
    await stillWaiting.waitFor();
    await stillWaiting.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("button", { name: "Discard" }).click();
    await answersReturn();
    await executed(/^Change of order \d+: executed/);
    await row.getByText("63,000.0").waitFor();

    await opened.tab(/Positions \(1\)/);
    const margin = page.locator('td[data-title="Margin"]');
    const marginNow = async () => Number((await margin.innerText()).replace(",", ""));
    const before = await marginNow();
    const marginsReturn = await loseAnswers(page, "**/margin");
    await addMargin(page, "50");
    await unsettled.getByText(/^Change of the margin of BTCUSD: outcome unknown/).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await addMargin(page, "50");
    // Where the keyboard and a screen reader are: what is behind the dialog is inert.
    const alert = page.getByRole("dialog").getByRole("alert");
    await alert.getByText("Still waiting for an answer").waitFor();
    await opened.inspect("position-failed", "dialog");
    await page.keyboard.press("Escape");
    await marginsReturn();
    await executed(/^Change of the margin of BTCUSD: executed/);
    await expect.poll(marginNow, POLL).toBeCloseTo(before + 50, 1);

    await opened.tab(/Open orders \(1\)/);
    const cancelsReturn = await loseAnswers(page, "**/cancel-all");
    await opened.cancelAll();
    await unsettled.getByText(/^Cancel of all orders: outcome unknown/).waitFor();
    await page.getByText("No open orders.").waitFor();
    await cancelsReturn();
    await executed(/^Cancel of all orders: executed/);
    expect(await unsettled.count()).toBe(0);
    opened.expectClean(OFFLINE);
  });

  test("line: a close of all positions that never arrived and is settled too late: not executed, the position stays", async ({
    enter,
    quiet,
    onTestFinished,
  }) => {
    const { opened, page } = await enter({ url: quiet.url });
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "64000" });
    await opened.tab(/Open orders \(1\)/);
    const venue = await sellTo(quiet.url, onTestFinished);
    await opened.tab(/Positions \(1\)/);
    let validUntil = Number.POSITIVE_INFINITY;
    const batchesArrive = await intercept(page, "**/v1/orders/batch", async (route) => {
      ({ validUntil } = route.request().postDataJSON());
      await route.abort();
    });
    await page.getByRole("button", { name: "Close all" }).click();
    await page.getByRole("button", { name: "Close 1 position" }).click();
    const unsettled = page.getByTestId("unsettled");
    await unsettled.getByText(/^Close of all positions: outcome unknown/).waitFor();
    await expect.poll(() => venue.time(), POLL).toBeGreaterThan(validUntil);
    await batchesArrive();
    await page.locator(".toast", { hasText: /^Close of all positions: not executed/ }).waitFor();
    expect(await unsettled.count()).toBe(0);
    await opened.tab(/Positions \(1\)/);
    // The next tests must not meet the rest of the order.
    await opened.tab(/Open orders \(1\)/);
    await opened.cancelAll();
    await page.getByText("No open orders.").waitFor();
    opened.expectClean(OFFLINE);
  });

  test("order: Enter twice, the second right after the answer, makes one order", async ({
    enter,
    quiet,
  }) => {
    const { opened, page } = await enter({ url: quiet.url });
    const sent: string[] = [];
    page.on("websocket", (socket) =>
      socket.on("framesent", ({ payload }) => sent.push(String(payload))),
    );
    // Sends the form again in the moment in which the first result is drawn.
    await page.evaluate(`
      new MutationObserver((_, observer) => {
        if (document.querySelector("[data-testid=result]") === null) return;
        observer.disconnect();
        window.wasRepeated = true;
        document.querySelector("form[aria-label=Order]").requestSubmit();
      }).observe(document.body, { subtree: true, childList: true })`);
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    await opened.result().locator('[data-seal="proven"]').waitFor();
    expect(await page.evaluate("window.wasRepeated")).toBe(true);
    await opened.tab(/Open orders \(1\)/);
    // The next order is a new one, and its answer comes after any second one's.
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    await opened.tab(/Open orders \(2\)/);
    opened.expectClean();
  });
}

/** What the venue has said, which may be old while the line is down. */
const OLD = [
  ".last-price",
  ".figures",
  ".funds",
  ".preview",
  ".summary",
  ".result",
  ".last-answer",
  ".chart-body",
  ".ladder",
  ".data",
];

/** Runs inside the page: the states of the line that are shown from here on, in `window.lineStates`. */
const NOTE_STATES = `{
  const shown = document.querySelector(".connection");
  window.lineStates = [];
  new MutationObserver(() => window.lineStates.push(shown.dataset.state))
    .observe(shown, { attributeFilter: ["data-state"] });
}`;

function cancelButton(page: Page) {
  return page.getByRole("button", { name: /^Cancel order/ });
}

async function expectActionsOff({ page }: TradingPage): Promise<void> {
  expect(await cancelButton(page).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Cancel all" }).isDisabled()).toBe(true);
  const submit = page.getByRole("form", { name: "Order" }).locator("button[type=submit]");
  expect(await submit.isDisabled()).toBe(true);
}

/** The venue gets these requests, the page no answers, although its line is live. */
function loseAnswers(page: Page, path: string): Promise<() => Promise<void>> {
  return intercept(page, path, async (route) => {
    await route.fetch();
    await route.abort();
  });
}

async function amend(page: Page, price: string): Promise<void> {
  await page.getByRole("button", { name: /^Amend order/ }).click();
  await page.getByRole("textbox", { name: /New price of order/ }).fill(price);
  await page.getByRole("button", { name: /^Save order/ }).click();
}

async function addMargin(page: Page, dollars: string): Promise<void> {
  await page.getByRole("button", { name: "Manage BTCUSD" }).click();
  const dialog = page.getByRole("dialog", { name: "BTCUSD position" });
  await dialog.getByRole("tab", { name: "Margin" }).click();
  await dialog.getByRole("textbox", { name: "Amount" }).fill(dollars);
  await dialog.getByRole("button", { name: "Add margin" }).click();
}

/** From the next order or cancel on, which the venue gets, nothing reaches the page until `end`. */
class AnswerCut {
  isArmed = false;
  isCancelArmed = false;
  readonly orders: { nonce: number; validUntil: number }[] = [];
  private isCutting = false;
  /** Sockets that have lost a message, which TCP would close. */
  private readonly broken = new Set<WebSocketRoute>();

  async install(page: Page): Promise<void> {
    await page.routeWebSocket(/\/ws\//, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        this.note(String(message));
        server.send(message);
      });
      server.onMessage((message) => {
        if (this.isCutting) this.broken.add(socket);
        else if (!this.broken.has(socket)) socket.send(message);
      });
    });
    await page.route("**/v1/**", async (route) => {
      if (this.isCancelArmed && route.request().url().endsWith("/v1/orders/cancel")) {
        this.isCancelArmed = false;
        await route.fetch();
        this.isCutting = true;
      }
      await (this.isCutting ? route.abort() : route.continue());
    });
  }

  end(): void {
    this.isArmed = false;
    this.isCutting = false;
    for (const socket of this.broken) void socket.close({ code: 4000 }).catch(() => undefined);
  }

  private note(message: string): void {
    const { op, body }: { op?: string; body?: string } = JSON.parse(message);
    if (op !== "order" || body === undefined) return;
    this.orders.push(JSON.parse(body));
    if (this.isArmed) this.isCutting = true;
  }
}

/** Messages of the venue arrive later, in their order, on the sockets with or without a session. */
function delayAnswers(
  socket: WebSocketRoute,
  late: { readonly ms: number; readonly isPrivate: boolean },
): void {
  let isPrivate = false;
  let ready = Promise.resolve();
  const server = socket.connectToServer();
  socket.onMessage((message) => {
    isPrivate ||= String(message).includes('"op":"auth"');
    server.send(message);
  });
  server.onMessage((message) => {
    const ms = late.isPrivate === isPrivate ? late.ms : 0;
    const arrival = new Promise<void>((resolve) => setTimeout(resolve, ms));
    ready = Promise.all([ready, arrival]).then(() => socket.send(message));
  });
}
