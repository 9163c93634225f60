/** Receipts, the transparency log and what proves a broken promise: formats and checks, without schemas. */

export { rootFromLeafHash, treeLeafHash } from "../blocks/merkle-path.js";
export type { ReservesLeaf } from "../bridge/reserves-leaf.js";
export * from "./ack-list.js";
export * from "./block-proof.js";
export * from "./bytes.js";
export * from "./checkpoint.js";
export * from "./cosignatures.js";
export * from "./evidence.js";
export * from "./evidence-file.js";
export * from "./leaf-proof.js";
export * from "./order-proof.js";
export * from "./proof-summary.js";
export * from "./receipt.js";
export * from "./receipt-check.js";
export * from "./receipt-file.js";
export * from "./reserves-proof.js";
export * from "./shown-acknowledgement.js";
export * from "./signed-note.js";
export * from "./successors.js";
export * from "./sum-tree.js";
export * from "./tiles.js";
export * from "./tree.js";
export * from "./twice.js";
export * from "./withdrawal-proof.js";
