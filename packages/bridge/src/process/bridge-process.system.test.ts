import { expect, onTestFinished, test } from "vitest";
import { BridgeProcess } from "../index.js";
import { expectCredit } from "../testing/credited-deposit.js";
import { VENUE_ID } from "../testing/engine-venue.js";
import { TronNode } from "../testing/tron-node.js";

test("attestors in a process: poll until a deposit is credited, report a failed poll, stop", async () => {
  const node = await TronNode.start(1_750_000_000);
  onTestFinished(() => node.stop());
  await expectCredit(node, (config, port, clock, observe) => {
    const onEnded = (error: Error) => expect.unreachable(error.message);
    return new BridgeProcess({ config, venueId: VENUE_ID, port, clock, observe, onEnded });
  });
});
