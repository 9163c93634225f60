import { CancelMessage } from "@perpgate/protocol";
import { cancelOrder } from "../../operations/cancel-order.js";
import { defineSocketOperation } from "./operation.js";
import { restCall } from "./rest-call.js";

export const cancel = defineSocketOperation({
  message: CancelMessage,
  handle: async (call, { gateway }) => {
    const { raw } = restCall(call, { params: { id: call.message.orderId } });
    return { canceled: await cancelOrder.answer(raw, gateway) };
  },
});
