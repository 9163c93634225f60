import { AuthMessage } from "@perpgate/protocol";
import { defineSocketOperation } from "./operation.js";

/** The socket speaks for the token's session from now on. */
export const auth = defineSocketOperation({
  message: AuthMessage,
  handle: ({ token }, { connection }, { sessions }) => {
    sessions.bind(connection, sessions.sessionOf(token, connection.session));
    return {};
  },
});
