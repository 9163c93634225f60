/** Results of orders: live, proven step by step, saved as files. */

import { readFile } from "node:fs/promises";
import type { Honesty } from "@perpgate/protocol";
import { checkOrderProof, judgeReceipt, newPrivateKey, privateKeyAccount } from "@perpgate/sdk";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { PageTest } from "../page-test.js";
import { injectWallet } from "../test-wallet.js";
import { intercept } from "../trading-page.js";
import { sellTo } from "../venue-reads.js";

export function receiptTests(test: PageTest): void {
  test("result: a resting order that is filled and canceled in the background changes, with toasts", async ({
    open,
    quiet,
    onTestFinished,
  }) => {
    const account = privateKeyAccount(newPrivateKey());
    const opened = await open({ url: quiet.url, prepare: (page) => injectWallet(page, account) });
    const { page } = opened;
    await opened.signInWithWallet(account.address);
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "64000" });
    await opened.result().getByText("Buy limit resting", { exact: true }).waitFor();

    // A toast goes after some seconds: it is looked for before what causes it.
    const toast = (text: string) => page.locator(".toast", { hasText: text }).waitFor();
    const [client] = await Promise.all([
      sellTo(quiet.url, onTestFinished),
      toast("Partly filled: BTCUSD").then(() => opened.inspect("toast-fill")),
      opened.result().getByText("Buy limit partly filled, resting").waitFor(),
    ]);
    expect(await page.getByTestId("result-filled").innerText()).toContain("0.00100");
    const elsewhere = await client.signIn({ account });
    await Promise.all([elsewhere.cancelAll(), toast("Canceled: BTCUSD")]);
    await opened.result().getByText("Buy limit partly filled", { exact: true }).waitFor();
    opened.expectClean();
  });

  test("result: signed, sealed and witnessed; receipt and proof are files that hold, the receipt after a reload, too", async ({
    enter,
    quiet,
  }) => {
    const { opened, page } = await enter({ url: quiet.url });
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    const result = opened.result();
    await result.locator('[data-signed="held"]').waitFor();
    await result.locator('[data-seal="proven"]').waitFor();
    const witnessed = result.locator('[data-witness="witnessed"]');
    await witnessed.waitFor();
    const title = await witnessed.locator(".chip").getAttribute("title");
    expect(title).toMatch(
      /^Verified in this page under the key that the venue names: .+ Cosigned by witness\.example\/w1\.$/,
    );
    await opened.inspect("result-witnessed", "section.trade");
    const receipt = await textOf(page, () =>
      page.getByRole("button", { name: "Save receipt" }).click(),
    );
    const verdict = await judgeReceipt(JSON.parse(receipt), { url: quiet.url });
    expect(verdict.verdict).toBe("kept");
    const proof = await textOf(page, () =>
      page.getByRole("button", { name: "Save proof" }).click(),
    );
    const record: Honesty = JSON.parse(await (await fetch(`${quiet.url}/v1/honesty`)).text());
    const checked = await checkOrderProof(proof, { witnessKeys: record.witnesses });
    expect(checked).toMatchObject({ cosigners: ["witness.example/w1"] });
    const honesty = page.getByTestId("honesty");
    await honesty.getByText(/\d promises kept, 1 witness$/).waitFor();

    // The next visit has the receipt, too.
    await page.reload();
    await opened.untilLive();
    await opened.tab(/History/);
    const again = await textOf(page, () =>
      page.getByRole("button", { name: /^Save the receipt of order/ }).click(),
    );
    expect(JSON.parse(again)).toEqual(JSON.parse(receipt));
    opened.expectClean();
  });

  test("result: logged while the venue names no key of the witness; a forged cosignature is shown", async ({
    enter,
    quiet,
  }) => {
    const { opened, page } = await enter({ url: quiet.url });
    const result = opened.result();
    const endNameless = await intercept(page, "**/v1/honesty", async (route) => {
      const response = await route.fetch();
      const record: object = await response.json();
      await route.fulfill({ response, json: { ...record, witnesses: [] } });
    });
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    const logged = result.locator('[data-witness="logged"] .chip');
    await logged.waitFor();
    expect(await logged.getAttribute("title")).toMatch(
      / It has no cosignature under a key that the venue names\.$/,
    );
    await endNameless();
    await result.locator('[data-witness="witnessed"]').waitFor();

    await page.route("**/v1/preconfirms/*/proof", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: withOtherCosignature(await response.text()) });
    });
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    await result.locator('[data-witness="missing"]').waitFor();
    const reason = "the cosignature of witness.example/w1 does not hold";
    await result.getByRole("alert").getByText(reason).waitFor();
    await opened.inspect("result-forged-cosignature", "section.trade");
    opened.expectClean();
  });

  test("result: a receipt and a proof that do not hold are shown, as is one changed bit; a proof is checked again", async ({
    enter,
    quiet,
  }) => {
    const prepare = async (page: Page) => {
      // With another venue's id no receipt is this venue's.
      await page.route("**/v1/honesty", async (route) => {
        const response = await route.fetch();
        const record: object = await response.json();
        await route.fulfill({ response, json: { ...record, venueId: "00".repeat(32) } });
      });
    };
    const { opened, page } = await enter({ url: quiet.url, prepare });
    const endRefusals = await intercept(page, "**/v1/preconfirms/*", (route) =>
      route.fulfill({
        status: 404,
        json: {
          code: "preconfirm_not_found",
          message: "There is no such acknowledgement.",
          requestId: "x",
        },
      }),
    );
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
    const result = opened.result();
    await result.locator('[data-signed="broken"]').waitFor();
    await page.locator(".toast", { hasText: "A receipt does not hold" }).waitFor();
    await result.locator('[data-seal="unproven"]').waitFor();
    await result.getByRole("alert").getByText("There is no such acknowledgement").waitFor();
    await opened.inspect("result-unproven", "section.trade");
    await endRefusals();
    await result.getByRole("button", { name: "Check again" }).click();
    await result.locator('[data-seal="proven"]').waitFor();
    expect(await result.getByRole("alert").allInnerTexts()).toEqual([
      expect.stringMatching(/^The receipt does not hold/),
    ]);

    await page.route("**/v1/preconfirms/*", async (route) => {
      const response = await route.fetch();
      const proof: unknown = await response.json();
      if (!hasLeaf(proof)) return route.fulfill({ response });
      return route.fulfill({ response, json: { ...proof, leaf: withOtherAccount(proof.leaf) } });
    });
    await opened.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
    const chip = result.locator('[data-seal="differs"]');
    await chip.waitFor();
    expect(await chip.getAttribute("title")).toMatch(/: leaf and path give another root[^;]+$/);
    await result.getByText("leaf and path give another root").waitFor();
    await opened.inspect("result-differs", "section.trade");
    opened.expectClean(/status of 404/);
  });
}

function hasLeaf(value: unknown): value is { readonly leaf: string } {
  return typeof value === "object" && value !== null && "leaf" in value;
}

/** Changes one bit of the account number, which is in no field of the acknowledgement. */
function withOtherAccount(leaf: string): string {
  const bytes = Buffer.from(leaf.slice(2), "hex");
  bytes[22] = (bytes[22] ?? 0) ^ 8;
  return `0x${bytes.toString("hex")}`;
}

/** Changes one bit of the witness's signature. */
function withOtherCosignature(proof: string): string {
  return proof.replace(/(?<=— witness\.example\/w1 )\S+/, (text) => {
    const bytes = Buffer.from(text, "base64");
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    return bytes.toString("base64");
  });
}

async function textOf(page: Page, save: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent("download"), save()]);
  return readFile(await download.path(), "utf8");
}
