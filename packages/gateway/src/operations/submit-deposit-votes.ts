import { VotesAnswer, VotesBody } from "@perpgate/protocol";
import { defineVenueOperation, noParams, noQuery } from "../http/operation.js";

export const submitDepositVotes = defineVenueOperation({
  id: "submitDepositVotes",
  method: "POST",
  path: "/v1/bridge/votes",
  tag: "bridge",
  summary: "Hand in attestors' signed votes on deposits; the signature is what authorises",
  access: "public",
  limit: "attestors",
  costMicros: 300,
  params: noParams,
  query: noQuery,
  body: VotesBody,
  success: { status: 200, description: "What became of each vote", schema: VotesAnswer },
  errors: ["attestors_not_configured", "invalid_vote", "attestor_unknown", "invalid_signature"],
  handle: async ({ body, client }, venue, { addressLimits }) => {
    addressLimits.takeAttestor(client.address, client.header);
    return venue.submitVotes(body);
  },
});
