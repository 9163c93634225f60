/**
 * Proofs of requests of withdrawals. Anyone may ask for them again and again, so each is made once and kept
 * while the withdrawal is open. It is made again with a checkpoint that another witness has cosigned: each
 * attestor requires witnesses of its own.
 */
import { encodeWithdrawalProof, type OrderProof } from "@perpgate/protocol/receipts";
import type { BlockTree } from "../tlog/block-tree.js";
import type { Published } from "../tlog/transparency-log.js";
import { sealedAck } from "../views/chain-view.js";
import { stateOf, type VenueSource } from "../views/venue-source.js";
import { leafProof } from "./promise-proofs.js";

interface KeptProof {
  readonly text: string;
  /** Names of the witnesses that have cosigned its checkpoint. */
  readonly cosigners: readonly string[];
}

export class WithdrawalProofs {
  private readonly kept = new Map<number, KeptProof>();

  constructor(
    private readonly source: VenueSource,
    private readonly tree: BlockTree,
    private readonly keys: Pick<OrderProof, "logKey" | "successors">,
  ) {}

  /** Of an open withdrawal; null while no checkpoint covers its block. */
  async of(id: number, published: Published | undefined): Promise<string | null> {
    if (published === undefined) return null;
    const { kept } = this;
    const cosigners = published.witnesses;
    const before = kept.get(id);
    const isCosigner = (name: string): boolean => before?.cosigners.includes(name) === true;
    if (before !== undefined && cosigners.every(isCosigner)) return before.text;
    const sealed = await sealedAck(this.source.history, id, () => undefined);
    if (sealed === undefined || sealed === "not_sealed") return null;
    const proof = await this.source.history.read(() =>
      leafProof(this.tree, published, this.keys, sealed, () => undefined),
    );
    if (proof === undefined) return before?.text ?? null;
    const text = encodeWithdrawalProof(proof);
    this.forgetEnded();
    kept.set(id, { text, cosigners });
    return text;
  }

  private forgetEnded(): void {
    const { byId } = stateOf(this.source).withdrawals;
    for (const id of this.kept.keys()) if (!byId.has(id)) this.kept.delete(id);
  }
}
