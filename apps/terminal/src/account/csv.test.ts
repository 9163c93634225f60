import { runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { newPrivateKey, PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { expect, onTestFinished, test } from "vitest";
import { t } from "../text/texts.js";
import { csvOf, readAll } from "./csv.js";

test("csv: fields under their names, quoted where needed, nothing that a spreadsheet computes", () => {
  const rows = [
    { id: "7-0", amount: -1.5, note: 'a "b", c', of: null },
    { id: "=1+1", amount: 0.000001, exits: [{ price: 1 }] },
    { id: "-x", amount: 1e-7, isOn: true },
  ];
  expect(csvOf(rows).split("\r\n")).toEqual([
    "id,amount,note,of,exits,isOn",
    '7-0,-1.5,"a ""b"", c",,,',
    `'=1+1,0.000001,,,"[{""price"":1}]",`,
    "'-x,1e-7,,,,true",
    "",
  ]);
  expect(csvOf([])).toBe("\r\n");
});

test("csv of a list that ends where the venue's history begins: says so, one that is whole does not", async () => {
  const retention = { hotMs: 60_000 };
  const venue = await runVenue({ startMs: startAheadOfClients(), retention, outboxCommands: 4 });
  const client = new PerpgateClient({ url: venue.url });
  onTestFinished(() => client.close());
  const [maker, taker] = await Promise.all(
    [1, 2].map(() => client.signIn({ account: privateKeyAccount(newPrivateKey()) })),
  );
  if (maker === undefined || taker === undefined) throw new Error("not signed in");
  const order = {
    symbol: "BTCUSD",
    type: "limit",
    price: 65_000,
    size: 0.01,
    leverage: 5,
  } as const;
  const trade = async () => {
    await venue.setIndex("BTCUSD", 65_000);
    await maker.placeOrder({ ...order, side: "short" });
    await taker.placeOrder({ ...order, side: "long" });
  };
  const read = () =>
    readAll(
      (query) => taker.fills(query),
      ({ id }) => id,
    );
  await trade();
  expect(await read()).toMatchObject({ rows: [{ size: 0.01 }], missing: "" });
  await venue.advance(90_000);
  await trade();
  expect(await read()).toMatchObject({ rows: [{ size: 0.01 }], missing: t.table.keptNoLonger });
});
