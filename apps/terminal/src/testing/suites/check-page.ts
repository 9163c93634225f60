/** The page that checks a proof, as somebody who saved it opens it. */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { until } from "@perpgate/gateway/testing";
import { evidenceSamples } from "@perpgate/protocol/testing";
import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { expect } from "vitest";
import { expectAccessible } from "../axe.js";
import type { PageTest } from "../page-test.js";
import { POLL } from "../trading-page.js";

const WITNESS = "witness.example/w1";

export function checkPageTests(test: PageTest): void {
  test("check.html: the saved page checks a saved proof without any network", async ({
    browser,
    pageFolder,
    quiet,
    onTestFinished,
  }) => {
    const client = new PerpgateClient({ url: quiet.url });
    onTestFinished(() => client.close());
    const session = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
    const bid = { symbol: "BTCUSD", side: "long", type: "limit", leverage: 2 } as const;
    const { ackNonce } = await session.placeOrder({ ...bid, size: 0.001, price: 60_000 });
    const witnessed = async () => {
      const text = await session.preconfirmProof(ackNonce).catch(() => "");
      return text.includes(WITNESS) ? text : undefined;
    };
    const proof = await until(witnessed, { everyMs: 200 });
    const { logKey, witnesses } = await client.honesty();

    const context = await browser.newContext({ offline: true });
    onTestFinished(() => context.close());
    context.setDefaultTimeout(POLL.timeout);
    const page = await context.newPage();
    const seen: string[] = [];
    page.on("request", (request) => seen.push(request.url()));
    page.on("console", (message) => seen.push(message.text()));
    page.on("pageerror", ({ message }) => seen.push(message));
    const address = pathToFileURL(join(pageFolder, "check.html")).href;
    await page.goto(address);
    const result = page.getByRole("status");
    const check = async (verdict: string) => {
      await page.getByRole("button", { name: "Check" }).click();
      await page.locator(`[data-verdict="${verdict}"]`).waitFor();
      return result.innerText();
    };

    await page.getByLabel("Proof or evidence, as a file").setInputFiles({
      name: "order.proof",
      mimeType: "text/plain",
      buffer: Buffer.from(proof),
    });
    await expect.poll(() => page.getByLabel("or as text").inputValue(), POLL).toBe(proof);
    expect(await check("Consistent, key not pinned")).toMatch(
      /compare it with a pinned one.*not checked: no key given/s,
    );
    await page.getByLabel("Key of the log").fill(logKey);
    await page.getByLabel("Keys of witnesses").fill(witnesses.join("\n"));
    const proven = await check("Proven");
    expect(proven).toContain(`Acknowledgement ${ackNonce} is sealed.`);
    expect(proven).toMatch(new RegExp(`pinned.*${WITNESS}: verified`, "s"));
    expect(proven).toMatch(
      /side\s+long, limit\s+size\s+0 filled, 0\.001 left\s+price\s+none.*fee\s+0 dollars\s+status\s+resting/s,
    );
    await expectAccessible(page, "check-page");

    const other = proof.replace(/^index \d+$/m, "index 123456789");
    await page.getByLabel("or as text").fill(other);
    await check("Not proven");
    const samples = evidenceSamples();
    await page.getByLabel("Key of the log").fill(samples.logKey);
    await page.getByLabel("Keys of witnesses").fill(samples.witnessKey);
    const verdictOn = async (text: string) => {
      await page.getByLabel("or as text").fill(text);
      await result.evaluate((element) => element.removeAttribute("data-verdict"));
      await page.getByRole("button", { name: "Check" }).click();
      await page.locator("[data-verdict]").waitFor();
      return result.getAttribute("data-verdict");
    };
    for (const { name, text } of samples.genuine)
      expect(await verdictOn(text), name).toBe("Proven");
    // All of them are refused by the same checker in forged-evidence.test.ts.
    for (const { name, text } of samples.forged.filter((_, at) => at % 4 === 0)) {
      expect(await verdictOn(text), name).toBe("Not proven");
    }
    // Again over the network: the gateway's headers allow what the file allows itself, and nothing more.
    await context.setOffline(false);
    await page.goto(`${quiet.url}/check.html`);
    await page.getByLabel("or as text").fill(proof);
    await check("Consistent, key not pinned");
    expect(seen.filter((each) => each !== address)).toEqual([`${quiet.url}/check.html`]);
  });
}
