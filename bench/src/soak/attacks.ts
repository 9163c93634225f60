/** One attack after the other against the venue of a soak, each from a client address of its own. */

import { attackerAccount } from "../attacks/kinds/accounts.js";
import { ATTACKS } from "../attacks/kinds/combined.js";
import type { AttackPlan } from "../attacks/trial/attacker.js";
import { remoteTarget } from "../attacks/trial/remote-target.js";
import { firstMessage, forkScript, stop } from "../orders/processes.js";
import type { SignedIn } from "../orders/sign-in.js";

const ATTACKER = new URL("../attacks/trial/attacker.js", import.meta.url);
const MILLISECONDS = 4_000;
const MOST_BYTES = 128e6;
/** Coprime with the number of attacks, so that neighbours of the table do not follow each other. */
const STRIDE = 37;
const VETERANS_ADDRESS = "127.4.0.1";

export class SoakAttacks {
  private next = 0;

  private constructor(private readonly veterans: readonly SignedIn[]) {}

  static async start(port: number): Promise<SoakAttacks> {
    const target = remoteTarget({ port, localAddress: VETERANS_ADDRESS }, []);
    return new SoakAttacks([await attackerAccount(target), await attackerAccount(target)]);
  }

  /** Runs the next attack; its name. */
  async run(port: number): Promise<string> {
    const number = this.next++;
    const { name } = ATTACKS[(number * STRIDE) % ATTACKS.length]!;
    const attacker = forkScript(ATTACKER, []);
    const plan: AttackPlan = {
      attack: name,
      venuePort: port,
      discardPort: 0,
      localAddress: `127.5.${Math.floor(number / 250)}.${1 + (number % 250)}`,
      milliseconds: MILLISECONDS,
      maxBytes: MOST_BYTES,
      veterans: this.veterans,
    };
    try {
      const ready = firstMessage(attacker);
      attacker.send(plan);
      await ready;
      const done = firstMessage(attacker);
      attacker.send("attack");
      await done;
      return name;
    } finally {
      await stop(attacker);
    }
  }
}
