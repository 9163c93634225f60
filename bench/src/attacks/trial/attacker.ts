/** One attacker, a process at normal priority. */
import { serve } from "../../harness/child.js";
import type { BenchAccount } from "../../harness/http.js";
import type { Traffic } from "../attack.js";
import { attackNamed } from "../table.js";
import type { Tally } from "../wire/line.js";
import { AttackNetwork, replay, type WireStep } from "../wire/network.js";

export interface AttackPlan {
  readonly attack: string;
  readonly port: number;
  /** The client address that the venue sees. */
  readonly localAddress: string;
  readonly milliseconds: number;
  readonly maxBytes: number;
  readonly veterans: readonly BenchAccount[];
}

export class Attacker {
  private plan: AttackPlan | undefined;
  private steps: WireStep[] = [];
  private traffic: Traffic = () => Promise.resolve();

  async prepare(plan: AttackPlan): Promise<void> {
    const { attack, port, localAddress, veterans } = plan;
    this.plan = plan;
    this.traffic = await attackNamed(attack).prepare({ address: { port, localAddress }, veterans });
  }

  async attack(): Promise<Tally> {
    const { port = 0, localAddress = "", milliseconds = 0, maxBytes = 0 } = this.plan ?? {};
    this.steps = [];
    const limits = { milliseconds, bytes: maxBytes };
    const network = new AttackNetwork({ port, localAddress }, limits, this.steps);
    const ended = new Promise((resolve) => setTimeout(resolve, milliseconds));
    await this.traffic(network);
    // An attack that has used up its bytes keeps its connections for the rest of the time.
    await ended;
    network.close();
    return network.tally;
  }

  /** Sends the bytes of the attack, at its times, to a server that discards them. */
  discard(port: number): Promise<Tally> {
    const { localAddress = "", milliseconds = 0 } = this.plan ?? {};
    return replay(this.steps, { port, localAddress }, milliseconds);
  }
}

serve(new Attacker());
