/** The queries of docs/store.md, run against the file of a venue that runs. */
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { busyVenue } from "../testing/busy-venue.js";
import { editStore } from "../testing/edit-store.js";
import { removeFolder, temporaryFolder } from "../testing/test-venue.js";
import { prepare } from "./sqlite.js";

const PAGE = readFileSync(new URL("../../../../docs/store.md", import.meta.url), "utf8");
const QUERIES = [...PAGE.matchAll(/\n([^\n]+:)\n\n```sql\n([^`]+)```/g)].map(
  ([, title = "", sql = ""]) => [title, sql] as const,
);

test("docs/store.md: ten queries, each with rows; columns of the views as listed", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const { driver } = await busyVenue(folder);
  onTestFinished(() => driver.venue.close());
  expect(QUERIES).toHaveLength(10);
  editStore(folder, (database) => {
    for (const [title, sql] of QUERIES) {
      expect(prepare(database, sql).all().length, title).toBeGreaterThan(0);
    }
    const views = [...PAGE.matchAll(/^\| `(\w+)` \|.*\| (`.*`) \|$/gm)];
    expect(views).toHaveLength(13);
    for (const [, name = "", columns = ""] of views) {
      const found = prepare(database, `PRAGMA table_info(${name})`).all();
      expect(found.map(([, column]) => `\`${column}\``).join(", "), name).toBe(columns);
    }
  });
});

test("views: fills and orders in the units of the API", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const { driver } = await busyVenue(folder);
  onTestFinished(() => driver.venue.close());
  const { views } = driver.venue;
  for (const account of [1, 2]) {
    const [fills, orders] = editStore(folder, (database) => [
      prepare(
        database,
        `SELECT symbol, side, price, size, fee_usd, pnl_usd, role, time_ms FROM fills
         WHERE account = ${account} ORDER BY position DESC, ordinal DESC`,
      ).all(),
      prepare(
        database,
        `SELECT order_id, symbol, side, status, size, filled_size, nonce, created_ms FROM orders
         WHERE account = ${account} ORDER BY CAST(order_id AS REAL) DESC`,
      ).all(),
    ]);
    expect(fills).toEqual(
      views
        .fills(account, { limit: 1_000 })
        .map((fill) => [
          ...[fill.symbol, fill.side, fill.price, fill.size, fill.fee, fill.realizedPnl],
          ...[fill.liquidity, fill.time],
        ]),
    );
    expect(orders).toEqual(
      views
        .orders(account)
        .map((order) => [
          ...[order.orderId, order.symbol, order.side, order.status, order.size],
          ...[order.filledSize, order.nonce, order.createdAt],
        ]),
    );
  }
});
