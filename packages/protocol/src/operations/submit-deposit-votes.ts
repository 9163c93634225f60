import { VotesAnswer, VotesBody } from "../bridge/attestor-requests.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const submitDepositVotes = {
  id: "submitDepositVotes",
  method: "POST",
  path: "/v1/bridge/votes",
  tag: "bridge",
  summary: "Hand in attestors' signed votes on deposits; the signature is what authorises",
  access: "public",
  needsVenue: true,
  limit: "attestors",
  costMicros: 300,
  ...NO_INPUT,
  body: VotesBody,
  success: { status: 200, description: "What became of each vote", schema: VotesAnswer },
  errors: ["attestors_not_configured", "invalid_vote", "attestor_unknown", "invalid_signature"],
} satisfies Operation;
