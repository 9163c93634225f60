import { CancelMessage } from "@perpgate/protocol";
import { cancelOrder } from "../../operations/cancel-order.js";
import { defineSocketOperation } from "./operation.js";
import { pathCall } from "./rest-call.js";

export const cancel = defineSocketOperation({
  message: CancelMessage,
  handle: ({ orderId }, call, { gateway }) => {
    const answer = cancelOrder.answer(pathCall(call, { id: orderId }), gateway);
    call.answerWith(answer, (canceled) => ({ canceled }));
    return undefined;
  },
});
