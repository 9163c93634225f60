/** The state of a venue with the working memory of the command in progress. */
import type { Scratch } from "../scratch.js";
import type { RuleSet } from "../versions.js";
import type { Market } from "./market.js";
import { RANKS_PER_COMMAND } from "./orders.js";
import type { HashSeed } from "./seeded-hash.js";
import { VenueTables } from "./venue-tables.js";

export class VenueState extends VenueTables {
  constructor(
    readonly scratch: Scratch,
    ruleSets?: readonly RuleSet[],
    seed?: HashSeed,
  ) {
    super(ruleSets, seed);
  }

  /** The rank of an order that the command in progress queues again: behind all others of its market. */
  nextRank({ number }: Market): number {
    const { queued } = this.scratch;
    const at = this.rules.stopLines ? number : 0;
    const turn = queued[at] ?? 0;
    queued[at] = turn + 1;
    return this.seq * RANKS_PER_COMMAND + turn;
  }
}
