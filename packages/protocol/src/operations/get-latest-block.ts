import { Block } from "../block.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getLatestBlock = {
  id: "getLatestBlock",
  method: "GET",
  path: "/v1/blocks/latest",
  tag: "blocks",
  summary: "The last sealed block",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 40,
  ...NO_INPUT,
  success: { status: 200, description: "The block", schema: Block },
  errors: ["block_not_found"],
} satisfies Operation;
