import { Block, BlockNumberPath } from "../block.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getBlock = {
  id: "getBlock",
  method: "GET",
  path: "/v1/blocks/{number}",
  tag: "blocks",
  summary: "A sealed block",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 40,
  ...NO_INPUT,
  params: BlockNumberPath,
  success: { status: 200, description: "The block", schema: Block },
  errors: ["block_not_found"],
} satisfies Operation;
