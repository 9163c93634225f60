import { Block } from "../blocks/block.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getLatestBlock = {
  id: "getLatestBlock",
  ...PUBLIC_READ,
  path: "/v1/blocks/latest",
  tag: "blocks",
  summary: "The last sealed block",
  costMicros: 40,
  success: { status: 200, description: "The block", schema: Block },
  errors: ["block_not_found", "history_rebuilding"],
} satisfies Operation;
