/** Several gateways of one venue. */

import { expect } from "vitest";
import { ClusterProcess, isWithoutNats } from "../cluster-process.js";
import type { PageTest } from "../page-test.js";
import { OFFLINE, POLL } from "../trading-page.js";

export function gatewayTests(test: PageTest): void {
  test.skipIf(isWithoutNats())(
    "gateways: the one in use is killed, and the page goes on at another without a reload",
    async ({ enter, pageFolder, onTestFinished }) => {
      const cluster = new ClusterProcess(pageFolder);
      onTestFinished(() => cluster.remove());
      await cluster.ready();
      const [url = ""] = cluster.urls;
      const { opened, page } = await enter({ url, gateways: cluster.urls });
      await opened.order("Limit", "Buy / Long", { margin: "100", price: "60000" });
      await opened.result().locator('[data-seal="proven"]').waitFor();
      await page.evaluate("window.wasNotReloaded = true");
      const shown = page.getByTestId("gateway");
      const before = `http://${(await shown.innerText()).split(/\s/)[0]}`;
      expect(cluster.urls).toContain(before);
      await opened.inspect("gateways", "header");
      cluster.kill(before);
      await expect.poll(() => shown.innerText(), POLL).not.toContain(new URL(before).host);
      await opened.untilLive();
      await opened.order("Limit", "Buy / Long", { margin: "100", price: "59000" });
      await opened.tab(/Open orders \(2\)/);
      await opened.result().locator('[data-seal="proven"]').waitFor();
      expect(await page.evaluate("window.wasNotReloaded")).toBe(true);
      opened.expectClean(OFFLINE);
    },
  );
}
