import { ApiError, UnsubscribeMessage } from "@perpgate/protocol";
import { defineSocketOperation } from "./operation.js";

/** Ends streams; each name is judged alone. */
export const unsubscribe = defineSocketOperation({
  message: UnsubscribeMessage,
  handle: (message, call) => {
    const { subscriptions } = call.connection;
    const streams = [...new Set(message.streams)].filter((stream) => {
      const subscription = subscriptions.get(stream);
      if (subscription === undefined) {
        call.refuse(new ApiError("not_subscribed", { stream }), { stream });
        return false;
      }
      subscription.end();
      subscriptions.delete(stream);
      return true;
    });
    return streams.length === 0 ? undefined : { streams };
  },
});
