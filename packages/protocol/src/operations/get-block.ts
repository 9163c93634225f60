import { Block, BlockNumberPath } from "../blocks/block.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getBlock = {
  id: "getBlock",
  ...PUBLIC_READ,
  path: "/v1/blocks/{number}",
  tag: "blocks",
  summary: "A sealed block",
  costMicros: 40,
  params: BlockNumberPath,
  success: { status: 200, description: "The block", schema: Block },
  errors: ["block_not_found", "history_rebuilding"],
} satisfies Operation;
