import { Sessions } from "../account.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getSessions = {
  id: "getSessions",
  method: "GET",
  path: "/v1/auth/sessions",
  tag: "auth",
  summary: "The account's live sessions, oldest first",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 150,
  ...NO_INPUT,
  success: { status: 200, description: "Sessions", schema: Sessions },
  errors: [],
} satisfies Operation;
