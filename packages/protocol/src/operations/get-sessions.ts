import { Sessions } from "../accounts/account.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getSessions = {
  id: "getSessions",
  ...ACCOUNT_READ,
  path: "/v1/auth/sessions",
  tag: "auth",
  summary: "The account's live sessions, oldest first",
  costMicros: 150,
  success: { status: 200, description: "Sessions", schema: Sessions },
  errors: [],
} satisfies Operation;
