/**
 * One attacker, a process at normal priority. Told a plan, it prepares and says "ready"; told
 * "attack", it attacks the venue; told "discard", it sends the bytes of that attack, at the times of
 * that attack, to the server that discards them. It answers both with a tally.
 */

import type { SignedIn } from "../../orders/sign-in.js";
import { attackNamed } from "../kinds/combined.js";
import { Network } from "../wire/network.js";
import { Recording } from "../wire/recording.js";
import { replay } from "../wire/replay.js";
import { remoteTarget } from "./remote-target.js";

export interface AttackPlan {
  readonly attack: string;
  readonly venuePort: number;
  readonly discardPort: number;
  /** The client address that the venue sees. */
  readonly localAddress: string;
  readonly milliseconds: number;
  readonly maxBytes: number;
  readonly veterans: readonly SignedIn[];
}

type Request = "attack" | "discard";

async function prepared(plan: AttackPlan): Promise<(request: Request) => Promise<unknown>> {
  const { venuePort, discardPort, localAddress, milliseconds, maxBytes, veterans } = plan;
  const attack = attackNamed(plan.attack);
  const target = remoteTarget({ port: venuePort, localAddress }, veterans);
  const traffic = await attack.prepare(target);
  let recording: Recording | undefined;
  return async (request) => {
    if (request === "attack") {
      const limits = { milliseconds, bytes: maxBytes };
      recording = new Recording();
      const network = new Network({ port: venuePort, localAddress }, limits, recording);
      const ended = new Promise((resolve) => setTimeout(resolve, milliseconds));
      await traffic(network);
      // An attack that has used up its bytes keeps its connections for the rest of the time.
      await ended;
      network.close();
      return network.tally;
    }
    if (recording === undefined) throw new Error("nothing was recorded");
    return replay(recording, { port: discardPort, localAddress }, milliseconds);
  };
}

// The process that started this one is gone.
process.once("disconnect", () => process.exit());
process.once("message", async (plan: AttackPlan) => {
  const answer = await prepared(plan);
  process.on("message", async (request: Request) => {
    process.send?.(await answer(request));
  });
  process.send?.("ready");
});
