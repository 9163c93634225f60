import { expect, test } from "vitest";
import { remarkOn } from "./watch.js";

test("watch: a gap, such as after a move to another gateway, is not said to be tried again", () => {
  const kinds = ["gap", "malformed", "disconnected", "checksum_mismatch"] as const;
  expect(kinds.map((kind) => remarkOn({ stream: "trades.BTCUSD", kind }))).toEqual([
    "trades.BTCUSD: frames were missed",
    "trades.BTCUSD: a frame could not be read",
    "trades.BTCUSD: the connection was lost; connecting again",
    "trades.BTCUSD: differed from the venue's; reading it again",
  ]);
});
