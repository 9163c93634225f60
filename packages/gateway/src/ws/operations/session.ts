import { Refusal, SessionMessage } from "@perpgate/protocol";
import { defineSocketOperation } from "./operation.js";
import { restCall } from "./rest-call.js";

/** Sets the options of the session that the socket speaks for; answered once they are durable. */
export const session = defineSocketOperation({
  message: SessionMessage,
  handle: async (call, { gateway }) => {
    const { bearerToken, client } = restCall(call, {}).raw;
    if (bearerToken === undefined) throw new Refusal("token_required", {});
    if (gateway.venue === undefined) {
      throw new Refusal("venue_unavailable", { operation: "session" });
    }
    const { cancelOnDisconnect } = call.message;
    const caller = { bearerToken, header: client.header };
    await gateway.venue.setSessionOptions(caller, { cancelOnDisconnect });
    return { cancelOnDisconnect };
  },
});
