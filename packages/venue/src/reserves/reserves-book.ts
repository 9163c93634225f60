/**
 * The venue's side of its reserves: proposes what the store's thread has counted, reads commitments and paths, and
 * proves the newest under the published checkpoint.
 */
import type { VenueState } from "@perpgate/engine/reading";
import type { Liability } from "@perpgate/protocol";
import { encodeReservesProof } from "@perpgate/protocol/receipts";
import type { CommittedReserves, Listing } from "../listing/listing.js";
import type { Promises } from "../receipts/promises.js";
import type { VenueLogger } from "../venue-options.js";
import type { ReservesNotice } from "./counter.js";
import { commitsReserves, VENUE_LEAVES } from "./liabilities.js";
import type { TreeHead } from "./sum-tree-file.js";
import { TreeFolder } from "./tree-folder.js";

interface ReservesParts {
  readonly folder: string;
  readonly key: Uint8Array;
  readonly listing: Listing;
  readonly state: VenueState;
  readonly promises: Promises;
  /** Whether this process proposes; of the gateways of one venue only one does. */
  readonly isProposer: () => boolean;
  readonly commit: (tree: TreeHead) => void;
  readonly logger: VenueLogger;
}

export class ReservesBook {
  /** Commitments that differ from the own count, and counts without a tree: alarms. */
  differing = 0;
  uncountable = 0;
  private readonly trees: TreeFolder;
  /** A tree may be found at the start and be reported a moment later. */
  private proposed = 0;

  constructor(private readonly parts: ReservesParts) {
    this.trees = new TreeFolder(parts.folder, parts.key);
  }

  /** At a start: a tree that was written and not committed before the last process ended. */
  resume(): void {
    const newest = this.trees.newest();
    if (newest !== undefined) this.propose(newest);
  }

  /** This core begins to lead: what was proposed before, here or by the core that led, may not be in the log. */
  onLead(): void {
    this.proposed = 0;
    this.resume();
  }

  onNotice(notice: ReservesNotice): void {
    const { logger } = this.parts;
    switch (notice.kind) {
      case "counted":
        this.propose(notice.tree);
        return;
      case "uncountable":
        this.uncountable++;
        logger.error(notice, "ALARM: what the venue owes has no place in a tree: no commitment");
        return;
      case "differs":
        this.differing++;
        logger.error(
          notice,
          "ALARM: the committed reserves are not those that this process counts",
        );
    }
  }

  /** Whether the venue, as it is configured now, commits to what it owes. */
  get isCommitting(): boolean {
    return commitsReserves(this.parts.state);
  }

  get newest(): CommittedReserves | null {
    return this.parts.listing.reserves;
  }

  /** The account's leaf in the newest commitment; undefined if that has none of it, or its tree is gone. */
  liability(account: number): Liability | undefined {
    const { newest } = this;
    const address = this.parts.state.addresses.at(account);
    if (newest === null || address === undefined) return undefined;
    const { position } = newest;
    const number = account + VENUE_LEAVES - 1;
    const found = this.trees.accountPath(position, number);
    // A tree that is not the committed one proves nothing.
    const head = this.trees.head(position);
    const isCommitted = head?.root === newest.root && head.sumMicros === newest.sumMicros;
    if (found === undefined || !isCommitted) return undefined;
    const { balanceMicros, salt, path } = found;
    return {
      position: String(position),
      address: `0x${address}`,
      salt: `0x${salt.toString("hex")}`,
      balanceMicros,
      path: path.map((node) => ({ ...node, hash: `0x${node.hash}` })),
    };
  }

  /** Of the newest commitment; null until a checkpoint covers its block. */
  async proof(): Promise<string | null> {
    const { newest, parts } = this;
    if (newest === null) return null;
    const proof = await parts.promises.leafProof(newest.seq);
    return proof === undefined ? null : encodeReservesProof(proof);
  }

  private propose(tree: TreeHead): void {
    const { isProposer, commit } = this.parts;
    const { position = 0 } = this.newest ?? {};
    const isNew = tree.position > Math.max(position, this.proposed) && this.trees.isOwn(tree);
    if (!isNew || !isProposer() || !this.isCommitting) return;
    this.proposed = tree.position;
    commit(tree);
  }
}
