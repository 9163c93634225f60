import { OpenWithdrawals, OpenWithdrawalsQuery } from "../bridge/withdrawal.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getOpenWithdrawals = {
  id: "getOpenWithdrawals",
  ...PUBLIC_READ,
  // Attestors read it at each poll; the signature is not checked, because the answer is public.
  signedLimit: "attestors",
  path: "/v1/bridge/withdrawals/open",
  tag: "bridge",
  summary: "Withdrawals of a chain that are not paid yet, oldest first, with proofs and votes",
  costMicros: 4_000,
  query: OpenWithdrawalsQuery,
  success: { status: 200, description: "A page of 32", schema: OpenWithdrawals },
  errors: ["history_rebuilding"],
} satisfies Operation;
