import { Block, BlockNumberPath } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noQuery } from "../http/operation.js";

export const getBlock = defineVenueOperation({
  id: "getBlock",
  method: "GET",
  path: "/v1/blocks/{number}",
  tag: "blocks",
  summary: "A sealed block",
  access: "public",
  limit: "reads",
  costMicros: 40,
  params: BlockNumberPath,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The block", schema: Block },
  errors: ["block_not_found"],
  handle: ({ params }, venue) => venue.block(Number(params.number)),
});
