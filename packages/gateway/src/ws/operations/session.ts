import { ApiError, SessionMessage } from "@perpgate/protocol";
import { defineSocketOperation } from "./operation.js";

/** Sets the options of the session that the socket speaks for; answered once they are durable. */
export const session = defineSocketOperation({
  message: SessionMessage,
  handle: ({ cancelOnDisconnect }, call, { gateway }) => {
    const { session } = call.connection;
    if (session === undefined) throw new ApiError("token_required", {});
    if (gateway.venue === undefined) {
      throw new ApiError("venue_unavailable", { operation: "session" });
    }
    const caller = { bearerToken: session.token, header: call.header };
    const done = gateway.venue.setSessionOptions(caller, { cancelOnDisconnect });
    call.answerWith(done, () => ({ cancelOnDisconnect }));
    return undefined;
  },
});
